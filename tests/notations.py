"""Notations that no catalogue knows, and outputs written in them: what learning is tried on."""

import json
import random

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
