"""topics.yaml → docs/flow.svg, the picture of the architecture page."""

from html import escape
from pathlib import Path

from streams.settings import Settings
from streams.topics import Topology, load_topology

TARGET = Path(__file__).with_name("flow.svg")
ROW, TOP = 44, 30
TOPIC_X, TOPIC_WIDTH, STAGE_X, STAGE_WIDTH, WIDTH = 400, 230, 40, 130, 980


def picture(topology: Topology) -> str:
    """Stages on the left and right of their topics, an arrow for each read and write."""
    topics = list(topology.topics)
    y_of = {name: TOP + place * ROW for place, name in enumerate(topics)}
    stages = list(topology.stages)
    height = TOP + ROW * max(len(topics), len(stages) + 1)
    step = (height - 2 * TOP) / max(1, len(stages) - 1)
    stage_y = {name: TOP + place * step for place, name in enumerate(stages)}
    parts = [_head(height)]
    for name, entry in topology.stages.items():
        parts.append(_box(STAGE_X, stage_y[name], STAGE_WIDTH, name, "stage"))
        for topic in entry.reads:
            parts.append(_arrow((TOPIC_X, y_of[topic] + 12), (STAGE_X + STAGE_WIDTH, stage_y[name] + 8), "reads"))
        for topic in dict.fromkeys(entry.writes.values()):
            parts.append(_arrow((STAGE_X + STAGE_WIDTH, stage_y[name] + 20), (TOPIC_X, y_of[topic] + 20), "writes"))
    for name, topic in topology.topics.items():
        parts.append(_box(TOPIC_X, y_of[name], TOPIC_WIDTH, name, topic.access))
        outside = [f"← {who}" for who in topic.producers] + [f"→ {who}" for who in topic.consumers]
        text = escape("   ".join(outside))
        parts.append(f'<text x="{TOPIC_X + TOPIC_WIDTH + 16}" y="{y_of[name] + 19}" class="outside">{text}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _head(height: float) -> str:
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" font-family="sans-serif" font-size="13">
<style>
text {{ fill: #1f2937 }} .outside {{ fill: #6b7280 }} rect {{ stroke: #374151; rx: 4 }}
.stage {{ fill: #dbeafe }} .public {{ fill: #dcfce7 }} .internal {{ fill: #fef3c7 }}
path {{ fill: none; stroke-width: 1.2 }} .reads {{ stroke: #2563eb }} .writes {{ stroke: #b45309 }}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" style="fill:#374151;stroke:none"/></marker></defs>
<rect width="{WIDTH}" height="{height:g}" style="fill:#ffffff;stroke:none"/>"""


def _box(x: float, y: float, width: float, name: str, kind: str) -> str:
    text = f'<text x="{x + width / 2:g}" y="{y + 19:g}" text-anchor="middle">{escape(name)}</text>'
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="28" class="{kind}"/>{text}'


def _arrow(start: tuple[float, float], end: tuple[float, float], kind: str) -> str:
    (x1, y1), (x2, y2) = start, end
    bend = (x2 - x1) * 0.4
    return (
        f'<path d="M{x1:g} {y1:g}C{x1 + bend:g} {y1:g} {x2 - bend:g} {y2:g} {x2:g} {y2:g}" '
        f'class="{kind}" marker-end="url(#tip)"/>'
    )


if __name__ == "__main__":
    TARGET.write_text(picture(load_topology(Settings())), encoding="utf-8")
