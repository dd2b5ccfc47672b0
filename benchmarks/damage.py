"""Right calls → damaged calls with known answers: the rows on which the repair is measured and calibrated.

Each fault is a function of one call; it says what the right answer stays, or which refusal code is right. Faults of
values come first, then faults of syntax, then what is written around. Seeds make sets; nothing here is a recorded call.
"""

# ruff: noqa: ARG001, ARG005 - tests and makers of a table take the same arguments, used or not
import copy
import html
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

TEXT = {"type": "string"}
DAY = {"type": "string", "format": "date"}


def tool(name: str, properties: dict, required: list[str], *, closed: bool = True, about: str = "") -> dict:
    parameters = {"type": "object", "properties": properties, "required": required}
    if closed:
        parameters["additionalProperties"] = False
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


def texts(*words: str) -> dict:
    return {"type": "string", "enum": list(words)}


TOOLS = [
    tool("hire_bike", {"station": TEXT, "bike_kind": texts("city", "cargo", "electric"), "hire_minutes": {"type": "integer", "minimum": 10, "maximum": 600},
         "with_helmet": {"type": "boolean"}, "first_day": DAY, "child_seats": {"type": "integer", "minimum": 0, "maximum": 2}}, ["station", "hire_minutes"]),
    tool("预订餐厅", {"餐厅": {"type": "string", "description": "餐厅名称"}, "人数": {"type": "integer", "minimum": 1, "maximum": 30}, "日期": {**DAY, "description": "用餐日期"},
         "靠窗": {"type": "boolean"}, "口味": texts("清淡", "微辣", "重辣"), "备注": TEXT}, ["餐厅", "人数", "日期"]),
    tool("copy_tree", {"source_path": {"type": "string", "description": "folder to copy"}, "target_path": {"type": "string", "description": "new folder"},
         "recursive": {"type": "boolean"}, "on_conflict": texts("skip", "overwrite", "rename"), "max_depth": {"type": "integer", "minimum": 1, "maximum": 64}}, ["source_path", "target_path"]),
    tool("grep_logs", {"regex": {"type": "string", "description": "regular expression"}, "log_dir": {"type": "string", "description": "directory"}, "before_lines": {"type": "integer", "minimum": 0, "maximum": 50},
         "levels": {"type": "array", "items": texts("debug", "info", "warning", "error")}, "whole_word": {"type": "boolean"}}, ["regex"]),
    tool("transfer_money", {"amount": {"type": "number", "minimum": 0, "description": "in EUR"}, "debit_account": TEXT, "credit_account": TEXT, "memo": {"type": "string", "description": "text for the receiver"},
         "execution_date": DAY, "express": {"type": "boolean"}}, ["amount", "debit_account", "credit_account"]),
    tool("query_metric", {"metric": texts("revenue", "headcount", "churn"), "window": {"type": "object", "properties": {"since": DAY, "until": DAY}, "required": ["since", "until"], "additionalProperties": False},
         "group_by": {"type": "array", "items": texts("team", "country", "product")}, "row_limit": {"type": "integer", "minimum": 1, "maximum": 5000}, "threshold": {"type": ["number", "null"]}}, ["metric", "window"]),
    tool("set_alarm", {"label": TEXT, "weekdays": {"type": "array", "items": texts("monday", "tuesday", "wednesday", "thursday", "friday")}, "volume": {"type": "number", "minimum": 0, "maximum": 1, "description": "share between 0 and 1"},
         "snooze_minutes": {"type": "integer", "minimum": 1, "maximum": 60}, "vibrate": {"type": "boolean"}}, ["label"]),
    tool("resize_image", {"image_url": TEXT, "width": {"type": "integer", "minimum": 1, "maximum": 9000}, "height": {"type": "integer", "minimum": 1, "maximum": 9000}, "output_format": texts("png", "jpeg", "webp"),
         "keep_ratio": {"type": "boolean"}, "sharpness": {"type": "number", "minimum": 0, "maximum": 10}}, ["image_url", "width"]),
    tool("plan_meeting", {"subject": TEXT, "meeting_day": DAY, "duration_hours": {"type": "number", "minimum": 0.25, "maximum": 12}, "guests": {"type": "array", "items": TEXT}, "visibility": texts("public", "private", "internal"),
         "place": {"type": "object", "properties": {"building": TEXT, "floor": {"type": "integer"}, "door_code": {"type": "string", "description": "digits, kept as text"}}, "required": ["building"], "additionalProperties": False}}, ["subject", "meeting_day"]),
    tool("adjust_stock", {"lines": {"type": "array", "items": {"type": "object", "properties": {"article": TEXT, "pieces": {"type": "integer", "minimum": 0}}, "required": ["article", "pieces"], "additionalProperties": False}},
         "warehouse": texts("kiel", "porto", "osaka"), "simulate": {"type": "boolean"}}, ["lines"]),
    tool("upload_text", {"file_name": {"type": "string", "description": "target file"}, "content": TEXT, "charset": texts("utf-8", "latin-1"), "tags": {"type": "object", "additionalProperties": TEXT, "description": "name to text"},
         "size_limit_mb": {"type": "number", "minimum": 0, "description": "in megabytes"}}, ["file_name", "content"]),
    tool("record_measurement", {"sensor": TEXT, "reading": {"type": "number", "description": "temperature in celsius", "minimum": -80, "maximum": 80}, "quality": texts("raw", "checked", "estimated"), "payload": {"type": "object"}, "firmware": {"type": "string", "description": "version label"}},
         ["sensor", "reading"], closed=False),
    tool("search_flats", {"district": TEXT, "max_rent": {"type": "number", "minimum": 0, "description": "in EUR"}, "rooms": {"type": "integer", "minimum": 1, "maximum": 12}, "sort": texts("price", "size", "newest"), "furnished": {"type": "boolean"},
         "distance_km": {"type": "number", "minimum": 0, "maximum": 200}, "keywords": {"type": "array", "items": TEXT}}, ["district"]),
    tool("draw_numbers", {"picks": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 49}}, "draw_day": DAY, "stake": {"type": "number", "minimum": 0, "description": "in EUR"}}, ["picks", "draw_day"]),
    tool("rotate_key", {"key_id": {"type": "string", "description": "kept as text"}, "stage": texts("staging", "production"), "grace_seconds": {"type": "integer", "minimum": 0, "maximum": 86400, "description": "in seconds"}, "notify": {"type": "boolean"}, "reason": TEXT}, ["key_id", "stage"]),
]  # fmt: skip
WORDS = [
    "harvest ledger",
    "old mill bridge",
    "copper kettle",
    "Übergabe am Dienstag",
    "salle du conseil",
    "puente viejo",
    "旧桥口",
    "铜水壶",
    "库存清单",
    "青い橋",
    "north annex",
    "repaint the fence",
]
SENTENCES = [
    "Bring the keys, then lock the side door.",
    "请把钥匙带来，然后锁上侧门。",
    "Bitte die Schlüssel mitbringen; die Seitentür klemmt.",
    "Les clés sont au bureau, merci.",
    "see https://example.org/a/b?x=1,2 // keep",
    "ratio 3:2 at 5 o'clock",
    "他说：“好，明天见。”",
    "None of these",
    "a = b; c",
    "tabs & <b>tags</b>",
]
PATHS = ["/srv/in/a.csv", "docs/plan v2.md", "var/log/app.log"]
CODES = ["0042", "00917", "A-17", "9007199254740993", "K55"]


