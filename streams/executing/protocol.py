"""The Tool Abstraction Protocol: what a dispatcher asks of a tool; and what all tools have in common."""

from dataclasses import dataclass
from typing import Protocol

import orjson

from processors.dispatching.errors import ErrorRule, Fault
from processors.dispatching.policy import ToolRule
from processors.repair import ToolSchema
from processors.tools.guidance import guidance
from schemas.jsonvalue import Json, JsonObject

ANSWER_BYTES_MAX = 256_000
"""Largest answer that is kept and published whole; of a larger one the beginning is."""
BEGINNING_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gave."""

    content: Json = None
    cost_usd: float | None = None


class Tool(Protocol):
    """Something that can be called. `execute` is called at most once for each execution id if it has side effects."""

    @property
    def rule(self) -> ToolRule:
        """What the tool says about itself; permission is the dispatcher's to give."""
        ...

    @property
    def error_rules(self) -> tuple[ErrorRule, ...]:
        """The tool's own rules about its errors; they come before the shipped ones."""
        ...

    def describe(self) -> JsonObject:
        """Name, description, parameters and annotations, in OpenAI's function form.

        Where known also `when_to_use`, `when_not_to_use` and `side_effects`.
        """
        ...

    def validate(self, arguments: JsonObject) -> str | None:
        """What is wrong with the arguments, in one sentence that a model can act on; None: nothing."""
        ...

    async def execute(self, arguments: JsonObject, execution_id: str) -> Answer | Fault:
        """Do it. What the tool itself raises is a Fault to whoever called it."""
        ...


def endpoint_of(tool: Tool) -> str:
    """What breaks together with a tool: its server, as its own `endpoint` says, or itself alone."""
    own = getattr(tool, "endpoint", None)
    return own if isinstance(own, str) and own else f"tool:{tool.describe()['name']}"


def described(definition: JsonObject, side_effects: str) -> JsonObject:
    """A definition with what its description says to whoever is about to call it.

    side_effects: what is said of them where the description says nothing.
    """
    return definition | {"side_effects": side_effects} | guidance(definition.get("description", ""))


def wrong_in(schema: ToolSchema, arguments: JsonObject) -> str | None:
    """The first thing in the arguments that the schema does not allow, with its place."""
    try:
        error = next(iter(schema.validator.iter_errors(arguments)), None)
    except (ValueError, RecursionError) as problem:  # what is no JSON: NaN, a number that is too large
        return f"the arguments are not JSON: {problem}"
    if error is None:
        return None
    place = "/".join(str(step) for step in error.instance_path)
    return f"{place or 'arguments'}: {error.message[:300]}"


def plain(value: Json) -> Json:
    """A tool's answer as bounded JSON; what JSON has no form for becomes text."""
    try:
        data = orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:  # a lone surrogate, an integer beyond 64 bits, something that refers to itself
        return {"text": repr(value)[:BEGINNING_CHARS].encode("utf-8", "replace").decode()}
    if len(data) > ANSWER_BYTES_MAX:
        return {"truncated": data.decode()[:BEGINNING_CHARS], "bytes": len(data)}
    return orjson.loads(data)
