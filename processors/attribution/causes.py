"""Signs of a failure → its cause: a tree that is data (causes.toml), each leaf with incidents that are its and not.

A node adds up the weights of the signs that the failure bears: natural logarithms of how much likelier a sign is if the
cause lies below the node than if it lies elsewhere. A leaf's score is the sum on its way from the root, and the
logarithm of its prior: how often it was the cause before, as the file says or as history counted. Probabilities are the
scores made to sum to one.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from math import exp, log

from pydantic import BaseModel, ConfigDict

from processors.attribution.signs import borne
from processors.dispatching.errors import Fault

HISTORY_WEIGHT = 20
"""How many counted causes weigh as much as the file's prior."""


class Cause(StrEnum):
    """Why a call failed."""

    NETWORK = "network"
    """The way to several upstreams is disturbed."""
    DEPENDENCY = "dependency"
    """One upstream does not work."""
    BAD_ARGUMENT = "bad_argument"
    """What was given has the wrong form or range."""
    PERMISSION = "permission"
    """Whoever calls may not, or not any more."""
    DATA = "data"
    """The record that is meant is missing, double, or does not fit the others."""
    STALE_LIST = "stale_list"
    """A list that the tool looks a value up in does not say what is true now."""
    JITTER = "jitter"
    """It happened once, nothing around it is sick, nobody said anything: nothing is to be learned from it."""
    SKIPPED_FALLBACK = "skipped_fallback"
    """What the contract asks for after a failure was not done; found by retrospection, not from one error."""
    UNKNOWN = "unknown"
    """No sign says anything."""


class Incident(BaseModel):
    """An example in the file: an error and the signs of its context."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: str = ""
    code: int | None = None
    text: str = ""
    signs: tuple[str, ...] = ()

    def borne(self) -> set[str]:
        """All signs."""
        fault = Fault(kind=self.kind, code=self.code, text=self.text)
        return {one.sign for one in borne(fault)} | set(self.signs)


class Node(BaseModel):
    """One node of the tree; a leaf names its cause."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    under: str | None = None
    cause: Cause | None = None
    prior: float = 0.1
    weights: dict[str, float]
    positives: tuple[Incident, ...] = ()
    negatives: tuple[Incident, ...] = ()


@dataclass(frozen=True, slots=True)
class Inferred:
    """What the tree says."""

    cause: Cause
    path: tuple[str, ...]
    """Nodes from the root to the cause."""
    because: tuple[str, ...]
    """Signs that speak for it."""
    against: tuple[str, ...]
    probabilities: dict[str, float]
    """By cause, highest first."""


@dataclass(frozen=True, slots=True)
class CauseTree:
    """The nodes by their ids."""

    nodes: Mapping[str, Node]

    def infer(self, signs: Iterable[str], history: Mapping[str, int] | None = None) -> Inferred:
        """The likeliest cause. history: how often each cause was that of earlier failures of the tool."""
        given = set(signs)
        counted = history or {}
        total = sum(counted.values())
        scores: dict[Cause, tuple[float, Node]] = {}
        for node in self.nodes.values():
            if node.cause is not None:
                prior = (node.prior * HISTORY_WEIGHT + counted.get(node.cause, 0)) / (HISTORY_WEIGHT + total)
                scores[node.cause] = (log(prior) + sum(_weight(one, given) for one in self.path(node)), node)
        highest = max(score for score, _ in scores.values())
        shares = {cause: exp(score - highest) for cause, (score, _) in scores.items()}
        whole = sum(shares.values())
        ordered = sorted(shares, key=lambda cause: (-shares[cause], cause))
        probabilities = {str(cause): round(shares[cause] / whole, 4) for cause in ordered}
        path = self.path(scores[ordered[0]][1])
        weights = {sign: sum(node.weights.get(sign, 0.0) for node in path) for sign in given}
        pro = sorted((sign for sign in given if weights[sign] > 0), key=lambda sign: (-weights[sign], sign))
        contra = sorted((sign for sign in given if weights[sign] < 0), key=lambda sign: (weights[sign], sign))
        cause = ordered[0] if pro else Cause.UNKNOWN
        return Inferred(cause, tuple(node.id for node in path), tuple(pro), tuple(contra), probabilities)

    def path(self, node: Node) -> tuple[Node, ...]:
        """From the root to a node."""
        above = self.path(self.nodes[node.under]) if node.under else ()
        return (*above, node)


def _weight(node: Node, signs: set[str]) -> float:
    return sum(weight for sign, weight in node.weights.items() if sign in signs)


def read_tree(text: str) -> CauseTree:
    """The tree of a TOML text; raises ValueError where it is none, or a leaf fails its own examples."""
    nodes: dict[str, Node] = {}
    for entry in tomllib.loads(text).get("node", []):
        node = Node.model_validate(entry)
        if node.id in nodes or (node.under is not None and node.under not in nodes):
            raise ValueError(f"{node.id}: twice, or under a node that does not stand before it")
        nodes[node.id] = node
    tree = CauseTree(nodes)
    if not any(node.cause for node in nodes.values()):
        raise ValueError("no node names a cause")
    for node in nodes.values():
        if node.cause is not None:
            wrong = [one for one in node.positives if tree.infer(one.borne()).cause is not node.cause]
            wrong += [one for one in node.negatives if tree.infer(one.borne()).cause is node.cause]
            if wrong or not node.positives or not node.negatives:
                raise ValueError(f"{node.id}: fails its example {wrong[:1]}")
    return tree


@cache
def shipped_tree() -> CauseTree:
    """The tree in causes.toml."""
    return read_tree(files("processors.attribution").joinpath("causes.toml").read_text(encoding="utf-8"))
