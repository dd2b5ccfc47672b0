"""Names that are not registered: what is matched, what is only suggested, and what a guard keeps apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.match_tool import Match, ToolIndex
from processors.tools.lexicon import examples, lexicon
from processors.tools.names import bare, read_name

EXAMPLES = examples()
TOOLS = {
    "get_shipping_label": "Print a shipping label for an order",
    "list_suppliers": "List suppliers",
    "check_flight_status": "Look up whether a flight is on time",
    "cancel_reservation": "Cancel a reservation",
    "search_jobs": "Search job openings",
    "schedule_interview": "Schedule an interview with a candidate",
    "start_recording": "Start recording the meeting",
    "mute_microphone": "Mute the microphone",
    "merge_pull_request": "Merge a pull request",
    "crop_image": "Crop an image",
    "transcribe_audio": "Turn speech into text",
    "encrypt_message": "Encrypt a message",
    "delete_comment": "Delete a comment",
    "follow_user": "Follow a user",
    "get_patient_record": "Fetch a patient's record",
    "pay_invoice": "Pay an invoice",
    "freeze_card": "Freeze a bank card",
    "arm_alarm_system": "Arm the alarm system",
    "convert_timezone": "Convert between time zones",
    "split_pdf": "Split a PDF",
    "detect_language": "Detect the language of a text",
    "run_shell_command": "Run a command in a shell",
    "预订会议室": "预订一间会议室",
}
SAME = {
    "GetShippingLabel": "get_shipping_label",
    "LIST-SUPPLIERS": "list_suppliers",
    "mutemicrophone": "mute_microphone",
    "split pdf": "split_pdf",
    "convert.timezone": "convert_timezone",
    "functions.pay_invoice:3": "pay_invoice",
    "mcp__bank__freeze_card": "freeze_card",
    "agent.tools.crop_image()": "crop_image",
    "search_jobs_tool": "search_jobs",
    "crop_image_v2": "crop_image",
}
MISTYPED = {
    "cancel_resrevation": "cancel_reservation",
    "shedule_interview": "schedule_interview",
    "mrege_pull_reqest": "merge_pull_request",
    "split_pfd": "split_pdf",
    "detct_langage": "detect_language",
    "list_supplier": "list_suppliers",
    "encrypt_mesages": "encrypt_message",
}
OTHER_WORDS = {
    "retrieve_shipping_label": "get_shipping_label",
    "flight_status": "check_flight_status",
    "cancel_booking": "cancel_reservation",
    "find_jobs": "search_jobs",
    "begin_recording": "start_recording",
    "trim_picture": "crop_image",
    "settle_invoice": "pay_invoice",
    "speech_to_text": "transcribe_audio",
    "language_detection": "detect_language",
    "bash": "run_shell_command",
    "执行命令": "run_shell_command",
    "取消预订": "cancel_reservation",
    "裁剪图片": "crop_image",
    "支付发票": "pay_invoice",
    "book_meeting_room": "预订会议室",
}
NONE = [
    "decrypt_message", "unfollow_user", "unmute_microphone", "unfreeze_card", "disarm_alarm_system", "stop_recording",
    "create_comment", "get_patent_record", "list_submissions", "reject_pull_request", "cancel_interview",
    "launch_rocket", "解密消息", "发射火箭", "get", "pdf", "cancel", "", "()", "functions.", "_", "\ud800", "💥",
]  # fmt: skip


@pytest.fixture(scope="module")
def index() -> ToolIndex:
    return ToolIndex({"name": name, "description": text} for name, text in TOOLS.items())


@pytest.mark.parametrize(("name", "tool"), [*SAME.items(), *MISTYPED.items(), *OTHER_WORDS.items()])
def test_a_name_that_means_one_tool_is_matched(index, name, tool) -> None:
    match = index.match(name)
    assert match.tool == tool
    assert match.candidates[0].name == tool
    assert 0.8 <= match.confidence < 1


@pytest.mark.parametrize("name", NONE)
def test_a_name_that_means_none_of_them_is_not(index, name) -> None:
    match = index.match(name)
    assert match.tool is None
    assert match.confidence == 0
    assert len(match.candidates) <= 3


def test_writing_is_trusted_more_than_typing_and_typing_more_than_words(index) -> None:
    order = [index.match(name).confidence for name in ("SearchJobs", "search_jobs_tool", "serch_jobs", "find_jobs")]
    assert order == sorted(order, reverse=True)
    assert len(set(order)) == 4


@pytest.mark.parametrize("entry", EXAMPLES, ids=lambda entry: entry["tools"][0])
def test_the_lexicon_proves_its_examples(entry) -> None:
    index = ToolIndex({"name": name} for name in entry["tools"])
    assert {name: index.match(name).tool for name in entry["match"]} == entry["match"]
    assert {name: index.match(name).tool for name in entry["reject"]} == dict.fromkeys(entry["reject"])
    assert len(entry["match"]) >= 2
    assert len(entry["reject"]) >= 2


def test_no_word_is_matched_to_its_opposite() -> None:
    known = lexicon()
    for word, others in known.opposites.items():
        for other in others:
            tool, wrong = f"{word}_thing", f"{other}_thing"
            assert ToolIndex([{"name": tool}]).match(wrong).tool is None, (tool, wrong)


def test_no_whole_name_stands_beside_its_opposite() -> None:
    known = lexicon()
    for name, meanings in known.phrases.items():
        for other, others in known.phrases.items():
            if meanings & others:
                pairs = [(one, two) for one in read_name(name).words for two in read_name(other).words]
                assert not any(known.is_opposite(*pair) for pair in pairs), (name, other)


def test_two_tools_that_fit_equally_are_candidates_only() -> None:
    index = ToolIndex([{"name": "get_weather_now"}, {"name": "getWeatherNow"}, {"name": "send_mail"}])
    match = index.match("GET_WEATHER_NOW")
    assert match.tool is None
    assert {candidate.name for candidate in match.candidates[:2]} == {"get_weather_now", "getWeatherNow"}


def test_meaning_in_the_description_makes_a_candidate_never_a_match() -> None:
    index = ToolIndex(
        [{"name": "zx81", "description": "Book a table in a restaurant"}, {"name": "q7", "description": "查询天气预报"}]
    )
    assert (index.match("reserve_restaurant").tool, index.match("reserve_restaurant").candidates[0].name) == (
        None,
        "zx81",
    )
    assert (index.match("天气").tool, index.match("天气").candidates[0].name) == (None, "q7")


def test_arguments_that_a_tool_does_not_know_speak_against_other_words() -> None:
    parameters = {"type": "object", "properties": {"invoice_id": {"type": "string"}}}
    index = ToolIndex([{"name": "pay_invoice", "parameters": parameters}])
    assert index.match("settle_invoice", {"invoice_id": "7"}).tool == "pay_invoice"
    assert index.match("settle_invoice", {"depth": 3}).tool is None


def test_each_of_ten_thousand_tools_is_found_by_its_own_misspelling() -> None:
    names = [
        f"get_{chr(97 + a)}{chr(97 + b)}{chr(97 + c)}oto_record"
        for a in range(26)
        for b in range(26)
        for c in range(15)
    ]
    index = ToolIndex({"name": name} for name in names[:10_000])
    assert index.match("GetAbcotoRecord").tool == "get_abcoto_record"
    assert len(index.match("get_zzzoto_recrd").candidates) == 3


def test_an_empty_index_matches_nothing() -> None:
    assert ToolIndex([]).match("anything") == Match()


@pytest.mark.parametrize(
    ("written", "rest"),
    [
        ("functions.get_x:0", "get_x"),
        ("mcp__my_server__get_x", "get_x"),
        ("default_api.get_x()", "get_x"),
        ("turn.on.light", "turn.on.light"),
        ("a::b::get_x", "get_x"),
        ("get_x", "get_x"),
        ("", ""),
    ],
)
def test_prefixes_and_suffixes_are_taken_away(written, rest) -> None:
    assert bare(written) == rest


@given(st.text(max_size=80), st.lists(st.text(min_size=1, max_size=30), max_size=5))
def test_nothing_raises_and_the_answer_is_always_the_same(name, tools) -> None:
    given_tools = [{"name": tool, "description": name} for tool in tools]
    match = ToolIndex(given_tools).match(name)
    assert match == ToolIndex(given_tools).match(name)
    assert match.tool is None or match.tool in tools


@pytest.mark.parametrize("piece", ["get_", "a.", "(", "发送", "x1", "mcp__", "aB", ":0", "::", "-"])
def test_a_huge_name_costs_no_more_than_a_long_one(piece) -> None:
    assert len(read_name(piece * 1_000_000).folded) <= 256