@dataclass
class Row:
    """One call on its way to being damaged."""

    tool: dict
    args: dict
    rng: random.Random
    text: str = ""
    why: str | None = None
    faults: list[str] = field(default_factory=list)
    want: dict = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.tool["function"]["name"]

    @property
    def schema(self) -> dict:
        return self.tool["function"]["parameters"]

    @property
    def props(self) -> dict:
        return self.schema["properties"]

    def keys(self, test: Callable[[str, dict], bool]) -> list[str]:
        return [key for key in self.args if key in self.props and test(key, self.props[key])]

    def pick(self, test: Callable[[str, dict], bool]) -> str | None:
        keys = self.keys(test)
        return self.rng.choice(keys) if keys else None


def value_of(key: str, spec: dict, rng: random.Random) -> object:
    kind = spec.get("type")
    if "enum" in spec:
        return rng.choice(spec["enum"])
    if isinstance(kind, list):
        return round(rng.uniform(1, 400), 2)
    if kind == "integer":
        low, high = spec.get("minimum", 0), spec.get("maximum", 400)
        return rng.randint(low, high)
    if kind == "number":
        low, high = spec.get("minimum", 0), spec.get("maximum", 500)
        return round(rng.uniform(low, high), 2)
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "array":
        return [value_of(key, spec["items"], rng) for _ in range(rng.randint(1, 4))]
    if kind == "object":
        if "properties" in spec:
            need = spec.get("required", [])
            return {k: value_of(k, s, rng) for k, s in spec["properties"].items() if k in need or rng.random() < 0.6}
        return {rng.choice(["LEVEL", "MODE"]): rng.choice(["b2", "calm"]), "OWNER": rng.choice(WORDS)}
    if spec.get("format") == "date":
        return f"{rng.randint(2024, 2031)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
    if "path" in key or "dir" in key or key == "file_name":
        return rng.choice(PATHS)
    if key.endswith(("_id", "code", "account", "article")):
        return rng.choice(CODES)
    if key == "firmware":
        return rng.choice(["1.10", "2.0", "3.20"])
    if key == "regex":
        return rng.choice(["error", "total cost", "user"])
    if key in {"content", "memo", "reason", "备注", "label"}:
        return rng.choice(SENTENCES)
    return rng.choice(WORDS)


def fresh(rng: random.Random, which: dict | None = None) -> Row:
    one = which or rng.choice(TOOLS)
    parameters = one["function"]["parameters"]
    args = {
        key: value_of(key, spec, rng)
        for key, spec in parameters["properties"].items()
        if key in parameters["required"] or rng.random() < 0.6
    }
    return Row(one, args, rng)


# Faults of values: change row.args; row.want holds what stays right.

VALUE: dict[str, Callable[[Row], object]] = {}
SYNTAX: dict[str, Callable[[Row], object]] = {}
AROUND: dict[str, Callable[[Row], object]] = {}


def fault(table: dict) -> Callable:
    def add(function: Callable) -> Callable:
        table[function.__name__] = function
        return function

    return add


def is_int(key: str, spec: dict) -> bool:
    return spec.get("type") == "integer"


def is_number(key: str, spec: dict) -> bool:
    return spec.get("type") in ("integer", "number")


def is_float(key: str, spec: dict) -> bool:
    return spec.get("type") == "number"


def is_bool(key: str, spec: dict) -> bool:
    return spec.get("type") == "boolean"


def is_enum(key: str, spec: dict) -> bool:
    return "enum" in spec


def is_date(key: str, spec: dict) -> bool:
    return spec.get("format") == "date"


def is_text(key: str, spec: dict) -> bool:
    return spec.get("type") == "string" and "enum" not in spec and "format" not in spec


def is_array(key: str, spec: dict) -> bool:
    return spec.get("type") == "array"


def is_object(key: str, spec: dict) -> bool:
    return spec.get("type") == "object" and "properties" in spec


def replaced(row: Row, test: Callable, make: Callable) -> bool:
    key = row.pick(test)
    if key is None:
        return False
    written, right = make(key, row.props[key], row.args[key], row.rng)
    row.args[key] = written
    if right is REFUSE:
        return True
    row.want[key] = right
    return True


REFUSE = object()


class Raw(str):
    """A value written into the text as it is."""

    __slots__ = ()


@fault(VALUE)
def number_as_string(row):
    return replaced(row, is_number, lambda k, s, v, r: (r.choice(["{}", " {}", "{} "]).format(v), v))


@fault(VALUE)
def number_word(row):
    key = row.pick(lambda k, s: is_int(k, s) and s.get("minimum", 0) <= 7 <= s.get("maximum", 99))
    if not key:
        return False
    row.args[key], row.want[key] = row.rng.choice(["seven", "sieben", "sept", "siete", "七"]), 7
    return True


