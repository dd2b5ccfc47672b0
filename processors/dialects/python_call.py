"""Python body → call: `key=value, …)` behind `name(`; literals, and `true`, `false`, `null` as JSON spells them."""

import ast
import warnings

from processors.dialects.reading import Head
from schemas.jsonvalue import Json
from schemas.segment import CallDraft

DIALECT = "python_call"

_NAMES: dict[str, Json] = {"true": True, "false": False, "null": None, "none": None}


def read_python(raw: str, head: Head) -> CallDraft:
    """The text of the arguments, closing parenthesis included → the call."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unknown escapes in strings: what the model means is what Python reads
            tree = ast.parse(f"f({raw.strip()}", mode="eval").body
        if isinstance(tree, ast.Call) and not tree.args:
            arguments = {keyword.arg: _value(keyword.value) for keyword in tree.keywords if keyword.arg}
            if len(arguments) == len(tree.keywords):
                return CallDraft(dialect=DIALECT, name=head.name, value=arguments)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # not Python, or too deep for its parser
        pass
    text = raw.strip().removesuffix(")")
    return CallDraft(dialect=DIALECT, name=head.name, arguments_text=text)


def _value(node: ast.expr) -> Json:
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.Name(id=name) if name.lower() in _NAMES:
            return _NAMES[name.lower()]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {_key(key): _value(value) for key, value in zip(keys, values, strict=True)}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.UnaryOp(op=ast.UAdd(), operand=ast.Constant(value=int() | float() as number)):
            return number
    raise ValueError("not a literal")


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise ValueError("not a string key")
