"""Labelled sentences → processors/reasoning/{weights,rarity}.npz: trains, calibrates and reports, the same bytes every time.

Usage: python benchmarks/train_reasoning.py [CORPUS.jsonl] [--write]

Trains on the own rows of this folder (data/reasoning_*.txt) and, where a corpus is given, on its rows marked `use: train`
(rows: text, label, label_alt, lang, doc, source). Rows marked `use: measure` are only measured. Own rows of the corpus
are held out by domain for the figures and the temperatures; public rows count a tenth, without the labels that their
taxonomy mixes.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from reasoning_rows import own_rows

from processors.reasoning import gaps
from processors.reasoning.classify import DOUBT, LABELS, LANGS
from processors.reasoning.cues import Cues, shipped_cues
from processors.reasoning.features import BUCKETS
from processors.reasoning.training import CUE_VALUE, Recipe, fit, softmax, sparse

VARIANTS = 80
RECIPE = Recipe(l2=5e-6)
PUBLIC_WEIGHT = 0.1
PUBLIC_LABELS = {"memory_retrieval", "other", "planning", "evaluation"}
PUBLIC_SHARE = 0.01
"""Share of the public rows in the loss that sets a temperature: on text of another taxonomy the model is less right than on
agents' text, and a reader of the confidence can't know which it is."""
CORPUS_OWN_WEIGHT = 2.0
WEIGHTS = Path(__file__).parent.parent / "processors" / "reasoning" / "weights.npz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    text: str
    label: str
    lang: str
    domain: str
    weight: float = 1.0
    also: tuple[str, ...] = ()


def training_rows() -> list[Labelled]:
    return [Labelled(text=r.text, label=r.label, lang=r.lang, domain=r.domain) for r in own_rows(VARIANTS)]


def corpus_rows(path: Path) -> tuple[list[Labelled], list[Labelled], list[Labelled]]:
    """Own, public and measured rows of a corpus."""
    own, public, measured = [], [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        labelled = Labelled(
            text=row["text"], label=row["label"], lang=row["lang"], domain=row["doc"], also=tuple(row["label_alt"]),
            weight=CORPUS_OWN_WEIGHT if row["source"] == "own" else PUBLIC_WEIGHT,
        )  # fmt: skip
        if row["use"] == "measure":
            measured.append(labelled)
        elif row["use"] == "train" and row["source"] == "own":
            own.append(labelled)
        elif row["use"] == "train" and row["label"] in PUBLIC_LABELS:
            public.append(labelled)
    return own, public, measured


def train(rows: list[Labelled], cues: Cues | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Weights and biases, each label counting the same in sum."""
    labels = np.array([LABELS.index(row.label) for row in rows])
    weights = np.array([row.weight for row in rows])
    sums = np.bincount(labels, weights)
    return fit(sparse([row.text for row in rows], cues or shipped_cues()), labels, weights / sums[labels], RECIPE)


def raw(fitted: tuple[np.ndarray, np.ndarray], rows: list[Labelled], cues: Cues | None = None) -> np.ndarray:
    return sparse([row.text for row in rows], cues or shipped_cues()).times(fitted[0]) + fitted[1]


def held_out(base: list[Labelled], own: list[Labelled], cues: Cues | None = None) -> np.ndarray:
    """Scores of each own row by a model that saw no row of its domain."""
    scores = np.zeros((len(own), len(LABELS)))
    for domain in sorted({row.domain for row in own}):
        at = [i for i, row in enumerate(own) if row.domain == domain]
        fitted = train(base + [row for row in own if row.domain != domain], cues)
        scores[at] = raw(fitted, [own[i] for i in at], cues)
    return scores