@fault(VALUE)
def number_grouped_string(row):
    key = row.pick(lambda k, s: is_number(k, s) and s.get("maximum", 1e9) >= 4321)
    if not key:
        return False
    row.args[key], row.want[key] = row.rng.choice(["4,321", "4 321", "4_321", "4'321"]), 4321
    return True


@fault(VALUE)
def decimal_comma_string(row):
    key = row.pick(lambda k, s: is_float(k, s) and s.get("maximum", 1e9) >= 8)
    if not key:
        return False
    row.args[key], row.want[key] = "7,25", 7.25
    return True


@fault(VALUE)
def integer_as_float(row):
    return replaced(row, is_int, lambda k, s, v, r: (Raw(f"{v}.0"), v))


@fault(VALUE)
def nonstandard_number(row):
    return replaced(row, is_int, lambda k, s, v, r: (Raw(r.choice([f"+{v}", f"{v}.", f"0x{v:x}"])), v))


@fault(VALUE)
def arithmetic_expression(row):
    key = row.pick(lambda k, s: is_int(k, s) and s.get("minimum", 0) <= 48 <= s.get("maximum", 1e9))
    if not key:
        return False
    row.args[key], row.want[key] = Raw(row.rng.choice(["12 * 4", "40 + 8", "96 / 2"])), 48
    return True


@fault(VALUE)
def magnitude_suffix(row):
    key = row.pick(lambda k, s: is_float(k, s) and "EUR" in s.get("description", ""))
    if not key:
        return False
    row.args[key], row.want[key] = row.rng.choice([("4k", 4000), ("2.5K", 2500), ("1.1M", 1100000)])
    return True


UNITS = {
    "minutes": (["{} min", "{} minutes", "{}m"], [("2h", 120), ("1 hour", 60), ("half an hour", None)]),
    "seconds": (["{} s", "{} sec", "{}s", "{} seconds"], [("3 minutes", 180), ("2h", 7200)]),
    "hours": (["{} h", "{} hours", "{}h"], [("90 minutes", 1.5), ("30 min", 0.5)]),
    "km": (["{} km", "{}km"], [("900m", 0.9), ("5000 m", 5)]),
    "EUR": (["{} EUR", "{}€", "{} euros", "€{}"], []),
    "celsius": (["{}°C", "{} °C", "{} celsius", "{} degrees celsius"], [("50°F", 10)]),
    "megabytes": (["{} MB", "{}mb"], [("2 GB", 2000), ("500 kB", 0.5)]),
}


def unit_in(key: str, spec: dict) -> str | None:
    return (
        next((unit for unit in UNITS if unit in key or unit in spec.get("description", "")), None)
        if is_number(key, spec)
        else None
    )


@fault(VALUE)
def unit_same(row):
    return replaced(
        row, lambda k, s: unit_in(k, s) is not None, lambda k, s, v, r: (r.choice(UNITS[unit_in(k, s)][0]).format(v), v)
    )


@fault(VALUE)
def unit_convert(row):
    key = row.pick(
        lambda k, s: (
            unit_in(k, s) is not None
            and any(
                right is not None and s.get("minimum", 0) <= right <= s.get("maximum", 1e9)
                for _, right in UNITS[unit_in(k, s)][1]
            )
        )
    )
    if not key:
        return False
    spec = row.props[key]
    options = [
        (w, right)
        for w, right in UNITS[unit_in(key, spec)][1]
        if right is not None and spec.get("minimum", 0) <= right <= spec.get("maximum", 1e9)
    ]
    row.args[key], row.want[key] = row.rng.choice(options)
    return True


@fault(VALUE)
def percent_for_share(row):
    key = row.pick(lambda k, s: is_float(k, s) and s.get("maximum") == 1)
    if not key:
        return False
    row.args[key], row.want[key] = row.rng.choice([("30%", 0.3), ("5 %", 0.05), ("75%", 0.75)])
    return True


@fault(VALUE)
def boolean_word(row):
    words = {
        True: ["true", "True", "yes", "Yes", "on", 1, "oui", "ja", "是", "はい"],
        False: ["false", "False", "no", "NO", "off", 0, "non", "nein", "否", "いいえ"],
    }
    return replaced(row, is_bool, lambda k, s, v, r: (r.choice(words[v]), v))


@fault(VALUE)
def python_literals(row):
    return replaced(row, is_bool, lambda k, s, v, r: (Raw(str(v)), v))


@fault(VALUE)
def enum_case(row):
    return replaced(row, is_enum, lambda k, s, v, r: (r.choice([v.upper(), v.title(), " " + v, v + " "]), v))


@fault(VALUE)
def enum_decorated(row):
    return replaced(
        row,
        is_enum,
        lambda k, s, v, r: (
            r.choice(["`{v}`", '"{v}"', "{v}.", "{k}: {v}", "{v} ({k})", "'{v}'", "<{v}>"]).format(k=k, v=v),
            v,
        ),
    )


def misspelt(word: str, rng: random.Random) -> str:
    at = rng.randrange(1, len(word) - 1)
    return rng.choice(
        [
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        ]
    )


@fault(VALUE)
def enum_near_miss(row):
    key = row.pick(lambda k, s: is_enum(k, s) and row.args[k].isascii() and len(row.args[k]) >= 5)
    if not key:
        return False
    row.want[key], row.args[key] = row.args[key], misspelt(row.args[key], row.rng)
    return row.args[key] != row.want[key]


SYNONYMS = {
    "overwrite": ["replace", "覆盖"],
    "warning": ["warn", "警告"],
    "error": ["err", "错误"],
    "jpeg": ["jpg"],
    "utf-8": ["UTF8", "unicode"],
    "latin-1": ["iso-8859-1"],
    "staging": ["stage", "stg", "预发布"],
    "production": ["prod", "live", "生产"],
    "private": ["私有"],
    "public": ["everyone", "公开"],
}


@fault(VALUE)
def enum_synonym(row):
    key = row.pick(lambda k, s: is_enum(k, s) and row.args[k] in SYNONYMS)
    if not key:
        return False
    row.want[key], row.args[key] = row.args[key], row.rng.choice(SYNONYMS[row.args[key]])
    return True


