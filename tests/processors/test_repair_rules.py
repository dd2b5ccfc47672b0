"""Learned rules: shape, scope, precedence, and what they cannot do."""

import json

import pytest

from processors.repair import NO_RULES, RuleError, check, repair, rules_of
from processors.repair.rules import checked_rule
from schemas.pattern import Pattern, PatternKind, PatternState
from tests.processors.repair_rows import FERRY, OPEN

DAY = {"route": "express", "departure_day": "2031-05-04"}


def rule(number: int, kind: str, word: str, action: dict, **scope: str) -> Pattern:
    definition = {"kind": kind, "match": {"folded": word}, "action": action, "scope": {"tool": "book_ferry", **scope}}
    return Pattern(
        id=f"r-{number}", version=1, kind=PatternKind.REPAIR_RULE, definition=definition, state=PatternState.ACTIVE
    )


FAST = rule(1, "value_alias", "quickone", {"set": "express"}, param="/route")


def test_a_value_alias_replaces_a_word_that_nothing_else_reads() -> None:
    written = DAY | {"route": "Quick One"}
    assert check(written, FERRY).refusal.code == "enum_no_match"
    got = check(written, FERRY, rules=rules_of([FAST]))
    assert got.arguments == DAY
    assert [(one.code, one.path, one.rule) for one in got.repairs] == [("rule", "/route", "r-1")]


def test_a_rule_goes_before_fuzzy_work() -> None:
    other = rule(2, "value_alias", "exprss", {"set": "southern"}, param="/route")
    assert check(DAY | {"route": "exprss"}, FERRY, rules=rules_of([other])).arguments["route"] == "southern"


def test_names_are_renamed_and_dropped_by_rule() -> None:
    rules = rules_of([
        rule(3, "param_alias", "abfahrt", {"rename": "departure_day"}, param=""),
        rule(4, "drop_param", "mood", {"drop": True}, param=""),
    ])  # fmt: skip
    got = check({"route": "express", "Abfahrt": "2031-05-04", "mood": "calm"}, FERRY, rules=rules)
    assert got.arguments == DAY
    assert [one.rule for one in got.repairs] == ["r-3", "r-4"]


def test_a_wrapper_key_is_learned() -> None:
    rules = rules_of([rule(11, "wrapper_key", "umschlag", {"unwrap": True}, param="")])
    raw = '{"Umschlag": {"route": "express", "departure_day": "2031-05-04"}}'
    assert repair(raw, FERRY).status == "refused"
    got = repair(raw, FERRY, rules=rules)
    assert got.arguments == DAY
    assert [one.rule for one in got.repairs] == ["r-11"]


def test_the_order_of_day_and_month_is_learned_for_one_shape() -> None:
    first = rules_of([rule(12, "date_order", "99/99/9999", {"order": "day_first"}, param="/departure_day")])
    written = DAY | {"departure_day": "04/05/2031"}
    assert check(written, FERRY).refusal.code == "date_day_month_unclear"
    assert check(written, FERRY, rules=first).arguments["departure_day"] == "2031-05-04"
    assert check(DAY | {"departure_day": "4-5-2031"}, FERRY, rules=first).refusal.code == "date_day_month_unclear"


def test_a_placeholder_rule_refuses() -> None:
    rules = rules_of([rule(5, "placeholder", "asdf", {"refuse": True}, param="/remark")])
    assert check(DAY | {"remark": "asdf"}, FERRY, rules=rules).refusal.code == "placeholder"
    assert check(DAY | {"remark": "asdf"}, FERRY).status == "ok"


def test_items_of_a_list_share_one_place() -> None:
    rules = rules_of([rule(6, "value_alias", "penthouse", {"set": "suite"}, param="/cabins/*")])
    assert check(DAY | {"cabins": ["inside", "Penthouse"]}, FERRY, rules=rules).arguments["cabins"] == [
        "inside",
        "suite",
    ]


def test_scopes_are_kept() -> None:
    assert check({"line": "a", "level": "quickone"}, OPEN, rules=rules_of([FAST])).status == "refused"
    own = rule(7, "value_alias", "quickone", {"set": "southern"}, param="/route", tenant="acme")
    written = DAY | {"route": "quickone"}
    assert check(written, FERRY, rules=rules_of([FAST, own], "acme")).arguments["route"] == "southern"
    assert check(written, FERRY, rules=rules_of([FAST, own], "other")).arguments["route"] == "express"


