"""Argument names in other styles, misspelt, by synonyms, with markup in them."""

import re
from collections.abc import Callable

from benchmarks.damage.calls import Row
from benchmarks.damage.faults import Fault, fault, misspelt

FAULTS: dict[str, Fault] = {}


@fault(FAULTS)
def name_camel(row):
    return renamed(row, lambda key: re.sub(r"_(\w)", lambda m: m[1].upper(), key))


@fault(FAULTS)
def name_style_other(row):
    style = row.rng.choice(
        [
            lambda key: key.replace("_", "-"),
            lambda key: key.replace("_", " "),
            str.upper,
            lambda key: key.title().replace("_", ""),
        ]
    )
    return renamed(row, style)


def renamed(row: Row, style: Callable[[str], str]) -> bool:
    new = {style(key): value for key, value in row.args.items()}
    if list(new) == list(row.args):
        return False
    row.args = new
    return True


@fault(FAULTS)
def name_near_miss(row):
    keys = [key for key in row.args if key.isascii() and len(key) >= 5]
    if not keys:
        return False
    key = row.rng.choice(keys)
    wrong = row.rng.choice([key + "s", misspelt(key, row.rng)])
    if wrong in row.props or wrong == key:
        return False
    row.args = {wrong if k == key else k: value for k, value in row.args.items()}
    return True


NAMES = {
    "station": ["station_name"],
    "hire_minutes": ["minutes", "duration"],
    "source_path": ["source"],
    "regex": ["pattern", "regexp"],
    "log_dir": ["directory"],
    "amount": ["value", "sum"],
    "subject": ["title"],
    "guests": ["attendees", "participants"],
    "content": ["text", "file_content"],
    "file_name": ["filename", "file", "path"],
    "rooms": ["num_rooms"],
    "keywords": ["tags"],
    "sensor": ["sensor_name"],
    "lines": ["items", "rows"],
    "row_limit": ["limit", "max_rows"],
    "image_url": ["url"],
    "餐厅": ["餐厅名称"],
    "备注": ["说明文字"],
}


@fault(FAULTS)
def name_synonym(row):
    keys = [key for key in row.args if key in NAMES and key != "备注"]
    if not keys:
        return False
    key = row.rng.choice(keys)
    wrong = row.rng.choice(NAMES[key])
    if wrong in row.props:
        return False
    row.args = {wrong if k == key else k: value for k, value in row.args.items()}
    return True


@fault(FAULTS)
def name_ambiguous(row):
    if row.name != "transfer_money":
        return False
    row.why = "ambiguous_names"
    row.args = {
        {"debit_account": "account_one", "credit_account": "account_two"}.get(k, k): v for k, v in row.args.items()
    }
    return True


@fault(FAULTS)
def attribute_leak_in_key(row):
    key = row.rng.choice(list(row.args))
    row.args = {
        key + row.rng.choice(['" type="string', '" format="auto', '" mode="json']) if k == key else k: v
        for k, v in row.args.items()
    }
    return True
