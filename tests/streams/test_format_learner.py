"""Samples of an unknown format → its entry, by the way that `learn_approval` says; no decision of a person is undone."""

from dataclasses import replace

import pytest

from processors.discover import sample_of
from processors.knowledge import knowledge_of, shipped_knowledge
from processors.learning.lifecycle import Approval
from processors.pipeline import run
from processors.snapshot import Snapshot
from schemas.pattern import PatternKind, PatternState
from schemas.token import Meta
from streams.format_learner import FormatLearner
from streams.registry_changes import stamped
from tests.notations import drawn


class Held:
    """A registry in memory, changed by the learner as `edit` changes the real one."""

    def __init__(self, approval: Approval) -> None:
        self.snapshot, self.knowledge, self.states = Snapshot(), shipped_knowledge(), []
        self.learner = FormatLearner(lambda: self.knowledge, lambda: self.snapshot, approval)

    def put(self, records) -> None:
        version = self.snapshot.version + 1
        self.snapshot = self.snapshot.with_records(stamped(records, version), version)
        self.knowledge = knowledge_of(self.snapshot)

    def see(self, failure) -> None:
        decide = self.learner.observe(failure, 1)
        records = decide(self.snapshot) if decide else ()
        if records:
            self.put(records)
            self.states += [record.state for record in records if record.kind is PatternKind.FORMAT]


def samples(seed: int, count: int, notation: str = "table rows"):
    found = []
    for request, *_ in drawn(notation, seed, count):
        meta = Meta(tools=tuple(request["tools"]), model="new")
        failure = sample_of(run(f"{seed}-{request['id']}", [request["text"]], meta, shipped_knowledge()))
        found += [failure] if failure else []
    return found


def learned(approval: Approval, count: int) -> Held:
    held = Held(approval)
    for failure in samples(11, count):
        held.see(failure)
    return held


def distinct(states):
    return [state for place, state in enumerate(states) if place == 0 or states[place - 1] != state]


def test_auto_lets_a_format_in_after_its_proof_and_further_outputs() -> None:
    held = learned(Approval.AUTO, 40)
    assert [entry.state for entry in held.snapshot.of(PatternKind.FORMAT, *PatternState)] == [PatternState.ACTIVE]


def test_canary_goes_by_shadow_and_canary() -> None:
    held = learned(Approval.CANARY, 160)
    wanted = [PatternState.SHADOW, PatternState.CANARY, PatternState.ACTIVE]
    assert [state for state in distinct(held.states) if state is not PatternState.CANDIDATE] == wanted
    (entry,) = held.snapshot.formats
    moves = [step.data for step in entry.evidence if step.step == "moved"]
    assert [(move["from"], move["to"]) for move in moves] == [("shadow", "canary"), ("canary", "active")]


def test_manual_waits() -> None:
    assert set(learned(Approval.MANUAL, 60).states) == {PatternState.CANDIDATE}


@pytest.mark.parametrize("state", [PatternState.REJECTED, PatternState.RETIRED])
def test_what_was_taken_out_is_not_learned_again(state) -> None:
    held = learned(Approval.AUTO, 40)
    (entry,) = held.snapshot.formats
    held.put([replace(entry, state=state, version=entry.version + 1)])
    held.learner = FormatLearner(lambda: held.knowledge, lambda: held.snapshot, Approval.AUTO)
    for failure in samples(12, 40):
        held.see(failure)
    assert held.snapshot.get(PatternKind.FORMAT, entry.id).state is state
