"""A shape whose first opener and last close belong to a section around several calls → the same shape, split.

Most outputs have one call, so section and call markers grow together into one literal. Tags that close each other by
name (`<tool_calls>` … `</tool_calls>`, `[` … `]`) tell them apart without having seen two calls in a row.
"""

import re
from dataclasses import replace

from processors.learning.openers import PAIRED
from processors.learning.shape import Reader, Shape

_TAG = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|⟦[^⟧]*⟧|【[^】]*】|«[^»]*»|\{[%#|][^{}]*\}|[^\s<\[⟦【«{]+|[\[{]")
_SIDES = re.compile(r"begin|start|open|prefix|end|stop|close|suffix|finish|done|开始|结束")


def with_section(shape: Shape) -> Shape | None:
    """The shape with section and call markers apart, or None if its literals don't pair up."""
    if shape.section_open:
        return None
    if shape.section_close:
        return replace(shape, again="") if _closes(shape.open, shape.section_close) else None
    return _by_tags(shape) or _by_bracket(shape)


def _closes(opener: str, close: str) -> bool:
    """Whether a literal that stands behind the last call only belongs to what stands before the first."""
    opens, closes = list(_TAG.finditer(opener)), list(_TAG.finditer(close))
    if opener.endswith("[") and close.startswith("]"):
        return True
    if not opens or not closes or opener.rstrip()[-1:] not in PAIRED:
        return False  # a name within the opener's own bracket opens one call
    return bool(_name(opens[0].group())) and _name(opens[0].group()) == _name(closes[-1].group())


def _name(tag: str) -> str:
    letters = "".join(char for char in tag.lower() if char.isalnum())
    return _SIDES.sub("", letters)


def _by_tags(shape: Shape) -> Shape | None:
    opens, closes = list(_TAG.finditer(shape.open)), list(_TAG.finditer(shape.close))
    if not opens or not closes or not _name(opens[0].group()):
        return None
    if _name(opens[0].group()) != _name(closes[-1].group()) or shape.open[: opens[0].start()].strip():
        return None
    rest = shape.open[opens[0].end() :].lstrip()
    close = shape.close[: closes[-1].start()].rstrip()
    end = closes[-1].group()
    split = replace(shape, close=close, section_close=end, empty=_cut(shape.empty, end))
    if rest and (len(closes) > 1 or shape.reader is Reader.JSON):  # an object tells its own end
        return replace(split, section_open=opens[0].group(), open=rest, line_start=False)
    if rest or not (close or shape.reader is Reader.OBJECT):
        return None
    return replace(split, again="")


def _by_bracket(shape: Shape) -> Shape | None:
    if not shape.open.rstrip().endswith("[") or "]" not in shape.close or shape.reader is Reader.OBJECT:
        return None
    at = shape.close.index("]")
    end = shape.close[at:].rstrip()
    return replace(shape, close=shape.close[:at].rstrip(), section_close=end, empty=_cut(shape.empty, end), again="")


def _cut(literal: str, end: str) -> str:
    return literal[: -len(end)].rstrip() if literal.endswith(end) else literal
