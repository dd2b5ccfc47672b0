"""A reasoning record of an output → its row; the features of its goal are made here, so that a search finds it."""

from processors.reasoning.goals import features_of
from schemas.jsonvalue import Json, JsonObject
from schemas.output import Output
from streams.rows import CLOSED_REV, Place, Row, as_json


def record_row(record: JsonObject, output: Output, place: Place) -> Row:
    """A row in the order of RECORD_COLUMNS; what a record of an older version lacks is empty."""
    goal = str(record.get("goal") or "")
    features = features_of(goal)
    figures = record.get("metadata") or {}
    record_id = str(record.get("record_id") or "")
    number = record_id.rpartition("_")[2]
    return (
        place.tenant, int(number) if number.isdigit() else 0, record_id, place.started_ms, output.stream_id,
        place.run_id, place.goal_id, goal, place.model, _words(record.get("tools")),
        int(figures.get("total_nodes") or 0),
        float(figures.get("avg_confidence") or 0), int(figures.get("gaps") or 0), int(figures.get("repairs") or 0),
        _words(figures.get("new_rules_learned")), int(bool(figures.get("reusable")) and features.norm > 0),
        list(features.hashes), list(features.weights), features.norm, as_json(record), CLOSED_REV + output.rev,
    )  # fmt: skip


def _words(value: Json) -> list[str]:
    return [str(word) for word in value] if isinstance(value, list | tuple) else []