def figures(rows: list[Labelled], shares: np.ndarray) -> dict[str, float]:
    """Accuracy (an alternative label counts), macro-F1 and expected calibration error in ten bins."""
    guessed = shares.argmax(axis=1)
    labels = np.array([LABELS.index(row.label) for row in rows])
    right = np.array([LABELS[g] in (row.label, *row.also) for g, row in zip(guessed, rows, strict=True)])
    sure = shares.max(axis=1)
    bins = np.minimum((sure * 10).astype(int), 9)
    error = sum(abs(right[bins == b].sum() - sure[bins == b].sum()) for b in range(10)) / len(rows)
    f1 = [
        2 * ((guessed == k) & (labels == k)).sum() / max(1, (guessed == k).sum() + (labels == k).sum())
        for k in np.unique(labels)
    ]
    return {
        "accuracy": round(float(right.mean()), 4),
        "macro_f1": round(float(np.mean(f1)), 4),
        "ece": round(float(error), 4),
    }


def temperature(rows: list[Labelled], scores: np.ndarray, row_weights: np.ndarray | None = None) -> float:
    """The temperature with the smallest log loss, by a grid of two per cent."""
    weights = np.ones(len(rows)) if row_weights is None else row_weights
    labels = np.array([LABELS.index(row.label) for row in rows])

    def loss(heat: float) -> float:
        shares = shares_of(scores, heat)[np.arange(len(rows)), labels]
        return float(-(weights * np.log(shares)).sum())

    return round(min((0.4 * 1.02**k for k in range(110)), key=loss), 4)


def shares_of(scores: np.ndarray, heat: float) -> np.ndarray:
    """Shares as classify.py gives them."""
    return (1 - DOUBT) * softmax(scores / heat) + DOUBT / len(LABELS)


def calibrate(base: list[Labelled], own: list[Labelled], public: list[Labelled]) -> list[float]:
    """One temperature for each language from rows of held-out domains; prints what they reach."""
    scores = held_out(base + public, own)
    apart = raw(train(base + own), public)
    temperatures = []
    for lang in LANGS:
        at = [i for i, row in enumerate(own) if row.lang == lang]
        others = [i for i, row in enumerate(public) if row.lang == lang]
        rows = [own[i] for i in at]
        shares = [PUBLIC_SHARE if others else 0.0] * len(others)
        weights = np.array([(1 - PUBLIC_SHARE) / len(at)] * len(at) + [share / len(others) for share in shares])
        both = np.concatenate([scores[at], apart[others]])
        temperatures.append(temperature(rows + [public[i] for i in others], both, weights))
        print(f"held-out domain, {lang}: {figures(rows, shares_of(scores[at], temperatures[-1]))}")
    return temperatures


def write(fitted: tuple[np.ndarray, np.ndarray], temperatures: list[float]) -> None:
    weights = fitted[0].copy()
    weights[BUCKETS:] *= CUE_VALUE
    scales = np.abs(weights).max(axis=0) / 127
    np.savez_compressed(
        WEIGHTS,
        weights=np.round(weights / scales).astype(np.int8),
        scales=scales.astype(np.float32),
        biases=fitted[1].astype(np.float32),
        temperatures=np.array(temperatures, dtype=np.float32),
    )
    print(f"wrote {WEIGHTS.name}: {WEIGHTS.stat().st_size:,} bytes")


def write_rarity(rows: list[Labelled]) -> None:
    """How many rows hold each word, from which gaps.py knows what every trace says."""
    counts = np.zeros(gaps.BUCKETS, dtype=np.int64)
    for row in rows:
        counts[sorted(set(gaps.words_of(row.text)))] += 1
    path = WEIGHTS.with_name("rarity.npz")
    np.savez_compressed(path, counts=counts.astype(np.uint16), steps=np.int64(len(rows)))
    print(f"wrote {path.name}: {path.stat().st_size:,} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", type=Path)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    base = training_rows()
    own, public, measured = corpus_rows(args.corpus) if args.corpus else ([], [], [])
    print(f"own rows {len(base)}, of the corpus: own {len(own)}, public {len(public)}, measured {len(measured)}")
    temperatures = calibrate(base, own, public) if own else [1.0, 1.0]
    fitted = train(base + public + own)
    if measured:
        print(f"measured rows: {figures(measured, shares_of(raw(fitted, measured), temperatures[0]))}")
    print(f"temperatures {temperatures}")
    if args.write:
        write(fitted, temperatures)
        write_rarity(base)


if __name__ == "__main__":
    main()
