"""Every string field of every event, found from the schemas: planted with a value, cleaned, searched for the value."""

import types
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import orjson
import pytest

from processors.clean import CleanStage
from processors.pii.fields import KEPT, KNOWN_CHARS_MIN, KNOWN_MAX, FieldCleaner, KnownValues
from processors.pii.redact import Numbered, plain
from processors.pii.rules import SHIPPED
from processors.pii.span import PiiSpan
from schemas.audit import AuditKey, AuditRecord
from schemas.failure import Failure, FailureCode, Stage
from schemas.pattern import Pattern
from schemas.reasoning import StateEntry
from schemas.token import Token
from schemas.toolcall import CallStatus, ToolCall
from schemas.wire import Event, encode

BEFORE_OR_BESIDE = (Token, Pattern, AuditKey, AuditRecord)
"""What is no event of a stream behind the segment stage: clean never gets one."""
EVENTS = [event for event in get_args(Event) if event not in BEFORE_OR_BESIDE]
VALUES = {
    "phone": "13907284615",
    "grouped phone": "+86 139 0728 4615",
    "mail": "qzx.marker@lantern-hall.org",
    "address": "192.168.1.7",
    "id card": "11010519491231002X",
    "key": "sk-proj-Zk3vQ81xPq7mNw2LtYb5RcD9HsJf4GaUe6TiOoXp",
}


