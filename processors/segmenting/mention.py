"""Where a marker stands → whether the text only talks about it: in quotation marks, in brackets, in a sentence."""

_OPENERS = frozenset("(“‘«「『（【《")
_STRAIGHT = frozenset("\"'")
_BEFORE_QUOTE = frozenset(" \t\n([{=:,，：（")
"""A straight quotation mark behind one of these opens; behind anything else it closes."""
_CHINESE_BEFORE = frozenset("在用到以写和与或的把个是于从被叫加出即为、找有")
_CHINESE_AFTER = frozenset("标之后前来是的这和与或表处为结作、里中")
"""Words of a Chinese sentence about a marker, which needs no space around it."""
_CLOSERS = frozenset(")\"'”’»」』）】》")
_LINE_QUOTE = frozenset("> \t")
_PAUSES = frozenset(".,;:!?，。；：！？、")


LOOK_BACK = 64
"""Characters before the place of reading that are kept: a fence and a quotation are seen by what stands before them."""


def line_before(window: str, place: int) -> str:
    """What stands before a place in its line, as far as one looks back."""
    first = max(0, place - LOOK_BACK)
    return window[max(first, window.rfind("\n", first, place) + 1) : place]


def is_bracketed(window: str, start: int) -> bool:
    """Whether a marker stands behind an opening bracket, so that what follows it tells if it is mentioned."""
    return start > 0 and window[start - 1] in _OPENERS


def is_mention(window: str, start: int, end: int) -> bool:
    """Whether a marker is quoted or bracketed, or stands in a line that is a quotation."""
    if start == 0:
        return False
    if window[start - 1] in _LINE_QUOTE:
        line = line_before(window, start)
        return ">" in line and not line.strip("> \t")
    if window[start - 1] in _STRAIGHT:
        return start == 1 or window[start - 2] in _BEFORE_QUOTE
    if window[start - 1] not in _OPENERS:
        return False
    return end >= len(window) or window[end] in _CLOSERS or window[start - 1] not in "(（"


def is_mentioned_close(window: str, start: int, end: int) -> bool:
    """Whether a bare closing marker is a word of a sentence rather than the end of reasoning that the prompt opened."""
    if is_mention(window, start, end):
        return True
    before = window[start - 1] if start else "\n"
    after = window[end] if end < len(window) else "\n"
    if before in " \t":
        return after in " \t" or after in _PAUSES or after in _CLOSERS
    return before in _CHINESE_BEFORE and after in _CHINESE_AFTER
