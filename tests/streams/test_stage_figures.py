"""What changed since the last report, one row for each worker."""

from collections import Counter
from dataclasses import dataclass, field

from streams.stage_figures import StageFigures
from streams.telemetry import Kinds


@dataclass
class Counting:
    group: str
    values: dict[str, float] = field(default_factory=dict)

    def figures(self) -> dict[str, float]:
        return self.values


def test_each_report_has_what_came_since_the_last() -> None:
    hot, sink, kinds = Counting("hermes.segment-clean"), Counting("hermes.sink"), Kinds()
    figures = StageFigures([hot, sink], kinds)
    hot.values = {"messaging_client_consumed_messages_total": 100, "llm_processor_lag": 7, "llm_streams_open": 3}
    sink.values = {"llm_sink_rows_total": 40}
    kinds.sent = Counter({"llm.steps": 50})
    kinds.dead_letters = Counter(undecodable=1)
    first, second = figures.report(1_000.5)
    assert (first.stage, first.ts, first.records_in, first.records_out, first.lag, first.open_streams) == (
        "segment-clean",
        1000,
        100,
        50,
        7,
        3,
    )
    assert (first.dead_letters, second.stage, second.records_in, second.records_out) == (1, "sink", 40, 0)
    hot.values["messaging_client_consumed_messages_total"] = 130
    again = figures.report(1_010.0)[0]
    assert (again.records_in, again.records_out, again.dead_letters) == (30, 0, 0)
    hot.values = {}
    assert figures.report(1_020.0)[0].records_in == 0
