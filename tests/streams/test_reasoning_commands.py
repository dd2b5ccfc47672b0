"""`classify` and `gaps`: answers of valid and invalid lines, in order."""

from pathlib import Path

import orjson
import pytest

from streams.cli.app import main


def run(tmp_path: Path, command: str, *lines: str) -> tuple[int, list[dict[str, object]]]:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        main([command, str(source), "-o", str(target)])
    return int(end.value.code or 0), [orjson.loads(line) for line in target.read_bytes().splitlines()]


def test_classify_answers_with_label_confidence_and_scores(tmp_path: Path) -> None:
    code, (first, second) = run(
        tmp_path,
        "classify",
        '{"id": 1, "text": "Next, call the billing tool."}',
        '{"id": 2, "text": "先查订单。", "lang": "zh"}',
    )
    assert (code, first["id"], first["label"], second["label"]) == (0, 1, "planning", "planning")
    assert first["confidence"] == first["scores"]["planning"]
    assert set(first) == {"id", "label", "confidence", "scores"}


def test_gaps_answers_with_one_similarity_for_each_joint(tmp_path: Path) -> None:
    code, (answer,) = run(tmp_path, "gaps", '{"id": "a", "steps": ["x", "y", "z"]}')
    assert (code, answer) == (0, {"id": "a", "similarity": [0.5, 0.5], "gaps": []})


@pytest.mark.parametrize(
    ("command", "line", "why"),
    [
        ("classify", '{"id": 7}', "missing field 'text'"),
        ("classify", '{"id": 7, "text": 1}', "text: not a string"),
        ("classify", '{"id": 7, "text": "a", "lang": 1}', "lang: not a string"),
        ("gaps", '{"id": 7, "steps": [1]}', "steps: not a list of strings"),
    ],
)
def test_invalid_line_is_answered_with_its_error(tmp_path: Path, command: str, line: str, why: str) -> None:
    assert run(tmp_path, command, line) == (1, [{"id": 7, "error": why}])
