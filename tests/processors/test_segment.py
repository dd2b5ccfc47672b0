"""One table of cases: what a text is read as, in whatever pieces it comes."""

import pytest

from schemas.failure import Failure, FailureCode
from schemas.segment import Segment, SegmentKind
from schemas.token import Meta
from tests.feeding import segment, ways

R, C, S, T = SegmentKind.RESPONSE, SegmentKind.TOOL_CALL, SegmentKind.STATE, SegmentKind.REASONING

TOOLS = tuple(
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("get_weather", "save_note", "list_files")
)

CASES = {
    "plain text is the response": ("Just text. 你好。", [(R, "Just text. 你好。")]),
    "a call between texts": (
        'Before.\n<tool_call>\n{"name": "list_files", "arguments": {}}\n</tool_call>\nAfter.',
        [(R, "Before."), (C, "list_files"), (R, "After.")],
    ),
    "a bare closing marker makes what came before it reasoning": (
        "Let me see.\n</think>\n\nSeven.",
        [(T, "Let me see."), (R, "Seven.")],
    ),
    "an early comment of implied reasoning stays in it": (
        "See <!-- n --> it.\n</think>\nSeven.",
        [(T, "See <!-- n --> it."), (R, "Seven.")],
    ),
    "a comment is state": ("A\n\n<!-- x: 1 -->\n\nB", [(R, "A\n\n"), (S, " x: 1 "), (R, "\n\nB")]),
    "a comment in a fence is text": ("```html\n<!-- x -->\n```", [(R, "```html\n<!-- x -->\n```")]),
    "a fence is closed by a marker on its last line": (
        '```\nx\n```<tool_call>{"name": "list_files", "arguments": {}}</tool_call>',
        [(R, "```\nx\n```"), (C, "list_files")],
    ),
    "inline code is text": (
        "`</think>` is a tag, and `<tool_call>{}</tool_call>` too.",
        [(R, "`</think>` is a tag, and `<tool_call>{}</tool_call>` too.")],
    ),
    "a lone backtick hides nothing": (
        'It`s so.\n<tool_call>{"name": "list_files", "arguments": {}}</tool_call>',
        [(R, "It`s so."), (C, "list_files")],
    ),
    "a marker in a string is text": (
        '<tool_call>{"name": "save_note", "arguments": {"t": "</tool_call><tool_call>"}}</tool_call>',
        [(C, "save_note")],
    ),
    "the next opener ends an open call": (
        '<tool_call>{"name": "save_note", "arguments": {"t": 1}\n<tool_call>{"name": "list_files", "arguments": {}}</tool_call>',
        [(C, "save_note"), (C, "list_files")],
    ),
    "what a model invents as a call's result is its own text": (
        "Action: save_note\nAction Input: {}\nObservation: It is saved.\nFinal Answer: Done.",
        [(C, "save_note"), (T, "It is saved."), (R, "Done.")],
    ),
    "a result that is left to be filled in is markup": (
        "Action: save_note\nAction Input: {}\nObservation:",
        [(C, "save_note")],
    ),
    "an observation that follows no call is text": (
        "Two readings.\nObservation: 7 degrees.\nObservation: 5 degrees.",
        [(R, "Two readings.\nObservation: 7 degrees.\nObservation: 5 degrees.")],
    ),
    "an observation behind a call of another format is text": (
        '<tool_call>{"name": "save_note", "arguments": {}}</tool_call>\nObservation: 7 degrees.',
        [(C, "save_note"), (R, "\nObservation: 7 degrees.")],
    ),
    "a call that says that no tool is called is taken out": (
        'Action: ```json\n[{"tool_name": "directly_answer", "parameters": {}}]\n```\nSeven.',
        [(R, "Seven.")],
    ),
    "a cut marker behind text is text": ("All done.\n<tool_ca", [(R, "All done.\n<tool_ca")]),
    "a leaked end token is removed": ("Seven.<|im_end|>", [(R, "Seven.")]),
    "an end token that a text talks about stays": (
        "The token <|im_end|> ends it.",
        [(R, "The token <|im_end|> ends it.")],
    ),
    "a quoted call is text": (
        'He wrote "<tool_call>{"name": "a", "arguments": {}}</tool_call>".',
        [(R, 'He wrote "<tool_call>{"name": "a", "arguments": {}}</tool_call>".')],
    ),
}

OSLO = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'