@fault(VALUE)
def enum_unrelated(row):
    row.why = "enum_no_match"
    return replaced(
        row,
        is_enum,
        lambda k, s, v, r: (r.choice(["as the crow flies", "mauve", "seventy-one", "no idea", "随便"]), REFUSE),
    )


@fault(VALUE)
def date_other_format(row):
    months = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ]

    def make(k, s, v, r):
        y, m, d = map(int, v.split("-"))
        forms = [
            f"{d} {months[m - 1]} {y}",
            f"{months[m - 1]} {d}, {y}",
            f"{months[m - 1][:3]} {d} {y}",
            f"{y}/{m:02d}/{d:02d}",
            f"{y}.{m}.{d}",
            f"{y}年{m}月{d}日",
            f"{v}T00:00:00Z",
            f"{y}{m:02d}{d:02d}",
            f"{y}-{m}-{d}",
        ]
        return r.choice([form for form in forms if form != v]), v

    return replaced(row, is_date, make)


@fault(VALUE)
def date_ambiguous(row):
    row.why = "date_day_month_unclear"

    def make(k, s, v, r):
        a, b = r.sample(range(1, 13), 2)
        return f"{a:02d}/{b:02d}/2027", REFUSE

    return replaced(row, is_date, make)


@fault(VALUE)
def date_impossible_or_relative(row):
    row.why = "date_unresolved"
    return replaced(
        row,
        is_date,
        lambda k, s, v, r: (
            r.choice(
                [
                    "2027-02-31",
                    "2027-14-02",
                    "tomorrow",
                    "next month",
                    "Q3 2027",
                    "2027",
                    "下个月",
                    "月底",
                    "end of the week",
                ]
            ),
            REFUSE,
        ),
    )


@fault(VALUE)
def date_unquoted(row):
    return replaced(row, is_date, lambda k, s, v, r: (Raw(v), v))


@fault(VALUE)
def string_as_number(row):
    key = row.pick(is_text)
    if not key:
        return False
    number = row.rng.randint(10000, 99999)
    row.args[key], row.want[key] = number, str(number)
    return True


@fault(VALUE)
def leading_zero_unquoted(row):
    key = row.pick(is_text)
    if not key:
        return False
    row.args[key], row.want[key] = Raw("00731"), "00731"
    return True


@fault(VALUE)
def version_as_number(row):
    key = row.pick(lambda k, s: k == "firmware")
    if not key:
        return False
    row.want[key] = row.args[key]
    row.args[key] = Raw(row.args[key])
    return True


@fault(VALUE)
def null_for_optional(row):
    optional = [
        key for key in row.props if key not in row.schema["required"] and "null" not in str(row.props[key].get("type"))
    ]
    if not optional:
        return False
    key = row.rng.choice(optional)
    row.args[key] = row.rng.choice([None, None, Raw("None"), Raw("undefined")])
    row.want.pop(key, None)
    return True


@fault(VALUE)
def null_for_required(row):
    row.why = "null_required"
    key = row.rng.choice(row.schema["required"])
    row.args[key] = row.rng.choice([None, Raw("None")])
    return True


@fault(VALUE)
def nan_for_number(row):
    row.why = "not_a_number"
    return replaced(row, is_number, lambda k, s, v, r: (Raw(r.choice(["NaN", "Infinity", "-Infinity"])), REFUSE))


@fault(VALUE)
def nan_for_nullable(row):
    key = row.pick(lambda k, s: isinstance(s.get("type"), list))
    if not key:
        return False
    row.args[key], row.want[key] = Raw(row.rng.choice(["NaN", "nan"])), None
    return True


@fault(VALUE)
def scalar_for_array(row):
    key = row.pick(is_array)
    if not key:
        return False
    row.args[key], row.want[key] = row.args[key][0], row.args[key][:1]
    return True


@fault(VALUE)
def joined_string_for_array(row):
    key = row.pick(
        lambda k, s: (
            is_array(k, s)
            and (s["items"].get("type") in ("integer", "number") or "enum" in s["items"])
            and len(row.args[k]) > 1
        )
    )
    if not key:
        return False
    row.want[key], row.args[key] = row.args[key], row.rng.choice([", ", ",", "; "]).join(map(str, row.args[key]))
    return True


@fault(VALUE)
def array_for_scalar(row):
    key = row.pick(lambda k, s: not is_array(k, s) and s.get("type") != "object")
    if not key:
        return False
    row.want[key], row.args[key] = row.args[key], [row.args[key]]
    return True


@fault(VALUE)
def array_for_scalar_many(row):
    row.why = "many_for_one"
    return replaced(row, is_text, lambda k, s, v, r: ([v, v + " B"], REFUSE))


@fault(VALUE)
def array_as_indexed_object(row):
    key = row.pick(lambda k, s: is_array(k, s) and len(row.args[k]) > 1)
    if not key:
        return False
    first = row.rng.choice([0, 1])
    row.want[key], row.args[key] = row.args[key], {str(first + i): value for i, value in enumerate(row.args[key])}
    return True


@fault(VALUE)
def stringified_nested(row):
    key = row.pick(lambda k, s: s.get("type") in ("array", "object"))
    if not key:
        return False
    row.want[key] = row.args[key]
    row.args[key] = row.rng.choice([json.dumps(row.args[key], ensure_ascii=False), str(row.args[key])])
    return True


@fault(VALUE)
def flattened_nested(row):
    key = row.pick(is_object)
    if not key:
        return False
    row.want[key] = row.args.pop(key)
    row.args.update(row.want[key])
    return True


@fault(VALUE)
def dotted_keys(row):
    key = row.pick(is_object)
    if not key:
        return False
    row.want[key] = row.args.pop(key)
    row.args.update({f"{key}.{inner}": value for inner, value in row.want[key].items()})
    return True


@fault(VALUE)
def extra_param(row):
    key = row.rng.choice(
        ["reasoning", "explanation", "step", "trace", "thought", "comment_for_user", "confidence_note"]
    )
    value = row.rng.choice([4, True, "because it was asked for"])
    row.args = dict(row.rng.sample([*row.args.items(), (key, value)], len(row.args) + 1))
    if not row.schema.get("additionalProperties", True):
        return True
    row.want[key] = value
    return True


