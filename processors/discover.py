"""Outputs in which nothing was read → samples for the learner, as failures that hold nothing personal.

Only what may teach something is sent: the stream was given tools, and its text names one of them or holds a marker
that nothing knows. The text is the clean response, so a sample is made after cleaning and nowhere else.
"""

from schemas.failure import Failure, FailureCode, Stage
from schemas.jsonvalue import Json, JsonObject
from schemas.output import Output

SAMPLE_CHARS_MAX = 20_000
TOOLS_MAX = 50
TELLING = frozenset({FailureCode.ORPHAN_MARKER, FailureCode.LOOKS_LIKE_CALL, FailureCode.UNPARSEABLE_CALL})


def sample_of(output: Output) -> Failure | None:
    """The sample of one stream, or None when it was read or can teach nothing."""
    meta = output.meta
    if meta is None or not meta.tools or output.reasoning.nodes or output.tool_calls or not output.response:
        return None
    text = output.response[:SAMPLE_CHARS_MAX]
    names = [name for tool in meta.tools[:TOOLS_MAX] if (name := _name(tool))]
    if not any(name in text for name in names) and not any(f.code in TELLING for f in output.failures):
        return None
    return Failure(
        stream_id=output.stream_id,
        code=FailureCode.NO_FORMAT,
        stage=Stage.CLEAN,
        state="response",
        signature=f"{Stage.CLEAN}:{FailureCode.NO_FORMAT}",
        context={"sample": {"text": text, "tools": list(meta.tools[:TOOLS_MAX]), "source": _source(output)}},
    )


def _name(tool: JsonObject) -> str:
    function: Json = tool.get("function", tool)
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else ""


def _source(output: Output) -> str:
    meta = output.meta
    return "/".join(part for part in (meta.tenant, meta.model) if part) if meta else ""
