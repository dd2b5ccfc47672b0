"""Feedback moves its own sentences, is bounded, and is refused where the guard set would lose."""

import pytest

from processors.reasoning.classify import LABELS, classify, shipped_model
from processors.reasoning.feedback import (
    BATCH_MIN,
    CHANGE_MAX,
    COLUMNS_MAX,
    Delta,
    Labelled,
    figures_of,
    shipped_guard,
    take_feedback,
    with_delta,
)
from schemas.reasoning import Label

NOUNS = ["pump", "valve", "belt", "rotor", "fan", "seal", "gauge", "motor", "hose", "filter", "relay", "fuse"]
RITUAL = [Labelled(text=f"Roger the {noun}, over.", label=Label.EVALUATION) for noun in NOUNS * 2]


def test_guard_is_known_well_and_in_both_languages() -> None:
    figures = figures_of(shipped_model(), shipped_guard())
    assert len(shipped_guard()) > 90
    assert figures.accuracy > 0.85
    assert figures.ece < 0.12


def test_feedback_teaches_a_way_of_speaking_that_the_model_did_not_know() -> None:
    model = shipped_model()
    outcome = take_feedback(model, Delta(), RITUAL)
    assert outcome.is_accepted
    assert outcome.delta.sentences == len(RITUAL)
    assert outcome.after.macro_f1 >= outcome.before.macro_f1 - 0.01
    (before,), (after,) = (
        classify(["Roger the crane, over."], model=one) for one in (model, with_delta(model, outcome.delta))
    )
    place = LABELS.index(Label.EVALUATION)
    assert after.scores[place] > before.scores[place]


def test_feedback_that_harms_the_guard_is_refused_and_changes_nothing() -> None:
    wrong = [
        Labelled(text=row.text, label=Label.OTHER if row.label is not Label.OTHER else Label.PLANNING)
        for row in shipped_guard()
    ]
    old = Delta(columns={5: (0.1,) * len(LABELS)}, sentences=20)
    outcome = take_feedback(shipped_model(), old, wrong)
    assert not outcome.is_accepted
    assert outcome.delta is old


def test_too_few_sentences_are_refused() -> None:
    with pytest.raises(ValueError, match=f"at least {BATCH_MIN}"):
        take_feedback(shipped_model(), Delta(), RITUAL[:5])


def test_delta_stays_bounded() -> None:
    delta = Delta()
    for number in range(8):
        batch = [
            Labelled(text=f"w{number}x{i} y{i}z{number} q{i}r{number}{i} over {i}", label=Label.OTHER)
            for i in range(400)
        ]
        delta = take_feedback(shipped_model(), delta, batch).delta
    assert len(delta.columns) <= COLUMNS_MAX
    assert max(abs(value) for change in delta.columns.values() for value in change) <= CHANGE_MAX


def test_a_delta_of_another_shape_is_left_out() -> None:
    model = shipped_model()
    odd = Delta(columns={0: (1.0,) * 6, 10**9: (1.0,) * 6, 7: (1.0,)})
    assert (with_delta(model, odd).grams == model.grams).all()
