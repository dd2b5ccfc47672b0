"""Records of other producers → tokens of their streams: the state that one such stream has while it is open.

A record that is none of ours has no number, so the stream's own count is its number: repeats that a producer without
idempotence writes can't be told from the model's own.
"""

from dataclasses import replace

from processors.channels.part import Part
from processors.channels.render import Renderer
from schemas.jsonvalue import JsonObject
from schemas.token import Meta, Token


class ForeignLine:
    """One answer that comes as parts."""

    __slots__ = ("_is_first", "_meta", "_reason", "_renderer", "_stream_id", "_usage")

    def __init__(self, stream_id: str, meta: Meta) -> None:
        self._stream_id = stream_id
        self._meta = meta
        self._renderer = Renderer()
        self._is_first = True
        self._reason: str | None = None
        self._usage: JsonObject | None = None

    def token(self, part: Part, seq: int) -> Token | None:
        """The token that one part makes; None for one that adds nothing yet."""
        self._reason = part.finish_reason or self._reason
        self._usage = {**(self._usage or {}), **part.usage} if part.usage else self._usage
        text = self._renderer.feed(part)
        if part.is_end:
            text += self._renderer.close()
        elif not text and not self._is_first:
            return None
        token = Token(stream_id=self._stream_id, seq=seq, text=text, done=part.is_end)
        if self._is_first:
            self._is_first = False
            token = replace(token, meta=self._meta)
        return replace(token, finish_reason=self._reason, usage=self._usage) if part.is_end else token
