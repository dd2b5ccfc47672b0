"""Each rule of the periods tables proves its own examples, read on Wednesday 2026-03-18 10:30."""

from datetime import datetime

import pytest

from processors.periods.read import read_periods
from processors.periods.reading import DEFAULT_POLICY, Context
from processors.periods.reduce import reduced
from processors.periods.rules import Rule, all_rules
from processors.periods.tokens import normalise, tokens_of

NOW = datetime(2026, 3, 18, 10, 30)  # noqa: DTZ001 - naive, as many hosts give it


def fired(text: str) -> set[str]:
    plain = normalise(text)
    context = Context(now=NOW, policy=DEFAULT_POLICY, text=plain)
    return {rule for token in reduced(tokens_of(plain, context), context) for rule in token.rules}


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_rule_reads_its_own_examples(rule: Rule) -> None:
    assert rule.yes, "a rule has at least one example"
    for text, *expected in rule.yes:
        assert rule.id in fired(text), text
        reading = read_periods(text, NOW)
        if expected == ["?"]:
            assert not reading.is_settled, text
            assert reading.kind != "none", text
        elif expected == ["none"]:
            assert reading.kind == "none", text
        else:
            assert [reading.start or "-", reading.end or "-"] == expected, text


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_rule_leaves_its_counter_examples_alone(rule: Rule) -> None:
    assert rule.no, "a rule has at least one counter-example"
    for text in rule.no:
        assert rule.id not in fired(text), text
