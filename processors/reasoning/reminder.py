"""A goal, what was done for it, and what earlier streams know → a text for the next prompt, bounded in tokens.

The original goal and the steps that were done stand in it always, whatever the bound: a model that works for long
forgets them first. Both are cut before anything else is added: a goal to 30 % of the bound, steps to 40 %, the newest
in full and the others counted. What is left goes to strategies and to similar work, best first.

Tokens are estimated, on the high side, because whose tokenizer will read the text is not known here.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

TOKENS_MIN = 100
"""Below this a goal and its steps can't be said."""
TOKENS_DEFAULT = 800
GOAL_SHARE, DONE_SHARE, STRATEGY_SHARE = 0.3, 0.4, 0.6
"""Of the bound; the last one of what goal and steps leave."""
LETTERS_OF_TOKEN = 4
STEP_TOKENS_MAX = 60
"""Of one step that was done, and of the line that counts older ones."""
LINE_TOKENS_MAX = 120
"""Of one strategy or one similar piece of work."""
_PIECE = re.compile(r"[^\W\d_]{1,16}|\n|\S")
_CHINESE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_ODD = re.compile(r"[\x00-\x1f\x7f\u200b\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\s]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A step that was done."""

    what: str
    """Tool with its arguments, or any words."""
    status: str = "ok"
    note: str = ""
    """What came of it, if it is short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """Reasoning of an earlier stream with a similar goal."""

    goal: str
    score: float
    tools: tuple[str, ...] = ()
    thoughts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """All that may be said."""

    goal: str
    """The original one."""
    now: str = ""
    """What is wanted now, if that was said in other words."""
    done: Sequence[Done] = ()
    strategies: Sequence[str] = ()
    similar: Sequence[Similar] = ()


@dataclass(frozen=True, slots=True)
class Reminder:
    """The text, and what did not fit."""

    text: str
    tokens: int
    """An estimate, on the high side."""
    strategies_left_out: int = 0
    similar_left_out: int = 0


@dataclass(frozen=True, slots=True)
class _Words:
    goal: str
    now: str
    done: str
    nothing: str
    earlier: str
    strategies: str
    similar: str
    tools: str


_ENGLISH = _Words(
    "Original goal: ", "Now: ", "Done so far:", "nothing yet", "- {count} earlier steps: {said}",
    "What was learned about these tools:", "How similar goals were reached:", "tools",
)  # fmt: skip
_IN_CHINESE = _Words(
    "最初目标：", "当前要求：", "已完成的步骤：", "尚无", "- 更早的 {count} 步：{said}", "关于这些工具已学到的策略：",
    "相似目标的做法：", "工具",
)  # fmt: skip


def reminder(remembered: Remembered, tokens_max: int = TOKENS_DEFAULT) -> Reminder:
    """The text of at most `tokens_max` tokens, but at least TOKENS_MIN."""
    bound = max(tokens_max, TOKENS_MIN)
    words = _IN_CHINESE if _CHINESE.search(remembered.goal) else _ENGLISH
    head = [cut(f"{words.goal}{plain(remembered.goal)}", int(bound * GOAL_SHARE))]
    if remembered.now and plain(remembered.now) != plain(remembered.goal):
        head.append(cut(f"{words.now}{plain(remembered.now)}", int(bound * GOAL_SHARE) // 2))
    head += _done(remembered.done, words, int(bound * DONE_SHARE))
    room = bound - tokens_of("\n".join(head)) - 1
    lines, said = _fitting(words.strategies, remembered.strategies, int(room * STRATEGY_SHARE))
    room -= tokens_of("\n".join(lines)) + 1 if lines else 0
    others, shown = _fitting(words.similar, [_similar(one, words) for one in remembered.similar], room)
    text = "\n".join([*head, *lines, *others])
    return Reminder(text, tokens_of(text), len(remembered.strategies) - said, len(remembered.similar) - shown)


def tokens_of(text: str) -> int:
    """About how many tokens a text has: a word is one for each four letters, anything else one for each character."""
    return sum(_cost(found[0]) for found in _PIECE.finditer(text))


def cut(text: str, tokens_max: int) -> str:
    """A text's beginning that has at most so many tokens; `…` at its end where something is missing."""
    spent, fits = 0, 0
    for found in _PIECE.finditer(text):
        spent += _cost(found[0])
        if spent > tokens_max:
            return f"{text[:fits].rstrip()}…"
        if spent < tokens_max:  # there is room for the `…` behind it
            fits = found.end()
    return text


def plain(text: str) -> str:
    """One line without characters that hide or turn text: what a stream wrote can't look like another part."""
    return _ODD.sub(" ", text).strip()


def _cost(piece: str) -> int:
    if piece.isascii() and piece[0].isalpha():
        return -(-len(piece) // LETTERS_OF_TOKEN)
    return sum(3 if character > "\uffff" else 1 for character in piece)


def _done(steps: Sequence[Done], words: _Words, room: int) -> list[str]:
    if not steps:
        return [f"{words.done} {words.nothing}"]
    line_max, count_max = min(room // 2, STEP_TOKENS_MAX), min(room // 4, STEP_TOKENS_MAX)
    lines: list[str] = []
    left = room - tokens_of(words.done) - count_max - 2
    for step in reversed(steps):
        line = cut(_step(step), line_max)
        left -= tokens_of(line) + 1
        if left < 0 and lines:
            break
        lines.append(line)
    older = steps[: len(steps) - len(lines)]
    counted = Counter(f"{plain(step.what).split(' ')[0]} {plain(step.status)}" for step in older)
    said = ", ".join(f"{count} × {what}" for what, count in counted.most_common())
    earlier = [cut(words.earlier.format(count=len(older), said=said), count_max)] if older else []
    return [words.done, *earlier, *lines[::-1]]


def _step(step: Done) -> str:
    note = f" ({plain(step.note)})" if step.note else ""
    return f"- {plain(step.what)} → {plain(step.status)}{note}"


def _similar(one: Similar, words: _Words) -> str:
    tools = f"; {words.tools}: {' → '.join(map(plain, one.tools))}" if one.tools else ""
    thoughts = f": {plain(one.thoughts)}" if one.thoughts else ""
    return f"({one.score:.2f}) {plain(one.goal)}{tools}{thoughts}"


def _fitting(title: str, lines: Iterable[str], room: int) -> tuple[list[str], int]:
    """As many lines as there is room for, under their title; and how many those are."""
    found = list(_taken(lines, room - tokens_of(title) - 1))
    return ([title, *found], len(found)) if found else ([], 0)


def _taken(lines: Iterable[str], room: int) -> Iterator[str]:
    for line in lines:
        short = cut(f"- {plain(line)}", LINE_TOKENS_MAX)
        room -= tokens_of(short) + 1
        if room < 0:
            return
        yield short
