"""A strategy → one line for a person or a model: which calls, and what is done about them."""

import json

from processors.strategies.conditions import Condition, Op
from processors.strategies.strategy import ActionKind, Strategy
from schemas.jsonvalue import Json

VALUE_CHARS_MAX = 60
_OPERATORS = {Op.EQ: "is", Op.NE: "is not", Op.IN: "is one of", Op.NOT_IN: "is none of", Op.LT: "<", Op.LE: "≤",
              Op.GT: ">", Op.GE: "≥", Op.AGE_MAX_S: "is at most this many seconds old:"}  # fmt: skip


def in_words(strategy: Strategy) -> str:
    """`refund, when customer.tier is "vip": goes to a person first. Why: …`."""
    trigger, action = strategy.trigger, strategy.action
    when = " and ".join(map(_condition, (*trigger.context, *strategy.input_constraint)))
    other = action.call.tool if action.call else ""
    otherwise = "goes to a person" if action.otherwise == "review" else "is not made"
    match action.kind:
        case ActionKind.PRE_CHECK:
            looked = f"{other} is asked first" if other else "is checked first"
            done = f"{looked}; unless {' and '.join(map(_condition, action.expect))}, it {otherwise}"
        case ActionKind.FALLBACK:
            done = f"after {' or '.join(trigger.errors) or 'a failure'} {other} is called instead"
        case ActionKind.ADD_STEP:
            done = f"{other} is called first"
        case ActionKind.REQUIRE_REVIEW:
            done = "goes to a person first"
        case ActionKind.SKIP:
            done = "is not made"
    why = action.reason or strategy.title
    return f"{trigger.tool}{f', when {when}' if when else ''}: {done}.{f' Why: {why}' if why else ''}"


def _condition(condition: Condition) -> str:
    path = condition.path or "it"
    if condition.op in {Op.EXISTS, Op.MISSING}:
        return f"{path} is {'there' if condition.op is Op.EXISTS else 'missing'}"
    return f"{path} {_OPERATORS[condition.op]} {_value(condition.value)}"


def _value(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= VALUE_CHARS_MAX else text[: VALUE_CHARS_MAX - 1] + "…"
