"""Outputs of formats that no catalogue knows → learned entries: calls, reasoning, frames; and what must not be learned."""

import json
import random
from dataclasses import replace

import pytest

from processors.catalog import catalog_of, load_formats
from processors.knowledge import shipped_knowledge
from processors.learn import Learner
from processors.learning.entry import definition_of
from processors.learning.induce import induce
from processors.learning.sample import sample
from processors.pipeline import run
from processors.segmenting.format import Format
from schemas.pattern import PatternState
from schemas.token import Meta

WORDS_EN = [
    "ledger",
    "compass",
    "window",
    "garden",
    "maple",
    "orbit",
    "velvet",
    "kettle",
    "signal",
    "river",
    "harvest",
    "lantern",
    "copper",
    "bridge",
]
WORDS_ZH = ["结果", "数据", "路径", "用户", "天气", "参数", "文件", "计算", "方案", "库存", "明天", "查询"]
NAMES = ("get_weather", "search_notes", "plan_route", "convert_units", "send_mail")
PARAMETERS = {
    "city": "string",
    "count": "integer",
    "ratio": "number",
    "urgent": "boolean",
    "tags": "array",
    "note": "string",
}
VALUES = {
    "string": [
        "Oslo",
        "say \"hi\" and 'bye'",
        "a, b; c = [1, 2] (x) | y: z",
        "第一行\n第二行",
        "C:\\data\\x",
        "",
        "12",
    ],
    "integer": [0, 7, -3, 2026],
    "number": [0.5, 99.9, -3.25],
    "boolean": [True, False],
    "array": [[], [1, 2], ["x", "等, b"]],
}


def sentence(draw) -> str:
    words = draw.choice((WORDS_EN, WORDS_ZH))
    joint = " " if words is WORDS_EN else ""
    return joint.join(draw.choices(words, k=draw.randint(4, 9))) + draw.choice(".?!。？")


def tools_of(draw):
    tools = []
    for name in draw.sample(NAMES, 3):
        given = {key: {"type": PARAMETERS[key]} for key in draw.sample(sorted(PARAMETERS), draw.randint(1, 4))}
        tools.append(
            {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": given}}}
        )
    return tools


def case(draw):
    tools = tools_of(draw)
    calls = []
    for _ in range(draw.choice((0, 1, 1, 1, 2))):
        function = draw.choice(tools)["function"]
        given = {
            k: draw.choice(VALUES[v["type"]])
            for k, v in function["parameters"]["properties"].items()
            if draw.random() < 0.8
        }
        calls.append((function["name"], given))
    reasoning = " ".join(sentence(draw) for _ in range(draw.randint(1, 3))) if draw.random() < 0.5 else None
    content = " ".join(sentence(draw) for _ in range(draw.randint(1, 4))) if not calls or draw.random() < 0.4 else ""
    return tools, reasoning, content, calls


def raw(value) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def dumps(value) -> str:
    return json.dumps(value, ensure_ascii=False)


NOTATIONS = {
    "json behind a name": (("⟦mind⟧", "⟦/mind⟧"), lambda n, a: f"⟦call:{n}⟧{dumps(a)}⟦/call⟧"),
    "key and value lines": (("@@think\n", "\n@@end"), lambda n, a: f"@@tool {n}\n" + "".join(f"{k}: {dumps(v)}\n" for k, v in a.items()) + "@@end"),
    "s-expression": ((";;think ", " ;;done"), lambda n, a: f";;call ({n}" + "".join(f' (arg "{k}" {dumps(v)})' for k, v in a.items()) + ")"),
    "table rows": (("╭\n", "\n╰"), lambda n, a: f"╔ {n}\n" + "".join(f"║ {k} ┊ {dumps(v)}\n" for k, v in a.items()) + "╚"),
    "whole object": (("«", "»"), lambda n, a: f"¤{dumps({'do': n, 'with': a})}¤"),
    "nested object": (("<r>", "</r>"), lambda n, a: f"<act>{dumps({'tool': {'id': n, 'input': a}})}</act>"),
    "name as key": (("<r>", "</r>"), lambda n, a: f"<exec>{dumps({n: a})}</exec>"),
    "length before the payload": (("[[think]]", "[[/think]]"), lambda n, a: f"[[use:{n}:{len(dumps(a))}]]{dumps(a)}"),
    "chinese markers": (("【思考】", "【/思考】"), lambda n, a: f"【调用】{n}【参数】{dumps(a)}【/调用】"),
    "raw values in tags": (("<mull>", "</mull>"), lambda n, a: f"<do>{n}</do>" + "".join(f"<k>{k}</k><v>{raw(v)}</v>" for k, v in a.items()) + "<go/>"),
}  # fmt: skip


def render(notation, reasoning, content, calls) -> str:
    (opening, closing), call = NOTATIONS[notation]
    parts = [f"{opening}{reasoning}{closing}"] if reasoning else []
    parts += [content] if content else []
    return "\n".join([*parts, *(call(name, arguments) for name, arguments in calls)])


def drawn(notation, seed, count):
    draw = random.Random(f"{notation}:{seed}")
    cases = []
    for number in range(count):
        tools, reasoning, content, calls = case(draw)
        text = render(notation, reasoning, content, calls)
        cases.append(({"id": f"{seed}-{number}", "text": text, "tools": tools}, reasoning, content, calls))
    return cases


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
