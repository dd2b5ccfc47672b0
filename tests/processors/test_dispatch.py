"""Which calls of an output run, in which order, under which id; what is said of the others; bounds; classes of errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.dispatch import HeldBack, held_result, plan
from processors.dispatching.bounds import Bounds, Ending, Spent, bound_met, handover
from processors.dispatching.errors import ErrorClass, Fault, class_of, read_rules, shipped_rules
from processors.dispatching.identity import call_key, execution_id
from processors.dispatching.policy import Reason, ToolRule, reason_against
from schemas.execution import Handover
from schemas.output import Output
from schemas.token import Meta
from schemas.toolcall import CallStatus, Refusal, ToolCall

READ = ToolRule(has_side_effects=False)
PAY = ToolRule(is_permitted=True)
RULES = {"read": READ, "pay": PAY, "free": ToolRule(is_permitted=True, is_independent=True), "risky": ToolRule()}


def call(name: str | None = "read", order: int = 0, **more) -> ToolCall:
    fields = {
        "stream_id": "s", "id": f"call_{order}", "name": name, "requested_name": name, "arguments": {"a": 1}, "raw": "",
        "order": order, "span": (0, 0), "status": CallStatus.OK, "strategy": "json", "confidence": 1.0,
    }  # fmt: skip
    return ToolCall(**(fields | more))


def output(*calls: ToolCall, **more) -> Output:
    return Output(stream_id="s", tool_calls=calls, **more)


def deep(levels: int):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("said", "rule", "reason"),
    [
        (call(), READ, None),
        (call(), None, Reason.NOT_SERVED),
        (call(), ToolRule(), Reason.NOT_PERMITTED),
        (call(), PAY, None),
        (call(status=CallStatus.REPAIRED, confidence=0.86), PAY, None),
        (call(status=CallStatus.REPAIRED, confidence=0.84), PAY, Reason.CONFIDENCE),
        (call(status=CallStatus.REPAIRED, confidence=0.84), READ, None),
        (call(status=CallStatus.REPAIRED, confidence=0.59), READ, Reason.CONFIDENCE),
        (call(confidence=float("nan")), READ, Reason.CONFIDENCE),
        (call(confidence=0.9), ToolRule(is_permitted=True, confidence_min=0.95), Reason.CONFIDENCE),
        (call(status=CallStatus.RENAMED), READ, None),
        (call(status=CallStatus.RENAMED), PAY, Reason.RENAMED),
        (call(status=CallStatus.RENAMED), ToolRule(is_permitted=True, takes_renamed=True), None),
        (call(status=CallStatus.RENAMED), ToolRule(has_side_effects=False, takes_renamed=False), Reason.RENAMED),
        (call(status=CallStatus.REFUSED), PAY, Reason.STATUS),
        (call(status=CallStatus.UNKNOWN_TOOL), PAY, Reason.STATUS),
        (call(status=CallStatus.TRUNCATED), PAY, Reason.STATUS),
        (call(status=CallStatus.UNPARSEABLE), PAY, Reason.STATUS),
        (call(arguments=None), READ, Reason.STATUS),
        (call(None), READ, Reason.STATUS),
        (call(duplicate_of="call_9"), READ, Reason.DUPLICATE),
        (call(superseded_by="call_9"), READ, Reason.SUPERSEDED),
        (call(status=CallStatus.REFUSED, duplicate_of="call_9"), READ, Reason.DUPLICATE),
        (call(arguments={"to": ["x [PHONE_1_REDACTED]"]}), PAY, Reason.REDACTED),
        (call(arguments={"[EMAIL_REDACTED]": 1}), PAY, Reason.REDACTED),
        (call(arguments={"to": "[EMAIL_REDACTED]"}), ToolRule(is_permitted=True, takes_redacted=True), None),
        (call(arguments={"to": "REDACTED"}), PAY, None),
        (call(arguments={"a": deep(199)}), READ, None),
        (call(arguments={"a": deep(10_000)}), READ, Reason.TOO_DEEP),
    ],
)  # fmt: skip
def test_policy(said, rule, reason) -> None:
    assert reason_against(said, rule) is reason


@pytest.mark.parametrize(
    ("names", "waves"),
    [
        ("", []),
        ("read read read", [[0, 1, 2]]),
        ("read pay read", [[0], [1], [2]]),
        ("pay pay", [[0], [1]]),
        ("free free read", [[0, 1, 2]]),
        ("read free pay free read", [[0, 1], [2], [3, 4]]),
        ("read risky read", [[0, 2]]),
    ],
)
def test_what_changes_nothing_runs_together_and_side_effects_keep_their_place(names, waves) -> None:
    calls = [call(name, place) for place, name in enumerate(names.split())]
    found = plan(output(*reversed(calls)), RULES)
    assert [[one.call.order for one in wave] for wave in found.waves] == waves


def test_a_second_call_of_the_same_id_is_a_duplicate() -> None:
    found = plan(output(call("pay", 0, id="x"), call("pay", 1, id="x", arguments={})), RULES)
    assert [one.call.order for wave in found.waves for one in wave] == [0]
    assert found.held[0].reason is Reason.DUPLICATE


@pytest.mark.parametrize(
    ("extra", "tokens"),
    [
        ({}, 0), ({"usage": None}, 0), ({"usage": {"total_tokens": 7, "prompt_tokens": 3}}, 7),
        ({"usage": {"prompt_tokens": 3, "completion_tokens": 2}}, 5), ({"usage": {"input_tokens": 3}}, 3),
        ({"usage": {"total_tokens": "many"}}, 0), ({"usage": {"total_tokens": -5}}, 0),
    ],
)  # fmt: skip
def test_tokens_are_what_the_server_counted(extra, tokens) -> None:
    assert plan(output(extra=extra), RULES).tokens == tokens


def test_a_task_is_the_run_or_else_the_stream() -> None:
    assert plan(output(meta=Meta(run_id="r")), RULES).task == "r"
    assert plan(output(meta=Meta()), RULES).task == "s"


@pytest.mark.parametrize(
    ("held", "status", "error"),
    [
        (HeldBack(call(), Reason.DUPLICATE), None, None),
        (HeldBack(call(), Reason.SUPERSEDED), None, None),
        (HeldBack(call(status=CallStatus.REFUSED, refusal=Refusal(code="missing", message="city is missing")), Reason.STATUS),
         "param_error", "city is missing"),
        (HeldBack(call(status=CallStatus.TRUNCATED), Reason.STATUS), "param_error", "the call is truncated and was not run"),
        (HeldBack(call(), Reason.NOT_PERMITTED), "not_run", "read was not run: not_permitted"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_call_that_does_not_run(held, status, error) -> None:
    result = held_result(held)
    assert (result and result.status, result and result.error) == (status, error)


def test_the_same_call_has_the_same_id_whatever_the_order_of_its_keys() -> None:
    one, two = call(arguments={"a": 1, "b": [2]}), call(arguments={"b": [2], "a": 1})
    assert execution_id(one) == execution_id(two) == "c5a131f98d73e18a3f8efd7a6209f145"


@pytest.mark.parametrize(
    "other", [call(arguments={"a": 2}), call("pay"), call(order=1), call(stream_id="t"), call(arguments={"a": 1.0})]
)
def test_another_call_has_another_id(other) -> None:
    assert execution_id(other) != execution_id(call())


def test_the_place_of_a_call_does_not_depend_on_what_it_says() -> None:
    assert call_key(call("pay", arguments={"b": 2})) == call_key(call())
    assert call_key(call(stream_id="s,", id="x")) != call_key(call(stream_id="s", id=",x"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("\ud800\x00"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.sampled_from(CallStatus))
def test_nothing_a_model_wrote_raises_and_each_call_is_accounted_for(arguments, status) -> None:
    calls = [call(name, place, arguments=arguments, status=status) for place, name in enumerate(["read", "pay", "x"])]
    found = plan(output(*calls), RULES)
    assert sum(map(len, found.waves)) + len(found.held) == 3
    assert found == plan(output(*calls), RULES) or "nan" in repr(arguments)


@pytest.mark.parametrize(
    ("spent", "bound"),
    [
        (Spent(), None), (Spent(steps=14, tokens=50_000, cost_usd=0.99), None), (Spent(steps=15), "steps_max"),
        (Spent(tokens=50_001), "tokens_max"), (Spent(cost_usd=1.0), "cost_usd_max"),
        (Spent(step_s=60.0), "step_s_max"), (Spent(step_s=59.9), None),
        (Spent(steps=99, tokens=99_999), "steps_max"),
    ],
)  # fmt: skip
def test_bounds(spent, bound) -> None:
    assert bound_met(Bounds(), spent) == bound


def test_a_handover_says_what_was_used_and_what_is_left() -> None:
    ending = Ending(stream_id="s", task="r", tenant="t", ts=5.0)
    done = ({"call_id": "call_0", "tool": "pay", "status": "ok"},)
    record = handover(ending, Bounds(), Spent(steps=15, tokens=9, done=done), [call("pay", 3)])
    assert record == Handover(
        stream_id="s", task="r", tenant="t", bound="steps_max", limit=15, done=done, ts=5.0,
        spent={"steps": 15, "tokens": 9, "cost_usd": 0.0, "step_s": 0.0}, left=({"call_id": "call_3", "name": "pay"},),
        next="steps_max is 15: a person raises it, runs what is left, or closes the task.",
    )  # fmt: skip


@pytest.mark.parametrize("rule", shipped_rules(), ids=lambda rule: rule.id)
def test_an_error_rule_decides_about_its_own_examples(rule) -> None:
    for example in rule.positives:
        assert class_of(example.fault()) == (rule.error, rule.id)
    assert rule.negatives


def test_what_no_rule_knows_is_a_system_error() -> None:
    assert class_of(Fault(kind="ZeroDivisionError", text="余额不足")) == (ErrorClass.SYSTEM, "unknown")


def test_a_tools_own_rule_comes_first_and_must_prove_its_examples() -> None:
    text = """
    [[rule]]
    id = "stale list"
    error = "system_error"
    kinds = ["http"]
    codes = [[403, 403]]
    words = ["country", "国家"]
    positives = [{ kind = "http", code = 403, text = "Country not supported" }]
    negatives = [{ kind = "http", code = 403, text = "no" }]
    """
    own = read_rules(text)
    assert class_of(Fault(kind="http", code=403, text="不支持该国家"), own) == (ErrorClass.SYSTEM, "stale list")
    assert class_of(Fault(kind="http", code=403, text="no"), own) == (ErrorClass.BUSINESS, "http-business")
    with pytest.raises(ValueError, match="stale list: fails its example"):
        read_rules(text.replace('text = "no"', 'text = "no country"'))
