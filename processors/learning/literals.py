"""Contexts of many outputs → the literals that most of them share.

A literal grows one character at a time while enough distinct outputs agree, so one odd output can't cut it short and
a minority can't lengthen it. All growth is bounded by `LITERAL_CHARS_MAX`, so the cost is linear in the contexts.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence

LITERAL_CHARS_MAX = 72
QUORUM = 0.8
"""Share of outputs that must agree on the next character; 4 of 20 may be planted without effect."""
SUPPORT_MIN = 3
STRONG = 2
"""Strength from which on a literal can't stand in prose by chance."""

PREFIXES_MAX = 40
"""Most literals that are looked at from one side."""

Context = tuple[int, str]
"""Number of the output, text on the side where the literal may grow."""

MARKDOWN = ("#", "-", "*", ">", "`", "|", "+", "_", "=", "~", "1.", "•", "·", "—")
_INVISIBLE = {"Cf", "Cc", "Co", "Cs", "Cn", "Zl", "Zp"}


def shared_suffix(contexts: Sequence[Context], quorum: float = QUORUM) -> str:
    """Longest literal in which at least `quorum` of the outputs have a context that ends."""
    return shared_prefix([(output, text[::-1]) for output, text in contexts], quorum)[::-1]


def shared_prefix(contexts: Sequence[Context], quorum: float = QUORUM) -> str:
    """Longest literal with which at least `quorum` of the outputs have a context that begins."""
    literal, alive = "", list(contexts)
    needed = quorum * len({output for output, _ in contexts})
    while alive and len(literal) < LITERAL_CHARS_MAX:
        outputs: dict[str, set[int]] = defaultdict(set)
        for output, text in alive:
            if len(text) > len(literal):
                outputs[text[len(literal)]].add(output)
        if not outputs:
            break
        best = max(outputs, key=lambda char: (len(outputs[char]), char))
        if len(outputs[best]) < needed:
            break
        literal += best
        alive = [(output, text) for output, text in alive if text.startswith(literal)]
    return literal


def closed_prefixes(contexts: Sequence[Context], support: int = SUPPORT_MIN) -> list[tuple[str, set[int]]]:
    """Literals that at least `support` outputs begin with and that lose a fifth of them by growing."""
    found: list[tuple[str, set[int]]] = []
    pending: list[tuple[str, list[Context]]] = [("", list(contexts))]
    while pending and len(found) < PREFIXES_MAX:
        literal, alive = pending.pop()
        branches: dict[str, list[Context]] = defaultdict(list)
        for output, text in alive:
            if len(text) > len(literal):
                branches[text[len(literal)]].append((output, text))
        here = {output for output, _ in alive}
        strong = {c: b for c, b in branches.items() if len({o for o, _ in b}) >= support}
        holds = any(len({o for o, _ in branch}) >= QUORUM * len(here) for branch in strong.values())
        if literal and (not holds or len(literal) == LITERAL_CHARS_MAX):
            found.append((literal, here))
        if len(literal) < LITERAL_CHARS_MAX:
            pending += [(literal + char, branch) for char, branch in sorted(strong.items())]
    return found


def most_common(values: Iterable[Context]) -> tuple[str, set[int]]:
    """The literal that most distinct outputs have as a whole, and these outputs."""
    outputs: dict[str, set[int]] = defaultdict(set)
    for output, text in values:
        outputs[text].add(output)
    if not outputs:
        return "", set()
    best = max(outputs, key=lambda text: (len(outputs[text]), -len(text), text))
    return best, outputs[best]


def is_admissible(literal: str) -> bool:
    """Whether a literal may stand in an entry: bounded, no invisible, bidirectional or unassigned characters.

    NUL and SOH are the placeholders of `shape`; samples never have them, since they blank what is only shown.
    """
    if len(literal) > LITERAL_CHARS_MAX:
        return False
    return all(char in "\n\t\x00\x01\x02" or unicodedata.category(char) not in _INVISIBLE for char in literal)


def strength(literal: str) -> int:
    """How little a literal looks like prose or Markdown.

    0: words, everyday punctuation or a Markdown starter; 1: one unusual sign; 2: several, or a run such as `;;` or `⟦`.
    """
    text = _RULE_OF_TABLE.sub("", _EMOJI.sub("", literal)).strip()
    if not text or text in MARKDOWN:
        return 0
    odd = sum(1 for char in text if not char.isalnum() and not char.isspace() and char not in _EVERYDAY)
    runs = [
        run
        for run in _RUN.findall(text)
        if run not in ORDINARY_RUNS and not (_JSON_MARKS.issuperset(run) and set(run) & set('"{},:'))
    ]
    return min(2, odd + 2 * len(runs) + len(_CAPITALS.findall(text)))


_EVERYDAY = set("{}.,:;!?'\"()-/`*#_+=|>[]&%\\，。：；！？、“”‘’（）《》…—–•·→")
_EMOJI = re.compile("[\U0001f000-\U0001faff]|.\ufe0f\u20e3?|[\ufe0f\u200d\u20e3]")
"""Pictures stand in prose; a format that marks with them is not told from it."""
_RULE_OF_TABLE = re.compile(r"\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+")
_CAPITALS = re.compile(r"\[/?[A-Z][A-Z_]{3,}\]")
_RUN = re.compile(r"[^\w\s]{2,}")
_JSON_MARKS = frozenset('[]{}":,')
# fmt: off
ORDINARY_RUNS = frozenset({
    "...", "--", "---", "**", "***", "##", "###", "####", "```", "~~", "||", "&&", "==", "!=", "?!", "!!", "??", ").",
    "),", "):", "://", "::", "()", '".', '",', "。。", "……", "——", "->", "=>", "**:", ":**", "`.", "`,", "`:",
})
# fmt: on
