"""What the classifier says of sentences that are in no training row, and that it says the same in any batch."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.reasoning.classify import (
    LABELS,
    NATURAL_PRIOR,
    classify,
    is_chinese,
    shipped_model,
    with_prior,
)
from processors.reasoning.cues import shipped_cues
from processors.reasoning.features import read_batch
from processors.reasoning.training import Recipe, fit, sparse
from schemas.reasoning import Label

SENTENCES = [
    ("First I'll look up the warehouse stock, then place the purchase order.", Label.PLANNING),
    ("Next, call the shipping endpoint for each parcel.", Label.PLANNING),
    ("Oops, I used last year's price list; let me redo the quote.", Label.SELF_CORRECTION),
    ("Wait, that was the wrong account number, so the earlier call has to be fixed.", Label.SELF_CORRECTION),
    ("The forecast looks plausible for this time of the year.", Label.EVALUATION),
    ("Let me double-check that the totals agree.", Label.EVALUATION),
    ("The user mentioned earlier that they only read French.", Label.MEMORY_RETRIEVAL),
    ("According to the manual, the pump stops at 80 degrees.", Label.MEMORY_RETRIEVAL),
    ("I'm not sure whether they mean the north or the south gate.", Label.UNCERTAINTY),
    ("Could the sensor be broken?", Label.UNCERTAINTY),
    ("So the pallet weighs 410 kg.", Label.OTHER),
    ("先查仓库库存，再下采购单。", Label.PLANNING),
    ("等等，刚才用的是去年的价目表，需要重新报价。", Label.SELF_CORRECTION),
    ("返回的预报看起来合理。", Label.EVALUATION),
    ("用户之前说过只看法语资料。", Label.MEMORY_RETRIEVAL),
    ("不确定他说的是南门还是北门。", Label.UNCERTAINTY),
    ("所以总重量是四百公斤。", Label.OTHER),
]


@pytest.mark.parametrize(("text", "label"), SENTENCES)
def test_plain_sentences_get_their_label(text: str, label: Label) -> None:
    (answer,) = classify([text])
    assert answer.label is label
    assert answer.confidence == max(answer.scores)
    assert sum(answer.scores) == pytest.approx(1, abs=0.001)


def test_answers_do_not_depend_on_the_batch() -> None:
    texts = [text for text, _ in SENTENCES] * 90
    assert classify(texts) == [answer for text, _ in SENTENCES for answer in classify([text])] * 90


def test_a_given_language_chooses_the_temperature() -> None:
    english, chinese = classify(["ok"], ["en"])[0], classify(["ok"], ["zh"])[0]
    assert english.label is chinese.label
    assert english.confidence != chinese.confidence
    assert classify(["ok"], ["fr"]) == classify(["ok"]) == [english]


@pytest.mark.parametrize(("text", "is_zh"), [("先查 weather 再说", True), ("call 北京 now please", False), ("", False)])
def test_language_is_told_from_the_script(text: str, is_zh: bool) -> None:
    assert is_chinese(text) is is_zh


def test_prior_moves_doubtful_sentences_to_frequent_labels() -> None:
    texts = [text for text, _ in SENTENCES]
    shifted = classify(texts, model=with_prior(shipped_model(), NATURAL_PRIOR, 1))
    other = LABELS.index(Label.OTHER)
    assert all(a.scores[other] >= b.scores[other] for a, b in zip(shifted, classify(texts), strict=True))


@given(st.lists(st.text(alphabet=st.sampled_from(list("a1 。.?\x01\x00\ud800👩‍💻先")), max_size=30), max_size=5))
def test_any_text_gets_an_answer(texts: list[str]) -> None:
    answers = classify(texts)
    assert len(answers) == len(texts)
    assert all(0 < answer.confidence <= 1 for answer in answers)


def test_a_huge_sentence_costs_no_more_than_its_ends() -> None:
    start = time.process_time()
    classify(["wait " * 2_000_000, "不" * 2_000_000])
    assert time.process_time() - start < 1


def test_training_is_reproducible_and_fits() -> None:
    texts = [text for text, _ in SENTENCES]
    labels = np.array([LABELS.index(label) for _, label in SENTENCES])
    data = sparse(texts, shipped_cues())
    first, second = (fit(data, labels, np.ones(len(texts)), Recipe(steps=40)) for _ in range(2))
    assert np.array_equal(first[0], second[0])
    assert (np.argmax(data.times(first[0]) + first[1], axis=1) == labels).all()


def test_matrix_and_batch_scores_agree() -> None:
    model = shipped_model()
    texts = [text for text, _ in SENTENCES]
    batch = model.raw_scores(read_batch(texts, model.cues))
    columns = np.concatenate([model.grams, model.cue_weights * 2]).astype(np.float64)
    assert np.allclose(batch, sparse(texts, model.cues).times(columns) + model.biases, atol=1e-4)


def test_blank_text_is_other() -> None:
    answers = classify(["", " \n\u3000", "Wait, that is wrong."])
    assert [(one.label, one.confidence) for one in answers[:2]] == [(Label.OTHER, 1.0)] * 2
    assert answers[2].label is Label.SELF_CORRECTION
