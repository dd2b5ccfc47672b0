"""An allow-listed command → a tool. No shell: each argument is one word of the command, or it is refused.

Only what the tool's maker wrote can be run. A value can't become an option (it may not begin with `-`), the process
sees no environment but PATH, LANG and HERMES_EXECUTION_ID, and it is killed with its children when its time is over.
"""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from dataclasses import dataclass, field

from processors.dispatching.errors import ErrorRule, Fault
from processors.dispatching.policy import ToolRule
from processors.repair import ToolSchema, compile_tool
from processors.tools.definition import ToolFormatError, tool_of
from schemas.jsonvalue import Json, JsonObject
from streams.executing.protocol import ANSWER_BYTES_MAX, Answer, described, wrong_in

WORD_CHARS_MAX = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class CommandTool:
    """One command."""

    words: tuple[str, ...]
    """The command; a word `{name}` is replaced by that argument, or left out if it is not given."""
    definition: JsonObject
    schema: ToolSchema
    rule: ToolRule
    error_rules: tuple[ErrorRule, ...] = field(default=())

    def describe(self) -> JsonObject:
        """The command's definition."""
        return self.definition

    def validate(self, arguments: JsonObject) -> str | None:
        """What the schema does not allow, or what can't be a word."""
        if wrong := wrong_in(self.schema, arguments):
            return wrong
        for name, value in arguments.items():
            word = _word(value)
            if word is None:
                return f"{name}: not a text or number of at most {WORD_CHARS_MAX} characters without NUL"
            if word.startswith("-"):
                return f"{name}: may not begin with `-`"
        return None

    async def execute(self, arguments: JsonObject, execution_id: str) -> Answer | Fault:
        """Run it."""
        given = {f"{{{name}}}": _word(value) or "" for name, value in arguments.items()}
        names = {f"{{{name}}}" for name in self.definition["parameters"]["properties"]}
        words = [given.get(word, word) for word in self.words if word in given or word not in names]
        environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            *words, stdin=asyncio.subprocess.DEVNULL, stdout=PIPE, stderr=PIPE, start_new_session=True,
            env=environment | {"HERMES_EXECUTION_ID": execution_id},
        )  # fmt: skip
        try:
            out, err = await asyncio.gather(_bounded(process.stdout), _bounded(process.stderr))
            code = await process.wait()
        finally:
            _end(process)
        return Answer({"text": out}) if code == 0 else Fault(kind="exit", code=code, text=err or out)


def command(
    name: str, words: tuple[str, ...], parameters: JsonObject, rule: ToolRule | None = None, description: str = ""
) -> CommandTool:
    """A command as a tool; raises ToolFormatError. Without a rule it has side effects and needs a permission."""
    definition = tool_of({"name": name, "description": description}, parameters, name)
    properties = definition["parameters"].get("properties", {})
    if not words or words[0].startswith("{"):
        raise ToolFormatError(f"{name}: the first word names the program")
    for missing in sorted(f"{{{one}}}" for one in properties if f"{{{one}}}" not in words):
        raise ToolFormatError(f"{name}: no word {missing} in the command")
    parameters = {**definition["parameters"], "properties": properties, "additionalProperties": False}
    rule = rule or ToolRule()
    effects = f"those of `{words[0]}`" if rule.has_side_effects else "none"
    definition = described({**definition, "parameters": parameters}, effects)
    return CommandTool(words, definition, compile_tool(definition), rule)


def _word(value: Json) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    word = str(value)
    try:
        word.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return None
    return None if "\0" in word or len(word) > WORD_CHARS_MAX else word


async def _bounded(stream: asyncio.StreamReader | None) -> str:
    """What a process writes, its beginning if it is more than is kept; the rest is read and dropped."""
    assert stream, "opened with pipes"
    kept = b""
    while piece := await stream.read(65_536):
        kept += piece[: max(ANSWER_BYTES_MAX - len(kept), 0)]
    return kept.decode("utf-8", "replace")


def _end(process: Process) -> None:
    with suppress(ProcessLookupError, PermissionError):  # the usual case: it and its children have ended
        os.killpg(process.pid, signal.SIGKILL)
