"""Each rule proves its own examples, and none fires on another rule's negatives of the same type."""

from pathlib import Path

import pytest

from processors.pii import rules as rules_module
from processors.pii.find import find_pii
from processors.pii.rules import SHIPPED, Rule, indexed

RULES = SHIPPED.rules


def name_of(rule: Rule) -> str:
    return rule.id


def test_every_rule_file_is_read() -> None:
    files = Path(rules_module.__file__).parent.glob("*.toml")
    assert {rule.type for rule in RULES} >= {file.stem for file in files} - {
        "card",
        "bank_account",
        "network",
        "credential",
    }


def test_ids_are_unique() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_rule_finds_its_positives(rule: Rule) -> None:
    assert rule.positives
    for text in rule.positives:
        assert [span.rule for span in find_pii(text, indexed([rule]))] == [rule.id], text
        assert rule.type in {span.type for span in find_pii(text)}, text


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_rule_leaves_its_negatives(rule: Rule) -> None:
    assert rule.negatives
    for text in rule.negatives:
        assert find_pii(text, indexed([rule])) == [], text


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_rule_says_where_it_is_from(rule: Rule) -> None:
    text = "\n".join(file.read_text(encoding="utf-8") for file in Path(rules_module.__file__).parent.glob("*.toml"))
    after = text.partition(f'id = "{rule.id}"\n')[2].partition("[[rule]]")[0]
    assert "source = " in after
