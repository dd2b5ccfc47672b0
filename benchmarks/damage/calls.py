"""Right calls: fifteen tools and arguments that fit them. Nothing here is a recorded call."""

import random
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
