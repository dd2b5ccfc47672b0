"""Damaged JSON text → a tree of tokens, guided by the schema: iterative, one pass, depth-limited.

Every decision that departs from JSON leaves a code. The reader completes nothing: containers that the text leaves open
are marked open, and a scalar at the end of the text is marked cut.
"""

import re

from processors.limits import LIMITS
from processors.repair.lexis import CLOSERS, COMMAS
from processors.repair.nodes import Items, Members, Node
from processors.repair.read_key import read_key
from processors.repair.read_scalar import read_scalar
from processors.repair.toolschema import ANY, Spec
from processors.repair.value_end import STRAIGHT, Frame, Source, TooMuchError
from processors.repair.words import WORDS, fold

OPENERS = {"{": "}", "｛": "}", "[": "]", "［": "]", "(": ")"}
_ELLIPSIS = re.compile(r"(?:\.{3,}|…+)\s*")
_TUPLE = re.compile(r"\((?=[^()]{0,400},)|\(\s*[\"'\[{]")


def read_container(source: Source, at: int, spec: Spec) -> tuple[Members | Items, int]:
    """The object or array that opens here, and where it ends. Raises TooMuchError."""
    reader = _Reader(source, at + 1, spec)
    root = reader.push(source.text[at], spec)
    reader.read_on()
    return root, reader.at


def read_unopened(source: Source, at: int, spec: Spec, closer: str = "}") -> tuple[Members, int]:
    """An object whose opening brace is missing, or stands as a round bracket. Raises TooMuchError."""
    reader = _Reader(source, at, spec)
    root = Members([])
    source.stack.append(Frame(root, spec, closer))
    source.codes.add("open_brace_added")
    reader.read_on()
    return root, reader.at


class _Reader:
    __slots__ = ("_root", "_source", "at")

    def __init__(self, source: Source, at: int, root: Spec) -> None:
        self._source = source
        self._root = root
        self.at = at

    def read_on(self) -> None:
        source = self._source
        while source.stack:
            frame = source.stack[-1]
            self.at = source.skip(self.at)
            if self.at >= len(source.text):
                self._run_out(frame)
            elif self._mark(frame):
                pass
            elif isinstance(frame.node, Members):
                self._member(frame, frame.node)
            else:
                self._item(frame, frame.node)

    def push(self, opener: str, spec: Spec) -> Members | Items:
        if len(self._source.stack) >= LIMITS.nesting_max:
            raise TooMuchError("too_deep")
        closer = OPENERS[opener]
        node: Members | Items = Members([]) if closer == "}" else Items([])
        self._source.stack.append(Frame(node, spec, closer))
        return node

    def _run_out(self, frame: Frame) -> None:
        for one in self._source.stack:
            one.node.is_open = True
        frame.node.is_cut = frame.is_after_comma
        self._source.stack.clear()

    def _mark(self, frame: Frame) -> bool:
        """Commas, closers and ellipses between pairs or items."""
        source, char = self._source, self._source.text[self.at]
        if char == ")" and not source.is_closer(char):
            source.codes.add("skipped_text")
            self.at += 1
        elif char in CLOSERS:
            if frame.is_after_comma:
                source.codes.add("trailing_comma")
            self._close(frame, STRAIGHT.get(char, char))
        elif char in COMMAS:
            if frame.is_after_comma or frame.is_empty:
                source.codes.add("double_comma")
            if char != ",":
                source.codes.add("separator_replaced")
            frame.is_after_comma = True
            self.at += 1
        elif found := _ELLIPSIS.match(source.text, self.at):
            frame.node.is_elided = True
            self.at = found.end()
        else:
            return False
        return True

    def _close(self, frame: Frame, char: str) -> None:
        """A closing bracket: of this container, of one further out, or a wrong one."""
        stack = self._source.stack
        if char != frame.closer:
            self._source.codes.add("bracket_mismatched")
            if any(outer.closer == char for outer in stack[:-1]) and not self._stands_in():
                stack.pop()
                return
        elif len(stack) == 1 and isinstance(frame.node, Members) and self._source.goes_on_outside(self.at + 1):
            self._source.codes.add("extra_closers")
            self.at += 1
            return
        stack.pop()
        self.at += 1

    def _stands_in(self) -> bool:
        """Whether a wrong closer stands for the right one: what follows belongs to the next level out."""
        source = self._source
        at = source.skip(self.at + 1)
        if at >= len(source.text):
            return False
        outer = len(source.stack) - 2
        follows = STRAIGHT.get(source.text[at], source.text[at])
        if follows in COMMAS and isinstance(source.stack[outer].node, Members):
            return source.is_key(source.skip(at + 1), outer, needs_known=True)
        return follows == source.stack[outer].closer and outer == 0

    def _before_value(self, frame: Frame) -> None:
        self._source.spend()
        if not frame.is_empty and not frame.is_after_comma:
            self._source.codes.add("missing_comma")
        frame.is_after_comma = False
        frame.is_empty = False

    def _member(self, frame: Frame, node: Members) -> None:
        key, self.at = read_key(self._source, self.at, frame)
        if key is None:
            return
        self._before_value(frame)
        if self.at >= len(self._source.text):
            frame.is_after_comma = True
            return
        node.pairs.append((key, self._value(self._spec_of(key, frame))))

    def _spec_of(self, key: str, frame: Frame) -> Spec:
        spec = frame.spec
        if key in spec.properties:
            return spec.properties[key]
        if names := spec.folded.get(fold(key)):
            return spec.properties[names[0]]
        if spec is self._root or spec is ANY:
            folded = fold(key)
            if folded in WORDS.wrappers or folded in WORDS.wrapper_calls or folded == fold(self._root.name):
                return self._root
        return spec.additional or ANY

    def _item(self, frame: Frame, node: Items) -> None:
        self._before_value(frame)
        inner = frame.spec.items or (self._root if frame.spec is self._root else ANY)
        node.values.append(self._value(inner))

    def _value(self, spec: Spec) -> Node:
        source, char = self._source, self._source.text[self.at]
        if char in OPENERS and (char != "(" or _TUPLE.match(source.text, self.at)):
            self.at += 1
            return self.push(char, spec)
        if char in CLOSERS or char in COMMAS:
            source.codes.add("value_missing")
            return None
        if spec.properties and source.is_key_of(self.at, spec):
            source.codes.add("open_brace_added")
            return self.push("{", spec)
        value, self.at = read_scalar(source, self.at, spec)
        return value
