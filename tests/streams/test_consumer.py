"""Consumer kit: each output once, in order, committed after the loop's body; filters; answers of tools."""

import asyncio
import gc

import orjson
import pytest

from schemas.output import Output
from schemas.token import Meta
from schemas.toolcall import CallStatus, ToolCall
from schemas.trajectory import Step
from schemas.wire import encode
from streams.client import OutputConsumer, StepConsumer, Wanted, executable
from streams.settings import ServerAwayError, Settings
from tests.streams.flow import consumed, prepared, produce


def call(name: str, status: CallStatus = CallStatus.OK, **more) -> ToolCall:
    return ToolCall(
        stream_id="s", id="call_0", name=name, requested_name=name, arguments={}, raw="", order=0, span=(0, 0),
        status=status, strategy="json", confidence=1.0, **more,
    )  # fmt: skip


def output(stream_id: str, *calls: ToolCall, rev: int = 0, tenant: str | None = None) -> Output:
    return Output(stream_id=stream_id, tool_calls=calls, rev=rev, meta=Meta(tenant=tenant))


@pytest.mark.parametrize(
    ("wanted", "is_given"),
    [
        (Wanted(), True),
        (Wanted(tools=frozenset({"pay"})), True),
        (Wanted(tools=frozenset({"other"})), False),
        (Wanted(tools=frozenset({"pay"}), statuses=frozenset({"ok"})), False),
        (Wanted(statuses=frozenset({"refused"})), True),
        (Wanted(tenants=frozenset({"acme"})), True),
        (Wanted(tenants=frozenset({"other"})), False),
    ],
)
def test_filters(wanted, is_given) -> None:
    given = output("s", call("pay", CallStatus.REFUSED), call("look"), tenant="acme")
    assert wanted.has_output(given) is is_given


def test_executable_are_calls_that_were_checked_said_once_and_not_taken_back() -> None:
    calls = [
        call("a"), call("b", CallStatus.REFUSED), call("c", duplicate_of="call_9"), call("d", superseded_by="call_9"),
        call("e", CallStatus.RENAMED), call("f", CallStatus.TRUNCATED), call("g", CallStatus.REPAIRED),
    ]  # fmt: skip
    assert [found.name for found in executable(output("s", *calls))] == ["a", "e", "g"]


@pytest.mark.engines
def test_an_output_is_given_again_only_if_its_body_did_not_come_back(running) -> None:
    async def main() -> None:
        settings, _ = await prepared(running.settings, "cons.")
        given = [output("a"), output("a"), output("a", rev=1), output("b"), output("c"), output("d")]
        await produce(settings, "cons.llm.outputs", [("k", encode(item)) for item in given] + [("k", b"not ours")])
        seen = []
        with pytest.raises(ValueError, match="mine"):  # noqa: PT012 - the loop is what is tested
            async with OutputConsumer(settings, "cons.g") as outputs:
                async for found in outputs:
                    seen.append((found.stream_id, found.rev))
                    if found.stream_id == "c":
                        raise ValueError("mine")
        assert seen == [("a", 0), ("a", 1), ("b", 0), ("c", 0)]
        again = []
        async with OutputConsumer(settings, "cons.g") as outputs:
            async for found in outputs:
                again.append(found.stream_id)
                await outputs.answer(call("look"), {"days": 3}, duration_ms=4.0)
                if found.stream_id == "d":
                    break
        assert again == ["c", "d"]
        results = [orjson.loads(record.value) for record in await consumed(settings, "llm.tool-results", 2)]
        assert [(r["call_id"], r["content"], r["status"]) for r in results] == [("call_0", {"days": 3}, "ok")] * 2

    asyncio.run(main())


@pytest.mark.engines
def test_answers_side_by_side_open_one_client(running, recwarn) -> None:
    async def main() -> None:
        settings, _ = await prepared(running.settings, "answers.")
        async with OutputConsumer(settings) as outputs:
            await asyncio.gather(*(outputs.answer(call(name), name) for name in "abc"))
        results = [orjson.loads(record.value) for record in await consumed(settings, "llm.tool-results", 3)]
        assert sorted(result["content"] for result in results) == ["a", "b", "c"]

    asyncio.run(main())
    gc.collect()
    assert [str(found.message) for found in recwarn if found.category is ResourceWarning] == []


@pytest.mark.engines
def test_steps_come_once_and_of_the_kinds_one_wants(running) -> None:
    async def main() -> None:
        settings, _ = await prepared(running.settings, "steps.")
        steps = [
            Step(stream_id="s", order=order, kind=kind, tenant="acme")
            for order, kind in enumerate(("reasoning", "tool_call", "response"))
        ]
        values = [("s", encode(step)) for step in [*steps, *steps, Step(stream_id="s", order=9, kind="response")]]
        await produce(settings, "steps.llm.steps", values)
        wanted = Wanted(kinds=frozenset({"tool_call", "response"}))
        async with StepConsumer(settings, wanted, start="earliest") as found:
            got = []
            async for step in found:
                got.append(step.order)
                if step.order == 9:
                    break
        assert got == [1, 2, 9]

    asyncio.run(main())


def test_kafka_away_is_said_at_once() -> None:
    async def main() -> None:
        with pytest.raises(ServerAwayError, match="does not answer"):
            async with OutputConsumer(Settings(kafka_bootstrap="127.0.0.1:9")):
                pass

    asyncio.run(main())
