"""Hostile pools: what a minority plants changes no literal of an entry, what is no format becomes none, cost is linear.

An entry that is learned although 3 of 20 outputs were replaced may hold only literals that the untouched 20 give.
"""

import json
import random
import re
import time
from dataclasses import replace
from functools import cache

import pytest

from processors.catalog import catalog_of, load_formats
from processors.knowledge import shipped_knowledge
from processors.learn import Learner
from processors.learning.frames import Frame
from processors.learning.induce import Induced, induce
from processors.learning.rehearse import Rehearsal
from processors.learning.sample import sample
from processors.learning.shadowing import literals_of, shadowed
from processors.learning.shape import Reader, Shape
from processors.pipeline import run
from schemas.token import Meta
from tests.notations import WORDS_EN, drawn, dumps, sentence, tools_of

POOL = 20
PLANTED = 3
TARGETS = ("json behind a name", "table rows")
OPEN = {"json behind a name": "⟦call:", "table rows": "╔ "}
CLOSE = {"json behind a name": "⟦/call⟧", "table rows": "╚"}
THINK = {"json behind a name": ("⟦mind⟧", "⟦/mind⟧"), "table rows": ("╭\n", "\n╰")}


def accepted(requests) -> list[dict]:
    """Definitions that a learner would let in."""
    # Ten formats instead of all: compiling is most of the cost, and no text here is one of the others.
    rehearsal = Rehearsal(replace(shipped_knowledge(), catalog=catalog_of(load_formats()[:10])))
    learner = Learner(rehearsal.run, literals_of(load_formats()))
    found = []
    for request in requests:
        item = sample(request)
        output = rehearsal.run(item, None)
        found += learner.take(item, output)
        for attempt in found:
            if attempt.accepted:
                rehearsal.adopt(attempt.pattern.definition)
    found += learner.finish()
    return [attempt.pattern.definition for attempt in found if attempt.accepted]


def literals(definition) -> set[str]:
    """All markers and literals of an entry."""
    found = set()
    pending = [value for key, value in definition.items() if key in {"reasoning", "content", "end", "calls"}]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list | tuple):
            pending += value
    return found


@cache
def untouched(notation: str) -> frozenset[str]:
    """Literals that any part of the untouched outputs gives."""
    requests = [request for request, *_ in drawn(notation, 21, POOL)]
    found = set()
    for left_out in (0, 1, 2, 3):
        kept = requests[: POOL - left_out] if left_out else requests
        found |= {literal for definition in accepted(kept) for literal in literals(definition)}
    assert found
    return frozenset(found)


def respelled(old: str, new: str):
    return lambda text, notation: text.replace(old, new)


def at_open(make):
    return lambda text, notation: text.replace(OPEN[notation], make(OPEN[notation]))


def at_close(make):
    return lambda text, notation: text.replace(CLOSE[notation], make(CLOSE[notation]))


def before(planted: str):
    return lambda text, notation: planted + text


def behind(planted: str):
    return lambda text, notation: text + planted


def at_think(make):
    def change(text, notation):
        opening, closing = THINK[notation]
        new_open, new_close = make(opening, closing)
        body = text.removeprefix(opening) if text.startswith(opening) else f"I wonder.{closing}{text}"
        return new_open + body.replace(closing, new_close, 1)

    return change


