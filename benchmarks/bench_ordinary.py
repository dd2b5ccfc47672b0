"""Nothing is learned from ordinary outputs: how many pools of prose, tutorials and API documentation make a pattern.

Run: python benchmarks/bench_ordinary.py [--pools N] [--first N] [--texts N]

A pool is what one source might send: outputs that name registered tools and their parameters and hold no call. One to
three house styles write two thirds of it, each with signs, words and an order drawn for this pool, because the same
style over and over is what resembles a format most; the rest are texts of all kinds. Pool N is the same on every run.
A pattern that a learner with automatic approval would make active is counted, and its opener printed.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from processors.catalog import load_formats
from processors.knowledge import shipped_knowledge
from processors.learn import Learner
from processors.learning.rehearse import Rehearsal
from processors.learning.sample import sample
from processors.learning.shadowing import literals_of
from tests.notations import VALUES, dumps, sentence, tools_of
from tests.plain_texts import texts

Writer = Callable[[random.Random, str, dict], str]
"""A tool's name and parameters with values → one output of a style; not all styles leave anything to chance."""

INTROS = ("Use", "Call", "Try", "See", "The tool", "First,", "Note:", "请使用", "调用", "参见", "工具", "先看")
HEADS = ("#", "##", "###", "**", "1.", "-", "*", "•", "§", "→", "Tool:", "Function:", "工具：", "接口：", "==", "~")
BULLETS = ("-", "*", "•", "+", "–", "1.", "·", "→")
JOINTS = (": ", " = ", " – ", " -> ", "：", " => ", "=", " (", " | ", "\t")
WORDS = ("string", "optional", "required", "default", "see below", "the value", "必填", "可选", "默认值", "字符串")
ENDS = ("", "", "\n\nThat is all.", "\n\n---", "\n\nSee also the guide.", "\n\n以上。", "\n\nDone!", "\n***")


def styles(draw: random.Random) -> list[Writer]:
    """All styles, with the signs and words of one house."""
    head, bullet, joint, end = draw.choice(HEADS), draw.choice(BULLETS), draw.choice(JOINTS), draw.choice(ENDS)
    intro, word, tail = draw.choice(INTROS), draw.choice(WORDS), sentence(draw)
    closing = "**" if head == "**" else ""

    def described(given: dict) -> list[str]:
        return [f"{key}{joint}{word}" for key in given]

    def valued(given: dict) -> list[str]:
        return [f"{key}{joint}{dumps(value)}" for key, value in given.items()]

    def listed(lines: list[str]) -> str:
        return "".join(f"\n{bullet} {line}" for line in lines)

    def table(rows: list[tuple[str, str]]) -> str:
        return f"| {word} | {tail[:12]} |\n|---|---|\n" + "".join(f"| {one} | {two} |\n" for one, two in rows)

    return [
        lambda d, n, g: f"{intro} {n} with {', '.join(g)}. {sentence(d)}",
        lambda d, n, g: f"{sentence(d)} {intro} `{n}` ({', '.join(g)}). {sentence(d)}{end}",
        lambda _, n, g: f"{head} {n}{closing}\n{listed(described(g))}{end}",
        lambda _, n, g: f"{head} {n}{closing}\n{listed(valued(g))}{end}",
        lambda d, n, g: f"{sentence(d)}\n\n{head} {n}{closing}\n\n{table([(key, word) for key in g])}{end}",
        lambda _, n, g: f"{head} {n}{closing}\n\n{table([(key, dumps(value)) for key, value in g.items()])}{tail}",
        lambda d, n, g: f"[{n}]\n" + "\n".join(valued(g)) + f"\n\n{sentence(d)}",
        lambda _, n, g: f"{n}:\n" + "".join(f"  {key}: {dumps(value)}\n" for key, value in g.items()) + end,
        lambda _, n, g: f"NAME\n    {n}\n\nOPTIONS\n" + "".join(f"    --{key}  {word}\n" for key in g) + tail,
        lambda d, n, g: f"{sentence(d)}\n    $ {n} " + " ".join(f"--{key} {dumps(value)}" for key, value in g.items()),
        lambda _, n, g: f"{n}({', '.join(f'{key}: {word}' for key in g)}) -> {tail}",
        lambda d, n, g: f"{intro} {n}({', '.join(f'{key}={dumps(value)}' for key, value in g.items())}). {sentence(d)}",
        lambda d, n, g: f"{sentence(d)}\n```python\n{n}({', '.join(f'{key}={value!r}' for key, value in g.items())})\n```{end}",
        lambda d, n, g: f"```json\n{dumps({'name': n, 'arguments': g})}\n```\n{sentence(d)}",
        lambda d, n, g: f"{intro} “{n}”，“{'”、“'.join(g)}”。{sentence(d)}{end}",
        lambda d, n, g: f"{sentence(d)}\n> {n}{joint}{', '.join(g)}\n\n{sentence(d)}",
        lambda _, n, g: f'<h2>{n}</h2>\n<ul>{"".join(f"<li><code>{key}</code> {word}</li>" for key in g)}</ul>{end}',
        lambda d, n, g: f'<tool name="{n}" href="#{n}">{sentence(d)}</tool> {", ".join(g)}',
        lambda d, n, g: f"GET /{n}?{'&'.join(f'{key}={dumps(value)}' for key, value in g.items())} HTTP/1.1\n\n{sentence(d)}",
        lambda d, n, g: f"2031-05-{d.randint(1, 28):02d} INFO {n} " + " ".join(valued(g)) + f" {word}",
        lambda d, n, g: f"Changed in {d.randint(1, 9)}.{d.randint(0, 9)}: {n} takes {' and '.join(g)}. {tail}",
        lambda d, n, g: f"Q: {intro} {n}?\nA: {sentence(d)} {joint.join(list(g)[:2])}{end}",
        lambda d, n, g: f"{d.randint(1, 9)}. {intro} {n}.\n{d.randint(1, 9)}. {sentence(d)}\n{listed(described(g))}",
        lambda d, n, g: f"- [ ] {n}{joint}{', '.join(g)}\n- [x] {sentence(d)}",
        lambda _, n, g: f"The schema of {n} is {dumps({'type': 'object', 'properties': {key: {'type': word} for key in g}})}.",
        lambda d, n, g: f"{intro} {n} → {' → '.join(g)} → {word}. {sentence(d)}",
        lambda d, n, g: f"/** {n}\n" + "".join(f" * @param {key} {word}\n" for key in g) + f" */\n{sentence(d)}",
        lambda _, n, g: f":param {n}:\n" + "".join(f"    :{key}: {word}\n" for key in g) + tail,
        lambda d, n, g: f"{tail} {n}，参数为 {'、'.join(f'{key}（{word}）' for key in g)}。{sentence(d)}",
        lambda d, n, g: f"{n}\n{'=' * len(n)}\n{sentence(d)}\n" + "\n".join(described(g)),
        lambda d, n, g: f"{sentence(d)} ({n}; {'; '.join(valued(g))}) {sentence(d)}",
        lambda _, n, g: f"Dear all,\n\n{intro} {n}. {'; '.join(described(g))}.\n\nYours,\n{tail}",
    ]  # fmt: skip


