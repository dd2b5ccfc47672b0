"""TOML data → `Format`: how one model family marks reasoning, content and tool calls, with its own examples.

Markers are templates: literal text and these placeholders.

    $name   tool name                  $key    argument name
    $id     call id                    $index  counter
    $type   JSON Schema type word      $string `true` when the value is raw text, `false` when it is JSON
    $ws     white space, or none       $q      a quotation mark, or none
    $word   tool name in ASCII         $any    a word that does not matter
    $( $)   around what may be absent

Learned formats have the same shape and pass the same check of their examples.
"""

from typing import Literal, Self

from pydantic import BaseModel, Field, model_validator

from schemas.jsonvalue import JsonObject

Marker = str
"""A template as described above."""


class ReasoningMarkers(BaseModel, frozen=True, extra="forbid"):
    """How reasoning begins and ends."""

    open: tuple[Marker, ...] = ()
    close: tuple[Marker, ...] = ()
    implied: bool = False
    """The prompt may have opened the block already: a bare closing marker makes what came before it reasoning."""
    ended_by_call: bool = False
    """A tool call ends the block without a closing marker."""
    anywhere: bool = False
    """The closing marker counts in the middle of a line even if it begins as prose does."""


class ContentMarkers(BaseModel, frozen=True, extra="forbid"):
    """What frames the answer itself; both ends are optional in the text."""

    open: tuple[Marker, ...] = ()
    close: tuple[Marker, ...] = ()


class ParamMarkers(BaseModel, frozen=True, extra="forbid"):
    """How one argument of a tagged body is written."""

    open: tuple[Marker, ...]
    """Up to the first character of the value; holds `$key`."""
    close: tuple[Marker, ...]
    framed: bool = False
    """Exactly one newline on each side of the value is not part of it."""


class PairLiterals(BaseModel, frozen=True, extra="forbid"):
    """Keys and values between literals, as induced from outputs; `$key` and `$word` stand for an echo of them."""

    first: str
    """Between the tool's name and the first key."""
    key_end: str
    """Between a key and its value; `$id` stands for a word that differs."""
    next: str = ""
    """Between a value and the next key."""
    close: str
    """Behind the last value."""
    empty: str = ""
    """Behind the name of a call without arguments."""
    typing: Literal["self", "schema"]
    """`self`: a value is a JSON or Python literal. `schema`: it is text up to the next literal."""
    quote: str = ""
    """Private token around string values."""
    decode: tuple[Literal["entities", "trim", "escapes"], ...] = ()


class CallGrammar(BaseModel, frozen=True, extra="forbid"):
    """One way in which a format writes tool calls."""

    section_open: tuple[Marker, ...] = ()
    """What stands once before a group of calls; empty when each call stands alone."""
    section_close: tuple[Marker, ...] = ()
    open: tuple[Marker, ...] = ("",)
    """What stands before each call's body; holds `$name` when the body does not."""
    close: tuple[Marker, ...] = ()
    body: Literal[
        "json_object",
        "python_call",
        "tagged_params",
        "delimited_literal",
        "nested_elements",
        "bare_line",
        "no_arguments",
        "literal_pairs",
    ]
    place: Literal["anywhere", "line", "start"] = "anywhere"
    """`line`: only at the start of a line. `start`: only where nothing but markup came before."""
    tentative: bool = False
    """Without a marker of its own: a call only when it reads well and its tool is registered (if tools are given)."""
    registered: bool = False
    """A tentative call only of a registered tool, even where no tools are given."""
    name_keys: tuple[str, ...] = ("name",)
    argument_keys: tuple[str, ...] = ("arguments",)
    name_is_key: bool = False
    """The body is `{NAME: {arguments}}`."""
    no_call: tuple[str, ...] = ()
    """Names that say that no tool is called: such a call is taken out, unless a tool of that name is registered."""
    call_id: str = ""
    """How the call's id is made of `$name` and `$index`, where both stand in its marker."""
    params: ParamMarkers | None = None
    pairs: PairLiterals | None = None
    delimiter: str = '"'
    """What stands around a string of a delimited literal."""
    prefix: str = ""
    """What stands before every tag of nested elements."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.body == "tagged_params" and self.params is None:
            raise ValueError("tagged_params needs params")
        if self.body == "literal_pairs" and self.pairs is None:
            raise ValueError("literal_pairs needs pairs")
        return self


class CallExample(BaseModel, frozen=True, extra="forbid"):
    """A call that an example holds; values of arguments without a type in the text are strings."""

    name: str
    arguments: JsonObject = Field(default_factory=dict)


class Example(BaseModel, frozen=True, extra="forbid"):
    """A text and all that is in it."""

    text: str
    tools: tuple[str, ...] = ()
    """Names of the registered tools."""
    reasoning_open: bool = False
    reasoning: str = ""
    response: str = ""
    calls: tuple[CallExample, ...] = ()


class Format(BaseModel, frozen=True, extra="forbid"):
    """One entry of the catalogue."""

    id: str = Field(pattern=r"^[a-z0-9_]{2,64}$")
    models: tuple[str, ...]
    source: str
    """Where the grammar is described or was seen."""
    rank: int = 0
    """Of formats that explain a text equally well, the one with the highest rank is named."""
    reasoning: ReasoningMarkers | None = None
    content: ContentMarkers | None = None
    calls: tuple[CallGrammar, ...] = ()
    end: tuple[str, ...] = ()
    """Tokens that end a turn: removed where nothing but markup follows."""
    results: tuple[str, ...] = ()
    """What stands before the result of a call. Behind a call of this format, a model that goes on invents the result:
    text that it wrote for itself. Elsewhere as `end`."""
    leaks: tuple[str, ...] = ()
    """Tokens without meaning for a reader: removed wherever they stand."""
    examples: tuple[Example, ...] = Field(min_length=1)
    counter_examples: tuple[str, ...] = Field(min_length=1)
    """Texts that hold no call and no reasoning and must come through unchanged."""
