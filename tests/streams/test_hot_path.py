"""The hot path's stages are those of topics.yaml, in its order, and give the batch answer."""

from processors.snapshot import Snapshot
from schemas.output import Output
from schemas.token import Meta, Token
from streams.tokens_to_outputs import hot_path


def test_stages_in_a_row_give_one_output() -> None:
    stages = hot_path(Snapshot)
    assert [stage.name for stage in stages] == ["segment", "reason", "tool", "clean"]
    processors = [stage.build() for stage in stages]
    events = [Token(stream_id="s", seq=0, text="Ring 13812345678.", done=True, meta=Meta())]
    for processor in processors:
        events = [out for event in events for out in processor.feed(event)]
    (output,) = [event for event in events if isinstance(event, Output)]
    assert output.response == "Ring [PHONE_REDACTED]."
    assert output.pii == {"PHONE": 1}