@fault(VALUE)
def missing_required(row):
    row.why = "missing_required"
    row.args.pop(row.rng.choice(row.schema["required"]))
    return True


@fault(VALUE)
def integer_with_fraction(row):
    row.why = "fraction_for_integer"
    return replaced(row, is_int, lambda k, s, v, r: (r.choice([v + 0.4, f"{v}.75"]), REFUSE))


@fault(VALUE)
def out_of_range(row):
    row.why = "out_of_range"
    return replaced(
        row, lambda k, s: is_number(k, s) and "maximum" in s, lambda k, s, v, r: (s["maximum"] * 10 + 7, REFUSE)
    )


@fault(VALUE)
def boolean_unclear(row):
    row.why = "boolean_unclear"
    return replaced(
        row, is_bool, lambda k, s, v, r: (r.choice(["perhaps", "depends", 5, "as needed", "看情况"]), REFUSE)
    )


@fault(VALUE)
def placeholder_value(row):
    row.why = "placeholder"
    return replaced(
        row,
        is_text,
        lambda k, s, v, r: (
            r.choice(
                ["<{k}>", "{{{{{k}}}}}", "YOUR_{K}_HERE", "[insert {k}]", "...", "…", "<{k} goes here>", "<your {k}>"]
            ).format(k=k, K=k.upper()),
            REFUSE,
        ),
    )


@fault(VALUE)
def unit_wrong_kind(row):
    row.why = "unit_incompatible"
    return replaced(
        row,
        lambda k, s: unit_in(k, s) is not None,
        lambda k, s, v, r: (r.choice(["4 boxes", "7 people", "15 kg", "between two and six", "三箱"]), REFUSE),
    )


@fault(VALUE)
def ellipsis_in_container(row):
    row.why = "elided_items"
    key = row.pick(is_array)
    if not key:
        return False
    row.args[key] = [*row.args[key], row.rng.choice([Raw("..."), "...", "…"])]
    return True


@fault(VALUE)
def semantic_wrong_param(row):
    row.why = "range_from_single_date"
    if "window" not in row.args:
        return False
    row.args.pop("window")
    row.args[row.rng.choice(["date", "day", "as_of"])] = "2027-03-01"
    return True


@fault(VALUE)
def name_camel(row):
    return renamed(row, lambda key: re.sub(r"_(\w)", lambda m: m[1].upper(), key))


@fault(VALUE)
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


@fault(VALUE)
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


@fault(VALUE)
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


@fault(VALUE)
def name_ambiguous(row):
    if row.name != "transfer_money":
        return False
    row.why = "ambiguous_names"
    row.args = {
        {"debit_account": "account_one", "credit_account": "account_two"}.get(k, k): v for k, v in row.args.items()
    }
    return True


@fault(VALUE)
def attribute_leak_in_key(row):
    key = row.rng.choice(list(row.args))
    row.args = {
        key + row.rng.choice(['" type="string', '" format="auto', '" mode="json']) if k == key else k: v
        for k, v in row.args.items()
    }
    return True


@fault(VALUE)
def windows_path(row):
    key = row.pick(lambda k, s: "path" in k or "dir" in k)
    if not key:
        return False
    path = row.rng.choice(["C:\\temp\\notes.txt", "D:\\new\\backup", "E:\\Users\\Ann\\q1.xlsx", "C:\\build\\file.bin"])
    row.want[key], row.args[key] = path, Raw(f'"{path}"')
    return True


@fault(VALUE)
def regex_single_backslash(row):
    key = row.pick(lambda k, s: k == "regex")
    if not key:
        return False
    pattern = row.rng.choice(["\\d+ km", "\\w+@\\w+", "^\\s*#", "\\bid\\b", "a\\.b"])
    row.want[key], row.args[key] = pattern, Raw(f'"{pattern}"')
    return True


@fault(VALUE)
def invalid_escape(row):
    key = row.pick(lambda k, s: is_text(k, s) and not ("path" in k or "dir" in k or k in {"regex", "file_name"}))
    if not key:
        return False
    written, right = row.rng.choice(
        [("7\\$ off", "7$ off"), ("see \\[2\\]", "see [2]"), ("a\\_b\\_c", "a_b_c"), ("x\\*y", "x*y")]
    )
    row.want[key], row.args[key] = right, Raw(f'"{written}"')
    return True


INNER = [
    'call it "Nord" from May',
    'write "ok", then stop',
    'first "a", then "b" perhaps',
    'a 9" pot, glazed',
    'the "old" one',
]


@fault(VALUE)
def unescaped_quotes(row):
    key = row.pick(is_text)
    if not key:
        return False
    text = row.rng.choice(INNER)
    row.want[key], row.args[key] = text, Raw(f'"{text}"')
    return True


@fault(VALUE)
def raw_newline_tab(row):
    key = row.pick(lambda k, s: is_text(k, s) and row.args[k] not in PATHS)
    if not key:
        return False
    text = row.rng.choice(["top\nbottom", "left\tright", "a:\n- b\n- c\n", "x\r\ny"])
    row.want[key], row.args[key] = text, Raw(f'"{text}"')
    return True


def dumped(value: object, rng: random.Random, indent: int | None = None) -> str:
    marks: dict[str, str] = {}

    def marked(one: object) -> object:
        if isinstance(one, Raw):
            mark = f"@@{len(marks)}@@"
            marks[f'"{mark}"'] = str(one)
            return mark
        if isinstance(one, dict):
            return {key: marked(inner) for key, inner in one.items()}
        return [marked(inner) for inner in one] if isinstance(one, list) else one

    text = json.dumps(marked(value), ensure_ascii=rng.random() < 0.1, indent=indent)
    for mark, raw in marks.items():
        text = text.replace(mark, raw)
    return text


# Faults of syntax: change row.text.


def has_raw(row: Row) -> bool:
    return (
        any(isinstance(value, Raw) for value in row.args.values()) or '"' in json.dumps(row.args).replace('\\"', "")[:0]
    )


