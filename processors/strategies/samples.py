"""A case ↔ the text under which an entry keeps it: what the strategy was made of and must leave alone, clean."""

import orjson

from processors.pii.redact import redact_json
from processors.strategies.prove import Case
from processors.strategies.strategy import Strategy
from schemas.jsonvalue import Json


def sample_of(case: Case, strategy: Strategy) -> str:
    """One line of JSON; of what was known then, only what the strategy would look up."""
    call = strategy.action.call
    looked = {call.tool: case.looked[call.tool]} if call is not None and call.tool in case.looked else {}
    kept: Json = {
        "call": case.id, "tool": case.tool, "arguments": case.arguments, "status": case.status, "at_ms": case.at_ms,
        "looked": looked, "before": list(case.before),
    }  # fmt: skip
    return orjson.dumps(redact_json(kept)[0], default=str).decode()


def case_of_sample(text: str) -> Case | None:
    """The case again; None for a text that is none."""
    try:
        kept: Json = orjson.loads(text)
        return Case(
            id=str(kept["call"]), tool=str(kept["tool"]), arguments=dict(kept["arguments"]), status=str(kept["status"]),
            at_ms=float(kept["at_ms"]), looked=dict(kept["looked"]), before=tuple(kept["before"]),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError):  # no JSON; a key that is missing; a value of another kind
        return None
