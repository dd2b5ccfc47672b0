"""A week of made-up trajectories, the same for each seed: what panels, pages and exports are tried on."""

import random
from collections.abc import Iterator

from schemas.execution import Execution, Handover
from schemas.failure import Failure, FailureCode, Stage
from schemas.output import FormatFound, Output, OutputMetadata, Reasoning
from schemas.pattern import Evidence, Pattern, PatternKind, PatternState
from schemas.reasoning import Label, Node, ReasoningStep, StateEntry
from schemas.token import Meta
from schemas.toolcall import CallStatus, Refusal, Repair, ToolCall, ToolResult
from schemas.trajectory import Step
from streams.columns import StageStat
from streams.trajectories_to_clickhouse import SinkEvent

TOOLS = ("get_weather", "search_docs", "query_sales_db", "send_mail", "book_flight")
MODELS = ("qwen3-32b", "llama-4-70b", "deepseek-v3", "gpt-oss-120b")
FORMATS = ("hermes_json", "llama_pythonic", "deepseek_v3", "harmony")
THOUGHTS = (
    "The user wants the weather in Beijing. First I get the date, then I ask the tool.",
    "用户想知道上个季度的销售额。先确认日期范围，再调用查询工具。",
    "Wait, the format of that call was wrong. I will write it again with quoted keys.",
    "The result looks plausible: 28 °C and humid. Perhaps I should check the air quality too.",
)
ANSWERS = (
    "Beijing will be sunny to cloudy with 28 °C. A light jacket is enough in the evening.",
    "2026 年第一季度的销售额为 1,284,000 元，比去年同期增长 12%。",
    "I have sent the confirmation to [EMAIL_REDACTED] and will call [PHONE_REDACTED] tomorrow.",
    "| month | revenue |\n|---|---|\n| January | 402,000 |\n| February | 391,500 |\n| March | 490,500 |",
)
SIGNATURES = (
    "tool:repaired:object/single_quotes",
    "tool:refused_call:object/date",
    "segment:orphan_marker:text/<|act|>",
)
STATUSES = (
    [CallStatus.OK] * 12 + [CallStatus.REPAIRED] * 4 + [CallStatus.RENAMED, CallStatus.REFUSED, CallStatus.TRUNCATED]
)


def run_events(number: int, started_ms: float, rng: random.Random) -> Iterator[SinkEvent]:
    """One agent run: one to four streams, each with reasoning, perhaps a call and its result, an answer."""
    run_id = f"run-{number:05d}"
    place = rng.randrange(4)
    tool = rng.choice(TOOLS)
    for index in range(rng.choice((1, 1, 2, 4))):
        stream_id = f"{run_id}-s{index}"
        meta = Meta(
            model=MODELS[place], provider="local", run_id=run_id, session_id=f"session-{number // 10}", tenant="acme",
            user="What is the weather like?", attrs={"agent": ("shop", "travel", "report")[number % 3]},
        )  # fmt: skip
        yield from stream_events(stream_id, meta, FORMATS[place], started_ms + index * 9_000, (tool, rng))


