"""How well and how fast is personal data found? One table of quality, one of speed, beside named peers when installed.

    python benchmarks/bench_pii.py [--corpus FILE.jsonl[.gz]] [--peers] [--seed N]

Quality on generated texts (pii_texts.py) or a corpus of `{"text", "spans": [{"start", "end", "type"}]}` lines: a span
counts when it covers the value and is at most two characters wider on each side. Speed is UTF-8 bytes for each second
of CPU time of this process, one thread, median of five runs; on a shared machine read ratios, not figures.
"""

import argparse
import gzip
import json
import platform
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from benchmarks.pii_texts import benign, labelled
from processors.pii.find import find_pii
from processors.pii.redact import redact
from processors.pii.stream import StreamRedactor

Find = Callable[[str], list[tuple[int, int, str]]]
RUNS = 5
MEGABYTE = 1_000_000
HOSTILE = {
    "a": "a",
    "digits": "1",
    "1 1 1": "1 ",
    "dots": ".",
    "@a@a": "@a",
    "hex:": "ab:",
    "secret_": "secret_",
    "'x=x=": "x=",
    "key=": "key=",
    "token:": "token:",
    "AB12": "AB12 ",
}


def ours(text: str) -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.type) for span in find_pii(text)]


def quality(rows: list[dict], find: Find) -> tuple[Counter, Counter, dict[str, float]]:
    hit, missed, extra, clean, changed, leaked = Counter(), Counter(), Counter(), 0, 0, 0
    for row in rows:
        wanted = [(span["start"], span["end"], span["type"]) for span in row["spans"]]
        found = find(row["text"])
        for want in wanted:
            (hit if any(_covers(one, want) for one in found) else missed)[want[2]] += 1
            leaked += not any(start <= want[0] and end >= want[1] for start, end, _ in found)
        for one in found:
            extra[one[2]] += not any(_covers(one, want) for want in wanted)
        clean += not wanted
        changed += bool(found and not wanted)
    total, wrong, lost = sum(hit.values()), sum(extra.values()), sum(missed.values())
    precision, recall = total / max(1, total + wrong), total / max(1, total + lost)
    figures = {
        "precision": precision,
        "recall": recall,
        "F1": 2 * precision * recall / max(1e-9, precision + recall),
        "leaked": leaked / max(1, total + lost),
        "clean texts changed": changed / max(1, clean),
    }
    return hit, missed, figures


def _covers(found: tuple[int, int, str], want: tuple[int, int, str]) -> bool:
    return found[2] == want[2] and 0 <= want[0] - found[0] <= 2 and 0 <= found[1] - want[1] <= 2


def speed(texts: list[str], find: Callable[[str], object]) -> float:
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    took = []
    for _ in range(RUNS):
        began = time.process_time()
        for text in texts:
            find(text)
        took.append(time.process_time() - began)
    return size / MEGABYTE / statistics.median(took)


def blocks(texts: list[str], chars: int = 65_536) -> list[str]:
    joined = " ".join(texts)
    return [joined[at : at + chars] for at in range(0, len(joined), chars)]


def step_us(texts: list[str]) -> float:
    joined = " ".join(texts)[:80_000]
    chunks = [joined[at : at + 16] for at in range(0, len(joined), 16)]
    took = []
    for _ in range(RUNS):
        stream = StreamRedactor()
        began = time.process_time()
        for chunk in chunks:
            stream.feed(chunk)
        took.append(time.process_time() - began)
    return statistics.median(took) / len(chunks) * 1e6


def peers() -> dict[str, Find]:
    found: dict[str, Find] = {}
    for name, make in (
        ("presidio", _presidio),
        ("datafog", _datafog),
        ("scrubadub", _scrubadub),
        ("detect-secrets", _detect_secrets),
    ):
        try:
            found[name] = make()
        except ImportError:
            print(f"{name}: not installed")
    return found


