"""Comments, fenced JSON and plain text → entries of the intermediate-state map.

One HTML comment is one entry, whose content is an object with the comment's values; its key is named from what the
comment says. A fenced JSON value in the answer is one entry. A sentence of the answer that states what holds in
general is domain knowledge. How far an entry can be trusted follows from where it stood, not from what it says.

Keys are distinct within a stream: a repeated comment gets a numbered key, and its `history` has what its name held
before, so that a contradiction shows and the later value is known to be the later one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from processors.reasoning.comments import read_values
from processors.reasoning.knowledge import find_json, find_knowledge, find_results
from schemas.jsonvalue import JsonObject
from schemas.reasoning import StateEntry
from schemas.segment import Segment
from schemas.span import Span

CONFIDENCE = {"html_comment": 0.95, "fenced_json": 0.9, "natural_text": 0.7, "html_comment_cut": 0.5}
"""By source; the middle of what two readers of sample outputs would act on without looking again."""
HISTORY_MAX = 20
"""Earlier values that an entry carries."""
ENTRIES_MAX = 1_000
"""Most entries of one stream that come from comments or from the answer's text, each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one place of a stream says, before its key is made distinct."""

    key: str
    content: JsonObject
    source: str
    span: Span
    is_value: bool = False
    """Whether it is one measured value, of which the later one counts."""


def read_comment(segment: Segment) -> Found:
    """One comment → one find; a comment that was cut off has its own, less trusted source."""
    body, is_whole = _body(segment.text)
    source = "html_comment" if is_whole and "missing_close" not in segment.repairs else "html_comment_cut"
    key, content = read_values(body)
    return Found(key=key, content=content, source=source, span=segment.span)


def _body(text: str) -> tuple[str, bool]:
    whole = text.strip()
    if not whole.startswith("<!--"):
        return whole, not whole.startswith("<!")
    return whole[4:].removesuffix("-->").strip(), whole.endswith("-->")


def find_in_text(segment: Segment) -> Iterator[Found]:
    """Finds in a segment of the answer: JSON results in fences, then stated values, then general knowledge."""
    for source, finds in (("fenced_json", find_json), ("natural_text", find_results), ("natural_text", find_knowledge)):
        for key, content, span in finds(segment.text):
            is_value = finds is find_results
            yield Found(key=key, content=content, source=source, span=_span(segment, span), is_value=is_value)


def _span(segment: Segment, inside: Span) -> Span:
    """Offsets in the stream; where markup was taken out of the segment, the nearest place within it."""
    start, end = segment.span
    return min(start + inside[0], end), min(start + inside[1], end)


class StateMap:
    """Finds of one stream, in order → entries, and the history of each name.

    A comment, a fence and a general statement each keep a key of their own, numbered where the name repeats. A measured
    value that is stated again under its name replaces the earlier one: the same key, with what it was before in its
    history, a comment's value of that name included; stated unchanged, it is no entry.
    """

    def __init__(self) -> None:
        self._held: dict[str, list[object]] = {}
        self._owner: dict[str, str] = {}
        """Key → `value`, or the source that has it."""
        self._values: dict[str, str] = {}
        """Name → its value as last said, whatever the source."""
        self._entries = dict.fromkeys(CONFIDENCE, 0)

    def entries(self, segment: Segment, finds: Iterable[Found]) -> Iterator[StateEntry]:
        """One entry for each find within the limit; equal finds from the answer's text are given once."""
        for find in finds:
            held = self._held.setdefault(find.key, [])
            is_told = find.source != "html_comment" and find.content in held
            if is_told or self._entries[find.source] >= ENTRIES_MAX or (find.is_value and self._is_known(find)):
                continue
            self._entries[find.source] += 1
            history = tuple(held[-HISTORY_MAX:]) or self._before(find)
            yield StateEntry(
                stream_id=segment.stream_id, key=self._key(find, len(held)), source=find.source, content=find.content,
                confidence=CONFIDENCE[find.source], order=segment.order, span=find.span, history=history,
            )  # fmt: skip
            held.append(find.content)
            values = {find.key: find.content["value"]} if find.is_value else find.content
            self._values |= {name: str(value) for name, value in values.items() if isinstance(value, str | int | float)}

    def _is_known(self, find: Found) -> bool:
        return "".join(self._values.get(find.key, "").split()) == "".join(find.content["value"].split())

    def _before(self, find: Found) -> tuple[object, ...]:
        return (self._values[find.key],) if find.is_value and find.key in self._values else ()

    def _key(self, find: Found, count: int) -> str:
        owner = "value" if find.is_value else find.source
        name = find.key if count == 0 or find.is_value else f"{find.key}_{count + 1}"
        while name in self._owner and not (find.is_value and self._owner[name] == owner):
            name += "_"
        self._owner[name] = owner
        return name
