"""What models put around arguments → the bare text: special tokens, fences, prose, a second coat of escapes."""

import html
import json
import re
from dataclasses import dataclass, field

from processors.repair.lexis import unescape
from processors.repair.strict import is_strict

_EDGE = "\ufeff\u00a0\u200b\u200c\u200d\u2060 \t\r\n"
_TOKEN_END = re.compile(
    r"(?:<\|[^|<>\n]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|</?s>|<eos>|<end_of_turn>|</?tool_calls?>|</?function_calls?>|\[/?TOOL_CALLS?\]|\[/INST\])[\s\ufeff\u200b]*\Z"
)
_TOKEN_START = re.compile(
    r"[\s\ufeff\u200b]*(?:<\|[^|<>\n]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|<s>|<tool_calls?>(?=\s*[\[{｛\\\"'`])|<function_calls?>(?=\s*[\[{｛])|\[TOOL_CALLS?\])"
)
_FENCE = re.compile(r"(?:[^{｛<`]{0,400}\n)?[ \t]*(`{3,}|~{3,})[ \t]*[\w+-]{0,20}[ \t]*\r?\n?(?=\s*\S)")
_FENCE_END = re.compile(r"\n?[ \t]*(?:`{3,}|~{3,})[^`{}]{0,400}\Z")
_INLINE = re.compile(r"[^{｛`]{0,200}`(?=\s*[{｛\[])")
_ESCAPED_START = re.compile(r'[^{"]{0,400}\{\s*(?:\\[nrt]\s*)*\\+"')
_QUOTED_START = re.compile(r"[^{\"']{0,400}(?P<quote>[\"'])\s*(?=\{|\[\s*\\?[\"{\[]|\\\"\{)")
_LINE_BEFORE = re.compile(r"[^{\"']{0,400}?\w\s*[:=]\s*[^\s{\"'][^{\"'\n]*\n|[^{\"']{0,400}=\s*[\"']")
_DOUBLED = re.compile(r'\s*"?\{\s*""\w')
LAYERS_MAX = 6
"""Most coats taken off: deeper ones are not seen."""


@dataclass(slots=True)
class Envelope:
    """The text inside, and what was taken off."""

    text: str
    codes: list[str] = field(default_factory=list)
    ended: bool = False
    """Something behind the text proves that the writer was done."""


def open_envelope(raw: str) -> Envelope:
    """Take off coats until none is left."""
    envelope = Envelope(raw)
    for _ in range(LAYERS_MAX):
        if not (_tokens_off(envelope) or _fence_off(envelope) or _coat_off(envelope)):
            break
    return envelope


def _tokens_off(envelope: Envelope) -> bool:
    text = envelope.text.strip(_EDGE)
    if text != envelope.text:
        if text != envelope.text.strip():
            envelope.codes.append("blank_stripped")
        envelope.text = text
    start = _TOKEN_START.match(text)
    end = _TOKEN_END.search(text, max(0, len(text) - 80))
    if start:
        text = text[start.end() :]
    if end:
        text = text[: end.start() - (len(envelope.text) - len(text))]
        envelope.ended = True
    if start or end:
        envelope.codes.append("token_stripped")
        envelope.text = text
    return bool(start or end)


def _fence_off(envelope: Envelope) -> bool:
    text = envelope.text
    found = _FENCE.match(text) or _INLINE.match(text)
    if not found:
        return False
    text = text[found.end() :]
    is_inline = found.re is _INLINE
    end = text.rfind("`") if is_inline else -1
    if is_inline and end >= 0 and "}" not in text[end:]:
        envelope.text, envelope.ended = text[:end], True
    elif not is_inline and (closing := _FENCE_END.search(text, max(0, len(text) - 500))):
        envelope.text, envelope.ended = text[: closing.start()], True
    else:
        envelope.text = text
    envelope.codes.append("fence_stripped")
    return True


def _coat_off(envelope: Envelope) -> bool:
    """A JSON text written as a string, with or without its quotes."""
    text = envelope.text
    if "&quot;" in text[:400] and '"' not in text:
        envelope.text = html.unescape(text)
        envelope.codes.append("unescaped")
        return True
    if _ESCAPED_START.match(text):
        envelope.text = unescape(text)
        envelope.codes.append("unescaped")
        return True
    if _DOUBLED.match(text):
        envelope.text = text.replace('""', '"').strip('"')
        envelope.codes.append("quotes_undoubled")
        return True
    found = _QUOTED_START.match(text)
    if not found or (found.start("quote") and _LINE_BEFORE.match(text)):
        return False
    body = text[found.end("quote") :]
    end = _end_of_coat(body, found["quote"])
    if end < 0:
        return False
    inner = body[:end]
    if is_strict(f'"{inner}"'):
        envelope.text = json.loads(f'"{inner}"')
    else:
        envelope.text = unescape(inner)
    envelope.codes.append("double_encoded")
    return True


def _end_of_coat(body: str, quote: str) -> int:
    """Where the outer string ends: its last quote behind a closer; its end, if the text was cut before one."""
    is_escaped = "\\" + quote in body[:200]
    end = max(body.rfind("}" + quote), body.rfind("]" + quote))
    if end >= 0 and (is_escaped or quote not in body[: end + 1]):
        return end + 1
    if end >= 0 and quote == "'":
        return end + 1
    if not is_escaped:
        return -1
    last = body.rstrip()
    is_closed = last.endswith(quote) and not last.endswith("\\" + quote)
    return len(last) - 1 if is_closed else len(body)
