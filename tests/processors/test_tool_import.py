"""Tool definitions in the usual forms: what becomes of them, and where a malformed one is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.tools.definition import ToolFormatError, index_line
from processors.tools.from_json import tools_of
from processors.tools.from_python import tools_of_python

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"name": "get_weather", "description": "Weather", "parameters": SCHEMA}
MCP = {"name": "get_weather", "description": "Weather", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}

FORMS = {
    "openai": [{"type": "function", "function": TOOL}],
    "flat": {"type": "function", **TOOL},
    "bare": TOOL,
    "anthropic": [{"name": "get_weather", "description": "Weather", "input_schema": SCHEMA}],
    "mcp": {"tools": [MCP]},
    "mcp envelope": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP], "nextCursor": None}},
    "in a request": {"model": "m", "messages": [], "tools": [{"type": "function", "function": TOOL}]},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_each_form_is_the_same_tool(form) -> None:
    (tool,) = tools_of(form)
    assert tool.pop("annotations", {"readOnlyHint": True}) == {"readOnlyHint": True}
    assert tool == TOOL


def test_a_tool_without_parameters_takes_none() -> None:
    assert tools_of({"name": "ping"})[0]["parameters"] == {"type": "object", "properties": {}}
    assert tools_of({"name": "查询天气"})[0]["name"] == "查询天气"


REFUSED = [
    ({"name": "a b"}, "tool.name"),
    ({"name": ""}, "tool.name"),
    ([TOOL, {"name": 7}], "[1].name"),
    ({"tools": [{"name": "x", "inputSchema": []}]}, "tools[0].inputSchema"),
    (
        [{"type": "function", "function": {"name": "x", "parameters": {"type": "string"}}}],
        "[0].function.parameters.type",
    ),
    ({"name": "x", "parameters": {"properties": {"a": {"type": "text"}}}}, "tool.parameters.properties.a.type"),
    ({"name": "x", "parameters": {"properties": {"a": {"pattern": "("}}}}, "tool.parameters.properties.a.pattern"),
    ({"name": "x", "parameters": {"properties": []}}, "tool.parameters.properties"),
    ({"name": "x", "parameters": {"required": "a"}}, "tool.parameters.required"),
    ({"name": "x", "parameters": {"properties": {"a": {}}, "required": ["a", "b"]}}, "tool.parameters.required[1]"),
    ({"name": "x", "parameters": {"properties": {"a": {"$ref": "#/$defs/no"}}}}, "tool.parameters"),
    ({"name": "x", "parameters": {}, "inputSchema": {}}, "both parameters and inputSchema"),
    ({"name": "x", "description": 3}, "tool.description"),
    ({"name": "x", "min_confidence": 2}, "tool.min_confidence"),
    ([TOOL, TOOL], "both named 'get_weather'"),
    ([], "no tools"),
    ("text", "tool: not an object"),
    ([{"type": "function", "function": 1}], "[0].function"),
    ({"openapi": "3.0.0"}, "paths"),
    ({"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [{"$ref": "#/no"}]}}}}, "paths./a.get.parameters[0]"),
    (
        {"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [{"in": "query"}]}}}},
        "paths./a.get.parameters[0].name",
    ),
]


@pytest.mark.parametrize(("value", "place"), REFUSED, ids=[place for _, place in REFUSED])
def test_a_malformed_tool_is_refused_with_the_place(value, place) -> None:
    with pytest.raises(ToolFormatError) as refused:
        tools_of(value)
    assert place in str(refused.value)


OPENAPI = {
    "openapi": "3.1.0",
    "paths": {
        "/orders/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
            "get": {
                "operationId": "getOrder",
                "summary": "One order",
                "parameters": [
                    {"$ref": "#/components/parameters/Fields"},
                    {"name": "session", "in": "cookie", "schema": {"type": "string"}},
                ],
            },
            "put": {
                "summary": "Change an order",
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}},
                },
            },
        },
        "/orders": {
            "post": {
                "operationId": "orders.create-many",
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Order"}}
                        }
                    }
                },
            }
        },
    },
    "components": {
        "parameters": {
            "Fields": {"name": "fields", "in": "query", "description": "Which", "schema": {"type": "array"}}
        },
        "schemas": {
            "Order": {
                "type": "object",
                "required": ["item"],
                "properties": {
                    "item": {"type": "string"},
                    "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Order"}},
                },
            }
        },
    },
}


def test_each_operation_of_an_openapi_document_is_a_tool() -> None:
    get, put, post = tools_of(OPENAPI)
    assert (get["name"], get["description"]) == ("getOrder", "One order")
    assert get["parameters"]["properties"] == {
        "id": {"type": "string"},
        "fields": {"type": "array", "description": "Which"},
    }
    assert get["parameters"]["required"] == ["id"]
    assert [tool.get("annotations") for tool in (get, put, post)] == [{"readOnlyHint": True}, None, None]
    assert put["name"] == "put_orders_id"
    assert put["parameters"]["required"] == ["id", "item"]
    assert put["parameters"]["properties"]["parts"]["items"] == {"$ref": "#/$defs/Order"}
    assert post["name"] == "orders_create_many"
    assert post["parameters"]["properties"]["body"]["type"] == "array"
    assert "Order" in post["parameters"]["$defs"]


def test_the_older_openapi_is_read_too() -> None:
    document = {
        "swagger": "2.0",
        "paths": {
            "/pets": {
                "post": {
                    "operationId": "addPet",
                    "parameters": [
                        {"name": "dry", "in": "query", "type": "boolean", "description": "Only try"},
                        {"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}},
                    ],
                }
            }
        },
        "definitions": {"Pet": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
    }
    (tool,) = tools_of(document)
    assert tool["parameters"] == {
        "type": "object",
        "properties": {"dry": {"type": "boolean", "description": "Only try"}, "name": {"type": "string"}},
        "required": ["name"],
    }


PYTHON = '''
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal, Optional

class Unit(Enum):
    C = "celsius"
    F = "fahrenheit"

@dataclass
class Place:
    city: str
    zip: "str | None" = None

async def get_weather(place: Place, days: int = 3, unit: Unit = Unit.C, *, mode: Literal["now", "day"] = "now") -> dict:
    """Weather of a place.

    Args:
        place: Where,
            in words.
        days (int): How many.

    Returns:
        A dict.
    """

def 查询(城市: str, tags: list[str] | None = None, at: Optional[datetime] = None, anything=None, **rest):
    """查询天气。

    :param 城市: 城市名
    :param tags: 标签
    """

def numbers(values: Annotated[list[float], "The values"], scale: float):
    """Sum.

    Parameters
    ----------
    scale : float
        By which.
    """

def _hidden(): ...
'''


def test_public_functions_of_a_file_are_tools() -> None:
    weather, query, numbers = tools_of_python(PYTHON)
    assert weather == {
        "name": "get_weather",
        "description": "Weather of a place.",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}, "zip": {"type": ["string", "null"]}},
                    "required": ["city"],
                    "description": "Where, in words.",
                },
                "days": {"type": "integer", "description": "How many.", "default": 3},
                "unit": {"enum": ["celsius", "fahrenheit"]},
                "mode": {"type": "string", "enum": ["now", "day"], "default": "now"},
            },
            "required": ["place"],
            "additionalProperties": False,
        },
    }
    assert query["parameters"]["properties"]["城市"] == {"type": "string", "description": "城市名"}
    assert query["parameters"]["properties"]["at"] == {
        "anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]
    }
    assert query["parameters"]["properties"]["anything"] == {}
    assert "additionalProperties" not in query["parameters"]
    assert numbers["parameters"]["properties"] == {
        "values": {"type": "array", "items": {"type": "number"}, "description": "The values"},
        "scale": {"type": "number", "description": "By which."},
    }


@pytest.mark.parametrize(
    ("source", "place"),
    [("def f(:", "line 1"), ("x = 1", "no public function"), ("\0", "not Python"), ("(" * 9_000, "line|not Python")],
)
def test_what_is_no_python_file_of_tools_is_refused(source, place) -> None:
    with pytest.raises(ToolFormatError, match=place):
        tools_of_python(source)


@pytest.mark.parametrize(
    ("description", "line"),
    [
        ("Weather of a city. And more.", "Weather of a city."),
        ("查询天气。还有", "查询天气。"),
        ("", ""),
        ("x" * 200, "x" * 119 + "…"),
    ],
)
def test_the_index_has_one_short_line(description, line) -> None:
    assert index_line({"description": description}) == line


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "parameters", "type", "properties", "required", "paths", "openapi", "tools", "get", "$ref"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_document_gives_tools_or_the_one_error(value) -> None:
    try:
        tools = tools_of(value)
    except ToolFormatError:
        return
    assert all(tool["name"] for tool in tools)
