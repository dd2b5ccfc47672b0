"""Token → segment → reason → tool → clean → Output: the whole chain of one stream, without a broker.

The same stages run in the workers; the answer is the same bytes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from processors.assemble import Assembler
from processors.clean import CleanStage
from processors.knowledge import Knowledge
from processors.limits import LIMITS, Limits
from processors.processor import Processor, chain
from processors.reason import ReasonStage
from processors.reasoning.classify import classify
from processors.tokens import SegmentStage
from processors.tool import ToolStage
from schemas.output import Output
from schemas.token import Meta, Token
from schemas.wire import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineOptions:
    """How a stream is run."""

    is_clean: bool = True
    """Replace personal data; only a person who runs the batch command on own text may turn it off."""
    limits: Limits = LIMITS


DEFAULTS = PipelineOptions()


def tool_stage(knowledge: Knowledge) -> ToolStage:
    """The tool stage of one stream."""
    return ToolStage(knowledge.toolbox, knowledge.tool_options)


def reason_stage(knowledge: Knowledge) -> ReasonStage:
    """The reason stage of one stream."""
    return ReasonStage(partial(classify, model=knowledge.reason_options.model))


def clean_stage(knowledge: Knowledge) -> Processor:
    """The clean stage of one stream: clean, then assemble."""
    clean = CleanStage(knowledge.clean_options)
    return chain(clean, Assembler(clean.counts, knowledge.reason_options.reuse))


def pipeline(knowledge: Knowledge, options: PipelineOptions = DEFAULTS) -> Processor:
    """All stages of one stream in a row: Tokens in, Steps and the Output out."""
    last = clean_stage(knowledge) if options.is_clean else Assembler({}, knowledge.reason_options.reuse)
    return chain(SegmentStage(knowledge, options.limits), reason_stage(knowledge), tool_stage(knowledge), last)


def run(
    stream_id: str, pieces: Sequence[str], meta: Meta, knowledge: Knowledge, options: PipelineOptions = DEFAULTS
) -> Output:
    """One stream's text in pieces → its Output."""
    processor = pipeline(knowledge, options)
    found: Output | None = None
    for token in tokens(stream_id, pieces, meta):
        for event in processor.feed(token):
            found = event if isinstance(event, Output) else found
    assert found is not None, "a closed stream has an output"
    return found


def tokens(stream_id: str, pieces: Sequence[str], meta: Meta) -> Iterator[Token]:
    """Pieces of one stream → Tokens, the last one with `done`."""
    last = len(pieces) - 1
    for seq, text in enumerate(pieces):
        yield Token(stream_id=stream_id, seq=seq, text=text, done=seq == last, meta=meta if seq == 0 else None)


def events(stream_id: str, pieces: Sequence[str], meta: Meta, knowledge: Knowledge) -> list[Event]:
    """One stream's text in pieces → all events that the chain gives."""
    processor = pipeline(knowledge)
    return [event for token in tokens(stream_id, pieces, meta) for event in processor.feed(token)]