def stream_events(
    stream_id: str, meta: Meta, format_id: str, started_ms: float, choice: tuple[str, random.Random]
) -> Iterator[SinkEvent]:
    tool, rng = choice
    thought, answer = rng.choice(THOUGHTS), rng.choice(ANSWERS)
    given = {"stream_id": stream_id, "run_id": meta.run_id, "session_id": meta.session_id, "tenant": meta.tenant,
             "model": meta.model, "format": format_id, "ts": started_ms}  # fmt: skip
    node = Node(
        stream_id=stream_id, id="rn_0", type=Label.PLANNING, confidence=0.91, text=thought, order=0, span=(0, len(thought)),
        steps=(ReasoningStep(type=Label.PLANNING, confidence=0.9, span=(0, 20)),), led_to=("call_0",),
    )  # fmt: skip
    yield Step(
        order=0, kind="reasoning", text=thought, span=node.span, confidence=0.91, detail={"label": "planning"}, **given
    )
    call = made_call(stream_id, tool, rng)
    yield Step(order=1, kind="tool_call", status=call.status, text=call.raw, span=call.span, confidence=call.confidence,
               detail=call_detail(call), **given)  # fmt: skip
    yield Step(order=2, kind="response", text=answer, span=(200, 200 + len(answer)), **given)
    failures = tuple(made_failures(call, rng))
    for part, failure in enumerate(failures):
        yield Step(order=-1, part=part, kind="failure", status=failure.code, text=failure.found,
                   detail={"code": failure.code, "stage": failure.stage, "signature": failure.signature}, **given)  # fmt: skip
    entry = StateEntry(stream_id=stream_id, key="weather", source="html_comment", content={"temperature": "28°C"},
                       confidence=0.95, order=3, span=(150, 190))  # fmt: skip
    yield Output(
        stream_id=stream_id, format=FormatFound(id=format_id, confidence=0.97),
        reasoning=Reasoning(text=thought, nodes=(node,)), tool_calls=(call,), state={"weather": entry}, response=answer,
        pii={"EMAIL": 1, "PHONE": 1} if "EMAIL" in answer else {}, failures=failures, meta=meta,
        metadata=OutputMetadata(parse_confidence=0.93, repairs_applied=len(call.repairs), segments=3, registry_version=3,
                                truncated=call.status == CallStatus.TRUNCATED),
        ts=started_ms + rng.randrange(900, 7_000), latency_ms=rng.uniform(4, 30),
        extra={"usage": {"prompt_tokens": 812, "completion_tokens": 164,
                         "completion_tokens_details": {"reasoning_tokens": 60}}, "finish_reason": "stop"},
    )  # fmt: skip
    if call.status in {CallStatus.OK, CallStatus.REPAIRED}:
        is_good = rng.random() < 0.85
        yield ToolResult(
            stream_id=stream_id, call_id=call.id, status="ok" if is_good else "system_error",
            content={"temperature": "28°C"} if is_good else None, duration_ms=rng.uniform(20, 900),
            error=None if is_good else "timeout after 900 ms",
        )  # fmt: skip


def made_call(stream_id: str, tool: str, rng: random.Random) -> ToolCall:
    status = rng.choice(STATUSES)
    is_repaired = status == CallStatus.REPAIRED
    refusal = (
        Refusal(code="type_mismatch", path="/date", message="date must be a range")
        if status == CallStatus.REFUSED
        else None
    )
    return ToolCall(
        stream_id=stream_id, id="call_0", name=tool, requested_name=tool, raw="{'city': 'Beijing', \"days\": 3,}" if is_repaired
        else '{"city": "Beijing", "days": 3}', arguments=None if status == CallStatus.TRUNCATED else {"city": "Beijing", "days": 3},
        order=1, span=(90, 150), status=status, strategy="rule" if is_repaired else "json", confidence=0.88 if is_repaired else 0.99,
        repairs=(Repair(code="single_quotes", path="/city", rule="rr-quotes"), Repair(code="trailing_comma")) if is_repaired else (),
        refusal=refusal,
    )  # fmt: skip


def call_detail(call: ToolCall) -> dict[str, object]:
    return {
        "id": call.id, "name": call.name, "requested_name": call.requested_name, "arguments": call.arguments,
        "strategy": call.strategy, "repairs": [{"code": r.code, "path": r.path, "rule": r.rule} for r in call.repairs],
        "refusal": call.refusal.code if call.refusal else None,
    }  # fmt: skip


def made_failures(call: ToolCall, rng: random.Random) -> Iterator[Failure]:
    if call.status == CallStatus.REPAIRED:
        yield Failure(stream_id=call.stream_id, code=FailureCode.REPAIRED, stage=Stage.TOOL, span=call.span,
                      found="{'city'", expected='{"city"', signature=SIGNATURES[0], context={"rule": "rr-quotes"})  # fmt: skip
    if call.status == CallStatus.REFUSED:
        yield Failure(stream_id=call.stream_id, code=FailureCode.REFUSED_CALL, stage=Stage.TOOL, span=call.span,
                      found='"date": "2025-01-01"', expected="date_range", signature=SIGNATURES[1])  # fmt: skip
    if rng.random() < 0.06:
        yield Failure(stream_id=call.stream_id, code=FailureCode.ORPHAN_MARKER, stage=Stage.SEGMENT, span=(40, 47),
                      found="<|act|>", state="response", signature=SIGNATURES[2])  # fmt: skip


