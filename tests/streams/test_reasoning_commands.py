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


def feedback(tmp_path: Path, *rows: dict[str, str]) -> int:
    source = tmp_path / "rows.jsonl"
    source.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    with pytest.raises(SystemExit) as end:
        main(["feedback", str(source), "--registry", str(tmp_path / "registry.json")])
    return int(end.value.code or 0)


def test_feedback_changes_the_registry_and_then_what_parse_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"text": f"Roger the {noun}, over.", "label": "evaluation"}
        for noun in ["pump", "valve", "belt", "rotor", "fan", "seal"]
    ]
    assert feedback(tmp_path, *rows * 4) == 0
    told = orjson.loads(capsys.readouterr().out)
    assert (told["accepted"], told["registry_version"], told["sentences"]) == (True, 1, 24)
    request = orjson.dumps({"id": 1, "text": "<think>\nRoger the crane, over.\n</think>\nDone."}).decode()
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(request + "\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["parse", str(source), "-o", str(target), "--registry", str(tmp_path / "registry.json")])
    (node,) = orjson.loads(target.read_bytes())["reasoning"]["nodes"]
    assert node["type"] == "evaluation"


def test_feedback_that_is_too_little_or_not_labelled_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert feedback(tmp_path, {"text": "a", "label": "evaluation"}) == 2
    assert feedback(tmp_path, {"text": "a", "label": "nonsense"}) == 2
    assert "at least 20" in (said := capsys.readouterr().err)
    assert "line 1" in said
