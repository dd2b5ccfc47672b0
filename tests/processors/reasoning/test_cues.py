"""Each cue file's own examples, and what is refused."""

import pytest

from processors.reasoning.cues import CueFile, compile_cues, read_cues, shipped_cues

FILES = shipped_cues().files
EXAMPLES = [(file, text, True) for file in FILES for text in file.match]
EXAMPLES += [(file, text, False) for file in FILES for text in file.reject]


@pytest.mark.parametrize(("file", "text", "is_hit"), EXAMPLES, ids=lambda value: str(value)[:40])
def test_entry_proves_its_examples(file: CueFile, text: str, is_hit: bool) -> None:
    cues = shipped_cues()
    assert any(cues.labels[hit] is file.label for hit in cues.hits(text)) is is_hit


def test_there_is_a_file_for_every_label_but_other() -> None:
    assert [str(file.label) for file in FILES] == [
        "evaluation", "memory_retrieval", "planning", "self_correction", "uncertainty",
    ]  # fmt: skip


def test_entry_without_negative_example_is_refused() -> None:
    with pytest.raises(ValueError, match="examples of both outcomes"):
        read_cues('id = "planning"\nweight = 1\nen = []\nzh = []\nmatch = ["a"]\nreject = []')


def test_cue_that_re2_does_not_read_is_refused() -> None:
    with pytest.raises(ValueError, match="planning"):
        compile_cues((read_cues('id = "planning"\nweight = 1\nen = ["(a"]\nzh = []\nmatch = ["a"]\nreject = ["b"]'),))


@pytest.mark.parametrize("text", ["", "\x00", "\ud800 wait", "a" * 1_000_000, "🫱🏻‍🫲"])
def test_odd_text_is_read(text: str) -> None:
    assert isinstance(shipped_cues().hits(text), list)
