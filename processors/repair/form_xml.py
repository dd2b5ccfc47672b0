"""Calls written as tags → a tree: child parameters, `<function=…>`, a tag or an attribute for each parameter, CDATA."""

import html
import re

from processors.repair.nodes import Cut, Loose, Members, Node
from processors.repair.toolschema import Spec
from processors.repair.words import WORDS, fold

_STARTS = re.compile(r"\s*<[A-Za-z_][\w:.-]*[\s>=/]")
_CDATA = re.compile(r"<!\[CDATA\[")
_PARAMETER = re.compile(
    r"<(?:[\w-]+:)?(parameter|param|arg|argument|arg_value)(?:\s+(?:name|key)\s*=\s*|\s*=\s*)[\"']?([^\"'>\n]{1,120}?)[\"']?(?:\s[^<>]{0,200})?>"
)
_TAG = re.compile(r"<([A-Za-z_][\w.-]{0,119})>")
_OPENING = re.compile(r"\s*<([A-Za-z_][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))+)\s*/?>")
_ATTRIBUTE = re.compile(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_PARAMETERS_MAX = 2_000


def looks_like_xml(text: str) -> bool:
    """Whether a text begins with a tag."""
    return bool(_STARTS.match(text))


def text_in_xml(text: str, spec: Spec) -> str | None:
    """The JSON text that tags carry: in CDATA, in an attribute, or as the only content."""
    if found := _CDATA.search(text, 0, 2_000):
        end = text.find("]]>", found.end())
        return text[found.end() : end if end >= 0 else len(text)]
    opening = _OPENING.match(text)
    for key, double, single in _ATTRIBUTE.findall(opening[2]) if opening else ():
        value = html.unescape(double or single)
        if fold(key) not in spec.folded and fold(key) in WORDS.wrappers and value.lstrip()[:1] in {"{", "["}:
            return value
    return None


def read_xml(text: str, spec: Spec) -> Members | None:
    """The parameters of a call written as tags; None if there are none."""
    return _children(text) or _tags(text, spec) or _attributes(text, spec)


def read_items(text: str) -> list[Loose]:
    """`<item>a</item><item>b</item>`: the contents, if the whole text is one tag repeated."""
    opening = _TAG.match(text.strip())
    if not opening:
        return []
    mark, end = opening[0], f"</{opening[1]}>"
    parts = text.strip().removesuffix(end).split(end)
    if not all(part.strip().startswith(mark) for part in parts) or not text.strip().endswith(end):
        return []
    return [Loose(part.strip().removeprefix(mark).strip()) for part in parts]


def _children(text: str) -> Members | None:
    pairs: list[tuple[str, Node]] = []
    is_open, at = False, 0
    while (found := _PARAMETER.search(text, at)) and len(pairs) < _PARAMETERS_MAX:
        end = text.find(f"</{_prefix(found[0])}{found[1]}", found.end())
        if end < 0:
            pairs.append((found[2].strip(), Cut(text[found.end() :])))
            is_open = True
            break
        pairs.append((found[2].strip(), _value(text[found.end() : end])))
        at = end
    return Members(pairs, is_open=is_open) if pairs else None


def _prefix(tag: str) -> str:
    head = tag[1 : tag.index(">")].split("=", maxsplit=1)[0].split(maxsplit=1)[0]
    return head[: head.index(":") + 1] if ":" in head else ""


def _value(body: str) -> Loose:
    """One framing newline on each side belongs to the markup; entities are read if nothing else needs them raw."""
    body = body.removeprefix("\r").removeprefix("\n")
    body = body.removesuffix("\n")
    return Loose(html.unescape(body) if "&" in body and "<" not in body else body)


def _tags(text: str, spec: Spec) -> Members | None:
    pairs: list[tuple[str, Node]] = []
    at = 0
    outer = _TAG.match(text.lstrip())
    while (found := _TAG.search(text, at)) and len(pairs) < _PARAMETERS_MAX:
        at = found.end()
        is_container = outer is not None and not pairs and found[1] == outer[1] and found[1] not in spec.properties
        is_wrapper = fold(found[1]) in WORDS.wrappers and fold(found[1]) not in spec.folded
        if is_container or is_wrapper:
            continue
        end = text.find(f"</{found[1]}>", at)
        if end < 0:
            return Members([*pairs, (found[1], Cut(text[at:]))], is_open=True)
        pairs.append((found[1], _value(text[at:end])))
        at = end + len(found[1]) + 3
    return Members(pairs) if pairs else None


def _attributes(text: str, spec: Spec) -> Members | None:
    opening = _OPENING.match(text)
    pairs: list[tuple[str, Node]] = []
    for key, double, single in _ATTRIBUTE.findall(opening[2]) if opening else ():
        if key in spec.properties or fold(key) not in WORDS.wrapper_names:
            pairs.append((key, Loose(html.unescape(double or single))))
    return Members(pairs) if pairs else None
