"""Raw argument text, in whatever form → a tree of tokens and the codes of what was odd."""

import re
from dataclasses import dataclass, field

from processors.repair.envelope import open_envelope
from processors.repair.form_lines import read_flags, read_lines
from processors.repair.form_xml import looks_like_xml, read_xml, text_in_xml
from processors.repair.lexis import SURROGATE, unescape
from processors.repair.nodes import Bare, Cut, Items, Members, Node
from processors.repair.strict import strict_tree, trusts_quotes
from processors.repair.tolerant import read_container, read_unopened
from processors.repair.toolschema import Spec
from processors.repair.unwrap import unwrap
from processors.repair.value_end import Source, TooMuchError, is_known
from processors.repair.words import fold
from processors.repair.work import Work
from schemas.toolcall import Refusal

_CALL = re.compile(
    r"(?:[^{｛\"'(]{0,200}?[\s\[`:：]|\[)?\s*([^\W\d][\w.]{0,119})\((?=\s*(?:\)|\*\*|\{|[^\W\d]\w*\s*=))"
)
_OBJECT = re.compile(
    r"[{｛](?=\s*(?:\\n)*\s*(?:[\"'“”„‘`«「『＂}｝]|\.\.\.|/\*|//|#|[^\W\d][\w.$ -]{0,80}[\"'”`]?\s*[:：=＝]))"
)
_LIST = re.compile(r"\s*[\[［]\s*[{｛]")
_FIRST_KEY = re.compile(r"""(?:\A|[\s:：,])["'“`]([^"'“”`\n:{}\[\]]{1,80})["'”`]\s*[:：=]""")
_TORN = re.compile(r"""["'][\s}\]]*[}\]][\s}\]]*\Z""")
"""A quote and closers behind an object: a text was taken apart."""
PROSE_MAX = 2_000
"""Longest prose in front of an object without its brace, in characters."""
_NAME_FIRST = re.compile(
    r"\s*(?:(?:action|tool|function)\s*:\s*)?([\w.-]{1,120})\s*"
    r"(?:\n\s*(?:(action input|arguments|input|parameters)\s*:)|[\n:]|(?=[\s{\[\"]))\s*(?=[{\[\"'“｛])",
    re.IGNORECASE,
)
COATS_MAX = 3
"""Most times that a container is written out as text in a text."""
ROOTS_MAX = 50
"""Most objects of one text that are compared."""


@dataclass(slots=True)
class Reading:
    """What was read: the argument object, or why there is none."""

    node: Members | None = None
    codes: list[str] = field(default_factory=list)
    ended: bool = False
    rivals: list[Members] = field(default_factory=list)
    """Different objects of one text, of which none can be chosen."""
    problem: Refusal | None = None


def read(raw: str, spec: Spec, work: Work) -> Reading:
    """The one argument object of a text."""
    if not raw.isascii() and SURROGATE.search(raw):
        raw = SURROGATE.sub("\ufffd", raw)
    tree = strict_tree(raw)
    if isinstance(tree, Members) and tree.pairs:
        return _only([tree], spec, Reading(), work)
    envelope = open_envelope(raw)
    reading = Reading(codes=envelope.codes, ended=envelope.ended)
    try:
        roots = _roots(envelope.text, spec, reading)
    except TooMuchError as limit:
        reading.problem = Refusal(code=str(limit))
        return reading
    if not roots:
        reading.problem = Refusal(code="no_call_found")
        return reading
    return _only(roots, spec, reading, work)


def read_nested(text: str, spec: Spec) -> Node:
    """A container written out as text, open if the text is cut; the text itself if it is none."""
    for _ in range(COATS_MAX):
        bare = text.strip()
        if len(bare) < 3 or bare[0] not in {'"', "'"} or bare[-1] != bare[0]:
            break
        text = unescape(bare[1:-1])
    source = Source(text)
    source.is_strict = trusts_quotes(text)
    at = source.skip(0)
    if text[at : at + 1] not in {"{", "[", "(", "｛", "［"}:
        return text
    try:
        node, end = read_container(source, at, spec)
    except TooMuchError:
        return text
    return node if not text[end:].strip(" \t\r\n}]") else text


def _roots(text: str, spec: Spec, reading: Reading) -> list[Node]:
    if not text.strip():
        return []
    text = _without_name(text, spec, reading)
    if looks_like_xml(text):
        return _xml_roots(text, spec, reading)
    if text[0] not in "{[｛［":
        if (flags := read_flags(text)) is not None:
            return _formed(flags, "flags_read", reading)
        if spec.properties and not _LIST.match(text) and (lines := read_lines(text, spec)) is not None:
            return _formed(lines, "lines_read", reading)
    if found := _CALL.match(text):
        return _call_roots(text, found, spec, reading)
    return _object_roots(text, spec, reading)


def _without_name(text: str, spec: Spec, reading: Reading) -> str:
    """The text behind a line or word that only names the tool."""
    found = _NAME_FIRST.match(text)
    if not found or not (fold(found[1]) == fold(spec.name) or found[2]):
        return text
    reading.codes.append("name_stripped")
    return text[found.end() :]


