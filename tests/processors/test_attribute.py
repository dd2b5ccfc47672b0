"""Why a call failed: jitter told from defect by its conditions, causes by error and neighbourhood, evidence to read."""

from dataclasses import replace

import pytest

from benchmarks.bench_incidents import attribution_of, shared_words
from benchmarks.incidents import incidents
from processors.attribute import Attributor
from processors.attribution.causes import read_tree, shipped_tree
from processors.attribution.context import Alert, Terms
from processors.attribution.seen import Seen, Window, compared
from processors.attribution.signs import borne, read_signs, shipped_signs
from processors.dispatching.errors import Fault, class_of

LOST = Fault(kind="TimeoutError", text="no answer within 60 s")
UPSTREAMS = {"charge": "bank", "refund": "bank", "search": "shop", "quote": "desk", "ship": "post"}


def call(number: int, tool: str, at_s: float, fault: Fault | None = None, **arguments) -> Seen:
    status = "ok" if fault is None else class_of(fault)[0].value
    return Seen(
        stream_id="s", call_id=f"c{number}", tool=tool, status=status, at_ms=at_s * 1000, fault=fault or Fault(),
        arguments=arguments or {"reference": f"R{number:06}", "amount": number},
    )  # fmt: skip


def told(calls: list[Seen], alerts: tuple[Alert, ...] = (), **options) -> list:
    """What is said about each failure."""
    attributor = Attributor(UPSTREAMS, **options)
    for one in alerts:
        attributor.alert(one)
    found = [said for one in sorted(calls, key=lambda one: one.at_ms) for said in attributor.feed(one)]
    return [*found, *attributor.close()]


def good(tool: str, start: int = 1000) -> list[Seen]:
    return [call(start + n, tool, n * 10) for n in range(30)]


QUIET = [*good("search"), *good("quote", 2000), *good("ship", 3000)]


@pytest.mark.parametrize(
    ("times", "cause"),
    [((200,), "jitter"), ((150, 200), "jitter"), ((190, 195, 200), "dependency"), ((1, 200, 400), "jitter")],
)
def test_a_lost_call_is_jitter_until_it_is_repeated_within_five_minutes(times, cause) -> None:
    lost = [call(n, "charge", at, LOST) for n, at in enumerate(times)]
    last = told([*QUIET, *good("charge", 4000), *lost])[-1]
    assert (last.cause, last.is_defect) == (cause, cause != "jitter")
    assert last.conditions == {"repeated": cause != "jitter", "upstream_unhealthy": False, "outside_alert": False}


def test_a_sick_upstream_or_an_alert_makes_one_lost_call_a_defect() -> None:
    siblings = [call(n, "refund", 195 + n, LOST, reference=n) for n in range(3)]
    by_upstream = next(one for one in told([*QUIET, call(9, "charge", 200, LOST), *siblings]) if one.tool == "charge")
    assert (by_upstream.cause, by_upstream.conditions["upstream_unhealthy"]) == ("dependency", True)
    (by_alert,) = told(
        [*QUIET, call(9, "charge", 200, LOST)], (Alert(about="bank", at_ms=199_000, text="bank is down"),)
    )
    assert (by_alert.cause, by_alert.conditions["outside_alert"]) == ("dependency", True)
    (elsewhere,) = told([*QUIET, call(9, "charge", 200, LOST)], (Alert(about="post", at_ms=199_000),))
    assert elsewhere.cause == "jitter"


def test_the_conditions_are_configurable() -> None:
    lost = [call(n, "charge", 190 + n * 5, LOST) for n in range(3)]
    assert told([*QUIET, *lost], terms=Terms(repeats_min=4))[-1].cause == "jitter"
    assert told([*QUIET, *lost], terms=Terms(within_ms=8_000))[-1].cause == "jitter"
    assert told([*QUIET, *lost], terms=Terms(conditions_min=2))[-1].cause == "jitter"


def test_three_lost_calls_among_hundreds_are_no_defect() -> None:
    many = [call(5000 + n, "charge", n) for n in range(300)]
    assert told([*QUIET, *many, *(call(n, "charge", 100 + n * 60, LOST) for n in range(3))])[-1].cause == "jitter"


def test_the_same_error_is_the_network_where_others_are_lost_too() -> None:
    calls = [
        call(n, tool, 200 + n, LOST) for n, tool in enumerate(["charge", "search", "quote", "ship", "charge", "search"])
    ]
    assert {one.cause for one in told([*QUIET, *calls])[-4:]} == {"network"}


@pytest.mark.parametrize("text", ["no", "不行"])
def test_a_refusal_that_follows_a_value_is_a_stale_list_and_one_that_spares_none_a_permission(text) -> None:
    refused = Fault(kind="http", code=403, text=text)
    countries = ("DE", "FR", "NG") * 6
    stale = [
        call(n, "charge", 200 + n, refused if c == "NG" else None, country=c, id=n) for n, c in enumerate(countries)
    ]
    barred = [call(n, "charge", 200 + n, refused, country=c, id=n) for n, c in enumerate(countries)]
    last = told([*QUIET, *stale])[-1]
    assert (last.cause, last.evidence[3].data["follows_value"]) == ("stale_list", "country = NG")
    assert told([*QUIET, *barred])[-1].cause == "permission"


