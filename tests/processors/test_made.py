"""What is made field by field is what its class makes."""

from processors.dialects.made import draft_of, draft_of_params, param_of
from processors.dialects.reading import Head
from processors.limits import LIMITS
from processors.segmenting.ledger import Ledger
from processors.segmenting.tools import Tools
from schemas.segment import CallDraft, Param, Segment, SegmentKind

HEAD = Head("f", "1", "tagged_params", Tools(()), 9)


def test_a_draft_of_values_is_what_its_class_makes() -> None:
    wanted = CallDraft(dialect="d", name="f", call_id="1", value={"a": 1}, mends=("m",))
    made = draft_of("d", "f", "1", {"a": 1}, ("m",))
    assert type(made) is CallDraft
    assert (made, repr(made)) == (wanted, repr(wanted))


def test_a_draft_of_params_is_what_its_class_makes() -> None:
    wanted = CallDraft(
        dialect="d", name="f", call_id="1", params=(Param(key="a", value="1", type="integer"),), mends=("m",)
    )
    made = draft_of_params("d", HEAD, (param_of("a", "1", "integer"),), ("m",))
    assert type(made.params[0] if made.params else None) is Param
    assert (made, repr(made), hash(made)) == (wanted, repr(wanted), hash(wanted))


def test_a_segment_is_what_its_class_makes() -> None:
    ledger = Ledger("s", LIMITS)
    ledger.settle()
    ledger.segment(SegmentKind.RESPONSE, "a", (0, 1))
    made = ledger.take()[0]
    wanted = Segment(stream_id="s", order=0, kind=SegmentKind.RESPONSE, text="a", span=(0, 1))
    assert type(made) is Segment
    assert (made, repr(made), hash(made)) == (wanted, repr(wanted), hash(wanted))