RECOVERY = {
    "a doubled closing marker is removed": (
        f"<tool_call>{OSLO}</tool_call>\n</tool_call>\nDone.",
        [(C, "get_weather"), (R, "Done.")],
    ),
    "a brace too many is markup": (f"<tool_call>\n{OSLO}}}\n</tool_call>\nDone.", [(C, "get_weather"), (R, "Done.")]),
    "another format's closing marker is removed": (
        f"<tool_call>\n{OSLO}\n</function>\nDone.",
        [(C, "get_weather"), (R, "Done.")],
    ),
    "a missing closing marker loses nothing": (f"<tool_call>\n{OSLO}\nDone.", [(C, "get_weather"), (R, "Done.")]),
    "an unclosed string ends at the call's closing marker": (
        f'<tool_call>{{"name": "save_note", "arguments": {{"t": "x}}}}</tool_call>\nDone.\n<tool_call>{OSLO}</tool_call>',
        [(C, "save_note"), (R, "Done."), (C, "get_weather")],
    ),
    "a value may hold its own closing tag": (
        "<tool_call>\n<function=save_note>\n<parameter=t>\nuse </parameter> now\n</parameter>\n</function>\n</tool_call>",
        [(C, "save_note")],
    ),
    "several objects in one marker are several calls": (
        f'<tool_call>\n{OSLO}\n{{"name": "list_files", "arguments": {{}}}}\n</tool_call>',
        [(C, "get_weather"), (C, "list_files")],
    ),
    "a list in a marker is several calls": (
        f'<tool_call>[{OSLO}, {{"name": "list_files", "arguments": {{}}}}]</tool_call>',
        [(C, "get_weather"), (C, "list_files")],
    ),
    "a stray closing marker at the start is removed": ("</tool_call>\nHello", [(R, "Hello")]),
    "reasoning after a call is reasoning": (
        f"<think>a</think><tool_call>{OSLO}</tool_call><think>b</think>c",
        [(T, "a"), (C, "get_weather"), (T, "b"), (R, "c")],
    ),
    "a marker around something else leaves the text as it is": (
        'Write\n<tool_call>\n{"name": <name>, "arguments": <object>}\n</tool_call>\nfor each.',
        [(R, 'Write\n<tool_call>\n{"name": <name>, "arguments": <object>}\n</tool_call>\nfor each.')],
    ),
    "a fence of lines that end in CR LF is closed": (
        f"```\r\n<tool_call>\r\n```\r\nDone.\r\n<tool_call>{OSLO}</tool_call>",
        [(R, "```\r\n<tool_call>\r\n```\r\nDone."), (C, "get_weather")],
    ),
    "a citation is removed inside of its sentence": ("The <co>sky</co: 0> is blue.", [(R, "The sky is blue.")]),
}


def read(pieces: list[str], meta: Meta) -> list[tuple[SegmentKind, str]]:
    events, _ = segment(pieces, meta)
    segments = [event for event in events if isinstance(event, Segment)]
    return [(event.kind, event.call.name if event.call else event.text) for event in segments]


@pytest.mark.parametrize(("text", "expected"), [*CASES.values(), *RECOVERY.values()], ids=[*CASES, *RECOVERY])
def test_text_is_read_as(text: str, expected: list[tuple[SegmentKind, str]]) -> None:
    for pieces in ways(text):
        assert read(pieces, Meta(tools=TOOLS)) == expected


def test_reasoning_open_starts_inside_reasoning() -> None:
    for pieces in ways("Still thinking"):
        assert read(pieces, Meta(reasoning_open=True)) == [(T, "Still thinking")]


def test_a_cut_call_is_reported_and_never_complete() -> None:
    text = '<tool_call>{"name": "save_note", "arguments": {"t": "x'
    for pieces in ways(text):
        events, _ = segment(pieces, Meta(tools=TOOLS))
        calls = [event.call for event in events if isinstance(event, Segment) and event.call]
        assert [call.complete for call in calls] == [False]
        assert [event.code for event in events if isinstance(event, Failure)] == []  # the tool stage reports it, once


def test_unknown_markup_stays_and_is_reported() -> None:
    text = "Look: <|zap|>get_weather<|/zap|>."
    events, _ = segment(text, Meta(tools=TOOLS))
    assert [event.text for event in events if isinstance(event, Segment)] == [text]
    found = {(event.code, event.found) for event in events if isinstance(event, Failure)}
    assert (FailureCode.ORPHAN_MARKER, "<|zap|>") in found
    assert (FailureCode.LOOKS_LIKE_CALL, "get_weather") in found


def test_a_tool_named_as_no_call_is_called_if_it_is_registered() -> None:
    text = 'Action: ```json\n[{"tool_name": "directly_answer", "parameters": {}}]\n```'
    tools = ({"type": "function", "function": {"name": "directly_answer", "parameters": {}}},)
    for pieces in ways(text):
        assert read(pieces, Meta(tools=tools)) == [(C, "directly_answer")]


def test_a_segment_bears_its_format_where_one_alone_has_the_markup() -> None:
    text = "<longcat_think>x</longcat_think>y"
    for pieces in ways(text):
        events, _ = segment(pieces)
        assert [event.format for event in events if isinstance(event, Segment)] == ["longcat", "longcat"]
    for pieces in ways('<tool_call>{"name": "list_files", "arguments": {}}</tool_call>'):  # of many formats
        events, _ = segment(pieces, Meta(tools=TOOLS))
        assert [event.format for event in events if isinstance(event, Segment)] == [None]
