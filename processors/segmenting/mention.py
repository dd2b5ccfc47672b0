"""Where a marker stands → whether the text only talks about it: in quotation marks, in brackets, in a sentence."""

_OPENERS = frozenset("(\"'“‘«「『（【《")
_CLOSERS = frozenset(")\"'”’»」』）】》")
_PAUSES = frozenset(".,;:!?，。；：！？、")


def is_mention(window: str, start: int, end: int) -> bool:
    """Whether a marker is quoted or bracketed."""
    if start == 0 or window[start - 1] not in _OPENERS:
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
    return before.isalpha() and after.isalpha() and not (before.isascii() and after.isascii())