def test_a_value_of_another_form_than_in_good_calls_is_a_bad_argument_whatever_the_text_says() -> None:
    odd = call(1, "charge", 310, Fault(kind="BusinessFailure", text="?"), reference="R000001", amount="zwölf")
    (found,) = told([*QUIET, *good("charge", 4000), odd])
    assert (found.cause, found.evidence[4].data["because"]["odd_form"]) == ("bad_argument", "amount")


def test_evidence_is_clean_and_says_what_speaks_for_and_against() -> None:
    fault = Fault(kind="http", code=404, text="no customer mail@example.com with phone 13800138000")
    (found,) = told([call(1, "charge", 1, fault, mail="mail@example.com")])
    assert [one.step for one in found.evidence] == ["input", "error", "health", "signs", "cause"]
    assert "example.com" not in str(found)
    assert "13800138000" not in str(found)
    assert found.evidence[4].data["path"] == ["asked_wrongly", "data"]
    assert "says_data" in found.evidence[4].data["because"]


def test_a_failure_is_judged_within_ten_seconds_and_a_call_read_again_counts_once() -> None:
    attributor = Attributor()
    lost = call(1, "charge", 100, LOST)
    assert list(attributor.feed(lost)) == list(attributor.feed(lost)) == []
    assert list(attributor.due(102_000)) == []
    assert [one.call_id for one in attributor.due(103_000)] == ["c1"]
    assert list(attributor.close()) == []


def test_causes_are_found_in_simulated_incidents_whose_words_are_not_the_trees() -> None:
    assert shared_words() == []
    found = [(one.cause, attribution_of(one)) for one in incidents(84, seed=11)]
    right = sum(cause == said.cause for cause, (said, _) in found)
    assert right >= 0.9 * len(found)
    assert max(waited for _, (_, waited) in found) <= 10_000
    assert not [said for cause, (said, _) in found if cause == "jitter" and said.is_defect]


HOSTILE = ["", "\x00", "\ud800 no way", "超" * 5_000, "{" * 100_000, "a@b.cc " * 3_000]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_raises_on_what_a_tool_said_or_was_given(text) -> None:
    deep: dict = {}
    for _ in range(5_000):
        deep = {"a": deep}
    fault = Fault(kind=text[:50], text=text)
    for arguments in ({text: text}, deep, {"n": float("nan"), "big": 10**400, "list": [text] * 100}):
        one = replace(call(1, "charge", 1, fault), arguments=arguments)
        (found,) = told([one])
        assert len(str(found.evidence[1])) < 3_000


def test_what_is_remembered_is_bounded() -> None:
    window = Window()
    for n in range(1_500):
        window.add(call(n, f"t{n}", n))
        window.add(call(n, "same", n))
    assert len(list(window.tools())) <= 1_000
    assert len(window.of("same", 0, 10**9)) == 400
    assert compared({"a": {"b": 1, "c": {"d": 1}}, "d": True, "e": [1]}) == {"a.b": "1", "d": "True"}
    assert len(compared({"a": "x" * 10**6})["a"]) < 20


@pytest.mark.parametrize("sign", shipped_signs(), ids=lambda sign: sign.id)
def test_a_sign_is_borne_by_its_own_examples(sign) -> None:
    for example in sign.positives:
        assert sign.id in {one.sign for one in borne(example.fault())}
    for example in sign.negatives:
        assert sign.id not in {one.sign for one in borne(example.fault())}


def test_each_sign_of_the_tree_exists() -> None:
    context = {
        "is_param", "is_business", "is_system", "repeats", "upstream_sick", "others_sick", "others_fine", "spares_none",
        "tool_works", "only_these_arguments", "follows_value", "odd_form", "alert", "alert_all", "names_argument",
        "quotes_value", "defect", "no_defect",
    }  # fmt: skip
    known = context | {sign.id for sign in shipped_signs()}
    assert {sign for node in shipped_tree().nodes.values() for sign in node.weights} <= known


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[[node]]\nid = "a"\nunder = "b"\nweights = {}', "under a node"),
        ('[[node]]\nid = "a"\nweights = {}', "no node names a cause"),
        (
            '[[node]]\nid = "a"\ncause = "data"\nweights = {is_param = 1}\npositives = [{signs = ["is_param"]}]',
            "example",
        ),
    ],
)
def test_a_tree_that_does_not_hold_is_refused(text, why) -> None:
    with pytest.raises(ValueError, match=why):
        read_tree(text)


def test_a_sign_that_fails_its_example_is_refused() -> None:
    with pytest.raises(ValueError, match="x: fails its example"):
        read_signs('[[sign]]\nid = "x"\nwords = ["a"]\npositives = [{text = "b"}]\nnegatives = [{text = "c"}]')


def test_history_tips_the_scales_where_signs_do_not() -> None:
    tree = shipped_tree()
    assert tree.infer(["is_business"]).cause == "data"
    assert tree.infer(["is_business"], {"permission": 200}).cause == "permission"


def test_evidence_has_the_health_of_the_tool_and_of_its_neighbours() -> None:
    sick = [call(n, "ship", 190 + n, LOST) for n in range(3)]
    found = told([*QUIET, *sick, call(9, "charge", 200, LOST)])[-1]
    assert found.evidence[2].data == {
        "charge": "1 of 1 calls failed in 300 s", "ship": "3 of 10 calls broken in 60 s",
        "quote": "0 of 7 calls broken in 60 s", "search": "0 of 7 calls broken in 60 s",
    }  # fmt: skip