def test_rules_that_contradict_each_other_are_both_left_out() -> None:
    rules = rules_of([FAST, rule(8, "value_alias", "quickone", {"set": "southern"}, param="/route")])
    assert rules.table == {}
    assert rules.unusable == ("r-1", "r-8")


def test_no_rule_gets_around_validation_or_a_cut() -> None:
    wrong = rules_of([rule(9, "value_alias", "many", {"set": 99}, param="/passengers")])
    assert check(DAY | {"passengers": "many"}, FERRY, rules=wrong).refusal.code == "out_of_range"
    cut = rules_of([rule(10, "value_alias", "please wai", {"set": "please wait"}, param="/remark")])
    raw = '{"route": "express", "departure_day": "2031-05-04", "remark": "please wai'
    assert repair(raw, FERRY, rules=cut).refusal.code == "truncated_text"


BAD = [
    ({"kind": "script", "match": {"folded": "a"}, "action": {"set": 1}}, "kind"),
    ({"kind": "value_alias", "match": {"regex": ".*"}, "action": {"set": 1}}, "match"),
    ({"kind": "value_alias", "match": {"folded": ""}, "action": {"set": 1}}, "match"),
    ({"kind": "value_alias", "match": {"folded": "a"}, "action": {"run": "x"}}, "action"),
    ({"kind": "value_alias", "match": {"folded": "a"}, "action": {"set": [1]}}, "action"),
    ({"kind": "date_order", "match": {"folded": "99/99/9999"}, "action": {"order": "any"}}, "action"),
    ({"kind": "param_alias", "match": {"folded": "a"}, "action": {"rename": 3}}, "action"),
    ({"kind": "value_alias", "match": {"folded": "a"}, "action": {"set": 1}, "scope": {"host": "x"}}, "scope"),
    ({"kind": "value_alias", "match": {"folded": "a"}, "action": {"set": 1}}, "scope"),
]


@pytest.mark.parametrize(("definition", "field"), BAD)
def test_what_is_outside_of_the_shape_is_named(definition: dict, field: str) -> None:
    with pytest.raises(RuleError, match=f"^{field}"):
        checked_rule(definition)
    bad = Pattern(id="b", version=1, kind=PatternKind.REPAIR_RULE, definition=definition, state=PatternState.ACTIVE)
    assert rules_of([bad]).unusable == ("b",)


def test_without_rules_nothing_is_found() -> None:
    assert NO_RULES.find("value_alias", "book_ferry", "/route", "x") is None


RENAME = rule(21, "param_alias", "abfahrt", {"rename": "departure_day"}, param="")
SHORT_WAYS = [
    (DAY | {"route": "Quick One"}, [FAST]),
    ({"route": "quickone", "Abfahrt": "2031-05-04"}, [FAST, RENAME]),
    ({"Abfahrt": "2031-05-04", "route": "express", "departure_day": "2031-05-04"}, [RENAME]),
    ({"Abfahrt": "4 May 2031", "route": "quick-one"}, [FAST, RENAME]),
    (DAY | {"route": "quickone", "passengers": "3"}, [FAST]),
    (DAY | {"route": "quickone", "remark": "asdf"}, [FAST, rule(22, "placeholder", "asdf", {"refuse": True}, param="/remark")]),
    (DAY | {"route": "quickone", "passengers": None}, [FAST]),
    (DAY | {"route": "quickone", "cabins": ["Inside"]}, [FAST]),
    (DAY | {"route": "quickone", "mood": "calm"}, [FAST]),
    (DAY | {"passengers": 99}, [rule(23, "value_alias", "99", {"set": 9}, param="/passengers")]),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(SHORT_WAYS)))
def test_the_short_way_by_rule_gives_what_the_long_way_gives(row) -> None:
    written, patterns = SHORT_WAYS[row]
    rules = rules_of(patterns)
    short, long = repair(json.dumps(written), FERRY, rules=rules), check(written, FERRY, rules=rules)
    assert (short.status, short.arguments, short.repairs) == (long.status, long.arguments, long.repairs)
    assert short.confidence == long.confidence
