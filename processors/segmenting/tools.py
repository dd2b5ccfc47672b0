"""The registered tools of one stream, and whether a text without a marker is a call of one."""

import re
from collections.abc import Collection

from processors.dialects.json_object import Keys, has_call_keys
from processors.segmenting.format import CallGrammar
from schemas.jsonvalue import Json, JsonObject
from schemas.segment import CallDraft

_CUT_NAME_CHARS_MIN = 5
"""Shortest text that is taken for the beginning of a tool's name: a short word may be an answer."""
_CUT_BODY_CHARS_MAX = 40
"""Longest beginning of a body that may be a call's without showing a name yet."""
_WRITTEN_NAME = re.compile(r'"(?:tool_)?name"\s*:\s*"([^"]*)("?)')


class Tools:
    """The registered tools of one stream: schemas in OpenAI form, or bare functions; read when first needed."""

    __slots__ = ("_functions", "_given")

    def __init__(self, given: tuple[JsonObject, ...]) -> None:
        self._given = given
        self._functions: dict[str, JsonObject] | None = None

    def schema_of(self, name: str) -> Json:
        """The parameter schema of a tool; None of one that is not registered."""
        function = self._named.get(name)
        return None if function is None else function.get("parameters", {})

    @property
    def names(self) -> Collection[str]:
        """Registered names."""
        return self._named

    @property
    def _named(self) -> dict[str, JsonObject]:
        functions = self._functions
        if functions is None:
            functions = self._functions = {}
            for tool in self._given:
                function = tool.get("function", tool)
                name = function.get("name") if isinstance(function, dict) else None
                if isinstance(name, str):
                    functions[name] = function
        return functions

    def may_be(self, name: str | None) -> bool:
        """Whether a call without a marker of its own may have this name."""
        return bool(name) and (not self.names or name in self.names)

    def one_begins_with(self, text: str) -> bool:
        """Whether a registered name may be under way."""
        return len(text) >= _CUT_NAME_CHARS_MIN and any(name.startswith(text) for name in self.names)


def is_call(raw: str, draft: CallDraft, grammar: CallGrammar, tools: Tools) -> bool:
    """Whether a text without a marker of its own reads as a call of a tool that there is."""
    if not tools.may_be(draft.name) or not (isinstance(draft.value, dict) or draft.params):
        return False
    if grammar.registered and draft.name not in tools.names:
        return False
    is_whole_call = grammar.body == "json_object" and not any("$name" in one or "$word" in one for one in grammar.open)
    return not is_whole_call or has_call_keys(raw, Keys(grammar.name_keys, grammar.argument_keys))


def may_be_call(raw: str, name: str | None, tools: Tools) -> bool:
    """Whether the beginning of a body without a marker is that of a call of a registered tool."""
    if name is not None:
        return name in tools.names
    written = _WRITTEN_NAME.search(raw)
    if written is None:
        return bool(tools.names) and len(raw) < _CUT_BODY_CHARS_MAX
    return written[1] in tools.names if written[2] else any(one.startswith(written[1]) for one in tools.names)
