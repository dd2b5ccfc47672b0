"""Other quotation marks, or none."""

import json
import re

from benchmarks.damage.faults import Fault, fault, has_raw, is_text

FAULTS: dict[str, Fault] = {}


@fault(FAULTS)
def single_quotes(row):
    if has_raw(row) or "'" in row.text or '\\"' in row.text:
        return False
    row.text = row.text.replace('"', "'")
    return True


@fault(FAULTS)
def single_quotes_raw_apostrophe(row):
    key = row.pick(lambda k, s: is_text(k, s) and isinstance(row.args[k], str))
    if has_raw(row) or "'" in row.text or '\\"' in row.text or not key:
        return False
    text = row.rng.choice(["the porter's key", "we can't wait", "it's Ann's turn"])
    row.want[key] = text
    old = json.dumps(row.args[key], ensure_ascii=False)
    if row.text.count(old) != 1:
        return False
    row.text = row.text.replace(old, f"'{text}'").replace('"', "'")
    return True


@fault(FAULTS)
def smart_quotes(row):
    if has_raw(row) or '\\"' in row.text or "“" in row.text:
        return False
    row.text = re.sub(r'"([^"]*)"', r"“\1”", row.text)
    return True


@fault(FAULTS)
def chinese_punctuation(row):
    if has_raw(row) or '\\"' in row.text or "“" in row.text:
        return False
    parts = re.split(r'("[^"]*")', row.text)
    table = str.maketrans({":": "：", ",": "，", "{": "｛", "}": "｝", " ": ""})
    row.text = "".join(f"“{part[1:-1]}”" if part.startswith('"') else part.translate(table) for part in parts)
    return True


@fault(FAULTS)
def backtick_quotes(row):
    if has_raw(row) or '\\"' in row.text:
        return False
    row.text = re.sub(r': "([^"`]*)"', r": `\1`", row.text)
    return "`" in row.text


@fault(FAULTS)
def mixed_quotes(row):
    if has_raw(row) or "'" in row.text or '\\"' in row.text:
        return False
    row.text = (
        re.sub(r'"([^"]*)":', r"'\1':", row.text)
        if row.rng.random() < 0.5
        else re.sub(r': "([^"]*)"', r": '\1'", row.text)
    )
    return True


@fault(FAULTS)
def keys_unquoted(row):
    if has_raw(row):
        return False
    row.text = re.sub(r'"(\w+)":', r"\1:", row.text)
    return True


@fault(FAULTS)
def values_unquoted(row):
    if has_raw(row):
        return False
    row.text = re.sub(r': "([A-Za-z][\w ]*)"', r": \1", row.text)
    return True
