"""Tools and damaged calls of our own, for the tests of the repair."""

from processors.repair import ToolSchema, compile_tool


def tool(name: str, properties: dict, required: tuple[str, ...] = (), *, closed: bool = True) -> ToolSchema:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": not closed,
    }
    return compile_tool({"type": "function", "function": {"name": name, "parameters": parameters}})


DAY = {"type": "string", "format": "date"}
TEXT = {"type": "string"}
FERRY = tool(
    "book_ferry",
    {
        "route": {"type": "string", "enum": ["northern", "southern", "express"]},
        "departure_day": DAY,
        "passengers": {"type": "integer", "minimum": 1, "maximum": 9},
        "with_car": {"type": "boolean"},
        "remark": TEXT,
        "cabins": {"type": "array", "items": {"type": "string", "enum": ["inside", "outside", "suite"]}},
        "contact": {
            "type": "object",
            "properties": {"surname": TEXT, "mobile": TEXT},
            "required": ["surname"],
            "additionalProperties": False,
        },
        "budget": {"type": "number", "minimum": 0, "description": "upper limit in EUR"},
        "wait_minutes": {"type": "integer", "minimum": 0, "maximum": 600},
    },
    ("route", "departure_day"),
)
NOTE = tool(
    "keep_note",
    {
        "heading": TEXT,
        "lines": {"type": "array", "items": TEXT},
        "file_path": {"type": "string", "description": "where to keep it"},
        "search_pattern": {"type": "string", "description": "regular expression"},
        "weights": {"type": "array", "items": {"type": "number"}},
        "low_mark": {"type": ["number", "null"]},
        "extra": {"type": "object"},
    },
    ("heading",),
)
REPORT = tool(
    "turnover_report",
    {
        "branch": TEXT,
        "period": {"type": "object", "properties": {"first": DAY, "last": DAY}, "required": ["first", "last"]},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
    },
    ("branch", "period"),
)
MOVE = tool(
    "move_stock", {"from_store": TEXT, "to_store": TEXT, "pieces": {"type": "integer"}}, ("from_store", "to_store")
)
OPEN = tool(
    "log_line", {"line": TEXT, "level": {"type": "string", "enum": ["info", "warning"]}}, ("line",), closed=False
)
