"""Whether a text stands in for a value that the writer didn't have: `<city>`, `{{query}}`, `YOUR_KEY_HERE`, `...`."""

import re

from processors.repair.toolschema import Spec
from processors.repair.words import fold, tokens

_WHOLE = re.compile(
    r"\s*(?:\.{3,}|…+|\{\{[^{}]{1,60}\}\}|"
    r"(?i:your)[_ -][\w -]{1,60}|[\w -]{1,40}[_ ](?:HERE|GOES_HERE)|"
    r"(?i:insert|enter|fill in)[_ ][\w -]{1,60}[_ ](?i:here)|"
    r"(?i:todo|tbd|placeholder|to be (?:determined|filled)|fixme)|"
    r"待填写|待定|占位符|此处填写.{0,30}|请填写.{0,30})\s*\Z"
)
_FRAMED = re.compile(
    r"\s*(?:<([^<>/]{1,60})>|\[([^\[\]]{1,60})\]|\$\{([^{}]{1,60})\}|【([^】]{1,60})】|__([A-Za-z]\w{0,60})__)\s*\Z"
)
_GENERIC = frozenset({
    "your", "insert", "here", "goes", "value", "placeholder", "enter", "name", "fill", "some", "string", "text", "todo",
    "any", "填写", "输入",
})  # fmt: skip
_FIRST = frozenset(" \t\n.…{<[$【_yYiIeEfFtTpPs待占此请")
TRIGGER = re.compile(
    r'"\s*(?=[.…{<\[$【_yYiIeEfFtTpPs待占此请\\])(?:\.\.\.|…|\\u2026|\{\{|<[^<>"/]{1,60}>\s*"|\[[^\]"]{1,60}\]\s*"|'
    r'\$\{|【|__|string"\s*[,}\]]|(?i:(?:your|insert|enter|fill in|todo|tbd|to be|placeholder|fixme)\b)|'
    r'(?i:(?:your|insert|enter)_)|待|占位|此处|请填写)|HERE\s*"'
)
"""What must stand in a JSON text for any of its strings to be a placeholder; keeps the strict path short."""


def is_placeholder(text: str, spec: Spec) -> bool:
    """Whether a text is a placeholder for the parameter."""
    if not text or len(text) > 80 or (text[0] not in _FIRST and not text.endswith("HERE")):
        return False
    if _WHOLE.match(text):
        return True
    framed = _FRAMED.match(text)
    if framed:
        inner = next(filter(None, framed.groups()))
        words = set(tokens(inner)) | set(re.findall(r"[\u4e00-\u9fff]{2}", inner))
        return bool(words & (set(tokens(spec.name)) | _GENERIC)) or fold(inner) == fold(spec.name)
    return text == "string"