PLANTS = {
    "another close": at_close(lambda _: "⟦/end⟧"),
    "close twice": at_close(lambda close: close * 2),
    "no close": at_close(lambda _: ""),
    "close with a tail": at_close(lambda close: close + "\nIGNORE"),
    "another opener": at_open(lambda _: "⟦run:"),
    "longer opener": at_open(lambda opener: "⟦sys⟧" + opener),
    "half an opener": at_open(lambda opener: opener[:-1]),
    "opener twice": at_open(lambda opener: opener * 2),
    "zero width space in the opener": at_open(lambda opener: opener[0] + "\u200b" + opener[1:]),
    "right-to-left override before the opener": at_open(lambda opener: "\u202e" + opener),
    "isolate around the close": at_close(lambda close: "\u2066" + close + "\u2069"),
    "look-alike opener": at_open(lambda opener: opener.replace("⟦", "［").replace("╔", "╓")),
    "word before the opener": at_open(lambda opener: "please " + opener),
    "Markdown before the opener": at_open(lambda opener: "\n- " + opener),
    "heading before the opener": at_open(lambda opener: "\n# " + opener),
    "enormous opener": at_open(lambda opener: "⟦" * 10_000 + opener),
    "enormous close": at_close(lambda close: close + "⟧" * 10_000),
    "address split before the opener": at_open(lambda opener: "ada@exam" + opener),
    "card number split by the close": at_close(lambda close: "4111 1111 " + close + "1111 1111"),
    "shipped call marker before the opener": at_open(lambda opener: "<tool_call>" + opener),
    "shipped call marker as close": at_close(lambda _: "</tool_call>"),
    "shipped reasoning marker in front": before("<think>x</think>"),
    "reasoning opener is the call's": at_think(lambda o, c: ("⟦call:", c)),
    "reasoning close is the call's opener": at_think(lambda o, c: (o, "⟦call:")),
    "another reasoning close": at_think(lambda o, c: (o, "⟦/other⟧")),
    "another reasoning opener": at_think(lambda o, c: ("⟦other⟧", c)),
    "decoy reasoning close": at_think(lambda o, c: (o + "x" + c, c)),
    "reasoning never closed": at_think(lambda o, c: (o, "")),
    "reasoning from a word": at_think(lambda o, c: ("The ", ".")),
    "content in a wrapper": before("⟦answer⟧"),
    "a turn's end": behind("<eos>"),
    "another name for keys": respelled("city", "town"),
    "opener in a value": respelled('"Oslo"', '"⟦call:get_weather⟧ ╔ x"'),
    "close in a value": respelled('"Oslo"', '"⟦/call⟧ ╚"'),
    "values of other types": respelled("7", '{"x": [1]}'),
    "unregistered tool": lambda text, notation: re.sub(r"get_\w+|search_\w+|send_\w+", "rm_all", text),
    "all in a fence": lambda text, notation: f"```\n{text}\n```",
    "all in a comment": lambda text, notation: f"<!-- {text} -->",
    "carriage returns": respelled("\n", "\r\n"),
    "placeholders of templates": at_open(lambda opener: "$name$any" + opener),
    "placeholders of literals": at_open(lambda opener: "\x00\x01\x02\x03" + opener),
    "torn emoji": at_open(lambda opener: "\ud83d" + opener),
    "cut behind the opener": lambda text, notation: text[: text.find(OPEN[notation]) + len(OPEN[notation])],
    "braces": behind("{" * 20_000),
    "openers": lambda text, notation: text + OPEN[notation] * 5_000,
    "openers with a name and a brace": lambda text, notation: text + (OPEN[notation] + "get_weather⟧{") * 1_000,
    "nothing": lambda text, notation: "",
}  # fmt: skip


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("notation", TARGETS)
def test_a_planted_minority_changes_no_literal(notation, plant) -> None:
    requests = [dict(request) for request, *_ in drawn(notation, 21, POOL)]
    carriers = [place for place, request in enumerate(requests) if OPEN[notation] in request["text"]]
    for place in random.Random(plant).sample(carriers, PLANTED):
        requests[place]["text"] = PLANTS[plant](requests[place]["text"], notation)
    for definition in accepted(requests):
        assert literals(definition) <= untouched(notation)


def pool(write, count: int = POOL, seed: int = 5):
    """Outputs of one writer: `write(draw, name, arguments)` gives the text."""
    draw = random.Random(seed)
    requests = []
    for number in range(count):
        tools = tools_of(draw)
        function = draw.choice(tools)["function"]
        values = {"string": "Oslo", "integer": 3, "number": 0.5, "boolean": True, "array": [1]}
        given = {key: values[schema["type"]] for key, schema in function["parameters"]["properties"].items()}
        text = write(draw, function["name"], given)
        requests.append({"id": str(number), "text": text, "tools": tools})
    return requests


