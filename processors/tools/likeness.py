"""Two tool names → whether one is the other mistyped, or says the same in other words.

The first question is answered by edit distance on the folded names, with guards: where a word of the wrong name is
itself a word, or nearer to another word, it is no typing error. The second by covering: each word of one name stands
for exactly one word of the other.
"""

from rapidfuzz import process
from rapidfuzz.distance import OSA

from processors.tools.lexicon import Lexicon, stem
from processors.tools.names import Name

ERRORS_MAX = 3
"""Most typing errors in one word; a swap of two letters is one."""
FIRMNESS_MIN = 2
"""Least mean nearness of two names' words: two that merely share a meaning need an equal one beside them."""
LETTERS_PER_SPLIT = 7
"""The same where a name is parted into words differently, so that its words can't be compared one by one."""
LETTERS_PER_ERROR = 3
"""How many letters a word has at least for each error: with fewer, any word is near any other."""


def is_mistyped(wrong: Name, right: Name, known: Lexicon, registered: frozenset[str] = frozenset()) -> bool:
    """Whether the words by which two like names differ can be typing errors; a word of a registered name is none."""
    if wrong.folded == right.folded:
        return True
    rest, others = _differing(_single(wrong.words), _single(right.words))
    if any(word in registered for word in rest):
        return False
    if not rest or not others:
        return not rest and not others
    if len(rest) != len(others):
        pieces = "".join(rest), "".join(others)
        return pieces[0] == pieces[1] or not (
            all(word in known.known for word in rest) or OSA.distance(*pieces) > len(pieces[0]) // LETTERS_PER_SPLIT
        )
    return all(_is_typing_error(word, other, known) for word, other in zip(rest, others, strict=True))


def _single(words: tuple[str, ...]) -> list[str]:
    return [single for word in words for single in word.split("_")]


def _differing(wrong: list[str], right: list[str]) -> tuple[list[str], list[str]]:
    """The words of each that the other has not, in order, inflection aside."""
    stems = [stem(word) for word in right]
    rest = []
    left = list(right)
    for word in wrong:
        if stem(word) in stems:
            place = stems.index(stem(word))
            del stems[place], left[place]
        else:
            rest.append(word)
    return rest, left


def _is_typing_error(word: str, other: str, known: Lexicon) -> bool:
    if known.is_opposite(word, other) or stem(word) in known.meanings or word in known.known:
        return False
    for one, longer in ((word, other), (other, word)):
        for prefix in known.prefixes:
            rest = longer.removeprefix(prefix)
            if rest != longer and stem(rest) == stem(one) and stem(rest) in known.meanings:
                return False
    errors = OSA.distance(word, other)
    if not _is_near(word, other, errors):
        return False
    nearer = process.extractOne(word, known.vocabulary, scorer=OSA.distance, score_cutoff=errors - 1)
    return nearer is None or stem(nearer[0]) == stem(other)


def _is_near(word: str, other: str, errors: int) -> bool:
    return errors <= min(ERRORS_MAX, max(1, max(len(word), len(other)) // LETTERS_PER_ERROR))


def cover(wrong: Name, right: Name, known: Lexicon) -> int:
    """How firmly each word of one name stands for exactly one word of the other, in any order; 0 if they don't.

    A verb that only says that something is looked at may be missing in one of them.
    """
    words = [word for word in wrong.words if word not in known.connectives]
    others = [word for word in right.words if word not in known.connectives]
    if not words or not others or _turned("to", wrong.words, right.words, known):
        return 0
    if len(words) != len(others):
        longer, shorter = (words, others) if len(words) > len(others) else (others, words)
        is_left_out = known.is_soft(longer.pop(0)) and not known.is_only_verb(shorter[0])
        return _covered(words, others, known) if is_left_out and len(words) == len(others) else 0
    if (
        _is_several(words[-1])
        and _is_several(others[-1])
        and known.is_listing(words[0])
        and known.is_listing(others[0])
    ):
        others[0] = words[0]  # to get several is to list them
    return _covered(words, others, known)


def _covered(words: list[str], others: list[str], known: Lexicon) -> int:
    total, left = 0, list(others)
    for word in sorted(words, key=lambda word: (sum(known.nearness(word, other) > 0 for other in left), word)):
        best = max(left, key=lambda other: known.nearness(word, other))
        nearness = known.nearness(word, best)
        if not nearness:
            return 0
        total += nearness
        left.remove(best)
    return total if total >= FIRMNESS_MIN * len(words) else 0


def _is_several(word: str) -> bool:
    """Whether a noun may stand for several things; Chinese doesn't say."""
    return not word.isascii() or (word.endswith("s") and stem(word) != word)


def _turned(hinge: str, wrong: tuple[str, ...], right: tuple[str, ...], known: Lexicon) -> bool:
    """Whether two names with a direction (`pdf_to_text`) have it the other way round."""
    if hinge not in wrong or hinge not in right:
        return False
    after, others = wrong[wrong.index(hinge) + 1 :], right[right.index(hinge) + 1 :]
    return not any(known.nearness(word, other) for word in after for other in others)
