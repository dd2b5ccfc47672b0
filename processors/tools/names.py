"""A tool name as written → the words it is made of.

Models write a registered name in another case, with the prefix of another harness (`functions.`, `mcp__server__`),
with a call suffix (`()`, `:0`) or with a word that says nothing (`_tool`, `_api`, `_v2`). What remains after taking
these away is what two names are compared by.
"""

import re

NAMESPACE = re.compile(r"^(?:functions|function|tools|tool|default_api|namespace)[./:]+(?=\S)")
"""Namespaces that harnesses put before each name and models repeat; what follows is the name itself."""
_PREFIX = re.compile(r"^(?:mcp__[^_\W]+(?:_[^_\W]+)*__|(?:[a-z_]\w*[./:])+(?=[A-Za-z_]))", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:\(\s*\)|[:#]\d+|;)+\s*$")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


def words(name: str) -> tuple[str, ...]:
    """Lower-case words of a name; camel case, `_`, `-`, `.` and blanks part them."""
    return tuple(word.lower() for word in _WORD.findall(name))


def bare(name: str) -> str:
    """The name without call suffix and namespace prefixes."""
    name = _SUFFIX.sub("", name.strip())
    return _PREFIX.sub("", name) or name
