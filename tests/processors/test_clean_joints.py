"""Values that markup cuts in two: whole in the joined answer, so masked on both sides of the cut."""

from dataclasses import replace

import pytest

from processors.clean import CleanOptions, CleanStage
from processors.knowledge import shipped_knowledge
from processors.pii.joints import EVENTS_MAX, TEXTS_MAX
from processors.pii.redact import redact
from processors.pipeline import pipeline
from schemas.output import Output
from schemas.reasoning import Label, Node, StateEntry
from schemas.segment import Closed, Delta, Relabel, Segment, SegmentKind
from schemas.token import Token
from schemas.wire import Event, encode

VALUES = {
    "phone": "13907284615",
    "grouped": "139 0728 4615",
    "mail": "qzx.marker@lantern-hall.org",
    "id": "11010519491231002X",
    "key": "sk-proj-Zk3vQ81xPq7mNw2LtYb5RcD9HsJf4GaUe6TiOoXp",
    "card": "4591 1154 5621 8471",
    "address": "192.168.1.7",
    "secret": "password: Qz7#mArk!99xW",
    "marked secret": "password: Qz!mArk#99xW",
}
MARKUP = {
    "comment": "<!-- note -->",
    "call": '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>',
}


def response(order: int, text: str) -> Segment:
    return Segment(
        stream_id="s", order=order, kind=SegmentKind.RESPONSE, text=text, span=(order * 100, order * 100 + len(text))
    )


def node(order: int, text: str) -> Node:
    return Node(stream_id="s", id=f"rn_{order}", type=Label.PLANNING, confidence=1, text=text, order=order, span=(0, 1))


def cleaned(*events: Event, options: CleanOptions | None = None) -> tuple[list[Event], CleanStage]:
    stage = CleanStage(options) if options else CleanStage()
    return [out for event in events for out in stage.feed(event)] + list(stage.close()), stage


def texts(*parts: str) -> list[str]:
    out, _ = cleaned(*(response(at * 2, part) for at, part in enumerate(parts)))
    return [event.text for event in out if isinstance(event, Segment)]


def published(text: str, size: int) -> list[Event]:
    processor = pipeline(shipped_knowledge())
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    events: list[Event] = []
    for seq, piece in enumerate(pieces):
        events += processor.feed(Token(stream_id="s", seq=seq, text=piece, done=seq == len(pieces) - 1))
    return events + list(processor.close())


def cuts(value: str) -> list[int]:
    """Everywhere but behind a stop that may end a sentence."""
    return [cut for cut in range(1, len(value)) if value[cut - 1] != "." or value[0].isdigit()]


@pytest.mark.parametrize("markup", MARKUP.values(), ids=MARKUP.keys())
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_no_cut_by_markup_lets_a_half_through(value: str, markup: str) -> None:
    for cut in cuts(value):
        events = published(f"Use {value[:cut]}{markup}{value[cut:]} today.", 7)
        (output,) = (event for event in events if isinstance(event, Output))
        # A format may take a space with its markup.
        assert output.response.replace(" ", "") == redact(f"Use {value} today.").text.replace(" ", ""), cut
        assert value[-6:] not in "".join(encode(event).decode() for event in events), cut


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_any_two_cuts_give_what_the_whole_gives(value: str) -> None:
    for first in cuts(value)[::2]:
        for second in cuts(value)[first + 1 :: 3]:
            parts = ("Use " + value[:first], value[first:second], value[second:] + " today.")
            assert "".join(texts(*parts)) == redact("".join(parts)).text, (first, second)


def test_a_long_word_is_read_on_behind_a_stop_too() -> None:
    parts = ("see https://longusername:", "Sxcretpass@lantern-hall.org/x now")
    assert "".join(texts(*parts)) == redact("".join(parts)).text != "".join(parts)


def test_each_character_in_a_text_of_its_own_is_read_over() -> None:
    assert "".join(texts("Use ", *"13907284615", " today")) == "Use [PHONE_REDACTED] today"


def test_more_texts_than_a_value_is_cut_into_are_not_held() -> None:
    parts = ["1"] * 1_000
    out, _ = cleaned(*(response(at, part) for at, part in enumerate(parts)))
    assert len(out) == 1_000
    stage = CleanStage()
    counts = [len(list(stage.feed(response(at, "1")))) for at in range(100)]
    assert max(counts) <= TEXTS_MAX
    assert sum(counts) >= 100 - TEXTS_MAX


def test_the_original_is_whole_and_has_its_place() -> None:
    options = CleanOptions(keeps_originals=True)
    out, stage = cleaned(response(0, "call 139072"), response(2, "84615, a@example.com."), options=options)
    assert [event.text for event in out if isinstance(event, Segment)] == [
        "call [PHONE_REDACTED]",
        ", [EMAIL_REDACTED].",
    ]
    originals = stage.take_originals()
    assert originals is not None
    assert [(one.where, one.span, one.original) for one in originals.entries] == [
        ("segment/0/text", (5, 11), "13907284615"),
        ("segment/2/text", (7, 20), "a@example.com"),
    ]
    assert stage.counts == {"PHONE": 1, "EMAIL": 1}


