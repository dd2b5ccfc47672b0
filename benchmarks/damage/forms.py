"""Calls in other notations than JSON."""

import html
import json
import re
from collections.abc import Iterable

from benchmarks.damage.calls import Row
from benchmarks.damage.faults import Fault, fault, has_raw

FAULTS: dict[str, Fault] = {}


_WORD = re.compile(r"[A-Za-z_]\w*")


def is_plain(row: Row) -> bool:
    return not has_raw(row) and not any("\n" in str(value) for value in row.args.values())


def is_in_words(row: Row) -> bool:
    """Whether the tool's name and the keys can stand as names of elements or flags."""
    return is_plain(row) and row.name.isascii() and all(_WORD.fullmatch(key) for key in row.args)


def have(signs: str, texts: Iterable[object]) -> bool:
    return any(sign in str(text) for text in texts for sign in signs)


def pairs(row: Row, template: str, between: str) -> str:
    return between.join(template.format(k=key, v=as_text(value)) for key, value in row.args.items())


def as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@fault(FAULTS)
def python_call(row):
    if not is_plain(row) or not all(key.isidentifier() for key in row.args):
        return False
    inside = ", ".join(f"{key}={value!r}" for key, value in row.args.items())
    row.text = row.rng.choice(["{n}({i})", "[{n}({i})]", "```python\n{n}({i})\n```", "{n}({i});"]).format(
        n=row.name, i=inside
    )
    return True


@fault(FAULTS)
def call_with_dict(row):
    if not is_plain(row):
        return False
    row.text = row.rng.choice(
        [
            f"{row.name}({row.args!r})",
            f"{row.name}(**{row.args!r})",
            f"[{row.name}({json.dumps(row.args, ensure_ascii=False)})]",
        ]
    )
    return True


@fault(FAULTS)
def xml_child_params(row):
    if not is_plain(row) or have("<&", row.args.values()) or have('"', row.args):
        return False
    inside = pairs(row, '<parameter name="{k}">{v}</parameter>', "\n")
    row.text = f'<invoke name="{row.name}">\n{inside}\n</invoke>'
    return True


@fault(FAULTS)
def xml_eq_params(row):
    if not is_plain(row) or have('" ', row.args):
        return False
    inside = pairs(row, "<parameter={k}>\n{v}\n</parameter>", "\n")
    row.text = f"<function={row.name}>\n{inside}\n</function>"
    return True


@fault(FAULTS)
def xml_tag_params(row):
    if not is_in_words(row) or have("<", row.args.values()):
        return False
    row.text = f"<{row.name}>{pairs(row, '<{k}>{v}</{k}>', '')}</{row.name}>"
    return True


@fault(FAULTS)
def xml_attr_params(row):
    if not is_in_words(row):
        return False
    attributes = " ".join(f'{key}="{html.escape(as_text(value))}"' for key, value in row.args.items())
    row.text = f"<{row.name} {attributes}/>"
    return True


@fault(FAULTS)
def cli_flags(row):
    values = row.args.values()
    if not is_in_words(row) or have('"', values) or any(isinstance(v, (list, dict)) or v is None for v in values):
        return False
    flags = (f"--{k.replace('_', '-')} {json.dumps(v, ensure_ascii=False)}" for k, v in row.args.items())
    row.text = f"{row.name} {' '.join(flags)}"
    return True


@fault(FAULTS)
def kv_lines(row):
    if not is_plain(row) or have('"', row.args) or None in row.args.values():
        return False
    mark = row.rng.choice([": ", "=", " = "])
    if mark != ": " and have("=", row.args.values()):
        return False
    row.text = pairs(row, "{k}" + mark + "{v}", "\n")
    return True