def _formed(node: Members, code: str, reading: Reading) -> list[Node]:
    reading.codes.append(code)
    return [node]


def _xml_roots(text: str, spec: Spec, reading: Reading) -> list[Node]:
    if (inner := text_in_xml(text, spec)) is not None:
        reading.codes.append("tags_read")
        return _object_roots(inner, spec, reading)
    if (node := read_xml(text, spec)) is not None:
        return _formed(node, "tags_read", reading)
    return _object_roots(text, spec, reading)


def _call_roots(text: str, found: re.Match[str], spec: Spec, reading: Reading) -> list[Node]:
    """`tool(city="Leeds")`, one or several."""
    reading.codes.append("call_read")
    roots: list[Node] = []
    at = found.end() - 1
    while at >= 0 and len(roots) < ROOTS_MAX:
        brace = re.compile(r"\(\s*(?:\*\*\s*)?(?=\{)").match(text, at)
        source = Source(text)
        root: Members | Items
        if brace:
            root, at = read_container(source, brace.end(), spec)
        else:
            root, at = read_unopened(source, at + 1, spec, ")")
        reading.codes += sorted(source.codes - {"equals_for_colon", "auto_quoted_keys", "open_brace_added"})
        roots.append(root)
        following = re.compile(r"[\s,;)]*[^\W\d][\w.]{0,119}\((?=\s*(?:\)|\*\*|\{|[^\W\d]\w*\s*=))").match(text, at)
        at = following.end() - 1 if following else -1
    return roots


def _object_roots(text: str, spec: Spec, reading: Reading) -> list[Node]:
    roots: list[Node] = []
    source = Source(text)
    source.is_strict = trusts_quotes(text)
    at, is_unopened = _first_start(text, spec)
    if text[: max(at, 0)].strip():
        source.codes.add("prose_stripped")
    if is_unopened:
        unopened, end = read_unopened(source, at, spec)
        _settle_end(unopened)
        roots.append(unopened)
        at = _next_start(text, end, source, spec, reading)
    while at >= 0 and len(roots) < ROOTS_MAX:
        root, end = read_container(source, at, spec)
        if isinstance(root, Items) and root.is_open:
            source.codes.add("closers_added")
        roots += root.values if isinstance(root, Items) and root.values else [root]
        at = _next_start(text, end, source, spec, reading)
    reading.codes += sorted(source.codes)
    return roots


def _next_start(text: str, end: int, source: Source, spec: Spec, reading: Reading) -> int:
    """Where another object begins behind one that ended; -1: nowhere."""
    following = _OBJECT.search(text, end)
    rest = text[end : following.start() if following else len(text)].strip()
    key = _FIRST_KEY.search(rest)
    if (key and is_known(key[1], spec) and spec.properties) or _TORN.match(rest):
        source.codes.add("pairs_behind")
    if rest.strip("}])`;"):
        source.codes.add("prose_stripped")
        reading.ended = True
    elif rest.strip("`;"):
        source.codes.add("extra_closers")
    return following.start() if following else -1


def _settle_end(root: Members) -> None:
    """An object without braces has no closer to miss: its last token is whole."""
    root.is_open = root.is_cut
    if root.pairs and isinstance(root.pairs[-1][1], Cut) and isinstance(root.pairs[-1][1].value, Bare):
        root.pairs[-1] = (root.pairs[-1][0], root.pairs[-1][1].value)


def _first_start(text: str, spec: Spec) -> tuple[int, bool]:
    """Where the first object begins, and whether its brace is missing; -1: nowhere."""
    if listed := _LIST.match(text):
        return text.index("[" if "[" in listed[0] else "［"), False
    if text[:1] in {"{", "｛"}:
        return 0, False
    found = _OBJECT.search(text)
    key = _FIRST_KEY.search(text, 0, found.start() if found else PROSE_MAX)
    if key and (is_known(key[1], spec) or not text[: key.start(1) - 1].strip(" ,")) and spec.properties:
        return key.start(1) - 1, True
    return (found.start() if found else -1), False


def _only(roots: list[Node], spec: Spec, reading: Reading, work: Work) -> Reading:
    """One object out of those found: equal ones are one, empty ones are none."""
    objects = [unwrap(root, spec, work, read_nested) for root in roots if isinstance(root, Members)]
    if len(objects) > 1:
        full = [one for one in objects if one.pairs]
        if len(full) < len(objects):
            reading.codes.append("empty_object_dropped")
        kinds = full[:1] + [one for one in full[1:] if one != full[0]]
        if len(kinds) < len(full):
            reading.codes.append("repeated_object_dropped")
        objects = kinds or objects[:1]
    if len(objects) != 1:
        code = "two_objects" if objects else "no_call_found"
        reading.problem = Refusal(code=code, message=str(len(objects)))
        reading.rivals = objects
    else:
        reading.node = objects[0]
    return reading
