"""Outputs of formats that no catalogue knows → learned entries: calls, reasoning, frames; and what must not be learned."""

import random
from dataclasses import replace

import pytest

from processors.catalog import catalog_of, load_formats
from processors.knowledge import shipped_knowledge
from processors.learn import Learner
from processors.learning.entry import definition_of
from processors.learning.induce import induce
from processors.learning.sample import sample
from processors.learning.tails import empty_of
from processors.pipeline import run
from processors.segmenting.format import Format
from schemas.pattern import PatternState
from schemas.token import Meta
from tests.notations import NOTATIONS, drawn, dumps, sentence, tools_of


def knowledge_with(definition):
    return replace(shipped_knowledge(), catalog=catalog_of((*load_formats(), Format.model_validate(definition)), 1))


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_notation_is_learned_from_24_outputs_and_reads_others(notation) -> None:
    pool = [sample(request) for request, *_ in drawn(notation, 1, 24)]
    induced = induce(pool)
    assert induced is not None
    knowledge = knowledge_with(definition_of(induced, "learned_x"))
    wrong = 0
    for request, reasoning, content, calls in drawn(notation, 2, 40):
        output = run(request["id"], [request["text"]], Meta(tools=tuple(request["tools"])), knowledge)
        read = [(call.name, call.arguments) for call in output.tool_calls]
        assert read == calls
        wrong += (output.reasoning.text or "").strip() != (reasoning or "") or output.response.strip() != content
    assert wrong <= 2 or induced.thought is None


def learner() -> Learner:
    def again(item, definition):
        knowledge = knowledge_with(definition) if definition else shipped_knowledge()
        schemas = tuple({"function": {"name": n, "parameters": {"properties": p}}} for n, p in item.tools.items())
        return run(item.id, [item.text], Meta(tools=schemas), knowledge)

    return Learner(again)


def fed(requests):
    learning = learner()
    found = []
    for request in requests:
        item = sample(request)
        output = run(item.id, [item.text], Meta(tools=tuple(request["tools"])), shipped_knowledge())
        found += learning.take(item, output)
    return found + learning.finish()


def test_learner_lets_a_proven_format_in_with_its_evidence() -> None:
    found = fed([request for request, *_ in drawn("table rows", 3, 24)])
    (entry,) = {attempt.pattern.id for attempt in found if attempt.accepted}
    pattern = [attempt.pattern for attempt in found if attempt.accepted][-1]
    assert pattern.state is PatternState.ACTIVE
    assert Format.model_validate(pattern.definition).id == entry
    proof = next(step.data for step in pattern.evidence if step.step == "proof")
    assert proof["accepted"]
    assert proof["valid"] >= 5
    assert proof["changed"] == 0


def test_few_outputs_are_not_enough() -> None:
    assert not [attempt for attempt in fed([r for r, *_ in drawn("table rows", 4, 5)]) if attempt.accepted]


def test_prose_that_names_tools_and_parameters_teaches_nothing() -> None:
    draw = random.Random(5)
    requests = []
    for number in range(60):
        tools = tools_of(draw)
        function = tools[0]["function"]
        keys = ", ".join(function["parameters"]["properties"])
        text = f"{sentence(draw)} The tool {function['name']} takes {keys}; call {function['name']} with {keys}. {sentence(draw)}"
        requests.append({"id": str(number), "text": text, "tools": tools})
    assert not [attempt for attempt in fed(requests) if attempt.accepted]


@pytest.mark.parametrize(
    ("first", "following", "close", "empty"),
    [
        (' (arg "', ') (arg "', "))", ")"),
        ('" ', '" ', '"/>', '"/>'),
        ("\n", "\n", "\n@@end", "\n@@end"),
        ("(", ", ", ")", "()"),
        ('">\n<p n="', '</p>\n<p n="', "</p>\n</act>", '">\n</act>'),
        (" (", ") (", ") :)", " :)"),
        ("</do><k>", "</v><k>", "</v><go/>", "</do><go/>"),
        (" ▀▜\n▌ ", "\n▌ ", "\n▙▄▟", " ▀▜\n▙▄▟"),
        ("(", "", ")", "()"),
        (' (arg "', "", "))", ")"),
        (">\n<parameter=", "", "\n</parameter>\n</function>", ">\n</function>"),
    ],
)
def test_a_call_without_arguments_is_told_from_those_with_some(first, following, close, empty) -> None:
    assert empty_of(first, following, close) == empty