def pool(number: int, count: int) -> list[dict]:
    """The outputs of one source, in order."""
    draw = random.Random(f"ordinary:{number}")
    writers = styles(draw)
    house = draw.sample(writers, draw.randint(1, 3))
    plain = texts()
    requests = []
    for place in range(count):
        tools = tools_of(draw)
        function = draw.choice(tools)["function"]
        kinds = {key: schema["type"] for key, schema in function["parameters"]["properties"].items()}
        given = {key: draw.choice(VALUES[kind]) for key, kind in kinds.items()}
        chance = draw.random()
        if chance < 0.12:
            text = draw.choice(plain)
        else:
            text = draw.choice(house if chance < 0.78 else writers)(draw, function["name"], given)
        requests.append({"id": f"{number}-{place}", "text": text, "tools": tools})
    return requests


def learned(rehearsal: Rehearsal, requests: list[dict]) -> dict[str, dict]:
    """Definitions that would be active after these outputs."""
    learner = Learner(rehearsal.run, literals_of(load_formats()))
    attempts = []
    for request in requests:
        item = sample(request)
        attempts += learner.take(item, rehearsal.run(item, None))
    attempts += learner.finish()
    return {attempt.pattern.id: attempt.pattern.definition for attempt in attempts if attempt.accepted}


def main() -> None:
    """Print a line for each pool that taught something, one for each hundred pools, and the sum."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--pools", type=int, default=1_000)
    asked.add_argument("--first", type=int, default=0, help="Number of the first pool.")
    asked.add_argument("--texts", type=int, default=60, help="Outputs of a pool.")
    options = asked.parse_args()
    rehearsal = Rehearsal(shipped_knowledge())
    false = 0
    began = time.process_time()
    for done, number in enumerate(range(options.first, options.first + options.pools), 1):
        found = learned(rehearsal, pool(number, options.texts))
        false += bool(found)
        for definition in found.values():
            print(f"pool {number}: {json.dumps(definition['calls'], ensure_ascii=False)}", flush=True)
        if done % 100 == 0:
            print(f"{done} pools, {false} with a pattern, CPU {time.process_time() - began:.0f} s", flush=True)
    spent = time.process_time() - began
    print(
        f"pools {options.pools}, outputs each {options.texts}, pools that made a pattern active {false}, CPU {spent:.0f} s"
    )


if __name__ == "__main__":
    main()