def planted(kind: Any, text: str) -> Any:
    """A value of a type with the text in each string of it, keys included."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return planted(inner[0], text)
    if origin is Literal:
        return inner[0]
    if origin in {Union, types.UnionType}:
        return planted(next(one for one in inner if one is not type(None)), text)
    if kind in {Any, object}:
        return {text: [text, {"nested": text, "said": f'{{"a": "{text}"}}'}]}
    if origin is dict:
        return {planted(inner[0], text): planted(inner[1], text)}
    if origin is tuple:
        return tuple(planted(one, text) for one in inner if one is not Ellipsis)
    if is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        return kind(**{field.name: planted(hints[field.name], text) for field in fields(kind)})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    return {str: text, int: 1, float: 1.0, bool: False}[kind]


def places(value: Any, text: str, where: str = "", name: str = "") -> list[str]:
    """Where the text stands, but for the fields that are kept."""
    if isinstance(value, dict):
        inside = [place for key, item in value.items() for place in places(item, text, f"{where}/{key}", key)]
        return inside + [f"{where}/(key)" for key in value if text in key]
    if isinstance(value, list):
        return [place for at, item in enumerate(value) for place in places(item, text, f"{where}/{at}", name)]
    return [where] if isinstance(value, str) and text in value and name not in KEPT else []


def cleaned(event: Event) -> list[str]:
    stage = CleanStage()
    return [encode(out).decode() for out in (*stage.feed(event), *stage.close())]


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_no_field_lets_a_value_through(kind: Any, value: str) -> None:
    event = planted(kind, value)
    assert places(orjson.loads(encode(event)), value) or kind.__name__ == "Relabel"
    found = cleaned(event)
    assert found
    for text in found:
        assert not places(orjson.loads(text), value)


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_cleaning_a_planted_event_again_changes_nothing(kind: Any) -> None:
    stage = CleanStage()
    event = planted(kind, VALUES["phone"])
    (once,) = (*stage.feed(event), *stage.close())
    again = CleanStage()
    assert [encode(out) for out in (*again.feed(once), *again.close())] == [encode(once)]


def test_what_is_kept_is_a_field_and_no_place_for_content() -> None:
    names = {field.name for event in EVENTS for field in fields(event)} | {"tenant", "run_id", "session_id", "goal_id"}
    assert names >= KEPT
    assert not {"text", "raw", "id", "call_id", "name", "model", "arguments", "content", "found"} & KEPT


def call(**given: Any) -> ToolCall:
    known = {
        "stream_id": "s", "id": "call_0", "name": "send", "requested_name": "send", "arguments": {}, "raw": "", "order": 1,
        "span": (0, 1), "status": CallStatus.OK, "strategy": "json", "confidence": 1.0,
    }  # fmt: skip
    return ToolCall(**(known | given))


def cleaned_call(*calls: ToolCall) -> list[ToolCall]:
    stage = CleanStage()
    return [out for one in calls for out in stage.feed(one) if isinstance(out, ToolCall)]


@pytest.mark.parametrize("id_", ["functions.x:0", "call_0", "toolu_01A09q90qw90lq917835lq9", "call_2024_06_01_3", "a1b2c3d4e",
                                 "chatcmpl-tool-3f2b8c1a415555018123", "functions.get_weather:12", "call_1717171717171_0"])  # fmt: skip
def test_ids_as_models_write_them_stay(id_: str) -> None:
    assert cleaned_call(call(id=id_))[0].id == id_


@pytest.mark.parametrize("id_", ["call_192.168.1.7", "call-192.168.1.7", "functions.192.168.1.7:0", "192.168.1.7_0"])
def test_an_address_in_an_id_is_replaced_wherever_the_call_holds_it(id_: str) -> None:
    header = f"<|channel|>commentary to={id_} <|constrain|>json"
    (found,) = cleaned_call(call(id=id_, raw=header, duplicate_of=id_, arguments={"ref": f"see {id_}"}))
    assert "192.168.1.7" not in encode(found).decode()
    assert found.id == found.duplicate_of
    assert "[IP_ADDRESS_" in found.raw


def test_ids_that_differ_go_on_to_differ_and_stay_the_same_in_a_stream() -> None:
    first, second, again = cleaned_call(
        call(id="call_10.0.0.1"), call(id="call_10.0.0.2"), call(id="call_10.0.0.1", order=3)
    )
    assert (first.id, second.id) == ("call_[IP_ADDRESS_1_REDACTED]", "call_[IP_ADDRESS_2_REDACTED]")
    assert again.id == first.id


def test_what_an_id_told_is_known_in_the_rest_of_the_stream() -> None:
    stage = CleanStage()
    list(stage.feed(call(id="job_13907284615")))
    failure = Failure(stream_id="s", code=FailureCode.REPAIRED, stage=Stage.TOOL, found="job_13907284615: sent")
    (found,) = stage.feed(failure)
    assert isinstance(found, Failure)
    assert found.found == "job_[PHONE_REDACTED]: sent"


def test_keys_that_become_the_same_keep_their_values() -> None:
    (found,) = cleaned_call(call(arguments={"13907284615": 1, "13907284616": 2, "13907284617": 3}))
    assert found.arguments == {"[PHONE_REDACTED]": 1, "[PHONE_REDACTED] 2": 2, "[PHONE_REDACTED] 3": 3}


def test_a_warning_about_an_argument_holds_no_key_that_was_replaced() -> None:
    (found,) = cleaned_call(call(arguments={"13907284615": {"tel": 13907284616}}))
    assert [warning.message.split(":")[0] for warning in found.warnings] == ["/[PHONE_REDACTED]/tel"]
    assert "1390728461" not in encode(found).decode()


def test_known_values_are_bounded_long_enough_and_found_between_boundaries() -> None:
    known, span = KnownValues(), PiiSpan(0, 8, "phone", "told")
    known.add("1" * (KNOWN_CHARS_MIN - 1), span)
    assert not known
    for number in range(KNOWN_MAX + 1):
        known.add(f"9000{number:04}", span)
    assert len(known) == KNOWN_MAX
    assert [(one.start, one.end) for one in known("90000001, x90000002 90000003x (90000004)")] == [(0, 8), (31, 39)]


def test_records_in_which_nothing_was_found_are_the_same_object() -> None:
    entry = StateEntry(stream_id="s", key="note", source="c", content="so", confidence=1, order=1, span=(0, 1))
    records = {"note": entry}
    assert FieldCleaner(SHIPPED, (plain, Numbered()), KnownValues()).cleaned(records, "output") is records
