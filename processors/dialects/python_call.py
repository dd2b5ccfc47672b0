"""Python body → call: `key=value, …)` behind `name(`; literals, and `true`, `false`, `null` as JSON spells them."""

import ast
import warnings

from processors.dialects.loose import literal, object_of
from processors.dialects.reading import Head
from schemas.jsonvalue import JsonObject
from schemas.segment import CallDraft

DIALECT = "python_call"

_NAMES: JsonObject = {"true": True, "false": False, "null": None}
_ODD_NAMES: JsonObject = {
    **_NAMES,
    "TRUE": True,
    "FALSE": False,
    "NULL": None,
    "Null": None,
    "none": None,
    "NONE": None,
}


def read_python(raw: str, head: Head) -> CallDraft:
    """The text of the arguments, closing parenthesis included → the call."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unknown escapes in strings: what the model means is what Python reads
            tree = ast.parse(f"f({raw.strip()}", mode="eval").body
        if isinstance(tree, ast.Call) and not tree.args and all(keyword.arg for keyword in tree.keywords):
            return _draft(tree, head)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # not Python, or too deep for its parser
        pass
    text = raw.strip().removesuffix(")")
    return CallDraft(dialect=DIALECT, name=head.name, arguments_text=text)


def _draft(tree: ast.Call, head: Head) -> CallDraft:
    """The call of a tree; raises ValueError for arguments that are no literals, or for one that stands twice."""
    try:
        return CallDraft(dialect=DIALECT, name=head.name, value=_arguments(tree, _NAMES))
    except ValueError:  # perhaps for `TRUE`
        value = _arguments(tree, _ODD_NAMES)
        return CallDraft(dialect=DIALECT, name=head.name, value=value, mends=("python_literal",))


def _arguments(tree: ast.Call, names: JsonObject) -> JsonObject:
    return object_of([(keyword.arg or "", literal(keyword.value, names)) for keyword in tree.keywords])
