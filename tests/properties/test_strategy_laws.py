"""Laws of strategies and attribution: nothing raises on what a model, a tool or a definition may hold."""

from hypothesis import given
from hypothesis import strategies as st

from processors.attribution.causes import shipped_tree
from processors.attribution.seen import compared
from processors.attribution.signs import borne
from processors.dispatching.errors import Fault
from processors.retrospection.propose import telling_condition
from processors.strategies.conditions import Condition, Op
from processors.strategies.match import StrategyIndex
from processors.strategies.prove import Case
from processors.strategies.samples import case_of_sample
from processors.strategies.strategy import Strategy, filled
from schemas.pattern import Pattern, PatternKind, PatternState

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.just("0001-01-01T00:00:00+14:00")
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(["a", "b", "a.b", ""]), VALUES, max_size=4)
CONDITIONS = st.builds(
    Condition, path=st.sampled_from(["a", "b", "a.b", "", "a.b.c"]), op=st.sampled_from(list(Op)), value=VALUES
)


@given(CONDITIONS, VALUES, st.floats(allow_nan=False, allow_infinity=False))
def test_a_condition_holds_or_does_not(condition, value, now_ms) -> None:
    assert condition.holds(value, now_ms) in {True, False}


@given(CONDITIONS, VALUES)
def test_a_condition_and_its_opposite_never_hold_together(condition, value) -> None:
    opposite = {Op.EQ: Op.NE, Op.IN: Op.NOT_IN, Op.EXISTS: Op.MISSING}.get(condition.op)
    if opposite is not None:
        other = condition.model_copy(update={"op": opposite})
        assert condition.holds(value, 0.0) is not other.holds(value, 0.0)


@given(st.lists(CONDITIONS, max_size=3), OBJECTS)
def test_an_index_finds_just_the_strategies_whose_conditions_hold(conditions, arguments) -> None:
    strategy = Strategy.model_validate(
        {"schema": "strategy/1", "id": "s", "trigger": {"tool": "t", "context": conditions}, "action": {"kind": "skip"}}
    )
    # Not by way of its definition as JSON: that has no form for NaN.
    pattern = Pattern(
        id="s",
        version=1,
        kind=PatternKind.STRATEGY,
        state=PatternState.ACTIVE,
        definition=strategy.model_dump(by_alias=True),
    )
    index = StrategyIndex([pattern])
    holds = all(one.holds(arguments, 0.0) for one in conditions)
    assert bool(index.matching("t", arguments, 0.0)) is holds


@given(VALUES, OBJECTS)
def test_a_template_is_filled_whatever_stands_in_it(template, arguments) -> None:
    filled(template, arguments)


@given(st.lists(OBJECTS, max_size=8), st.lists(OBJECTS, min_size=1, max_size=3))
def test_a_telling_value_is_in_every_failure_and_in_no_good_call(fine, failed) -> None:
    good = [Case(id=f"g{n}", tool="t", arguments=one, status="ok", at_ms=0) for n, one in enumerate(fine)]
    bad = [Case(id=f"f{n}", tool="t", arguments=one, status="system_error", at_ms=0) for n, one in enumerate(failed)]
    found = telling_condition(bad, good)
    if found is not None:
        assert all(found.holds(one.arguments, 0) for one in bad)
        assert not any(found.holds(one.arguments, 0) for one in good)


@given(st.text(max_size=300), st.text(max_size=20), st.none() | st.integers(), OBJECTS)
def test_an_error_always_has_a_cause(text, kind, code, arguments) -> None:
    signs = [one.sign for one in borne(Fault(kind=kind, code=code, text=text))]
    found = shipped_tree().infer(signs)
    assert abs(sum(found.probabilities.values()) - 1) < 0.01
    assert all(isinstance(one, str) for one in compared(arguments).values())


@given(st.text(max_size=200))
def test_a_sample_that_is_none_is_none(text) -> None:
    case_of_sample(text)
