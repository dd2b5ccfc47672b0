"""Laws of the segmenter: cut anywhere, same events; nothing is lost; nothing raises; work grows with length alone."""

import re
import time
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from processors.catalog import load_catalog, load_formats
from processors.segment import Segmenter
from processors.segmenting.template import parse, whole
from schemas.failure import Failure
from schemas.segment import Opened, Segment, SegmentKind
from schemas.token import Meta
from tests.feeding import segment

EXAMPLES = [example.text for entry in load_formats() for example in entry.examples]
WORDS = sorted(
    {word for text in EXAMPLES for word in re.findall(r"<[^<>\s]{1,40}>|\[/?[A-Z_]+\]|\w+|[^\w\s]", text)}
    | {
        "\n",
        "\n\n",
        " ",
        "`",
        "```",
        "```json\n",
        "\n```\n",
        "<!--",
        "-->",
        "\\",
        '"',
        "\x00",
        "\ud83d",
        "👩‍💻",
        "</s>",
    }
)
TOOLS = tuple(
    {"type": "function", "function": {"name": name, "parameters": {}}} for name in ("get_weather", "list_files")
)

words = st.lists(st.sampled_from(WORDS), max_size=40).map("".join)
broken = st.tuples(st.sampled_from(EXAMPLES), st.floats(0, 1), words, st.floats(0, 1)).map(
    lambda it: it[0][: int(len(it[0]) * it[1])] + it[2] + it[0][int(len(it[0]) * it[3]) :]
)
texts = st.one_of(words, broken, st.lists(broken, max_size=3).map("\n".join), st.text(max_size=60))
metas = st.builds(Meta, tools=st.sampled_from([(), TOOLS]), reasoning_open=st.booleans())
generous = settings(deadline=None, suppress_health_check=list(HealthCheck))


@given(text=texts, meta=metas, places=st.lists(st.integers(0, 400), max_size=30))
@generous
def test_cut_anywhere_gives_the_same_events(text: str, meta: Meta, places: list[int]) -> None:
    ends = sorted({min(place, len(text)) for place in places} | {0, len(text)})
    pieces = [text[start:end] for start, end in pairwise(ends)]
    whole, first = segment(text, meta)
    cut, second = segment(pieces, meta)
    assert cut == whole
    assert (first.format_id, first.chars) == (second.format_id, second.chars) == (first.format_id, len(text))
    assert segment(list(text), meta)[0] == whole


@given(text=texts, meta=metas)
@generous
def test_every_character_is_in_a_segment_or_markup_or_a_failure(text: str, meta: Meta) -> None:
    events, _ = segment(text, meta)
    covered = [False] * len(text)
    for event in events:
        if isinstance(event, Segment | Failure):
            start, end = event.span
            assert 0 <= start <= end <= len(text)
            covered[start:end] = [True] * (end - start)
        if isinstance(event, Segment) and event.kind is SegmentKind.TOOL_CALL:
            assert text[event.span[0] : event.span[1]] == event.text
        if isinstance(event, Segment) and event.kind is SegmentKind.RESPONSE and "<co>" not in text:
            assert text[event.span[0] : event.span[1]].startswith(event.text[:1])
    rest = "".join(character if not is_covered else "\x01" for character, is_covered in zip(text, covered, strict=True))
    for piece in re.split("\x01+", rest):
        assert is_markup(piece), piece


def templates() -> set[str]:
    found: set[str] = set()
    for entry in load_formats():
        blocks = [block for block in (entry.reasoning, entry.content) if block]
        found |= {template for block in blocks for template in (*block.open, *block.close)}
        found |= {*entry.end, *entry.results, *entry.leaks}
        for call in entry.calls:
            found |= {*call.section_open, *call.section_close, *call.open, *call.close}
    return found - {""}


PATTERNS = sorted((whole(parse(template)) for template in templates()), key=len, reverse=True)
MARKUP = re.compile(rf"(?:{'|'.join(PATTERNS)})|[\s,;]")


def is_markup(piece: str) -> bool:
    at = 0
    while at < len(piece):
        found = MARKUP.match(piece, at)
        if found is None:
            return False
        at = found.end()
    return True


ADVERSARIAL = {
    "openers": "<tool_call>",
    "open objects": "<tool_call>{",
    "open strings": '<tool_call>{"a',
    "open sections": '<function_calls><invoke name="a">',
    "open values": "<tool_call>a<arg_key>k</arg_key><arg_value>",
    "closers": "</think></tool_call>",
    "think pairs": "<think>a</think>",
    "end tokens": "<|im_end|>",
    "backticks": "` ``",
    "fences": "```\n~~~\n",
    "comments": "<!--",
    "angles": "<",
    "prefixes": "]<]minimax[>[",
    "orphans": "<|zz|> @@a [AB]",
    "quotations": '> <tool_call>{"name": "a", "arguments": {}}</tool_call>\n',
}


def seconds(text: str, size: int) -> float:
    best = 9.0
    for _ in range(2):
        segmenter = Segmenter(load_catalog(), Opened(stream_id="s", meta=Meta()))
        start = time.process_time()
        for at in range(0, len(text), size):
            segmenter.feed(text[at : at + size])
        segmenter.close()
        best = min(best, time.process_time() - start)
    return best


def test_work_grows_with_length_alone() -> None:
    for name, unit in ADVERSARIAL.items():
        for size in (4, 100_000_000):
            small, large = seconds(unit * 500, size), seconds(unit * 4_000, size)
            assert large < 8 * small * 4 + 0.05, name  # eight times the text; a square would be 64 times the work


def test_a_hundred_thousand_openers_a_megabyte_string_and_depth_ten_thousand_end() -> None:
    for text in (
        "<tool_call>" * 100_000,
        '<tool_call>{"name": "a", "arguments": {"t": "' + "x" * 1_000_000,
        '<tool_call>{"name": "a", "arguments": {"t": ' + "[" * 10_000 + "]" * 10_000 + "}}</tool_call>",
        "[a(b=" + "(" * 10_000 + ")" * 10_000 + ")]",
        "<|tool_call>call:a{b:" + "[" * 10_000 + "]" * 10_000 + "}<tool_call|>",
    ):
        assert seconds(text, 4) < 20