@fault(SYNTAX)
def single_quotes(row):
    if has_raw(row) or "'" in row.text or '\\"' in row.text:
        return False
    row.text = row.text.replace('"', "'")
    return True


@fault(SYNTAX)
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


@fault(SYNTAX)
def smart_quotes(row):
    if has_raw(row) or '\\"' in row.text or "“" in row.text:
        return False
    row.text = re.sub(r'"([^"]*)"', r"“\1”", row.text)
    return True


@fault(SYNTAX)
def chinese_punctuation(row):
    if has_raw(row) or '\\"' in row.text or "“" in row.text:
        return False
    parts = re.split(r'("[^"]*")', row.text)
    table = str.maketrans({":": "：", ",": "，", "{": "｛", "}": "｝", " ": ""})
    row.text = "".join(f"“{part[1:-1]}”" if part.startswith('"') else part.translate(table) for part in parts)
    return True


@fault(SYNTAX)
def backtick_quotes(row):
    if has_raw(row) or '\\"' in row.text:
        return False
    row.text = re.sub(r': "([^"`]*)"', r": `\1`", row.text)
    return "`" in row.text


@fault(SYNTAX)
def mixed_quotes(row):
    if has_raw(row) or "'" in row.text or '\\"' in row.text:
        return False
    row.text = (
        re.sub(r'"([^"]*)":', r"'\1':", row.text)
        if row.rng.random() < 0.5
        else re.sub(r': "([^"]*)"', r": '\1'", row.text)
    )
    return True


@fault(SYNTAX)
def keys_unquoted(row):
    if has_raw(row):
        return False
    row.text = re.sub(r'"(\w+)":', r"\1:", row.text)
    return True


@fault(SYNTAX)
def values_unquoted(row):
    if has_raw(row):
        return False
    row.text = re.sub(r': "([A-Za-z][\w ]*)"', r": \1", row.text)
    return True


@fault(SYNTAX)
def trailing_comma(row):
    row.text = re.sub(r"(\s*[}\]])$", r",\1", row.text)
    return True


@fault(SYNTAX)
def double_comma(row):
    key = row.rng.choice(list(row.args)[1:] or [None])
    return at_key(row, key, lambda before, after: before.replace(", ", ",, ") + after if before == ", " else None)


def at_key(row: Row, key: str | None, change: Callable[[str, str], str | None]) -> bool:
    if key is None:
        return False
    mark = json.dumps(key, ensure_ascii=False) + ":"
    at = row.text.find(", " + mark)
    if at < 0:
        return False
    new = change(", ", mark)
    if new is None:
        return False
    row.text = row.text[:at] + new + row.text[at + 2 + len(mark) :]
    return True


@fault(SYNTAX)
def missing_comma(row):
    return at_key(row, row.rng.choice(list(row.args)[1:] or [None]), lambda before, after: " " + after)


@fault(SYNTAX)
def missing_colon(row):
    return at_key(row, row.rng.choice(list(row.args)[1:] or [None]), lambda before, after: before + after[:-1])


@fault(SYNTAX)
def key_quote_half_missing(row):
    return at_key(
        row,
        row.rng.choice(list(row.args)[1:] or [None]),
        lambda before, after: before + (after[1:] if row.rng.random() < 0.5 else after[:-2] + ":"),
    )


@fault(SYNTAX)
def value_quote_half_missing(row):
    keys = list(row.args)
    places = [
        i for i in range(len(keys) - 1) if isinstance(row.args[keys[i]], str) and not isinstance(row.args[keys[i]], Raw)
    ]
    if not places or has_raw(row):
        return False
    at = row.rng.choice(places)
    value = json.dumps(row.args[keys[at]], ensure_ascii=False)
    mark = f"{json.dumps(keys[at], ensure_ascii=False)}: {value}"
    if row.text.count(mark) != 1 or "\\" in value or any(c in value for c in "“”'"):
        return False
    row.text = row.text.replace(mark, mark[:-1] if row.rng.random() < 0.5 else mark.replace(value, value[1:]))
    return True


@fault(SYNTAX)
def equals_for_colon(row):
    if has_raw(row):
        return False
    row.text = re.sub(r'("\w+"): ', row.rng.choice([r"\1=", r"\1 = "]), row.text)
    return True


@fault(SYNTAX)
def comments(row):
    if row.rng.random() < 0.5:
        return at_key(
            row,
            row.rng.choice(list(row.args)[1:] or [None]),
            lambda before, after: before + row.rng.choice(["/* as said */ ", "// note\n", "# usual\n"]) + after,
        )
    row.text = row.text[:-1] + row.rng.choice([" /* done */ }", " // last\n}", " # end\n}"])
    return True


@fault(SYNTAX)
def missing_open_brace(row):
    row.text = row.text.strip()[1:]
    if row.rng.random() < 0.5:
        row.text = row.text[:-1]
    return True


@fault(SYNTAX)
def extra_closers(row):
    row.text += row.rng.choice(["}", "}}", "]}", "]", "\n}"])
    return True


@fault(SYNTAX)
def mismatched_bracket(row):
    if not row.text.endswith("]}"):
        return False
    row.text = row.text[:-2] + "}"
    return True


@fault(SYNTAX)
def missing_closers(row):
    last = row.args[list(row.args)[-1]]
    if (
        isinstance(last, Raw)
        or (isinstance(last, (int, float)) and not isinstance(last, bool))
        or isinstance(last, (list, dict))
    ):
        return False
    row.text = row.text.rstrip().removesuffix("}")
    return True


@fault(SYNTAX)
def literal_backslash_n_outside(row):
    row.text = "{\\n" + row.text[1:-1] + "\\n}"
    return not has_raw(row)


@fault(SYNTAX)
def bom_or_nbsp(row):
    row.text = row.rng.choice(["\ufeff" + row.text, row.text.replace("{", "{\u00a0", 1), row.text + "\u200b"])
    return True


@fault(SYNTAX)
def duplicate_key_same(row):
    key = row.rng.choice(list(row.args))
    if isinstance(row.args[key], Raw):
        return False
    row.text = row.text[:-1] + ", " + dumped({key: row.args[key]}, row.rng)[1:]
    return True


