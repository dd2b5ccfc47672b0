"""Written keys of an object → the schema's keys, each at most once.

Exact names first; then spelling (case, `_`, camel case), attribute residue cut off, a nested object's key, edit
distance, synonyms, and last the only one left. A key that could stand for several missing parameters is a refusal,
not a guess.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from rapidfuzz.distance import OSA, Indel

from processors.repair.fits import fits, is_specific
from processors.repair.nodes import Items, Members, Node
from processors.repair.toolschema import Spec
from processors.repair.words import WORDS, fold, tokens

NAME_MAX = 120
"""Longest key compared with parameter names, in characters."""
UNKNOWN_MAX = 40
"""Most unknown keys of one object that are compared; what comes after them is unknown."""
GUESSES = frozenset({"name_synonym", "unknown_param_renamed"})
"""Codes of names that were taken for a parameter by their meaning or their value alone."""
NEAR = 0.6
"""Similarity to an unset parameter from which an unknown key is not dropped."""
_RESIDUE = re.compile(r"""([^"'<>=]{1,80}?)["']?(?:\s+[\w-]+=.*|["'<>=].*)\Z""", re.DOTALL)
Pair = tuple[str, Node]


@dataclass(slots=True)
class Names:
    """Where each pair of an object goes."""

    given: list[tuple[str, str, Node, str]] = field(default_factory=list)
    """Parameter, code of the renaming or empty, value, key as written."""
    unknown: list[Pair] = field(default_factory=list)
    ambiguous: list[str] = field(default_factory=list)
    """Keys that could be any of several missing parameters."""

    def are_foreign(self) -> bool:
        """Whether most names belong elsewhere: some are unknown, and with the guessed ones they outweigh the rest."""
        strange = [key for key, _ in self.unknown if fold(key) not in WORDS.asides | WORDS.wrapper_names]
        guessed = [key for key, code, _, _ in self.given if code in GUESSES]
        return bool(strange) and len(strange) + 2 * len(guessed) > len(self.given)


def match_names(pairs: list[Pair], spec: Spec) -> Names:
    """Assign the pairs of an object to the properties of its Spec."""
    names = Names()
    strange: list[Pair] = []
    for key, node in pairs:
        if key in spec.properties:
            names.given.append((key, "", node, key))
        else:
            strange.append((key, node))
    if not strange:
        return names
    if len(strange) <= UNKNOWN_MAX and spec.properties:
        strange = _settle(strange, spec, names)
    names.unknown = strange
    return names


def _settle(strange: list[Pair], spec: Spec, names: Names) -> list[Pair]:
    said = [(key, node) for key, node in strange if node == spec.name and fold(key) in WORDS.wrapper_names]
    strange = [pair for pair in strange if pair not in said]
    return said + _assign(strange, spec, names)


def _assign(strange: list[Pair], spec: Spec, names: Names) -> list[Pair]:
    strange = _nested(_assigned(strange, spec, names, "name_style", _by_spelling), spec, names)
    for code, step in (("name_residue", _by_residue), ("name_fuzzy", _by_distance), ("name_synonym", _by_synonym)):
        strange = _assigned(strange, spec, names, code, step)
    return _only_one_left(strange, spec, names) if strange else strange


def _unset(spec: Spec, names: Names) -> dict[str, Spec]:
    taken = {key for key, _, _, _ in names.given}
    return {key: inner for key, inner in spec.properties.items() if key not in taken}


def _assigned(
    strange: list[Pair], spec: Spec, names: Names, code: str, step: Callable[[str, Node, Spec], list[str]]
) -> list[Pair]:
    """Give each key its parameter where one step finds one, unset, that no other key asks for."""
    unset = _unset(spec, names)
    wishes = [step(key, node, spec) if len(key) <= NAME_MAX else [] for key, node in strange]
    left = []
    for (key, node), wish in zip(strange, wishes, strict=True):
        rivals = sum(wish == other for other in wishes)
        if len(wish) == 1 and (code == "name_style" or (wish[0] in unset and rivals == 1)):
            names.given.append((wish[0], code, node, key))
        else:
            left.append((key, node))
            if code == "name_synonym" and (len(wish) > 1 or rivals > 1) and set(wish) & set(unset) & spec.required:
                names.ambiguous.append(key)
    return left


def _by_spelling(key: str, node: Node, spec: Spec) -> list[str]:
    del node
    return list(spec.folded.get(fold(key), ()))


def _by_residue(key: str, node: Node, spec: Spec) -> list[str]:
    found = _RESIDUE.match(key)
    return _by_spelling(found[1], node, spec) if found else []


def _by_distance(key: str, node: Node, spec: Spec) -> list[str]:
    said = fold(key)
    if len(said) < 3 or said in WORDS.asides:
        return []
    most = 2 if len(said) > 5 else 1
    ranked = sorted((OSA.distance(said, fold(name), score_cutoff=4), name) for name in spec.properties)
    near = [(distance, name) for distance, name in ranked if distance <= most + 1]
    if not near or near[0][0] > most or (len(near) > 1 and near[1][0] - near[0][0] < 1):
        return []
    name = near[0][1]
    return [name] if _may_be_slip(key, name) and fits(node, spec.properties[name]) else []


def _may_be_slip(key: str, name: str) -> bool:
    """Not two words of their own: `x_min` is no slip for `y_min`, `price_max` none for `price_min`."""
    one, two = tokens(key), tokens(name)
    if re.sub(r"\D", "", key) != re.sub(r"\D", "", name):
        return False
    if len(one) != len(two):
        return len(fold(name)) >= 5
    apart = [(a, b) for a, b in zip(one, two, strict=True) if a != b]
    return all(_is_slip_of(a, b) for a, b in apart)


def _is_slip_of(one: str, two: str) -> bool:
    is_plural = one == two + "s" or two == one + "s"
    return is_plural or (max(len(one), len(two)) >= 4 and frozenset((one, two)) not in WORDS.opposites)


def _by_synonym(key: str, node: Node, spec: Spec) -> list[str]:
    said = fold(key)
    if said in WORDS.asides:
        return []
    groups = WORDS.name_groups.get(said)
    shared = [name for name in spec.properties if groups and groups & WORDS.name_groups.get(fold(name), frozenset())]
    shared = shared or _by_parts(key, spec) or _by_head(said, spec)
    if not spec.closed:  # other keys are allowed: only a missing required parameter is reason to take one for it
        shared = [name for name in shared if name in spec.required]
    return [name for name in shared if fits(node, spec.properties[name])]


def _by_parts(key: str, spec: Spec) -> list[str]:
    """`service_name` for `service`, `minutes` for `duration_minutes`."""
    said = set(map(_singular, tokens(key)))
    found = []
    for name in spec.properties:
        own = set(map(_singular, tokens(name)))
        extra, missing = said - own, own - said
        if (not missing and extra <= WORDS.fillers) or (not extra and said) or _same_but_filler(extra, missing):
            found.append(name)
    return found


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _by_head(said: str, spec: Spec) -> list[str]:
    """`directory` for `log_dir`: a synonym of the name's last word."""
    groups = WORDS.name_groups.get(said, frozenset())
    heads = {name: tokens(name)[-1:] for name in spec.properties}
    return [name for name, head in heads.items() if head and groups & WORDS.name_groups.get(head[0], frozenset())]


