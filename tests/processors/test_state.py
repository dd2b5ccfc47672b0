"""What comments, fences and the answer's text say about state."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.reasoning.comments import read_values
from processors.state import StateMap, find_in_text, read_comment
from schemas.reasoning import StateEntry
from schemas.segment import Segment, SegmentKind
from schemas.wire import decode, encode

WEATHER = {"temperature": "28°C", "humidity": "45%", "aqi": 82}
COMMENTS = [
    ("lines", "temperature: 28°C\nhumidity: 45%\naqi: 82", "weather_data", WEATHER),
    ("commas", "temperature: 28°C, humidity: 45%, aqi: 82", "weather_data", WEATHER),
    ("equals", "temperature=28°C; humidity=45%; aqi=82", "weather_data", WEATHER),
    ("bare numbers", "temperature 28°C, humidity 45%, AQI 82", "weather_data", WEATHER),
    ("heading", "weather:\n  temperature: 28°C\n  humidity: 45%\n  aqi: 82", "weather", WEATHER),
    ("list under a title", "cached values\n- temperature: 28°C\n- humidity: 45%\n- aqi: 82", "weather_data", WEATHER | {"note": "cached values"}),
    ("named list", "tool result: temperature=28°C, humidity=45%, aqi=82", "tool_result", WEATHER),
    ("json", '{"temperature": "28°C", "humidity": "45%", "aqi": 82}', "weather_data", WEATHER),
    ("named json", 'forecast: {"temperature": "28°C", "humidity": "45%", "aqi": 82}', "forecast", WEATHER),
    ("two names", '中间状态: 天气 = {"aqi": 82}', "天气", {"aqi": 82}),
    ("json list", "rows: [1, 2]", "rows", {"items": [1, 2]}),
    ("chinese", "气温：28°C\n湿度：45%", "weather_data", {"气温": "28°C", "湿度": "45%"}),
    ("chinese without colon", "温度28°C，湿度45%，AQI 82", "weather_data", {"温度": "28°C", "湿度": "45%", "aqi": 82}),
    ("one", "cursor=17", "cursor", {"cursor": 17}),
    ("name and one", "memo:page=4", "memo", {"page": 4}),
    ("truth", "done: true\nerror: null", "done_error", {"done": True, "error": None}),
    ("prose", "the user seems to be in a hurry", "comment", {"text": "the user seems to be in a hurry"}),
    ("prose after a name", "note: call again, but later", "note", {"note": "call again, but later"}),
    ("empty", "", "comment", {"text": ""}),
    ("damaged json", '{"a": ', "comment", {"text": '{"a":'}),
]  # fmt: skip


def segment(text: str, kind: SegmentKind = SegmentKind.STATE, order: int = 0) -> Segment:
    return Segment(stream_id="s", order=order, kind=kind, text=text, span=(10, 10 + len(text)))


@pytest.mark.parametrize(
    ("body", "key", "content"), [case[1:] for case in COMMENTS], ids=[case[0] for case in COMMENTS]
)
def test_comment_becomes_named_values(body: str, key: str, content: dict[str, object]) -> None:
    assert read_values(body) == (key, content)


@pytest.mark.parametrize("text", ["<!-- aqi: 82 -->", "aqi: 82"])
def test_comment_is_read_with_and_without_its_marks(text: str) -> None:
    found = read_comment(segment(text))
    assert (found.content, found.source) == ({"aqi": 82}, "html_comment")


def test_comment_that_was_cut_off_has_a_source_of_its_own() -> None:
    assert read_comment(segment("<!-- aqi: 8")).source == "html_comment_cut"


def test_each_comment_is_one_entry_and_a_repeated_name_keeps_its_history() -> None:
    state, entries = StateMap(), []
    for order, text in enumerate(["memo: a=1", "memo: a=2", "memo: a=2"]):
        one = segment(text, order=order)
        entries += state.entries(one, (read_comment(one),))
    assert [entry.key for entry in entries] == ["memo", "memo_2", "memo_3"]
    assert [entry.confidence for entry in entries] == [0.95] * 3
    assert entries[2].history == ({"a": 1}, {"a": 2})


KNOWLEDGE = [
    "晴。根据常识，北京六月初属于初夏，气温通常在25-35°C之间，但以API返回的数据为准。好。",
    "Sunny. In early summer Beijing usually has 25–35 °C, but the API is authoritative. Take a hat.",
]


@pytest.mark.parametrize("text", KNOWLEDGE)
def test_domain_knowledge_is_found_in_the_answer(text: str) -> None:
    one = segment(text, SegmentKind.RESPONSE)
    (entry,) = StateMap().entries(one, find_in_text(one))
    assert (entry.key, entry.source, entry.confidence) == ("domain_knowledge", "natural_text", 0.7)
    assert entry.content["ranges"][0].startswith("25-35")
    assert text[entry.span[0] - 10 : entry.span[1] - 10] == entry.content["text"]


@pytest.mark.parametrize(
    "text",
    [
        "The sky is blue today.",
        '```json\n{"name": "f", "arguments": {}}\n```',
        "今天晴转多云，二十八度。",
        "```\nusually\n```",
        "",
    ],
)
def test_an_answer_without_general_statements_gives_no_state(text: str) -> None:
    assert not list(find_in_text(segment(text, SegmentKind.RESPONSE)))


def test_fenced_json_is_an_inline_result() -> None:
    one = segment('Result:\n```json\n{"total": 3}\n```\nDone.', SegmentKind.RESPONSE)
    (entry,) = StateMap().entries(one, find_in_text(one))
    assert (entry.key, entry.content, entry.confidence) == ("price_data", {"total": 3}, 0.9)


VALUES = [
    ("The humidity is 45 % and the wind speed was about 12 km/h.", {"humidity": "45 %", "wind_speed": "12 km/h"}),
    ("北京今天晴转多云,气温28°C,湿度为45%。", {"气温": "28°C", "湿度": "45%"}),
    ("It is 5 km away. That was 3 days ago. 共12个。", {}),
    ("```\nhumidity is 45 %\n```", {}),
]


@pytest.mark.parametrize(("text", "values"), VALUES)
def test_measured_values_of_the_answer_are_results(text: str, values: dict[str, str]) -> None:
    one = segment(text, SegmentKind.RESPONSE)
    found = {entry.key: entry.content["value"] for entry in StateMap().entries(one, find_in_text(one))}
    assert found == values


def test_value_that_contradicts_an_earlier_one_replaces_it_and_keeps_the_history() -> None:
    state = StateMap()
    comment = segment("humidity: 45%")
    answer = segment("So humidity is 45 %. Later humidity is 50 %. Then humidity is 52 %.", SegmentKind.RESPONSE, 1)
    first, second, third = [
        *state.entries(comment, [read_comment(comment)]),
        *state.entries(answer, find_in_text(answer)),
    ]
    assert (first.key, first.source) == ("weather_data", "html_comment")
    assert (second.key, second.content, second.history) == ("humidity", {"value": "50 %"}, ("45%",))
    assert third.key == second.key
    assert third.history[-1] == {"value": "50 %"}


@given(st.text(alphabet=st.sampled_from(list('a1 :：=,{}[]"\n-\ud800\x00°')), max_size=80))
def test_any_comment_gives_one_entry_that_can_be_encoded(text: str) -> None:
    one = segment(f"<!--{text}-->")
    (entry,) = StateMap().entries(one, (read_comment(one),))
    assert isinstance(decode(encode(entry)), StateEntry)


@pytest.mark.parametrize("unit", ["[", "{", ":", "a:", " ", "1", "a 1,", "\n", "a=\n", "- ", "```json\n", "通常"])
def test_cost_is_linear(unit: str) -> None:
    start = time.process_time()
    for text in (unit * 40_000, unit * 200_000):
        read_values(text)
        list(find_in_text(segment(text, SegmentKind.RESPONSE)))
    assert time.process_time() - start < 3
