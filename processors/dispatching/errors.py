"""What went wrong in a tool → whose fault it is: the arguments', the business's, or the system's.

Rules are data (errors.toml), each with examples; a tool's own rules come before the shipped ones, and the first that
fits decides. What no rule knows is a system error: nobody is told to call again with other arguments because of it.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

TEXT_CHARS_MAX = 4_000
"""What is read of an error's text."""


class ErrorClass(StrEnum):
    """Whose fault an error is."""

    PARAM = "param_error"
    """The arguments': the model can call again with better ones."""
    BUSINESS = "business_failure"
    """Nobody's: the tool worked and said no; its message is the answer."""
    SYSTEM = "system_error"
    """The system's: skipped and marked, not tried again blindly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is known of one error."""

    kind: str = ""
    """Name of the exception's class, or what the kind of tool gives: errors.toml lists them."""
    code: int | None = None
    """HTTP status, exit code or JSON-RPC code."""
    text: str = ""


class Example(BaseModel):
    """An error that a rule fits, or one that it does not."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: str = ""
    code: int | None = None
    text: str = ""

    def fault(self) -> Fault:
        """The same as a fault."""
        return Fault(kind=self.kind, code=self.code, text=self.text)


class ErrorRule(BaseModel):
    """One rule; what is empty does not narrow."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    error: ErrorClass
    kinds: tuple[str, ...] = ()
    codes: tuple[tuple[int, int], ...] = ()
    """Ranges, both ends included."""
    words: tuple[str, ...] = ()
    """Any of these stands in the text, in lower case."""
    tools: tuple[str, ...] = ()
    """Only errors of these tools."""
    usage: str = ""
    """How the tool is used rightly: said to the model before what its schema says."""
    positives: tuple[Example, ...]
    negatives: tuple[Example, ...]

    def fits(self, fault: Fault, tool: str = "") -> bool:
        """Whether the rule is about an error of a tool."""
        text = fault.text[:TEXT_CHARS_MAX].lower() if self.words else ""
        code = fault.code
        return (
            (not self.tools or tool in self.tools)
            and (not self.kinds or fault.kind in self.kinds)
            and (not self.codes or (code is not None and any(low <= code <= high for low, high in self.codes)))
            and (not self.words or any(word in text for word in self.words))
        )


def read_rules(text: str) -> tuple[ErrorRule, ...]:
    """Rules of a TOML text; raises ValueError where it holds none, or a rule that fails its own examples."""
    entries = tomllib.loads(text).get("rule", [])
    if not isinstance(entries, list):
        raise ValueError("rule: not a list of tables")  # noqa: TRY004 - of a text, as the other reasons are
    rules = tuple(ErrorRule.model_validate(entry) for entry in entries)
    for rule in rules:
        tool = rule.tools[0] if rule.tools else ""
        wrong = [one for one in rule.positives if not rule.fits(one.fault(), tool)]
        wrong += [one for one in rule.negatives if rule.fits(one.fault(), tool)]
        if wrong or not rule.positives or not rule.negatives:
            raise ValueError(
                f"{rule.id}: {f'fails its example {wrong[0]}' if wrong else 'has no examples of both kinds'}"
            )
    return rules


@cache
def shipped_rules() -> tuple[ErrorRule, ...]:
    """The rules in errors.toml."""
    return read_rules(files("processors.dispatching").joinpath("errors.toml").read_text(encoding="utf-8"))


def rule_for(fault: Fault, own: Iterable[ErrorRule] = (), tool: str = "") -> ErrorRule | None:
    """The rule that decides about an error: of the given ones, then of the shipped ones, the first that fits."""
    return next((rule for rule in (*own, *shipped_rules()) if rule.fits(fault, tool)), None)


def class_of(fault: Fault, own: Iterable[ErrorRule] = (), tool: str = "") -> tuple[ErrorClass, str]:
    """The class of an error and the id of the rule that said so; `unknown` where none did."""
    rule = rule_for(fault, own, tool)
    return (rule.error, rule.id) if rule else (ErrorClass.SYSTEM, "unknown")
