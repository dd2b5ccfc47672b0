"""How well and how fast is reasoning read? Labels, breaks, speed; against a cue lexicon and a plain n-gram model.

Usage: python benchmarks/bench_reasoning.py [REASONING.jsonl GAPS.jsonl]

Without files it measures the guard sentences of feedback.py, written by the author of the training rows, and the speed.

REASONING has rows as train_reasoning.py takes them, GAPS rows with `steps` and `expect` (joints). Own rows of the corpus
are held out by domain, rows marked `measure` were never trained on. Times are CPU seconds of one core, best of five.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import train_reasoning as training

from processors.reasoning import cues as cue_files
from processors.reasoning.classify import LABELS, NATURAL_PRIOR, Model, classify, shipped_model, with_prior
from processors.reasoning.feedback import shipped_guard
from processors.reasoning.gaps import find_gaps, vectors_of

Predict = Callable[[Sequence[str]], np.ndarray]
NO_CUES = cue_files.compile_cues(())


def by_cues(texts: Sequence[str]) -> np.ndarray:
    """Votes of the cue phrases alone, by the weights of their files."""
    cues = cue_files.shipped_cues()
    weights = {file.label: file.weight for file in cues.files}
    shares = np.full((len(texts), len(LABELS)), 0.1)
    shares[:, LABELS.index("other")] = 0.8
    for row, text in enumerate(texts):
        for hit in cues.hits(text):
            shares[row, LABELS.index(cues.labels[hit])] += weights[cues.labels[hit]]
    return shares / shares.sum(axis=1, keepdims=True)


def by_model(model: Model) -> Predict:
    return lambda texts: np.array([answer.scores for answer in classify(texts, model=model)])


def plain_model(rows: list[training.Labelled]) -> Predict:
    """The same regression without cue features."""
    fitted = training.train(rows, NO_CUES)
    return lambda texts: training.shares_of(training.sparse(texts, NO_CUES).times(fitted[0]) + fitted[1], 1.0)


def held_out(base: list[training.Labelled], own: list[training.Labelled], cues: cue_files.Cues) -> np.ndarray:
    return training.shares_of(training.held_out(base, own, cues), 1.0)


def natural(rows: list[training.Labelled], shares: np.ndarray) -> float:
    """Accuracy if labels had the shares of long traces: each label's own accuracy, weighted."""
    guessed = shares.argmax(axis=1)
    right = np.array([LABELS[g] in (row.label, *row.also) for g, row in zip(guessed, rows, strict=True)])
    return sum(NATURAL_PRIOR[label] * right[[row.label == label for row in rows]].mean() for label in LABELS)


def labels(path: Path) -> None:
    base = training.training_rows()
    own, public, measured = training.corpus_rows(path)
    print("labels                                  accuracy  macro-F1    ECE")
    plain = plain_model(base + public)
    texts = [row.text for row in measured]
    show("measured rows, cue lexicon", measured, by_cues(texts))
    show("measured rows, n-grams without cues", measured, plain(texts))
    show("measured rows, shipped", measured, by_model(shipped_model())(texts))
    shifted = by_model(with_prior(shipped_model(), NATURAL_PRIOR, 1.0))(texts)
    print(f"{'measured rows at natural shares, with prior':40s} {natural(measured, shifted):7.4f}")
    without = held_out(base + public, own, NO_CUES)
    full = training.held_out(base + public, own)
    for place, lang in enumerate(training.LANGS):
        at = [i for i, row in enumerate(own) if row.lang == lang]
        rows = [own[i] for i in at]
        heat = shipped_model().temperatures[place]
        show(f"own {lang}, cue lexicon", rows, by_cues([row.text for row in rows]))
        show(f"own {lang}, domain held out, without cues", rows, without[at])
        show(f"own {lang}, domain held out", rows, training.shares_of(full[at], heat))


def show(name: str, rows: list[training.Labelled], shares: np.ndarray) -> None:
    found = training.figures(rows, shares)
    print(f"{name:40s} {found['accuracy']:7.4f}  {found['macro_f1']:7.4f}  {found['ece']:6.4f}")


def gaps(path: Path) -> None:
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    print("\ngaps                                          AUC   recall  false alarms a joint")
    found = [find_gaps(case["steps"]) for case in cases]
    hits = sum(len(set(one.gaps) & set(case["expect"])) for one, case in zip(found, cases, strict=True))
    alarms = sum(len(set(one.gaps) - set(case["expect"])) for one, case in zip(found, cases, strict=True))
    breaks = sum(len(case["expect"]) for case in cases)
    joints = sum(len(case["steps"]) - 1 for case in cases) - breaks
    score = auc(cases, [one.similarity for one in found])
    print(f"{'window against window, shipped':40s} {score:8.4f} {hits / breaks:8.4f} {alarms / joints:8.4f}")
    print(
        f"{'adjacent pairs, same words and weights':40s} {auc(cases, [adjacent(case['steps']) for case in cases]):8.4f}"
    )


def adjacent(steps: list[str]) -> list[float]:
    vectors = vectors_of(steps)
    return [float(vectors[i] @ vectors[i + 1]) for i in range(len(steps) - 1)]


def auc(cases: list[dict], similarity: Sequence[Sequence[float]]) -> float:
    broken = [
        s for case, some in zip(cases, similarity, strict=True) for i, s in enumerate(some) if i in case["expect"]
    ]
    whole = np.sort(
        [s for case, some in zip(cases, similarity, strict=True) for i, s in enumerate(some) if i not in case["expect"]]
    )
    return 1 - float(np.searchsorted(whole, broken, side="left").mean()) / len(whole)


def speed(rows: list[tuple[str, str]]) -> None:
    print("\nspeed, one core")
    for lang in training.LANGS:
        texts = [text for of, text in rows if of == lang][:4_000]
        texts *= max(1, 4_000 // len(texts))
        for size in (16, 256, 1_024):
            seconds = min(timed(texts, size) for _ in range(5))
            print(f"{lang} in batches of {size:5d}: {len(texts) / seconds:10,.0f} sentences/s")
    texts = [text for of, text in rows if of == "en"][:2_000]
    blocks = sorted(timed(texts[i : i + 10], 10) * 1_000 for i in range(0, len(texts), 10))
    print(
        f"block of 10 sentences: median {blocks[len(blocks) // 2]:.2f} ms, p95 {blocks[int(len(blocks) * 0.95)]:.2f} ms"
    )


def timed(texts: list[str], size: int) -> float:
    start = time.process_time()
    for at in range(0, len(texts), size):
        classify(texts[at : at + size])
    return time.process_time() - start


def guard() -> None:
    print("labels                                  accuracy  macro-F1    ECE")
    rows = [training.Labelled(text=row.text, label=row.label, lang="", domain="") for row in shipped_guard()]
    texts = [row.text for row in rows]
    show("guard sentences, cue lexicon", rows, by_cues(texts))
    show("guard sentences, shipped", rows, by_model(shipped_model())(texts))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        labels(Path(sys.argv[1]))
        gaps(Path(sys.argv[2]))
        lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
        speed([(row["lang"], row["text"]) for row in map(json.loads, lines)])
    else:
        guard()
        speed([(row.lang, row.text) for row in training.training_rows()])
