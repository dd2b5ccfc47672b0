"""`{"name": …, "arguments": {…}}` and its relatives → the argument object inside."""

from collections.abc import Callable

from processors.repair.nodes import Items, Members, Node
from processors.repair.toolschema import Spec
from processors.repair.words import WORDS, fold
from processors.repair.work import Work

LAYERS_MAX = 5
NestedReader = Callable[[str, Spec], Node]


def unwrap(root: Members, spec: Spec, work: Work, read_nested: NestedReader) -> Members:
    """The object inside, as long as it fits the schema better than the one around it."""
    for _ in range(LAYERS_MAX):
        found = _inside(root, spec, work, read_nested)
        if found is None:
            return root
        key, inner = found
        rule = work.rules.find("wrapper_key", work.tool, "", key)
        work.note("rule" if rule else "unwrapped", rule=rule.id if rule else None, said=key)
        inner.is_open |= root.is_open
        inner.is_cut |= root.is_cut
        root = inner
    return root


def _inside(root: Members, spec: Spec, work: Work, read_nested: NestedReader) -> tuple[str, Members] | None:
    if spec.required and spec.required <= {key for key, _ in root.pairs}:
        return None
    own = _known(root, spec)
    for key, node in root.pairs:
        if not _is_wrapper(key, spec, work) or (len(root.pairs) > 1 and not _others_are_names(root, key, spec)):
            continue
        inner = _object_in(node, spec, read_nested)
        is_better = inner is not None and (
            _known(inner, spec) > own or (own == 0 and key not in spec.properties) or _wraps_more(inner, spec)
        )
        if inner is not None and is_better:
            if isinstance(node, str):
                work.note("decoded_nested")
            return key, inner
    return None


def _is_wrapper(key: str, spec: Spec, work: Work) -> bool:
    folded = fold(key)
    if folded in WORDS.wrappers or folded in WORDS.wrapper_calls or folded in WORDS.wrapper_names:
        return True
    return (bool(spec.name) and folded == fold(spec.name)) or bool(work.rules.find("wrapper_key", work.tool, "", key))


def _others_are_names(root: Members, key: str, spec: Spec) -> bool:
    """Whether all that stands beside the wrapper says which tool is meant, or talks about the call."""
    return all(
        other == key or fold(other) in WORDS.wrapper_names or fold(other) in WORDS.asides for other, _ in root.pairs
    ) and not (spec.required and spec.required <= {other for other, _ in root.pairs})


def _object_in(node: Node, spec: Spec, read_nested: NestedReader) -> Members | None:
    if isinstance(node, str):
        node = read_nested(str(node), spec)
    if isinstance(node, Items) and not node.is_elided:
        paired = _paired(node)
        node = paired or (node.values[0] if len(node.values) == 1 else None)
    return node if isinstance(node, Members) else None


def _paired(node: Items) -> Members | None:
    """`[{"name": "city", "value": "Leeds"}, …]`: one object for each parameter."""
    pairs: list[tuple[str, Node]] = []
    for one in node.values:
        said = dict(one.pairs) if isinstance(one, Members) else {}
        name = said.get("name", said.get("key"))
        if not isinstance(name, str) or "value" not in said:
            return None
        pairs.append((str(name), said["value"]))
    return Members(pairs, is_open=node.is_open, is_cut=node.is_cut) if pairs else None


def _known(members: Members, spec: Spec) -> int:
    return len({key for key, _ in members.pairs if key in spec.properties or fold(key) in spec.folded})


def _wraps_more(inner: Members, spec: Spec) -> bool:
    """A wrapper in a wrapper: `{"function": {"name": …, "arguments": …}}`."""
    keys = {fold(key) for key, _ in inner.pairs}
    return bool(keys & WORDS.wrappers) and bool(keys & WORDS.wrapper_names) and not keys & set(spec.folded)
