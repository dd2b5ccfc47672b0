"""A tool's description → what a model must know before it calls: when to use it, when not, what it changes.

Each stands after its label at the beginning of a line, and goes on to the next label or empty line.
"""

import re

from schemas.jsonvalue import JsonObject

FIELD_CHARS_MAX = 1_000
_LABELS = {
    "when_to_use": ("when to use", "use when", "何时使用", "适用场景"),
    "when_not_to_use": ("when not to use", "do not use when", "don't use when", "何时不用", "不适用场景"),
    "side_effects": ("side effects", "side effect", "副作用"),
}
_FIELD_OF = {label: field for field, labels in _LABELS.items() for label in labels}
_LABEL = re.compile(rf"\s*({'|'.join(sorted(_FIELD_OF, key=len, reverse=True))})\s*[:：]\s*(.*)", re.IGNORECASE)
_OTHER_LABEL = re.compile(r"\s*\w[\w ]{0,30}[:：]\s*$")
_NONE = re.compile(r"(?:none|no|无|没有)[.。]?", re.IGNORECASE)


def guidance(text: str) -> JsonObject:
    """Those of the three that a description has, by field; the first of each."""
    found: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in text.splitlines():
        label = _LABEL.match(line)
        if label:
            field = _FIELD_OF[label[1].lower()]
            lines = None if field in found else found.setdefault(field, [])
            line = label[2]  # noqa: PLW2901 - what stands behind the label
        elif not line.strip() or _OTHER_LABEL.match(line):
            lines = None
        if lines is not None:
            lines.append(line.strip())
    return {field: " ".join(filter(None, said))[:FIELD_CHARS_MAX] for field, said in found.items()}


def has_side_effects(text: str) -> bool:
    """Whether a description leaves room for side effects: unless it says that there are none, it does."""
    said = guidance(text).get("side_effects")
    return not isinstance(said, str) or not _NONE.fullmatch(said)
