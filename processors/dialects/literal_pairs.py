"""Keys and values between literals → call: how the bodies of learned formats are read.

While it streams in, only the body's end is looked for: the close, outside of strings where values are literals. What
lies before is then read by the very function with which the format was proven (`processors.learning.shape`).
"""

from functools import lru_cache

from processors.dialects.balanced import Balanced, quoted
from processors.dialects.reading import Head
from processors.learning.reading import Pairs, read_pairs
from processors.learning.shape import ECHO, NAME, RUN, Reader, Shape, Typing, filled
from processors.segmenting.format import PairLiterals
from processors.segmenting.wake import Wake, always
from schemas.segment import CallDraft, Param

DIALECT = "literal_pairs"
_ENDLESS = 1 << 40
"""A depth that brackets never come down from: the body ends at its close, not at a bracket."""


@lru_cache(maxsize=1024)
def shape_of(pairs: PairLiterals) -> Shape:
    """The literals of a catalogue entry as the shape that reads them."""
    return Shape(
        open="",
        reader=Reader.PAIRS,
        first=_inner(pairs.first),
        key_end=_inner(pairs.key_end),
        next=_inner(pairs.next),
        close=_inner(pairs.close),
        empty=_inner(pairs.empty),
        typing=Typing(pairs.typing),
        quote=pairs.quote,
        decode=pairs.decode,
    )


def _inner(literal: str) -> str:
    return literal.replace("$key", ECHO).replace("$word", NAME).replace("$id", RUN).replace("$any", RUN)


class PairsReader:
    """Finds the end of one body of pairs, and reads it."""

    __slots__ = ("_balanced", "_is_fresh", "_shape", "_stop", "wake")

    def __init__(self, pairs: PairLiterals) -> None:
        self._shape = shape_of(pairs)
        self._stop = self._shape.close.split(ECHO)[-1]
        self._is_fresh = True
        is_literal = self._shape.typing is Typing.SELF and not self._shape.quote and NAME not in self._stop
        self._balanced = Balanced(quoted((self._stop,), "}"), _ENDLESS, _blank) if is_literal else None
        self.wake: Wake = always

    @property
    def opened(self) -> int:
        """See table.Reader."""
        return self._balanced.opened if self._balanced else 0

    def scan(self, window: str, at: int, *, is_final: bool) -> tuple[int, bool]:
        """See table.Reader."""
        if self._is_fresh:
            outcome = self._at_start(window, at, is_final=is_final)
            if outcome is not None:
                return outcome
            self._is_fresh = False
        if self._balanced is not None:
            found = self._balanced.scan(window, at, is_final=is_final)
            self.wake = self._balanced.wake
            return found
        stop = self._stop.split(NAME)[0]
        end = window.find(stop, at)
        self.wake = always
        return (end, True) if end >= 0 else (max(at, len(window) - len(stop) + 1), False)

    def _at_start(self, window: str, at: int, *, is_final: bool) -> tuple[int, bool] | None:
        """Whether the call has no arguments; None: it has, or more text is needed and the scan may go on."""
        empty, first = self._shape.empty.split(NAME)[0], self._shape.first.split(NAME)[0]
        has_empty = bool(empty) and window.startswith(empty, at)
        if has_empty and not (len(first) > len(empty) and window.startswith(first, at)):
            return at, True
        rest = window[at:]
        may_be = (empty.startswith(rest) or first.startswith(rest)) and not is_final
        return (at, False) if may_be else None

    def draft(self, raw: str, head: Head) -> CallDraft:
        """See table.Reader."""
        name = head.name or ""
        schema = head.tools.schema_of(name)
        properties = schema.get("properties") if schema is not None else None
        known = properties if isinstance(properties, dict) else None
        blank = CallDraft(dialect=DIALECT, name=head.name, call_id=head.call_id)
        if not raw.strip():
            return CallDraft(dialect=DIALECT, name=head.name, call_id=head.call_id, value={})
        text = raw + filled(self._stop, name)
        call = read_pairs(text, 0, 0, name, Pairs(self._shape, known or None))
        if call is None or call.end < len(text):
            return blank
        if self._shape.typing is Typing.SELF:
            return CallDraft(dialect=DIALECT, name=head.name, call_id=head.call_id, value=call.arguments)
        params = tuple(Param(key=key, value=value) for key, value in call.raw.items())
        return CallDraft(dialect=DIALECT, name=head.name, call_id=head.call_id, params=params)


def _blank(_: str, head: Head) -> CallDraft:
    """What the bracket reader would read; it is only asked for the body's end."""
    return CallDraft(dialect=DIALECT, name=head.name, call_id=head.call_id)
