"""Docstrings of the failure codes, and what each bad input gets → docs/failure-codes.md."""

import ast
import inspect
from pathlib import Path

import schemas.failure
from schemas.failure import FailureCode, Stage

TARGET = Path(__file__).with_name("failure-codes.md")

BAD_INPUT = (
    ("bytes that are no JSON, another schema, no `stream_id`, a wrong type", "`undecodable`", "dead letter: bytes as received, reason in headers"),
    ("a delta after the end marker", "`after_end`", "dead letter; the output stays as it was"),
    ("a delta that came before (same `seq`)", "none", "ignored"),
    ("missing deltas (a gap in `seq`)", "`missing_seq`", "recorded in the output, which has what there is"),
    ("a stream that never ends", "`stream_idle`", "closed as truncated after `stream_idle_s_max`; an output says so"),
    ("more open streams than the limit", "`stream_idle`", "those idle for longest are closed as truncated"),
    ("a stream longer than the limit", "`stream_too_long`", "closed as truncated at the limit"),
    ("an output longer than a record may be (8 MB)", "`stream_too_long`", "the start of the answer, marked as truncated"),
    ("half a surrogate pair at the end of a delta", "none", "joined with the half in the next delta; alone it becomes U+FFFD"),
    ("NUL and other control characters", "none", "text like any other"),
    ("a record that makes a stage raise twice", "`crashed`", "dead letter with type and place, and an output that says so"),
    ("a topic that does not exist", "–", "the worker does not start: names the topic and the command that makes it (exit code 2)"),
    ("Kafka away", "–", "waits in place up to `server_away_s_max`, then exit code 3; nothing is committed before it is acknowledged"),
    ("Redis away", "–", "stages go on with the last snapshot; the learner waits in place"),
    ("ClickHouse away", "–", "the sink gives the same batch again up to `server_away_s_max`, then exit code 3"),
    ("the disk of the store is full or read-only while the sink works", "–", "the same: it says what it lacks and waits in place; once there is space, the batch is stored once"),
    ("the disk of the embedded registry is full", "–", "changes of the registry are refused (`MISCONF`, exit code 3); workers go on with their last snapshot, and it takes changes again once there is space"),
    ("the data folder can't be made or written, or has less than 64 MB free when a store is made", "–", "`up`, `demo`, `web`, `migrate`, `sql`: exit code 3 with the folder, the reason and what to do; nothing half-made is left"),
    ("a data directory that another process uses", "–", "names that process (exit code 2)"),
)  # fmt: skip


def members(enum: type) -> list[tuple[str, str]]:
    """Each member's value with its docstring."""
    body = ast.parse(inspect.getsource(enum)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = []
    for node, after in zip(body.body, [*body.body[1:], None], strict=True):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            is_docstring = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            text = inspect.cleandoc(str(after.value.value)) if is_docstring else ""
            found.append((str(node.value.value), " ".join(text.split())))
    return found


def document() -> str:
    """The page."""
    lines = [
        "# Failure codes", "",
        f"Made from `{schemas.failure.__name__}` by `docs/failure_codes.py`; `make docs` makes it anew.", "",
        "A failure is a value that flows with its stream: it is in the output's `failures`, and, cleaned, on",
        "`llm.pattern-discovery`. Nothing is dropped without one of these codes.", "",
        f"Stages: {', '.join(f'`{stage}`' for stage in Stage)}.", "", "| code | meaning |", "|---|---|",
        *(f"| `{code}` | {meaning} |" for code, meaning in members(FailureCode)), "",
        "## What each bad input gets", "", "| input | code | what happens |", "|---|---|---|",
        *(f"| {given} | {code} | {what} |" for given, code, what in BAD_INPUT), "",
        "No other stream is harmed by any of them; `tests/streams` has a case for each.", "",
    ]  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
