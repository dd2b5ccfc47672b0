"""An induced shape and its samples → what it leaves unread although it looks like markup of the same format.

From few outputs calls may be certain when reasoning is not: then the text around them still holds marks that nobody
reads, and more outputs will tell what they are.
"""

import re
from collections import Counter
from collections.abc import Sequence

from processors.learning.induce import Induced, read_sample
from processors.learning.literals import MARKDOWN, ORDINARY_RUNS, strength
from processors.learning.sample import BLANK, Sample
from processors.learning.shape import RUN

TOKEN_CHARS_MAX = 24
_SIGNS = re.compile(r"[^\w\s]+")
_SIGNED_WORD = re.compile(r"[#$%&({<\[^~@]\w(?!.*\]\()")
"""A word behind a sign, but no link: no answer begins so often enough to be worth an error."""
_TOKEN = re.compile(r"\S+")


def unread_beginnings(samples: Sequence[Sample], induced: Induced) -> int:
    """Outputs that begin with marks: callers with any that prose has not, others with those of the calls' opener."""
    shape, thought, frame = induced.shape, induced.thought, induced.frame
    call_open = shape.section_open or shape.open
    opens = [opener for opener in (call_open, frame.open, thought.open if thought else "") if opener.strip()]
    signs = _SIGNS.match(call_open.strip())
    own = signs.group() if signs and (len(signs.group()) > 1 or not signs.group().isascii()) else ""
    found = 0
    for number, item in enumerate(samples):
        text = item.plain.lstrip()
        if not text or text.startswith((BLANK, *(opener.strip() for opener in opens))):
            continue
        if number in induced.valid:
            first = read_sample(item, shape).calls[0].start - (len(item.plain) - len(text))
            token = _TOKEN.match(text[: min(max(first, 0), TOKEN_CHARS_MAX)])
            found += token is not None and (_is_mark(token.group()) or _SIGNED_WORD.match(token.group()) is not None)
        else:
            found += bool(own) and text.startswith(own)
    return found


def unread_endings(samples: Sequence[Sample], induced: Induced) -> int:
    """Outputs in which the same marks stand behind the last call; a further call that was cut off is none of them."""
    shape, end = induced.shape, induced.frame.end
    openers = tuple(opener.split(RUN)[0].strip() for opener in (shape.open, shape.section_open) if opener.strip())
    tokens: Counter[str] = Counter()
    for number in induced.valid:
        text = samples[number].plain
        rest = text[read_sample(samples[number], shape).calls[-1].end :].strip()
        if shape.section_open or shape.again is not None:
            rest = rest.removeprefix(shape.section_close.strip()).strip()
        rest = rest.removesuffix(end).strip()
        token = _TOKEN.match(rest[:TOKEN_CHARS_MAX])
        if token and rest[0] != BLANK and not rest.startswith(openers) and _is_mark(token.group()):
            tokens[token.group()] += 1
    support = max(tokens.values(), default=0)
    return support if support > 1 else 0


def _is_mark(token: str) -> bool:
    """Whether a word begins with signs that neither prose nor Markdown begins with."""
    signs = _SIGNS.match(token)
    if signs is None:
        return False
    run = signs.group()
    return strength(token) > 0 or (len(run) > 1 and run not in ORDINARY_RUNS and run not in MARKDOWN)
