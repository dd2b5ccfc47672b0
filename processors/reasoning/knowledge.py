"""The answer's text → what it says about state: JSON in fences, stated values, and what is said to hold in general."""

import re
from collections.abc import Iterator

import re2

from processors.reasoning.comments import read_object, slug, theme_of
from processors.reasoning.sentences import split_steps
from schemas.jsonvalue import JsonObject
from schemas.span import Span

_FENCE = re.compile(r"^[ \t]*```[ \t]*(?:json|JSON|json5|jsonc)[^\n]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_CALL_KEYS = frozenset({"name", "arguments"})
"""A call of a tool that is not registered is an example of a call, not a result."""
_KNOWLEDGE_CUES = (
    r"\b(?:typically|usually|generally|normally|in general|as a rule|on average|commonly|by convention|"
    r"common(?:ly)? know(?:n|ledge)|domain knowledge|is known (?:to|for)|tends? to be|seasonal|historical average|"
    r"authoritative|takes precedence|source of truth|rule of thumb)\b"
    r"|通常|一般(?:来说|而言|情况下|为|在|都)|常识|众所周知|往往|属于|历年|往年|常年|惯例|领域知识|背景知识|经验(?:上|表明|来看)|权威|为准|平均(?:气温|水平|值)(?:为|在)"
)
_KNOWLEDGE = re.compile(_KNOWLEDGE_CUES, re.IGNORECASE)
RESULTS_MAX = 100
"""Most stated values of one segment."""
_UNITS = (
    r"(?:°\s?[CF]|℃|%|％|度|km/h|km|kg|公里|千克|公斤|米|元|美元|欧元|USD|EUR|CNY|ms|毫秒|秒|分钟|小时|hours?|minutes?|"
    r"seconds?|days?|天|件|个|人|次|GB|MB|dollars?|euros?)"
)
_VALUE = r"(?P<value>[$€£¥]?\d[\d,.]{0,15}(?<![,.])\s?" + _UNITS + r"(?![a-zA-Z]))"
_RESULT = re.compile(
    r"(?:\b(?P<name>[A-Za-z]{3,20}(?: [a-z]{3,15}){0,2}) (?:is|was|stands at|comes to|equals)(?: about| around)? "
    r"|(?P<said>[\u4e00-\u9fff]{2,8}?)(?:约?为|是|约|达到?|[:：])\s?"
    r"|(?P<known>气温|温度|湿度|风速|价格|总价|单价|金额|营收|销量|里程|延迟|耗时)\s?)" + _VALUE
)
_LEAD = re.compile(r"(?:(?:the|its|their|your|current|later|then|now|today|and|but)\s+)+", re.IGNORECASE)
_NO_NAME = re.compile(r"(?:it|this|that|there|which|what|here|he|she|result)\b|这|那|它|其|因为|大概|可能|应该")
_HAS_UNIT = re2.compile(r"\d\s?" + _UNITS)
_ANY_FENCE = re.compile(r"^[ \t]*```.*?^[ \t]*```", re.DOTALL | re.MULTILINE)
_GATE = re2.compile("(?i)" + _KNOWLEDGE_CUES)
"""The same cues in one linear pass, for the many texts that have none."""
_RANGE = re.compile(
    r"(\d{1,9}(?:\.\d{1,9})?)\s?(?:°C|℃|%|度)?\s?(?:-|–|—|~|～|至|到|to)\s?(\d{1,9}(?:\.\d{1,9})?)\s?"
    r"(°[CF]|℃|%|度|km/h|km|公里|元|天|days?|hours?|小时|minutes?|分钟|USD|EUR|[mk]?g\b)"
)


def find_results(text: str) -> Iterator[tuple[str, JsonObject, Span]]:
    """Name, value and span of each measured value that the text states: `humidity is 45 %`, `气温28°C`."""
    if not _HAS_UNIT.search(text.encode("utf-8", "replace")):
        return
    fences = [fence.span() for fence in _ANY_FENCE.finditer(text)]
    given = 0
    for found in _RESULT.finditer(text):
        name = _LEAD.sub("", found["name"] or found["said"] or found["known"], count=1)
        is_fenced = any(start <= found.start() < end for start, end in fences)
        if is_fenced or not name or _NO_NAME.match(name.lower()):
            continue
        yield slug(name), {"value": found["value"].strip()}, found.span()
        given += 1
        if given == RESULTS_MAX:
            return


def find_json(text: str) -> Iterator[tuple[str, JsonObject, Span]]:
    """Key, content and span of each JSON value in a fence."""
    for fence in _FENCE.finditer(text):
        content = read_object(fence[1].strip())
        if content and not content.keys() >= _CALL_KEYS:
            yield theme_of(content), content, fence.span()


def find_knowledge(text: str) -> Iterator[tuple[str, JsonObject, Span]]:
    """Key, content and span of each run of sentences that state general knowledge."""
    for start, end in _runs(text):
        said = text[start:end]
        content: JsonObject = {"text": said}
        if ranges := [f"{found[1]}-{found[2]}{found[3]}" for found in _RANGE.finditer(said[:2_000])]:
            content["ranges"] = ranges[:20]
        yield "domain_knowledge", content, (start, end)


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Spans of neighbouring sentences that state general knowledge, fences left out."""
    if not _GATE.search(text.encode("utf-8", "replace")):
        return
    open_span: tuple[int, int] | None = None
    for start, end in split_steps(text):
        is_said = not text.startswith("```", start) and _KNOWLEDGE.search(text, start, min(end, start + 2_000))
        if is_said and open_span and "\n" not in text[open_span[1] : start]:
            open_span = (open_span[0], end)
        elif is_said:
            if open_span:
                yield open_span
            open_span = (start, end)
        elif open_span:
            yield open_span
            open_span = None
    if open_span:
        yield open_span
