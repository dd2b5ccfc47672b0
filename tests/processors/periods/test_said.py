"""Sentences as people say them, and what they settle."""

from datetime import datetime
from pathlib import Path

import pytest

from processors.periods.read import read_periods

NOW = datetime(2026, 3, 18, 10, 30)  # noqa: DTZ001 - naive, as many hosts give it
ROWS = [
    [part.strip() for part in line.split(" | ")]
    for name in ("said_en.txt", "said_zh.txt")
    for line in (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_sentence_is_read_as_meant(row: list[str]) -> None:
    text, *expected = row
    reading = read_periods(text, NOW)
    if expected == ["?"]:
        assert not reading.is_settled
        assert reading.kind != "none"
    elif expected == ["none"]:
        assert reading.kind == "none"
    else:
        assert [reading.start or "-", reading.end or "-"] == expected


def test_there_are_enough_of_them() -> None:
    assert len(ROWS) >= 300
