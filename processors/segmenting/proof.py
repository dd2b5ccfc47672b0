"""A format and its own examples → what does not hold; the gate for shipped and for learned formats alike."""

from collections.abc import Iterable

from processors.catalog import Catalog, catalog_of, load_formats
from processors.segment import Segmenter
from processors.segmenting.format import Example, Format
from processors.segmenting.ledger import SegmentEvent
from schemas.jsonvalue import Json
from schemas.segment import CallDraft, Opened, Relabel, Segment, SegmentKind
from schemas.token import Meta


def with_format(entry: Format, formats: Iterable[Format] | None = None) -> Catalog:
    """A catalogue (the shipped one if none is given) in which the entry stands too."""
    return catalog_of([*(load_formats() if formats is None else formats), entry])


def problems_of(entry: Format, catalog: Catalog | None = None) -> tuple[str, ...]:
    """Each example and counter-example of the entry that the catalogue does not read as the entry says; none is good.

    Texts are read whole and character by character. The catalogue must hold the entry; by default it is the shipped
    one with the entry.
    """
    catalog = catalog or with_format(entry)
    problems = []
    for place, example in enumerate(entry.examples):
        wanted = _wanted(example)
        for pieces in ([example.text], list(example.text)):
            found = _read(catalog, pieces, example)
            problems += [
                f"example {place}: {part}: {found[part]!r} instead of {wanted[part]!r}"
                for part in wanted
                if found[part] != wanted[part]
            ]
    for place, text in enumerate(entry.counter_examples):
        found = _read(catalog, [text], Example(text=text))
        if found != {"reasoning": "", "response": text, "calls": []}:
            problems.append(f"counter-example {place}: read as {found!r}")
    return tuple(dict.fromkeys(problems))


def _wanted(example: Example) -> dict[str, Json]:
    calls = [(call.name, call.arguments) for call in example.calls]
    return {"reasoning": example.reasoning, "response": example.response, "calls": calls}


def _read(catalog: Catalog, pieces: list[str], example: Example) -> dict[str, Json]:
    tools = tuple({"type": "function", "function": {"name": name, "parameters": {}}} for name in example.tools)
    meta = Meta(tools=tools, reasoning_open=example.reasoning_open)
    segmenter = Segmenter(catalog, Opened(stream_id="example", meta=meta))
    events = [event for piece in pieces for event in segmenter.feed(piece)]
    events += segmenter.close()
    return _parts(events)


def _parts(events: list[SegmentEvent]) -> dict[str, Json]:
    kinds = {event.order: event.kind for event in events if isinstance(event, Relabel)}
    segments = [event for event in events if isinstance(event, Segment)]
    texts: dict[SegmentKind, list[str]] = {}
    for segment in segments:
        texts.setdefault(kinds.get(segment.order, segment.kind), []).append(segment.text)
    calls = [
        (segment.call.name, arguments_of(segment.call))
        for segment in segments
        if segment.call is not None and segment.call.complete
    ]
    return {
        "reasoning": "\n".join(texts.get(SegmentKind.REASONING, [])),
        "response": "".join(texts.get(SegmentKind.RESPONSE, [])),
        "calls": calls,
    }


def arguments_of(draft: CallDraft) -> Json:
    """A draft's arguments before any schema is applied: untyped ones as strings."""
    if draft.params is None:
        return draft.value if draft.arguments_text is None else draft.arguments_text
    arguments: dict[str, Json] = {}
    for param in draft.params:
        arguments.setdefault(param.key, param.value)
    return arguments