def _presidio() -> Find:
    import spacy
    import tldextract
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=())  # its own list, no download
    tldextract.extract = tldextract.tldextract.TLD_EXTRACTOR
    nlp = SpacyNlpEngine()
    nlp.nlp = {"en": spacy.blank("en")}  # no names of persons: only its rules are compared
    engine = AnalyzerEngine(nlp_engine=nlp, supported_languages=["en"])
    names = {"PHONE_NUMBER": "phone", "EMAIL_ADDRESS": "email", "CREDIT_CARD": "credit_card", "IBAN_CODE": "iban", "US_SSN": "us_ssn",
             "IP_ADDRESS": "ip_address", "MAC_ADDRESS": "mac", "US_PASSPORT": "passport", "CRYPTO": "crypto_wallet"}  # fmt: skip
    return lambda text: [
        (r.start, r.end, names[r.entity_type]) for r in engine.analyze(text, language="en", entities=list(names))
    ]


def _datafog() -> Find:
    from datafog.processing.text_processing.regex_annotator import RegexAnnotator

    annotator = RegexAnnotator()
    names = {
        "EMAIL": "email",
        "PHONE": "phone",
        "SSN": "us_ssn",
        "CREDIT_CARD": "credit_card",
        "IP_ADDRESS": "ip_address",
    }
    return lambda text: [
        (s.start, s.end, names[s.label]) for s in annotator.annotate_with_spans(text)[1].spans if s.label in names
    ]


def _scrubadub() -> Find:
    import scrubadub

    scrubber = scrubadub.Scrubber()
    names = {"email": "email", "phone": "phone", "credit_card": "credit_card", "social_security_number": "us_ssn"}
    return lambda text: [(f.beg, f.end, names[f.type]) for f in scrubber.iter_filth(text) if f.type in names]


def _detect_secrets() -> Find:
    from detect_secrets import SecretsCollection
    from detect_secrets.settings import default_settings

    file = Path(tempfile.mkdtemp()) / "text.txt"

    def find(text: str) -> list[tuple[int, int, str]]:
        file.write_text(text, encoding="utf-8", errors="replace")
        found = SecretsCollection()
        with default_settings():
            found.scan_file(str(file))
        values = {secret.secret_value for _, secret in found}
        return [(text.find(v), text.find(v) + len(v), "api_key") for v in values if v and v in text]

    return find


def rows_of(path: Path) -> list[dict]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--corpus", type=Path)
    arguments.add_argument("--peers", action="store_true")
    arguments.add_argument("--seed", type=int, default=11)
    given = arguments.parse_args()
    rows = rows_of(given.corpus) if given.corpus else labelled(given.seed, 2_000, (0, 4))
    print(
        f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}; {len(rows)} texts, {sum(len(r['spans']) for r in rows)} values\n"
    )
    plain, dense = benign(given.seed, 4_000), [row["text"] for row in labelled(given.seed + 1, 400, (8, 14))]
    engines = {"hermes streams": ours} | (peers() if given.peers else {})
    for name, find in engines.items():
        hit, missed, figures = quality(rows, find)
        print(f"{name}: " + ", ".join(f"{key} {value:.4f}" for key, value in figures.items()))
        if find is ours:
            print(
                "  recall: "
                + ", ".join(f"{kind} {hit[kind] / (hit[kind] + missed[kind]):.3f}" for kind in sorted(hit | missed))
            )
    print("\nMB/s, CPU time                250-byte pieces   64 KB blocks   dense")
    for name, find in engines.items():
        few = 1 if find is ours else 40
        print(
            f"{name:30}{speed(plain[::few], find):12.1f}{speed(blocks(plain)[::few], find):18.1f}{speed(dense[::few], find):10.1f}"
        )
    print(f"\na 16-character streaming step: {step_us(plain):.2f} us benign, {step_us(dense):.2f} us dense")
    for name, piece in HOSTILE.items():
        text = (piece * (MEGABYTE // len(piece)))[:MEGABYTE]
        began = time.process_time()
        redact(text)
        print(f"1 MB of {name:10} {time.process_time() - began:.3f} s")


if __name__ == "__main__":
    main()
