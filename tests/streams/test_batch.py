"""The batch frame: one line for each line, in order; what is not a request is answered, never skipped."""

import io
import json
import sys

import pytest

from streams.cli.batch import RequestError, run_batch
from streams.settings import ConfigError


def double(request):
    if request["n"] == 13:
        raise RequestError("13 is not taken")
    return {"id": request["id"], "n": request["n"] * 2}


def run(tmp_path, data: bytes, jobs: int = 1):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(data)
    code = run_batch(str(source), str(target), double, jobs=jobs)
    return code, [json.loads(line) for line in target.read_bytes().splitlines()]


@pytest.mark.parametrize("jobs", [1, 3])
def test_answers_keep_the_order_of_their_lines(tmp_path, jobs) -> None:
    data = b"".join(b'{"id": "%d", "n": %d}\n' % (i, i + 100) for i in range(1000))
    code, answers = run(tmp_path, data, jobs)
    assert code == 0
    assert answers == [{"id": str(i), "n": (i + 100) * 2} for i in range(1000)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_number_of_jobs_changes_no_byte(tmp_path, jobs) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes('{"id": "é\\ud800", "n": 1}\n{"id": 1}\n'.encode() * 300)
    assert run_batch(str(source), str(target), double, jobs=jobs) == 1
    again = tmp_path / "again"
    run_batch(str(source), str(again), double)
    assert target.read_bytes() == again.read_bytes()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b"[1]", "not a JSON object"),
        (b'{"id": "a"}', "missing field 'n'"),
        (b'{"id": "a", "n": 13}', "13 is not taken"),
        (b'{"id": "a", "n": NaN}', "NaN"),
        (b"[" * 100_000, "nested deeper than 500"),
        (b'{"id": ' + b"[" * 500 + b"]" * 500 + b"}", "nested deeper than 500"),
        (b'{"id": ' + b"[" * 990 + b"]" * 990 + b', "n": 1}', "nested deeper than 500"),
        (b'{"id": ' + b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"}", "nested deeper than 500"),
        (b'{"id": "a", "n": ' + b"1" * 5_000 + b"}", "a number of more than 4300 digits"),
        (b'{"id": "a", "n": null}', "unsupported operand"),
    ],
)
def test_invalid_line_is_reported_and_answered(tmp_path, capsys, line, why) -> None:
    code, answers = run(tmp_path, b'{"id": "x", "n": 1}\n' + line + b'\n{"id": "y", "n": 2}\n')
    assert code == 1
    assert [answer["id"] for answer in (answers[0], answers[2])] == ["x", "y"]
    assert why in answers[1]["error"]
    assert "line 2: " in capsys.readouterr().err


def test_last_line_needs_no_newline_and_odd_values_go_through(tmp_path) -> None:
    code, answers = run(tmp_path, '\ufeff{"id": "\\ud83d", "n": 99999999999999999999999}'.encode())
    assert code == 0
    assert answers == [{"id": "\ud83d", "n": 2 * 99999999999999999999999}]


def test_dash_means_standard_streams(monkeypatch, capfdbinary) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"id": "a", "n": 2}\n')))
    assert run_batch("-", "-", double) == 0
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == b'{"id":"a","n":4}\n'


def test_missing_input_and_overwriting_the_input_are_usage_errors(tmp_path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        run_batch(str(tmp_path / "none"), str(tmp_path / "out"), double)
    path = tmp_path / "in"
    path.write_bytes(b"{}\n")
    with pytest.raises(ConfigError, match="overwrite"):
        run_batch(str(path), str(path), double)


def test_deepest_request_is_answered_under_its_id(tmp_path) -> None:
    code, answers = run(tmp_path, b'{"id": ' + b"[" * 498 + b"]" * 498 + b"}\n")
    assert code == 1
    assert json.dumps(answers[0]["id"]) == "[" * 498 + "]" * 498
    assert answers[0]["error"] == "missing field 'n'"


@pytest.mark.parametrize("field", ["13912345678", "mail zoe.quist@fastmail.example", "x" * 100_000])
def test_error_quotes_no_personal_data_and_stays_short(tmp_path, capsys, field) -> None:
    source = tmp_path / "in"
    source.write_text(json.dumps({"id": 1, "now": field}), encoding="utf-8")
    assert run_batch(str(source), str(tmp_path / "out"), lambda request: {"n": int("n " + request["now"])}) == 1
    told = capsys.readouterr().err
    assert "line 1: invalid literal" in told
    assert field not in told + (tmp_path / "out").read_text(encoding="utf-8")
    assert len(told) < 400