def marked(opener: str, close: str = "⟦/x⟧"):
    return lambda draw, name, given: f"{sentence(draw)}\n{opener}{name}⟧{dumps(given)}{close}"


NO_FORMATS = {
    "tools and parameters in prose": pool(lambda d, n, a: f"{sentence(d)} Use {n} with {', '.join(a)}. {sentence(d)}"),
    "parameters explained": pool(lambda d, n, a: f"The function {n} takes:\n" + "".join(f"- {k}: the {k}\n" for k in a)),
    "documentation": pool(lambda d, n, a: f"## {n}\n\n| name | type |\n|---|---|\n" + "".join(f"| {k} | string |\n" for k in a)),
    "a table of one parameter": pool(
        lambda d, n, a: f"## {n}\n\n| parameter | type |\n|---|---|\n| {next(iter(a))} | string |\n"
    ),
    "a table of defaults": pool(
        lambda d, n, a: f"### {n}\n\n| parameter | default |\n|---|---|\n" + "".join(f"| {k} | {dumps(v)} |\n" for k, v in a.items())
    ),
    "a list of defaults": pool(lambda d, n, a: f"Tool {n}\n" + "".join(f"* {k} = {dumps(v)}\n" for k, v in a.items())),
    "settings": pool(lambda d, n, a: f"[{n}]\n" + "".join(f"{k} = {dumps(v)}\n" for k, v in a.items()) + sentence(d)),
    "a numbered list": pool(lambda d, n, a: f"1. {n}\n" + "".join(f"   {k}: {dumps(v)}\n" for k, v in a.items())),
    "signatures": pool(lambda d, n, a: f"{sentence(d)} See `{n}({', '.join(a)})` for more. {sentence(d)}"),
    "a tutorial in Chinese": pool(lambda d, n, a: f"第一步：打开 {n} 的文档，参数有 {'、'.join(a)}。{sentence(d)}"),
    "quoted names": pool(lambda d, n, a: f"{sentence(d)} “{n}” needs “{next(iter(a))}”. {sentence(d)}"),
    "list of names": pool(lambda d, n, a: "\n".join(f"{i}. {n}: {k}" for i, k in enumerate(a, 1))),
    "all in fences": pool(lambda d, n, a: f"{sentence(d)}\n```\n⟦call:{n}⟧{dumps(a)}⟦/call⟧\n```"),
    "all in comments": pool(lambda d, n, a: f"{sentence(d)}<!-- ⟦call:{n}⟧{dumps(a)}⟦/call⟧ -->"),
    "zero width space in every opener": pool(marked("⟦\u200bcall:")),
    "override in every opener": pool(marked("⟦\u202ecall:")),
    "override in every close": pool(marked("⟦call:", "⟦\u202e/call⟧")),
    "a shipped opener": pool(lambda d, n, a: f"<tool_call>{n} :: {dumps(a)} ::"),
    "a shipped opener and more": pool(lambda d, n, a: f"@@<tool_call>@@{n} :: {dumps(a)} ::"),
    "part of a shipped opener": pool(lambda d, n, a: f"<tool_cal>{n} :: {dumps(a)} ::".replace("<tool_cal>", "<tool_call")),
    "a shipped special token": pool(lambda d, n, a: f"<|python_tag|>~{n} :: {dumps(a)} ::"),
    "a shipped reasoning opener": pool(lambda d, n, a: f"<think>{n} :: {dumps(a)} ::"),
    "calls without arguments": pool(lambda d, n, a: f"⟦call:{n}⟧⟦/call⟧"),
    "keys nobody declared": pool(lambda d, n, a: f"⟦call:{n}⟧{dumps({'x': 1})}⟦/call⟧"),
    "values of other types": pool(lambda d, n, a: f"⟦call:{n}⟧{dumps({key: {'x': 1} for key in a})}⟦/call⟧"),
    "four outputs": pool(marked("⟦call:"), 4),
    "every opener differs": pool(lambda d, n, a: f"{d.choice('¤§¶†‡°')}{d.choice('¤§¶†‡°')}{d.randint(0, 9**6)}{n} {dumps(a)}"),
    "tool names are words": [
        {**request, "text": " ".join(WORDS_EN), "tools": [{"function": {"name": "the", "parameters": {}}}]}
        for request in pool(marked("⟦call:"))
    ],
    "names with signs of patterns": [
        {**request, "tools": [{"function": {"name": "(.*)+$", "parameters": {"properties": {".*": {}}}}}]}
        for request in pool(lambda d, n, a: f"{sentence(d)} (.*)+$ {sentence(d)}")
    ],
    "schemas that are none": [
        {**request, "tools": [{"function": {"name": ["x"]}}, {"function": 7}, None, "x", {"name": "plan", "parameters": []}]}
        for request in pool(lambda d, n, a: f"⟦call:plan⟧{dumps(a)}⟦/call⟧")
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", NO_FORMATS)
def test_what_is_no_format_becomes_none(kind) -> None:
    assert accepted(NO_FORMATS[kind]) == []


def test_torn_characters_in_every_output_raise_nothing() -> None:
    torn = pool(lambda d, n, a: f"⟦call:{n}\ud83d⟧{dumps(a)}\ud83d⟦/call⟧")
    texts = [{"id": f"t{number}", "text": "a \ud800 b", "tools": torn[0]["tools"]} for number in range(5)]
    for definition in accepted([*texts, *torn]):
        assert json.dumps(definition, ensure_ascii=False).encode()


def flood(text: str, count: int = 8):
    tools = [{"function": {"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}}}}]
    return [{"id": str(number), "text": text, "tools": tools} for number in range(count)]


FLOODS = {
    "braces": lambda n: "{" * n,
    "names before braces": lambda n: "⟦call:get_weather⟧" + "{" * n,
    "openers": lambda n: "⟦call:" * (n // 6),
    "openers with a name and a brace": lambda n: "⟦call:get_weather⟧{" * (n // 19),
    "nested brackets": lambda n: "⟦call:get_weather⟧" + "[" * (n // 2) + "]" * (n // 2),
    "fences": lambda n: "```\nget_weather\n" * (n // 16),
    "comments": lambda n: "<!--get_weather" * (n // 15),
    "names": lambda n: "get_weather " * (n // 12),
    "keys": lambda n: "⟦call:get_weather⟧" + "city: " * (n // 6),
    "quotes": lambda n: "⟦call:get_weather⟧ city: " + '"' * n,
    "backslashes": lambda n: '⟦call:get_weather⟧{"city": "' + "\\" * n,
    "line breaks": lambda n: "get_weather" + "\n" * n,
    "spaces": lambda n: "get_weather" + " " * n + "city",
}
FLOOD_CHARS = 200_000
SAMPLE_S_MAX = 4.0
RATIO_MAX = 4.0
"""A quadratic step costs four times as much on twice the text; linear ones with their noise stay below three."""


@pytest.mark.parametrize("kind", FLOODS)
def test_learning_from_a_flood_is_bounded(kind) -> None:
    began = time.process_time()
    induce([sample(request) for request in flood(FLOODS[kind](FLOOD_CHARS))])
    assert time.process_time() - began < SAMPLE_S_MAX


@pytest.mark.parametrize("kind", FLOODS)
def test_reading_a_flood_is_linear(kind) -> None:
    def cost(chars: int) -> float:
        text = FLOODS[kind](chars)
        costs = []
        for _ in range(2):
            began = time.process_time()
            run("s", [text], Meta(), shipped_knowledge())
            costs.append(time.process_time() - began)
        return min(costs)

    assert cost(FLOOD_CHARS) < RATIO_MAX * cost(FLOOD_CHARS // 2) + 0.1


def test_a_huge_schema_costs_no_more_than_its_bound() -> None:
    properties = {f"key{number}": {"type": "string"} for number in range(20_000)}
    tools = [
        {"function": {"name": f"tool_{number}", "parameters": {"properties": properties}}} for number in range(300)
    ]
    item = sample({"id": "x", "text": "⟦call:tool_1⟧{}", "tools": tools})
    assert len(item.tools) == 200
    assert all(len(given) == 100 for given in item.tools.values())
    assert json.dumps(item.tools)


REPLACEMENTS = {
    **{f"edited: {plant}": change for plant, change in PLANTS.items()},
    "reasoning that the format has not": lambda text, notation: f"⟪plan⟫I wonder.⟪/plan⟫{text}",
    "an answer in a frame": lambda text, notation: f"⟪say⟫Here it is.⟪/say⟫\n{text}",
    "an end of turn": lambda text, notation: f"{text}\n⟪halt⟫",
    "the end of a call without arguments": lambda text, notation: f"{text}\n{OPEN[notation]}get_weather⟪none⟫",
    "another separator": lambda text, notation: text.replace(', "', ' ⟪and⟫ "').replace("\n║", " ⟪and⟫\n║"),
    "a section around calls": lambda text, notation: f"⟪calls⟫\n{text}\n⟪/calls⟫",
    "only reasoning": lambda text, notation: f"⟪plan⟫I wonder.⟪/plan⟫{sentence(random.Random(len(text)))}",
    "only an answer with an end": lambda text, notation: f"{sentence(random.Random(len(text)))}⟪halt⟫",
    "another notation": lambda text, notation: f'⟪run get_weather⟫{{"city": "Oslo {len(text)}"}}⟪/run⟫',
}  # fmt: skip
DRAWS = 2


@pytest.mark.parametrize("draw", range(DRAWS))
@pytest.mark.parametrize("kind", sorted(REPLACEMENTS.keys() - {f"edited: {plant}" for plant in PLANTS}))
def test_any_three_of_twenty_replaced_change_no_literal(kind, draw) -> None:
    chance = random.Random(f"{kind}:{draw}")
    notation = chance.choice(TARGETS)
    assert replaced_literals(notation, REPLACEMENTS[kind], chance) == set()


def replaced_literals(notation, change, chance) -> set[str]:
    """Literals learned from 20 outputs, any 3 of them replaced, that neither all 20 nor the other 17 give."""
    requests = [request for request, *_ in drawn(notation, chance.randrange(10_000), POOL)]
    places = set(chance.sample(range(POOL), PLANTED))
    kept = [request for place, request in enumerate(requests) if place not in places]
    planted = [
        {**request, "text": change(request["text"], notation)} if place in places else request
        for place, request in enumerate(requests)
    ]
    found = {literal for definition in accepted(planted) for literal in literals(definition)}
    if not found:
        return found
    given = [definition for pool_ in (requests, kept) for definition in accepted(pool_)]
    return found - {literal for definition in given for literal in literals(definition)}


STYLES = {
    "a table below a rare sign": lambda d, n, a: f"§ {n}\n\n| key | default |\n|---|---|\n" + "".join(f"| {k} | {dumps(v)} |\n" for k, v in a.items()) + "\nThat is all.",
    "a list below an arrow": lambda d, n, a: f"→ {n}\n" + "".join(f"\n– {k}: {dumps(v)}" for k, v in a.items()) + "\n\n---",
    "a Chinese heading": lambda d, n, a: f"工具：{n}\n" + "".join(f"• {k}：{dumps(v)}\n" for k, v in a.items()) + "\n以上。",
}  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
def test_a_house_style_of_documents_becomes_no_format(style) -> None:
    assert accepted(pool(STYLES[style])) == []


@pytest.mark.parametrize(
    ("opener", "literal"), [("<tool", "<tool"), ("⟦<tool>", "<tool"), ("<tool", "<tool_call>"), ("<toolbox>", "")]
)
def test_an_opener_stands_in_for_a_marker_unless_it_is_a_longer_word(opener: str, literal: str) -> None:
    shape = Shape(open=opener, reader=Reader.OBJECT)
    induced = Induced(
        shape=shape, thought=None, frame=Frame(), valid=frozenset(), invalid=frozenset(), runner_up=None, trace=()
    )
    assert shadowed(induced, frozenset({literal or "<tool"})) == literal