@fault(SYNTAX)
def duplicate_key_conflict(row):
    keys = [
        key
        for key in row.args
        if key in row.props and is_text(key, row.props[key]) and not isinstance(row.args[key], Raw)
    ]
    if not keys:
        return False
    row.why = "duplicate_conflict"
    row.text = row.text[:-1] + ", " + dumped({keys[0]: str(row.args[keys[0]]) + " B"}, row.rng)[1:]
    return True


@fault(SYNTAX)
def truncated_free_text(row):
    keys = [
        key
        for key in row.args
        if key in row.props
        and is_text(key, row.props[key])
        and isinstance(row.args[key], str)
        and len(row.args[key]) > 4
        and not isinstance(row.args[key], Raw)
    ]
    keys = [key for key in keys if key != "firmware"]
    if not keys or has_raw(row):
        return False
    key = row.rng.choice(keys)
    value = row.args.pop(key)
    row.args[key] = value
    text = dumped(row.args, row.rng)
    row.text = text[: -(2 + row.rng.randint(1, len(json.dumps(value)) // 2))]
    row.why = "truncated_text"
    return not row.text.endswith("\\") and set(row.schema["required"]) <= set(row.args)


@fault(SYNTAX)
def truncated_number(row):
    keys = [
        key
        for key in row.args
        if key in row.props and is_float(key, row.props[key]) and isinstance(row.args[key], float)
    ]
    if not keys or has_raw(row):
        return False
    row.args[keys[0]] = row.args.pop(keys[0])
    row.text = dumped(row.args, row.rng)[: -1 - row.rng.randint(0, 1)]
    row.why = "truncated_number"
    return True


@fault(SYNTAX)
def truncated_in_array(row):
    keys = [
        key
        for key in row.args
        if isinstance(row.args[key], list) and row.args[key] and isinstance(row.args[key][0], (str, int))
    ]
    if not keys or has_raw(row):
        return False
    row.args[keys[0]] = row.args.pop(keys[0])
    row.text = dumped(row.args, row.rng)[:-2] + ","
    row.why = "truncated_array"
    return True


@fault(SYNTAX)
def truncated_before_required(row):
    last = next((key for key in reversed(row.args) if key in row.schema["required"]), "")
    at = row.text.find(json.dumps(last, ensure_ascii=False) + ":")
    if at < 4 or has_raw(row):
        return False
    row.text = row.text[: at - 2 - row.rng.randint(0, 2)]
    row.why = "truncated_required"
    return True


@fault(SYNTAX)
def unclosed_string_known_value(row):
    keys = [
        key
        for key in row.args
        if key in row.props and is_enum(key, row.props[key]) and row.args[key] in row.props[key]["enum"]
    ]
    if not keys or has_raw(row):
        return False
    row.args[keys[0]] = row.args.pop(keys[0])
    row.text = dumped(row.args, row.rng)[:-2]
    return True


# What is written around: changes row.text as a whole.


@fault(AROUND)
def markdown_fence(row):
    row.text = row.rng.choice(
        ["```json\n{}\n```", "```\n{}\n```\n", "`{}`", "```json5\n{}", "Sure:\n```json\n{}\n```\nDone."]
    ).replace("{}", row.text)
    return True


@fault(AROUND)
def prose_around(row):
    row.text = (
        row.rng.choice(["I'll call it with ", "参数如下：", "Voici l'appel :\n", "Arguments:\n"])
        + row.text
        + row.rng.choice(["", "\nLet me know.", "\n(done)", "\n以上。"])
    )
    return row.text.rstrip()[-1] not in "0123456789" or row.why is None


@fault(AROUND)
def token_residue(row):
    row.text = row.rng.choice(
        ["{}<|im_end|>", "{}</s>", "<tool_call>{}</tool_call>", "[TOOL_CALLS] {}", "{}<|eot_id|>", "{}\n</tool_call>"]
    ).replace("{}", row.text)
    return True


@fault(AROUND)
def double_encoded(row):
    row.text = json.dumps(row.text, ensure_ascii=row.rng.random() < 0.5)
    return True


@fault(AROUND)
def escaped_without_outer_quotes(row):
    row.text = json.dumps(row.text, ensure_ascii=False)[1:-1]
    return row.text.startswith('{\\"')


@fault(AROUND)
def concat_same(row):
    row.text = row.text + row.rng.choice(["", "\n", " "]) + row.text
    return True


@fault(AROUND)
def concat_empty_first(row):
    row.text = "{}" + row.text
    return True


@fault(AROUND)
def concat_different(row):
    other = fresh(row.rng, row.tool)
    if other.args == row.args:
        return False
    row.why = "two_objects"
    row.text = row.text + row.rng.choice(["", "\n", " "]) + dumped(other.args, row.rng)
    return True


@fault(AROUND)
def wrapped_under_key(row):
    row.text = '{"' + row.rng.choice(["arguments", "params", "kwargs", "input", row.name]) + '": ' + row.text + "}"
    return True


@fault(AROUND)
def whole_call_object(row):
    name, inner = row.rng.choice(
        [("name", "arguments"), ("tool", "parameters"), ("function", "args"), ("tool_name", "input")]
    )
    row.text = f'{{"{name}": "{row.name}", "{inner}": {row.text}}}'
    return True


@fault(AROUND)
def wrapped_stringified(row):
    row.text = json.dumps({"name": row.name, "arguments": row.text}, ensure_ascii=False)
    return True


@fault(AROUND)
def tool_calls_object(row):
    row.text = '{"tool_calls": [{"name": "' + row.name + '", "arguments": ' + row.text + "}]}"
    return True


@fault(AROUND)
def name_line_then_object(row):
    row.text = row.rng.choice(
        [f"{row.name}\n{row.text}", f"{row.name} {row.text}", f"Action: {row.name}\nAction Input: {row.text}"]
    )
    return True


@fault(AROUND)
def xml_cdata(row):
    row.text = f'<tool_call name="{row.name}"><![CDATA[{row.text}]]></tool_call>'
    return True


@fault(AROUND)
def xml_attr_json_entities(row):
    row.text = f'<function_call name="{row.name}" input="{html.escape(row.text)}" />'
    return True


def plain_args(row: Row) -> dict | None:
    return None if has_raw(row) or any("\n" in str(v) for v in row.args.values()) else row.args


def as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


FORMS: dict[str, Callable[[Row], object]] = {}


@fault(FORMS)
def python_call(row):
    if plain_args(row) is None or not all(key.isidentifier() for key in row.args):
        return False
    inside = ", ".join(f"{key}={value!r}" for key, value in row.args.items())
    row.text = row.rng.choice(["{n}({i})", "[{n}({i})]", "```python\n{n}({i})\n```", "{n}({i});"]).format(
        n=row.name, i=inside
    )
    return True


@fault(FORMS)
def call_with_dict(row):
    if plain_args(row) is None:
        return False
    row.text = row.rng.choice(
        [
            f"{row.name}({row.args!r})",
            f"{row.name}(**{row.args!r})",
            f"[{row.name}({json.dumps(row.args, ensure_ascii=False)})]",
        ]
    )
    return True


@fault(FORMS)
def xml_child_params(row):
    if (
        plain_args(row) is None
        or any("<" in str(v) or "&" in str(v) for v in row.args.values())
        or any('"' in key for key in row.args)
    ):
        return False
    row.text = (
        f'<invoke name="{row.name}">\n'
        + "\n".join(f'<parameter name="{k}">{as_text(v)}</parameter>' for k, v in row.args.items())
        + "\n</invoke>"
    )
    return True


@fault(FORMS)
def xml_eq_params(row):
    if plain_args(row) is None or any('"' in key or " " in key for key in row.args):
        return False
    row.text = (
        f"<function={row.name}>\n"
        + "\n".join(f"<parameter={k}>\n{as_text(v)}\n</parameter>" for k, v in row.args.items())
        + "\n</function>"
    )
    return True


@fault(FORMS)
def xml_tag_params(row):
    if (
        plain_args(row) is None
        or not all(re.fullmatch(r"[A-Za-z_]\w*", key) for key in row.args)
        or any("<" in str(v) for v in row.args.values())
    ):
        return False
    row.text = f"<{row.name}>" + "".join(f"<{k}>{as_text(v)}</{k}>" for k, v in row.args.items()) + f"</{row.name}>"
    return row.name.isascii()


@fault(FORMS)
def xml_attr_params(row):
    if (
        plain_args(row) is None
        or not all(re.fullmatch(r"[A-Za-z_]\w*", key) for key in row.args)
        or not row.name.isascii()
    ):
        return False
    row.text = f"<{row.name} " + " ".join(f'{k}="{html.escape(as_text(v))}"' for k, v in row.args.items()) + "/>"
    return True


@fault(FORMS)
def cli_flags(row):
    if (
        plain_args(row) is None
        or any(isinstance(v, (list, dict)) or '"' in str(v) or v is None for v in row.args.values())
        or not all(re.fullmatch(r"[A-Za-z_]\w*", key) for key in row.args)
    ):
        return False
    row.text = (
        row.name
        + " "
        + " ".join(f"--{k.replace('_', '-')} " + (json.dumps(v, ensure_ascii=False)) for k, v in row.args.items())
    )
    return row.name.isascii()


@fault(FORMS)
def kv_lines(row):
    if plain_args(row) is None or any(v is None or '"' in k for k, v in row.args.items()):
        return False
    mark = row.rng.choice([": ", "=", " = "])
    if mark != ": " and any("=" in str(v) for v in row.args.values()):
        return False
    row.text = "\n".join(f"{k}{mark}{as_text(v)}" for k, v in row.args.items())
    return True


def damaged(rng: random.Random, number: int) -> dict:
    """One row: a tenth clean, else one to three faults."""
    while True:
        row = fresh(rng)
        row.want = copy.deepcopy(row.args)
        count = 0 if number % 12 == 0 else rng.choice([1, 1, 1, 2, 2, 3])
        plan = planned(rng, count)
        if all(applied(row, name, table) for name, table in plan):
            if not row.text:
                row.text = dumped(row.args, rng, indent=rng.choice([None, None, 2]) if count == 0 else None)
            expect = None if row.why else row.want
            out = {
                "id": f"g{number:05d}",
                "raw": row.text,
                "tool": row.tool,
                "expect": expect,
                "faults": [name for name, _ in plan],
            }
            return out | ({"why": row.why} if row.why else {})


def planned(rng: random.Random, count: int) -> list[tuple[str, dict]]:
    tables = [VALUE, SYNTAX, AROUND, FORMS]
    weights = [len(table) for table in tables]
    chosen = rng.choices(tables, weights, k=count)
    unique = [table for table in tables if table in chosen]
    if FORMS in unique and VALUE in unique:
        return [(rng.choice([name for name in VALUE if name not in TYPED]), VALUE), (rng.choice(list(FORMS)), FORMS)]
    if FORMS in unique:
        unique = [table for table in unique if table not in (SYNTAX, AROUND)]
    return [(rng.choice(list(table)), table) for table in unique]


def applied(row: Row, name: str, table: dict) -> bool:
    if table is not VALUE and table is not FORMS and not row.text:
        row.text = dumped(row.args, row.rng)
    if not row.args or (row.why and name in REFUSALS):
        return False
    before = row.why
    if row.why is not None and table is SYNTAX and name.startswith("missing_closers"):
        return False
    return bool(table[name](row)) and not (before and row.why != before)


TYPED = {"array_for_scalar", "array_for_scalar_many"}
"""Faults that a grammar without types cannot show: there, text stays text."""
REFUSALS = {
    "truncated_free_text",
    "truncated_number",
    "truncated_in_array",
    "truncated_before_required",
    "concat_different",
    "duplicate_key_conflict",
    "unclosed_string_known_value",
}


def rows(seed: int, count: int) -> list[dict]:
    """A set of damaged calls; the same seed gives the same set."""
    rng = random.Random(seed)
    return [damaged(rng, number) for number in range(count)]


if __name__ == "__main__":
    import sys

    for one in rows(int(sys.argv[1]), int(sys.argv[2])):
        print(json.dumps(one, ensure_ascii=False))
