"""An induced shape → a catalogue entry: the same data as a shipped format, literals and closed enums only."""

import orjson

from processors.learning.induce import Induced
from processors.learning.literals import STRONG, strength
from processors.learning.shape import ECHO, NAME, NAME_AS_KEY, RUN, Reader, Shape, Typing
from processors.segmenting.format import CallGrammar, ContentMarkers, Format, PairLiterals, ReasoningMarkers
from schemas.jsonvalue import JsonObject

EXAMPLE_TOOL = "example_tool"
EXAMPLE_KEY = "example_key"
EXAMPLE_VALUE = 7


def definition_of(induced: Induced, entry_id: str) -> JsonObject:
    """The entry's definition, with examples rendered from it, ready for the registry."""
    shape, thought = induced.shape, induced.thought
    reasoning = None
    if thought is not None:
        opens = (_template(thought.open),) if thought.open else ()
        reasoning = ReasoningMarkers(
            open=opens, close=(_template(thought.close),), implied=thought.open_optional or not opens, anywhere=True
        )
    frame = induced.frame
    content = None
    if frame.open:
        content = ContentMarkers(open=(_template(frame.open),), close=(_template(frame.close),))
    call = _grammar(shape)
    text = rendered(shape, EXAMPLE_TOOL, {EXAMPLE_KEY: EXAMPLE_VALUE})
    value = EXAMPLE_VALUE if shape.typing is Typing.SELF else str(EXAMPLE_VALUE)
    example = {"text": text, "calls": [{"name": EXAMPLE_TOOL, "arguments": {EXAMPLE_KEY: value}}]}
    entry = Format.model_validate(
        {
            "id": entry_id,
            "models": (),
            "source": "learned from outputs that no known format parsed",
            "reasoning": reasoning,
            "content": content,
            "end": (_template(frame.end),) if frame.end else (),
            "calls": (call,),
            "examples": (example,),
            "counter_examples": ("A plain answer without any call.",),
        }
    )
    return entry.model_dump(mode="json", exclude_defaults=True)


def _template(literal: str) -> str:
    """A literal as a marker template: what a template would read as a placeholder can't be in one."""
    literal = literal.replace(NAME, "$word", 1).replace(NAME, "$any").replace(ECHO, "$key")
    return literal.replace(RUN, "$id", 1).replace(RUN, "$any")  # a template names each of its variables once


def is_expressible(induced: Induced) -> bool:
    """Whether the literals mean the same as templates: a `$` of their own could be read as a placeholder."""
    shape, thought = induced.shape, induced.thought
    literals = [*shape.literals, *((thought.open, thought.close) if thought else ())]
    return not any(f"${word}" in literal for literal in literals for word in _PLACEHOLDERS)


_PLACEHOLDERS = ("name", "tool", "any", "key", "id", "index", "type", "string", "ws", "q", "(", ")")


def _grammar(shape: Shape) -> CallGrammar:
    """Marker templates and body of the shape."""
    whole = shape.reader is not Reader.OBJECT
    head = shape.open + (NAME if whole else "")
    opens = [head + shape.first if shape.reader is Reader.JSON else head]
    section_open: tuple[str, ...] = (_template(shape.section_open),) if shape.section_open else ()
    if shape.again is not None and shape.section_close:
        section_open = (_template(shape.open),)
        opens = [shape.again + opens[0][len(shape.open) :]]
    section_close = shape.section_close
    if shape.is_list:
        section_open, opens, section_close = (
            (_template(shape.open + "["),),
            [""],
            "]" + shape.close + shape.section_close,
        )
    closes = [close for close in dict.fromkeys((_stop(shape.close), shape.empty)) if close]
    if shape.reader is not Reader.PAIRS:
        closes = closes[:1] if shape.close and not shape.is_list else []
    return CallGrammar(
        section_open=section_open,
        section_close=(_template(section_close),) if section_open and section_close else (),
        open=tuple(_template(opener) for opener in opens),
        close=tuple(_template(close) for close in closes),
        body="literal_pairs" if shape.reader is Reader.PAIRS else "json_object",
        place="line" if shape.line_start and not section_open else "anywhere",
        # A weaker opener may stand in prose: then only a readable call of a registered tool is one.
        tentative=shape.reader is not Reader.OBJECT and strength(shape.section_open + shape.open) < STRONG,
        name_keys=(".".join(shape.name_path),) if _is_object(shape) else ("name",),
        argument_keys=(".".join(shape.arguments_path),) if _is_object(shape) else ("arguments",),
        name_is_key=shape.name_path == NAME_AS_KEY,
        pairs=_pairs(shape) if shape.reader is Reader.PAIRS else None,
    )


def _is_object(shape: Shape) -> bool:
    return shape.reader is Reader.OBJECT and shape.name_path != NAME_AS_KEY


def _stop(close: str) -> str:
    """The part of a close that is looked for: behind the echo of the last key."""
    return close.rsplit(ECHO, maxsplit=1)[-1]


def _pairs(shape: Shape) -> PairLiterals:
    return PairLiterals(
        first=_template(shape.first),
        key_end=_template(shape.key_end),
        next=_template(shape.next),
        close=_template(shape.close),
        empty=_template(shape.empty),
        typing=shape.typing.value,
        quote=shape.quote,
        decode=shape.decode,  # type: ignore[arg-type]  # the model checks them
    )


def rendered(shape: Shape, name: str, arguments: JsonObject) -> str:
    """One call as the shape writes it; the entry's own example, never text of a sample."""

    def fill(literal: str, key: str = "") -> str:
        return literal.replace(NAME, name).replace(ECHO, key).replace(RUN, "x1")

    if shape.reader is Reader.OBJECT:
        return _rendered_object(shape, name, arguments)
    text = fill(shape.section_open + shape.open) + name
    if shape.reader is Reader.JSON:
        return text + fill(shape.first) + orjson.dumps(arguments).decode() + fill(shape.close + shape.section_close)
    key = ""
    for place, (key, value) in enumerate(arguments.items()):
        text += fill(shape.next if place else shape.first, key) + key + fill(shape.key_end, key)
        text += orjson.dumps(value).decode()
    return text + fill(shape.close, key) + fill(shape.section_close)


def _rendered_object(shape: Shape, name: str, arguments: JsonObject) -> str:
    value: JsonObject = {name: arguments}
    if shape.name_path != NAME_AS_KEY:
        value = {}
        for path, leaf in ((shape.name_path, name), (shape.arguments_path, arguments)):
            place = value
            for key in path[:-1]:
                place = place.setdefault(key, {})
            place[path[-1]] = leaf
    body = orjson.dumps([value] if shape.is_list else value).decode()
    return shape.section_open + shape.open + body + shape.close + shape.section_close
