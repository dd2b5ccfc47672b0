"""Does any text, however it is cut, read differently, raise, or lose characters? Random damage to the formats' own examples.

    python benchmarks/fuzz_segment.py [--seed N] [--texts N]

Prints each text that breaks a law and exits 1 if there was one.
"""

import argparse
import random
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from processors.catalog import load_catalog, load_formats
from processors.segment import Segmenter
from schemas.segment import Opened, Segment, SegmentKind
from schemas.token import Meta

EXAMPLES = [example.text for entry in load_formats() for example in entry.examples]
WORDS = sorted({word for text in EXAMPLES for word in re.findall(r"<[^<>\s]{1,40}>|\[/?[A-Z_]+\]|\w+|[^\w\s]", text)})
GLUE = [
    "\n",
    "\n\n",
    " ",
    "`",
    "```",
    "````text\n",
    "\n```\n",
    "~~~\n",
    "<!--",
    "-->",
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ">>>",
    "\x00",
]
GLUE += [
    "\ud83d",
    "👩‍💻",
    "，",
    "</think>",
    "<|im_end|>",
    "</s>",
    "Action: a\nAction Input: ",
    "Thought:",
    "all\n",
    "a_b\n{",
]
NAMES = ("get_weather", "list_files", "save_note")
TOOLS = tuple({"type": "function", "function": {"name": name, "parameters": {}}} for name in NAMES)


def text_of(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.3:
        return "".join(rng.choice(WORDS + GLUE) for _ in range(rng.randint(1, 40)))
    if kind < 0.5:
        return "".join(rng.choice(GLUE) for _ in range(rng.randint(1, 25)))
    parts = []
    for _ in range(rng.randint(1, 4)):
        example = rng.choice(EXAMPLES)
        start, end = sorted((rng.randint(0, len(example)), rng.randint(0, len(example))))
        parts += [example[:start], rng.choice(WORDS + GLUE), example[end:], rng.choice([*GLUE, ""])]
    return "".join(parts)


def pieces_of(text: str, rng: random.Random) -> list[str]:
    pieces, at = [], 0
    while at < len(text):
        size = rng.randint(1, 9)
        pieces.append(text[at : at + size])
        at += size
    return pieces


def events(pieces: list[str], meta: Meta) -> list:
    segmenter = Segmenter(load_catalog(), Opened(stream_id="s", meta=meta))
    found = [event for piece in pieces for event in segmenter.feed(piece)]
    return found + segmenter.close() + [segmenter.format_id, segmenter.chars]


def problem(text: str, meta: Meta, rng: random.Random) -> str:
    whole = events([text], meta)
    for pieces in (list(text), pieces_of(text, rng), [text[:-1], text[-1:]]):
        if events(pieces, meta) != whole:
            return "cut differently, read differently"
    for event in whole:
        if isinstance(event, Segment) and not 0 <= event.span[0] <= event.span[1] <= len(text):
            return "span outside of the text"
        is_call = isinstance(event, Segment) and event.kind is SegmentKind.TOOL_CALL
        if is_call and text[event.span[0] : event.span[1]] != event.text:
            return "a call's text is not what stands there"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--texts", type=int, default=20_000)
    args = parser.parse_args()
    rng, start, broken = random.Random(args.seed), time.monotonic(), 0
    for _ in range(args.texts):
        text, meta = text_of(rng), Meta(tools=rng.choice([(), TOOLS]), reasoning_open=rng.random() < 0.15)
        what = problem(text, meta, rng)
        if what:
            broken += 1
            print(f"{what}: {text!r}")
    print(f"{args.texts} texts, seed {args.seed}, {broken} broken, {time.monotonic() - start:.0f} s")
    sys.exit(broken > 0)


if __name__ == "__main__":
    main()