def test_complete_values_and_words_are_not_read_on() -> None:
    assert texts("Write to a@example.com.", "Done. It is there.") == [
        "Write to [EMAIL_REDACTED].",
        "Done. It is there.",
    ]
    assert texts("In 2026", " we start") == ["In 2026", " we start"]
    assert texts("Room 138", "\n00138000 seats") == ["Room 138", "\n00138000 seats"]


def test_a_text_with_a_closed_end_goes_on_at_once() -> None:
    stage = CleanStage()
    assert [type(event) for event in stage.feed(response(0, "It is done.\n"))] == [Segment]
    assert [type(event) for event in stage.feed(response(2, "I will look:"))] == [Segment]
    assert [type(event) for event in stage.feed(response(3, "Write to a@example.com."))] == [Segment]
    assert [type(event) for event in CleanStage().feed(response(0, "call [PHONE_REDACTED]"))] == [Segment]
    assert not list(stage.feed(response(4, "call 138")))
    assert [event.order for event in stage.feed(response(6, " is no number.")) if isinstance(event, Segment)] == [4, 6]


def test_what_is_held_comes_before_what_is_said_about_it_and_before_the_end() -> None:
    relabel = Relabel(stream_id="s", order=0, kind=SegmentKind.REASONING)
    stage = CleanStage()
    assert not list(stage.feed(response(0, "call 138")))
    assert [type(event) for event in stage.feed(relabel)] == [Segment, Relabel]
    out, _ = cleaned(response(0, "call 138"), Closed(stream_id="s", chars=8, tokens=1))
    assert [type(event) for event in out] == [Segment, Closed]


def state(order: int) -> StateEntry:
    return StateEntry(stream_id="s", key="note", source="c", content="so", confidence=1, order=order, span=(0, 1))


def test_what_comes_between_waits_so_that_events_stay_in_order() -> None:
    stage = CleanStage()
    assert not [out for event in (response(0, "call 138"), state(1), node(2, "so")) for out in stage.feed(event)]
    out = list(stage.feed(response(3, "00138000 now.")))
    assert [event.order for event in out if not isinstance(event, Closed)] == [0, 1, 2, 3]
    assert [event.text for event in out if isinstance(event, Segment)] == ["call [PHONE_REDACTED]", " now."]
    stage = CleanStage()
    held = [len(list(stage.feed(event))) for event in (response(0, "call 138"), *map(state, range(1, 200)))]
    assert max(held) <= EVENTS_MAX + 1
    assert sum(held) == 200


def test_a_cue_in_an_earlier_text_says_nothing_of_other_fields() -> None:
    told = replace(response(2, " Qz7#mArk!99xW then"), format="a longer id of a format")
    out, _ = cleaned(response(0, "the password:"), told)
    assert out[1] == replace(told, text=" [SECRET_REDACTED] then")


def test_digits_are_read_over_the_border_of_two_blocks_of_reasoning() -> None:
    out, _ = cleaned(node(0, "call 13907"), node(1, "284615 first"), node(2, "then 12"), node(3, "and"))
    assert [event.text for event in out if isinstance(event, Node)] == [
        "call [PHONE_REDACTED]",
        " first",
        "then 12",
        "and",
    ]


@pytest.mark.parametrize("cut", range(1, 11))
def test_live_text_goes_on_where_the_earlier_one_ended(cut: int) -> None:
    value = "13907284615"
    first, second = "Use " + value[:cut], value[cut:] + " today, please, and tell me."
    events: list[Event] = []
    for order, text in ((0, first), (2, second)):
        events += [Delta(stream_id="s", order=order, kind=SegmentKind.RESPONSE, text=char) for char in text]
        events.append(response(order, text))
    out, _ = cleaned(*events)
    live = {
        order: "".join(one.text for one in out if isinstance(one, Delta) and one.order == order) for order in (0, 2)
    }
    whole = {one.order: one.text for one in out if isinstance(one, Segment)}
    assert live == whole == {0: "Use [PHONE_REDACTED]", 2: " today, please, and tell me."}


def test_a_failing_search_holds_the_text_and_what_waited() -> None:
    options = CleanOptions()
    stage = CleanStage(replace(options, rules=replace(options.rules, finders=(lambda text: [int(text)],))))  # type: ignore[list-item]  # it fails
    out = [one for event in (response(0, "call 138"), response(2, "00138000")) for one in stage.feed(event)]
    out += stage.feed(Closed(stream_id="s", chars=1, tokens=1))
    assert [type(event).__name__ for event in out].count("Failure") >= 2
    assert isinstance(out[-1], Closed)
    assert "138" not in "".join(encode(event).decode() for event in out)
