"""A tenant's own rules: proved by their examples, run on RE2, beside the shipped ones."""

import time
from dataclasses import replace

import pytest

from processors.knowledge import knowledge_of
from processors.pii.custom import CustomRuleError, custom_rule, rules_with
from processors.pii.find import find_pii
from processors.pii.redact import redact
from processors.pii.stream import StreamRedactor
from processors.snapshot import snapshot_of
from schemas.pattern import Pattern, PatternKind, PatternState

BADGE = Pattern(
    id="badge",
    version=1,
    kind=PatternKind.PII,
    definition={"type": "badge", "pattern": "(?:工号|badge) ?(?P<pii>[A-Z]{2}-[0-9]{4})"},
    state=PatternState.ACTIVE,
    positives=("工号AB-1234，", "badge ZZ-0001"),
    negatives=("AB-1234",),
)


def test_a_custom_rule_works_beside_the_shipped_ones() -> None:
    rules = rules_with([BADGE])
    assert redact("张三的工号AB-1234，13800138001", rules).text == "张三的工号[BADGE_REDACTED]，[PHONE_REDACTED]"
    assert [(span.start, span.end, span.rule) for span in find_pii("😀工号AB-1234", rules)] == [(3, 10, "badge")]


def test_the_registrys_rules_reach_the_clean_stage() -> None:
    assert len(knowledge_of(snapshot_of([BADGE], 1)).clean_options.rules.finders) == 1
    retired = replace(BADGE, state=PatternState.RETIRED)
    assert knowledge_of(snapshot_of([retired], 2)).clean_options.rules.finders == ()


@pytest.mark.parametrize(
    ("definition", "positives", "negatives"),
    [
        ({"id": "a", "type": "b"}, ["x"], ["y"]),
        ({"id": "a", "type": "b", "pattern": "("}, ["x"], ["y"]),
        ({"id": "a", "type": "b", "pattern": "(?=x)x"}, ["x"], ["y"]),
        ({"id": "a", "type": "b", "pattern": "x" * 2000}, ["x"], ["y"]),
        ({"id": "a", "type": "B C", "pattern": "x"}, ["x"], ["y"]),
        ({"id": "a", "type": "b", "pattern": "x"}, [], ["y"]),
        ({"id": "a", "type": "b", "pattern": "x"}, ["x"], []),
        ({"id": "a", "type": "b", "pattern": "x"}, ["z"], ["y"]),
        ({"id": "a", "type": "b", "pattern": "x"}, ["x"], ["axb"]),
    ],
)
def test_a_rule_that_is_none_or_is_disproved_is_refused(definition: dict, positives: list, negatives: list) -> None:
    with pytest.raises(CustomRuleError):
        custom_rule(definition, positives, negatives)
    broken = replace(BADGE, definition=definition, positives=tuple(positives), negatives=tuple(negatives))
    assert rules_with([broken]).finders == ()


def test_a_hostile_pattern_takes_linear_time() -> None:
    rule = custom_rule({"id": "a", "type": "b", "pattern": "(a+)+b"}, ["aab"], ["c"])
    began = time.process_time()
    assert list(rule("a" * 200_000)) == []
    assert time.process_time() - began < 1


@pytest.mark.parametrize("size", [1, 3, 16])
def test_streams_hold_lines_for_rules_that_do_not_say_where_values_begin(size: int) -> None:
    text = "first line\nthe badge ZZ-0001 and\nmore 13800138001"
    stream = StreamRedactor(rules_with([BADGE]))
    parts = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)] + [stream.close()]
    assert "".join(parts) == "first line\nthe badge [BADGE_REDACTED] and\nmore [PHONE_REDACTED]"


def test_a_custom_span_that_overlaps_a_shipped_one_is_covered_too() -> None:
    wide = custom_rule(
        {"id": "a", "type": "ref", "pattern": "REF 13800138001 [0-9]{3}"}, ["REF 13800138001 123"], ["x"]
    )
    rules = replace(rules_with([]), finders=(wide,))
    assert redact("x REF 13800138001 123 y", rules).text == "x [REF_REDACTED] y"


def test_a_disproved_example_is_named_by_its_number_and_not_by_its_text() -> None:
    with pytest.raises(CustomRuleError, match="positive number 1") as found:
        custom_rule({"id": "b", "type": "badge", "pattern": "AB-[0-9]{4}"}, ["AB-1234", "CD-5678"], ["none"])
    assert "CD-5678" not in str(found.value)
    with pytest.raises(CustomRuleError, match="negative number 0") as found:
        custom_rule({"id": "b", "type": "badge", "pattern": "AB-[0-9]{4}"}, ["AB-1234"], ["AB-9999"])
    assert "AB-9999" not in str(found.value)
