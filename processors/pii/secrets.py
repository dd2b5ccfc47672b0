"""Text after `password =`, `token:`, `密钥是` → whether it is a secret, or a placeholder, a word or an identifier.

No entropy figure decides alone: 16 characters are too few for one. What tells a made-up value from a name is how often
the class of character changes, whether digits or symbols stand among letters, and how long the runs between them are.
"""

import re
from string import ascii_lowercase, ascii_uppercase, digits

_STAND_IN = re.compile(
    r"""(?ix) [<\[{] | \$\{ | \$[a-z_]+\Z | %[a-z_]+%\Z | \$\( | (?:self|config|settings|args|request|this|props|data)\.
    | (?:none|null|true|false|undefined|required|optional|string|hidden|masked|secret|password|token|n/a)\Z
    """
).match
_STAND_IN_PARTS = (
    "your", "example", "placeholder", "changeme", "change_me", "redacted", "dummy", "sample", "xxxx", "***", "...",
    "_here", "-here", "environ", "getenv", "process.env", "()", "0123456", "123456789", "abcdefg",
)  # fmt: skip
RANDOM_LETTERS = 24
"""So many different characters has no stand-in: it is made of a few words."""
LOOKED_AT_CHARS = 96
"""Of a long text so many characters tell what it is; `token:token:…` would cost 512 for each six otherwise."""
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^A-Za-z0-9]+")
_HEX = re.compile(r"[0-9a-f]{32,}|[0-9A-F]{32,}")
_LOWER, _UPPER, _DIGITS = frozenset(ascii_lowercase), frozenset(ascii_uppercase), frozenset(digits)
_CLASSES = (_LOWER, _UPPER, _DIGITS, frozenset("!@#$%^&*~+=/?"))
_WORDS = re.compile(
    r"[a-z]+(?:[-_.][a-z]+)*|[A-Z]+(?:[-_.][A-Z]+)*|[A-Z]?[a-z]+(?:[-_. ]?[A-Z][a-z]+)*|[A-Za-z_]+(?:\.[A-Za-z_]\w*)+"
)


def is_placeholder(text: str) -> bool:
    """Whether the text stands for a value instead of being one, our own placeholders included."""
    text = text[:LOOKED_AT_CHARS]
    letters = len(set(text))
    low = text.lower()
    if letters > RANDOM_LETTERS:
        return "example" in low
    for part in _STAND_IN_PARTS:
        if part in low:
            return True
    return letters < 4 or _STAND_IN(text) is not None


def is_value(text: str) -> bool:
    """Whether the text is not a placeholder."""
    return not is_placeholder(text)


def _classes(text: str) -> int:
    """How many of lower case, upper case, digits and symbols are there."""
    letters = set(text[:LOOKED_AT_CHARS])
    return sum([not letters.isdisjoint(members) for members in _CLASSES])


def _is_jumbled(text: str) -> bool:
    """Whether the runs of one kind of character are too short for words."""
    return len(text) / len(_PIECE.findall(text) or text) < 3.0


def password_value(text: str) -> bool:
    """Whether a value assigned to a password is one: six characters of two classes, or digits alone."""
    if len(text) < 4 or is_placeholder(text):
        return False
    return len(text) >= 10 and _is_jumbled(text) if _WORDS.fullmatch(text) else True


def token_value(text: str) -> bool:
    """Whether a value assigned to a token or a secret is one: eight characters, letters with digits or symbols."""
    if len(text) < 8 or text.isdigit():
        return False
    classes = _classes(text)
    is_random = classes >= 3 or _HEX.fullmatch(text) is not None or (classes == 2 and _is_jumbled(text))
    return is_random and not is_placeholder(text)


def key_value(text: str) -> bool:
    """Whether a value assigned to a key is one: 16 characters as random as a key's."""
    return len(text) >= 16 and random_token(text)


def random_token(text: str) -> bool:
    """Whether a token looks drawn at random: classes mixed in short runs, or 32 hexadecimal digits."""
    if is_placeholder(text) or text.isdigit():
        return False
    if _HEX.search(text):
        return True
    classes = _classes(text)
    return classes >= 2 and not _DIGITS.isdisjoint(text) and (classes >= 3 or _is_jumbled(text))


def userinfo(text: str) -> bool:
    """Whether `user:password` of a URL holds a password."""
    password = text.partition(":")[2]
    return len(password) >= 4 and not is_placeholder(password) and password.lower() not in {"pass", "password", "pwd"}