def _same_but_filler(extra: set[str], missing: set[str]) -> bool:
    return bool(extra) and extra | missing <= WORDS.fillers


def _nested(strange: list[Pair], spec: Spec, names: Names) -> list[Pair]:
    """Rebuild objects that were written flat: `size.width`, `size[width]`, or `width` alone."""
    built: dict[str, Members] = {}
    left = []
    unset = _unset(spec, names)
    parents = {key: inner for key, inner in unset.items() if inner.properties}
    for key, node in strange if parents else ():
        homes = _homes(key, parents)
        if len(homes) == 1:
            parent, child = homes[0]
            built.setdefault(parent, Members([])).pairs.append((child, node))
        else:
            left.append((key, node))
    names.given += [(parent, "nested_rebuilt", members, parent) for parent, members in built.items()]
    return left if parents else strange


def _homes(key: str, parents: dict[str, Spec]) -> list[tuple[str, str]]:
    head, _, tail = key.replace("[", ".").replace("]", "").replace("__", ".").replace("/", ".").partition(".")
    if tail:
        return [(name, tail) for name in parents if name == head or fold(name) == fold(head)]
    found = [(name, key) for name, parent in parents.items() if key in parent.properties]
    if found:
        return found
    return [
        (name, parent.folded[fold(key.removeprefix(name))][0]) for name, parent in parents.items()
        if key.startswith(name) and fold(key.removeprefix(name)) in parent.folded
    ]  # fmt: skip


def _only_one_left(strange: list[Pair], spec: Spec, names: Names) -> list[Pair]:
    """One required parameter missing and one unknown key whose value belongs there: that one."""
    missing = {key: inner for key, inner in _unset(spec, names).items() if key in spec.required}
    able = [
        (key, name) for key, node in strange if fold(key) not in WORDS.asides
        for name, inner in missing.items() if fits(node, inner)
    ]  # fmt: skip
    keys, wanted = {key for key, _ in able}, {name for _, name in able}
    if len(keys) == len(wanted) == 1:
        key, name = able[0]
        node = dict(strange)[key]
        if is_specific(node, missing[name]) or _is_related(key, missing[name]):
            names.given.append((name, "unknown_param_renamed", node, key))
            return [pair for pair in strange if pair[0] != key]
    elif len(wanted) > 1 and keys:
        names.ambiguous += [key for key in keys if key not in names.ambiguous]
    return strange


def _is_related(key: str, spec: Spec) -> bool:
    words = {word for word in tokens(key) if len(word) > 2} - {"the", "and", "for"}
    described = set(tokens(spec.description)) | set(tokens(spec.name))
    return bool(words & described) or Indel.normalized_similarity(fold(key), fold(spec.name)) >= NEAR


def is_near_unset(key: str, node: Node, spec: Spec, taken: set[str]) -> bool:
    """Whether an unknown key looks like a parameter that got no value, by its name or by a list or object it holds."""
    said = fold(key)
    if said in WORDS.asides:
        return False
    unset = {name: inner for name, inner in spec.properties.items() if name not in taken}
    if isinstance(node, Items | Members) and any(inner.types and fits(node, inner) for inner in unset.values()):
        return True
    return any(Indel.normalized_similarity(said, fold(name)) >= NEAR for name in unset)
