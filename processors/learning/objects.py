"""Names inside JSON objects → hypotheses of objects that hold name and arguments under keys of their own."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from processors.learning.literals import LITERAL_CHARS_MAX, SUPPORT_MIN, Context, is_admissible, shared_suffix, strength
from processors.learning.openers import left_context
from processors.learning.sample import Anchor, Sample
from processors.learning.shape import NAME_AS_KEY, Reader, Shape
from processors.learning.values import any_literal, structure_end
from schemas.jsonvalue import Json, JsonObject

DEPTH_MAX = 3
BRACES_TRIED = 4
"""Objects around one name that are tried, from the inside out."""

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    output: int
    start: int
    end: int
    name_path: Path
    arguments_path: Path


def object_shapes(samples: Sequence[Sample], anchors: Sequence[Anchor]) -> Iterator[Shape]:
    """Shapes whose calls are whole JSON objects, for the key paths with most outputs."""
    found = [object_ for anchor in anchors if (object_ := _around(samples[anchor.sample], anchor)) is not None]
    outputs: Counter[tuple[Path, Path]] = Counter()
    for paths, _ in {((f.name_path, f.arguments_path), f.output) for f in found}:
        outputs[paths] += 1
    for (name_path, arguments_path), support in outputs.most_common(2):
        if support < SUPPORT_MIN:
            continue
        members = [f for f in found if (f.name_path, f.arguments_path) == (name_path, arguments_path)]
        yield from _shapes(samples, members, name_path, arguments_path)


def _shapes(samples: Sequence[Sample], members: list[_Found], name_path: Path, arguments_path: Path) -> Iterator[Shape]:
    befores: list[Context] = [(f.output, left_context(samples[f.output].plain, f.start)) for f in members]
    opener = shared_suffix(befores).lstrip()
    rests = [(f.output, samples[f.output].plain[f.end :][:LITERAL_CHARS_MAX].rstrip()) for f in members]
    close = _shared_close(rests)
    if strength(opener) == 0 or not is_admissible(opener) or not is_admissible(close):
        return
    at_line = all(context[: len(context) - len(opener)][-1:] in {"\n", ""} for _, context in befores)
    yield Shape(
        open=opener,
        line_start=at_line,
        reader=Reader.OBJECT,
        is_list=all(samples[f.output].plain[f.start] == "[" for f in members),
        close=close,
        name_path=name_path,
        arguments_path=arguments_path,
    )


def _shared_close(rests: list[Context]) -> str:
    reversed_rests = [(output, text) for output, text in rests]
    from_start = [(output, text[::-1]) for output, text in reversed_rests]
    return shared_suffix(from_start)[::-1]


def _around(sample: Sample, anchor: Anchor) -> _Found | None:
    """The outermost small object around a quoted name that has a place for its arguments."""
    text = sample.plain
    if text[anchor.start - 1 : anchor.start] not in {'"', "'"} or anchor.start == 0:
        return None
    best: _Found | None = None
    brace = anchor.start
    for _ in range(BRACES_TRIED):
        brace = text.rfind("{", max(0, brace - LITERAL_CHARS_MAX * 4), brace)
        if brace < 0:
            break
        end = structure_end(text, brace)
        if end <= anchor.end:
            continue
        read = any_literal(text[brace:end])
        paths = _paths(read[0], anchor.name, sample.tools) if read and isinstance(read[0], dict) else None
        if paths is not None:
            best = _Found(anchor.sample, brace, end, *paths)
    return _with_array(text, best) if best else None


def _paths(value: JsonObject, name: str, tools: dict[str, JsonObject]) -> tuple[Path, Path] | None:
    """Where an object holds the tool's name, and where an object of declared parameters."""
    name_path: Path | None = None
    arguments_path: Path | None = None
    properties = tools.get(name, {})
    pending: list[tuple[Path, Json]] = [((), value)]
    while pending:
        path, item = pending.pop()
        if item == name and path:
            name_path = name_path or path
        elif isinstance(item, dict) and len(path) <= DEPTH_MAX:
            if path and item.keys() <= properties.keys() and (item or arguments_path is None):
                arguments_path = path
            pending += [((*path, key), child) for key, child in item.items() if isinstance(key, str)]
    if name_path is None and len(value) == 1 and isinstance(value.get(name), dict):
        return NAME_AS_KEY, ()
    if name_path is None or arguments_path is None:
        return None
    return name_path, arguments_path


def _with_array(text: str, found: _Found) -> _Found | None:
    """The array an object is the first item of, the object itself outside of one, None for a later item."""
    before = text[max(0, found.start - LITERAL_CHARS_MAX) : found.start].rstrip()
    if before.endswith(","):
        return None
    if not before.endswith("["):
        return found
    start = text.rindex("[", 0, found.start)
    end = structure_end(text, start)
    return replace(found, start=start, end=end) if end else None
