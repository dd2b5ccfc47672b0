"""A Python function → a tool: its schema from signature and docstring, read from source as `tools import` does.

The docstring says what a model must know before it calls: lines that begin with `When to use:`, `When not to use:` and
`Side effects:`. A function without the last, or whose side effects are not `none`, has side effects.
"""

import asyncio
import inspect
import textwrap
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

from processors.dispatching.errors import ErrorRule, Fault
from processors.dispatching.policy import ToolRule
from processors.repair import ToolSchema, compile_tool
from processors.tools.definition import ToolFormatError
from processors.tools.from_python import tools_of_python
from processors.tools.guidance import guidance, has_side_effects
from schemas.jsonvalue import Json, JsonObject
from streams.executing.protocol import Answer, wrong_in

execution_id_now: ContextVar[str] = ContextVar("execution_id_now", default="")
"""Inside a tool's function: the id of this execution, for systems that take an idempotency key."""


class BusinessFailure(Exception):  # noqa: N818 - it is the tool's answer, not its error
    """Raised by a tool's function to say no; the message is what the model reads."""


@dataclass(frozen=True, slots=True, eq=False)
class PythonTool:
    """One function. It is still callable as before."""

    function: Callable[..., Json]
    definition: JsonObject
    schema: ToolSchema
    rule: ToolRule
    error_rules: tuple[ErrorRule, ...] = field(default=())

    def __call__(self, *arguments: Json, **named: Json) -> Json:
        """Call the function itself."""
        return self.function(*arguments, **named)

    def describe(self) -> JsonObject:
        """The function's definition."""
        return self.definition

    def validate(self, arguments: JsonObject) -> str | None:
        """What the signature does not allow."""
        return wrong_in(self.schema, arguments)

    async def execute(self, arguments: JsonObject, execution_id: str) -> Answer | Fault:
        """Call it: a coroutine here, any other function in a thread."""
        execution_id_now.set(execution_id)
        try:
            if inspect.iscoroutinefunction(self.function):
                found = await self.function(**arguments)
            else:
                found = await asyncio.to_thread(self.function, **arguments)
        except SystemExit as error:  # would end the worker
            return Fault(kind="SystemExit", text=str(error))
        return found if isinstance(found, Answer) else Answer(found)


def tool(rule: ToolRule | None = None, error_rules: tuple[ErrorRule, ...] = ()) -> Callable[..., PythonTool]:
    """Decorate a function that models may call; raises ToolFormatError if it can't be one.

    rule: what to do with its calls; None: whether it has side effects is read from the docstring.
    """

    def made(function: Callable[..., Json]) -> PythonTool:
        docstring = inspect.getdoc(function) or ""
        has_effects = has_side_effects(docstring)
        definition = _definition(function) | guidance(docstring) | {"annotations": {"readOnlyHint": not has_effects}}
        own = rule or ToolRule(has_side_effects=has_effects)
        return PythonTool(function, definition, compile_tool(definition), own, error_rules)

    return made


def _definition(function: Callable[..., Json]) -> JsonObject:
    try:
        own = textwrap.dedent(inspect.getsource(function))
        module = inspect.getmodule(function)
        whole = inspect.getsource(module) if module else own
    except (OSError, TypeError):
        raise ToolFormatError(f"{function.__name__}: its source can't be read") from None
    # The module's source has the classes that annotations name; a function inside a function is only in its own.
    is_top = function.__qualname__ == function.__name__
    for found in tools_of_python(whole if is_top else own):
        if found["name"] == function.__name__:
            return found
    raise ToolFormatError(f"{function.__name__}: not a public function")
