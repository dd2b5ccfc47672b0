"""Word tables prove their own examples; rates and messages cover each code."""

import re
import tomllib
from pathlib import Path

import pytest

from processors.repair import confidence, refusal, words
from processors.repair.confidence import RATES, confidence_of
from schemas.toolcall import Repair

HERE = Path(words.__file__).parent
TABLES = tomllib.loads((HERE / "words.toml").read_text(encoding="utf-8"))
SYNONYMS = tomllib.loads((HERE / "synonyms.toml").read_text(encoding="utf-8"))
NUMBERED = {"booleans": words.WORDS.booleans, "numbers": words.WORDS.numbers, "months": words.WORDS.months}


@pytest.mark.parametrize("example", TABLES["examples"], ids=lambda example: f"{example['table']} {example['said']}")
def test_word_table_proves_its_example(example: dict) -> None:
    assert NUMBERED[example["table"]].get(words.fold(example["said"])) == example.get("gives")


@pytest.mark.parametrize("example", SYNONYMS["examples"], ids=lambda example: f"{example['table']} {example['said']}")
def test_synonyms_prove_their_example(example: dict) -> None:
    groups = words.WORDS.value_groups if example["table"] == "values" else words.WORDS.name_groups
    shared = groups.get(words.fold(example["said"]) or example["said"], frozenset()) & groups.get(
        words.fold(example["word"]) or example["word"], frozenset()
    )
    assert bool(shared) is example["same"]


def test_each_table_has_positive_and_negative_examples() -> None:
    for table in NUMBERED:
        kinds = {"gives" in example for example in TABLES["examples"] if example["table"] == table}
        assert kinds == {True, False}, table
    for table in ("values", "names"):
        assert {example["same"] for example in SYNONYMS["examples"] if example["table"] == table} == {True, False}


def test_no_word_means_both_true_and_false() -> None:
    said = {value: set(map(words.fold, TABLES["booleans"]["true" if value else "false"])) for value in (True, False)}
    assert not said[True] & said[False]
    assert not {words.fold(word) for word in TABLES["booleans"]["unclear"]} & (said[True] | said[False])


def test_each_code_of_a_repair_has_a_rate() -> None:
    code = re.compile(r'(?:note|codes\.add|codes\.append|_formed)\([^)]*?"([a-z]+_[a-z_]+)"')
    found = {name for path in HERE.glob("*.py") for name in code.findall(path.read_text(encoding="utf-8"))}
    assert found - set(refusal.MESSAGES) <= RATES.keys()


def test_confidence_is_the_product_of_distinct_codes() -> None:
    one, two = Repair(code="enum_case", path="/a"), Repair(code="enum_alias", path="/b")
    assert confidence_of([one, one]) == round(RATES["enum_case"], 4)
    assert confidence_of([one, two]) == round(RATES["enum_case"] * RATES["enum_alias"], 4)
    assert confidence_of([Repair(code="never_seen")]) == confidence.START
    assert all(0.5 < rate < 1 for rate in RATES.values())


def test_the_page_on_repair_names_each_code() -> None:
    page = (HERE.parent.parent / "docs" / "repair.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+)`", page))
    assert RATES.keys() | refusal.MESSAGES.keys() <= named
