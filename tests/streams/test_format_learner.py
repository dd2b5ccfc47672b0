"""Samples of an unknown format → its entry, by the way that `learn_approval` says; no decision of a person is undone."""

import time
from collections.abc import Iterable
from dataclasses import replace

import pytest

from processors.discover import sample_of
from processors.knowledge import knowledge_of, shipped_knowledge
from processors.learning.in_use import USED_DAY
from processors.learning.lifecycle import DAY_MS, Approval
from processors.pipeline import run
from processors.snapshot import Snapshot
from schemas.failure import Failure, FailureCode, Stage
from schemas.output import Output
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


def outputs(held: Held, seed: int, count: int) -> list[Output]:
    return [
        run(f"{seed}-{request['id']}", [request["text"]], Meta(tools=tuple(request["tools"])), held.knowledge)
        for request, *_ in drawn("table rows", seed, count)
    ]


def misread(output: Output) -> Output:
    return replace(output, failures=(Failure(stream_id="s", code=FailureCode.REFUSED_CALL, stage=Stage.TOOL),))


def serve(held: Held, served: Iterable[Output], now_ms: float) -> None:
    for output in served:
        if (decide := held.learner.saw(output, now_ms)) and (records := decide(held.snapshot)):
            held.put(records)
            held.states += [record.state for record in records]


def test_active_format_that_gets_worse_goes_back_to_shadow_and_only_the_whole_test_brings_it_back() -> None:
    held = learned(Approval.AUTO, 40)
    (entry,) = held.snapshot.formats
    assert held.learner.wanted_formats() == {entry.id}
    good = [output for output in outputs(held, 31, 30) if output.format.id == entry.id]
    now_ms = time.time() * 1000
    serve(held, good, now_ms)
    assert held.snapshot.get(PatternKind.FORMAT, entry.id).state is PatternState.ACTIVE
    serve(held, map(misread, good), now_ms)
    back = held.snapshot.get(PatternKind.FORMAT, entry.id)
    assert (back.state, back.evidence[-1].data["reason"]) == (PatternState.SHADOW, "worse than control")
    for failure in samples(32, 12):
        held.see(failure)
    assert held.snapshot.get(PatternKind.FORMAT, entry.id).state is PatternState.SHADOW
    for failure in samples(33, 60):
        held.see(failure)
    moves = [step.data for step in held.snapshot.get(PatternKind.FORMAT, entry.id).evidence if step.step == "moved"]
    assert [move["to"] for move in moves[-3:]] == ["shadow", "canary", "active"]


def test_day_of_last_use_is_written_once_a_day_and_an_unused_format_retires() -> None:
    held = learned(Approval.AUTO, 40)
    (entry,) = held.snapshot.formats
    served = [output for output in outputs(held, 31, 8) if output.format.id == entry.id]
    now_ms = time.time() * 1000
    before = held.snapshot.version
    serve(held, served, now_ms)
    assert held.snapshot.version == before + 1
    assert held.snapshot.formats[0].counters[USED_DAY] == int(now_ms // DAY_MS)
    other = replace(served[0], format=replace(served[0].format, id="hermes"))
    serve(held, [other], now_ms + 89 * DAY_MS)
    assert held.snapshot.formats
    serve(held, [other], now_ms + 92 * DAY_MS)
    retired = held.snapshot.get(PatternKind.FORMAT, entry.id)
    assert (retired.state, retired.evidence[-1].data["reason"]) == (PatternState.RETIRED, "unused")


def test_pinned_format_is_left_alone() -> None:
    held = learned(Approval.AUTO, 40)
    (entry,) = held.snapshot.formats
    held.put([replace(entry, pinned=True, version=entry.version + 1)])
    served = [output for output in outputs(held, 31, 30) if output.format.id == entry.id]
    serve(held, map(misread, served), time.time() * 1000)
    serve(held, served[:1], time.time() * 1000 + 200 * DAY_MS)
    assert held.snapshot.get(PatternKind.FORMAT, entry.id).state is PatternState.ACTIVE


def test_an_output_that_comes_again_revised_is_not_counted_again() -> None:
    held = learned(Approval.AUTO, 40)
    (entry,) = held.snapshot.formats
    served = [output for output in outputs(held, 31, 30) if output.format.id == entry.id]
    serve(held, (replace(misread(output), rev=1) for output in served), time.time() * 1000)
    assert held.snapshot.get(PatternKind.FORMAT, entry.id).state is PatternState.ACTIVE
