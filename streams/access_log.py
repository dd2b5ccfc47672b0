"""Who read or erased originals, when and why → lines of a file that each hold the code of the line before.

A code is HMAC-SHA256 under a key derived from the master key, so a line can't be changed, taken out or added by someone
who has the file alone. That the last lines were cut off shows by the head, a file beside with number and code of the
last line; who can write both files can take them back together, so keep a copy of the head elsewhere.
"""

import hmac
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

import orjson
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import TypeAdapter, ValidationError

from streams.audit import KEY_BYTES, MasterKeys

FIRST = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One line of the log."""

    number: int = 0
    ts: str
    who: str
    action: str
    """`reveal`, `shred` or `keys`."""
    stream_id: str
    reason: str
    types: tuple[str, ...] = ()
    count: int = 0
    master: str = ""
    """Master key under which the code is."""
    before: str = ""
    """Code of the line before."""
    code: str = ""


_ACCESS: TypeAdapter[Access] = TypeAdapter(Access)


class AccessLog:
    """The log in one folder."""

    def __init__(self, folder: Path, masters: MasterKeys) -> None:
        self._log = folder / "access.jsonl"
        self._head = folder / "access.head"
        self._masters = masters

    def append(self, access: Access) -> Access:
        """Add one line; it is on disk when this returns."""
        lines = self._lines()
        last = _ACCESS.validate_json(lines[-1]) if lines else None
        entry = replace(
            access,
            number=last.number + 1 if last else 1,
            before=last.code if last else FIRST,
            master=self._masters.current,
        )
        entry = replace(entry, code=self._code(entry))
        self._log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._log.open("ab") as file:
            file.write(orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE))
        self._head.write_text(f"{entry.number} {entry.code}\n", encoding="utf-8")
        return entry

    def problems(self) -> list[str]:
        """What shows that the log was changed; empty when nothing does."""
        before, number = FIRST, 0
        for place, line in enumerate(self._lines(), start=1):
            try:
                entry = _ACCESS.validate_json(line)
            except ValidationError:
                return [f"line {place}: not an entry"]
            if entry.number != place or entry.before != before:
                return [f"line {place}: does not follow the line before"]
            if entry.master not in self._masters.keys:
                return [f"line {place}: master key {entry.master!r} is not in the ring"]
            if not hmac.compare_digest(entry.code, self._code(entry)):
                return [f"line {place}: was changed"]
            before, number = entry.code, entry.number
        head = self._head.read_text(encoding="utf-8").split() if self._head.exists() else ["0", FIRST]
        return (
            [] if head == [str(number), before] else [f"the head names line {head[0]}, the log ends with line {number}"]
        )

    def entries(self) -> list[Access]:
        """All lines, in order; call `problems` first."""
        return [_ACCESS.validate_json(line) for line in self._lines()]

    def _lines(self) -> list[bytes]:
        return self._log.read_bytes().splitlines() if self._log.exists() else []

    def _code(self, entry: Access) -> str:
        key = HKDF(SHA256(), KEY_BYTES, None, b"hermes-streams access log").derive(self._masters.keys[entry.master])
        return hmac.new(key, orjson.dumps(asdict(replace(entry, code=""))), sha256).hexdigest()