def test_few_outputs_with_reasoning_that_is_not_understood_teach_nothing_yet() -> None:
    requests = [request for request, reasoning, *_ in drawn("json behind a name", 6, 30) if not reasoning][:9]
    assert any(attempt.accepted for attempt in fed(requests))
    changed = [{**requests[0], "text": "⟦mind⟧I wonder.⟦/mind⟧" + requests[0]["text"]}, *requests[1:]]
    assert not [attempt for attempt in fed(changed) if attempt.accepted]


def test_calls_of_a_section_with_one_opener_are_all_read() -> None:
    draw = random.Random(7)
    requests = []
    for number in range(20):
        tools = tools_of(draw)
        calls = [f"{draw.choice(tools)['function']['name']}()" for _ in range(draw.choice((1, 1, 2)))]
        function = tools[0]["function"]
        calls[0] = f"{function['name']}({', '.join(f'{key}=None' for key in function['parameters']['properties'])})"
        requests.append({"id": str(number), "text": f"⟨calls⟩[{', '.join(calls)}]⟨/calls⟩", "tools": tools})
    induced = induce([sample(request) for request in requests])
    assert induced is not None
    knowledge = knowledge_with(definition_of(induced, "learned_x"))
    for request in requests:
        output = run(request["id"], [request["text"]], Meta(tools=tuple(request["tools"])), knowledge)
        assert len(output.tool_calls) == request["text"].count("(")
        assert output.response == ""


def outputs_of(write, count: int = 20, seed: int = 5):
    """Requests and expected calls of one writer: `write(number, name, arguments)` gives the text of a call."""
    draw = random.Random(seed)
    rows = []
    for number in range(count):
        tools = tools_of(draw)
        function = draw.choice(tools)["function"]
        values = {"string": "Oslo", "integer": 3, "number": 0.5, "boolean": True, "array": [1]}
        given = {key: values[schema["type"]] for key, schema in function["parameters"]["properties"].items()}
        request = {"id": str(number), "text": write(number, function["name"], given), "tools": tools}
        rows.append((request, (function["name"], given)))
    return rows


IDS_AND_LENGTHS = {
    "an id before the name": lambda i, n, a: f"[[t{i:02d} {n}]] {dumps(a)} [[/t]]",
    "an id in an attribute": lambda i, n, a: f"<c id=c{i:03d} fn={n}>{dumps(a)}</c>",
    "lengths of name and object": lambda i, n, a: f"^call:{len(n)}:{n}:{len(dumps(a))}:{dumps(a)}^",
    "a length behind the name": lambda i, n, a: f"#call {n} {len(dumps(a))}#{dumps(a)}",
}


@pytest.mark.parametrize("kind", IDS_AND_LENGTHS)
def test_words_that_differ_in_an_opener_are_learned(kind) -> None:
    rows = outputs_of(IDS_AND_LENGTHS[kind])
    accepted = [attempt.pattern.definition for attempt in fed([request for request, _ in rows]) if attempt.accepted]
    knowledge = knowledge_with(accepted[-1])
    for request, call in outputs_of(IDS_AND_LENGTHS[kind], seed=6):
        output = run(request["id"], [request["text"]], Meta(tools=tuple(request["tools"])), knowledge)
        assert [(read.name, read.arguments) for read in output.tool_calls] == [call]


def test_the_end_of_a_turn_is_no_part_of_an_answer() -> None:
    rows = [request for request, *_ in drawn("json behind a name", 8, 24)]
    ended = [{**request, "text": request["text"] + "<|halt|>"} for request in rows]
    definition = [attempt.pattern.definition for attempt in fed(ended) if attempt.accepted][-1]
    output = run("s", ["Nothing to call.<|halt|>"], Meta(), knowledge_with(definition))
    assert output.response == "Nothing to call."