def patterns(now_ms: float) -> list[Pattern]:
    """One entry that is in use and one that waits for approval."""
    evidence = (Evidence(step="support", data={"streams": 41, "sources": 3}, ts=now_ms - 7_200_000),
                Evidence(step="negatives", data={"checked": 200, "changed": 0}, ts=now_ms - 7_100_000))  # fmt: skip
    first = Pattern(id="rr-quotes", version=1, kind=PatternKind.REPAIR_RULE, definition={"find": "'", "put": '"'},
                    state=PatternState.CANDIDATE, evidence=evidence, ts=now_ms - 7_000_000,
                    positives=("{'city': 'Beijing'}",), negatives=('{"a": "it\'s"}',), registry_version=1)  # fmt: skip
    active = Pattern(id="rr-quotes", version=1, kind=PatternKind.REPAIR_RULE, definition={"find": "'", "put": '"'},
                     state=PatternState.ACTIVE, evidence=evidence, ts=now_ms - 6_000_000, counters={"hits": 120},
                     registry_version=2)  # fmt: skip
    waiting = Pattern(id="fmt-act", version=1, kind=PatternKind.FORMAT, definition={"open": "<|act|>", "close": "<|end|>"},
                      state=PatternState.CANDIDATE, evidence=evidence, ts=now_ms - 60_000, registry_version=3,
                      positives=("<|act|>search {}<|end|>",))  # fmt: skip
    return [first, active, waiting]


def stats(now_s: int, minutes: int = 60) -> list[StageStat]:
    """Figures of four stages for the last hour."""
    return [
        StageStat(ts=now_s - 60 * minute, stage=stage, instance="w1", topic="llm.tokens", partition=partition,
                  records_in=6_000 + 100 * minute, records_out=5_900, failures=3, dead_letters=int(minute == 9),
                  lag=(minute * 37 + partition) % 200, oldest_ms=(minute * 91) % 900, p95_ms=3.5, open_streams=12)
        for minute in range(minutes)
        for stage in ("segment", "reason", "tool", "clean")
        for partition in range(2)
    ]  # fmt: skip


def executions(now_ms: float, task: str = "run-live", stream_id: str = "") -> list[SinkEvent]:
    """A task at work, and one that ended at its bound; with a stream id, that one's alone."""
    tenant = "acme"

    def one(order: int, tool: str, state: str, **more: object) -> Execution:
        return Execution(
            stream_id=stream_id or f"{task}-s0", call_id=f"call_{order}", task=task, tenant=tenant, tool=tool, order=order,
            state=state, arguments=f'{{"city":"<b>Oslo {order}</b>"}}', tokens=120, ts=now_ms - 9_000 + 1_000 * order, **more,
        )  # fmt: skip

    ended = {"duration_ms": 812.0, "cost_usd": 0.002}
    done = {"tool": "get_weather", "call_id": "call_0", "stream_id": "s", "status": "ok"}
    return [
        *(one(order, tool, "planned") for order, tool in enumerate(("get_weather", "book", "pay", "broken", "get_weather", "mail"))),
        one(0, "get_weather", "running"), one(0, "get_weather", "ended", status="ok", **ended),
        one(1, "book", "ended", status="business_failure", reason="http-business", error="余额不足 <script>alert(1)</script>", **ended),
        one(2, "pay", "ended", status="not_run", reason="review", strategies=("vip-refund",)),
        one(3, "broken", "ended", status="system_error", reason="breaker", error="skipped: http:shop"),
        one(4, "get_weather", "running"), one(0, "get_weather", "planned"),
        Handover(
            stream_id=stream_id or "run-over-s0", task="run-over", tenant=tenant, bound="steps_max", limit=15.0, ts=now_ms - 5_000,
            spent={"steps": 15, "tokens": 4_100, "cost_usd": 0.12, "step_s": 0.0}, done=(done,) * 15,
            left=({"call_id": "call_15", "name": "refund"},),
            next="steps_max is 15: a person raises it, runs what is left, or closes the task.",
        ),
    ]  # fmt: skip


def week(now_ms: float, runs: int = 300, seed: int = 7) -> list[SinkEvent]:
    """Events of the last week; the newest run is still open."""
    rng = random.Random(seed)
    day = 86_400_000
    events: list[SinkEvent] = [*patterns(now_ms)]
    for number in range(runs):
        age = (runs - number) / runs
        events += run_events(number, now_ms - 60_000 - age * age * 6.5 * day, rng)
    running = {
        "stream_id": "run-live-s0",
        "run_id": "run-live",
        "tenant": "acme",
        "model": MODELS[0],
        "ts": now_ms - 4_000,
    }
    events.append(Step(order=0, kind="reasoning", text=THOUGHTS[0], detail={"label": "planning"}, **running))
    return events
