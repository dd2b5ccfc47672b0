"""streams/sql → docs/tables.md: the column dictionary, from the comments in the SQL. Run it to rewrite the page."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from streams.migrations import migrations  # noqa: E402

_TABLE = re.compile(
    r"CREATE TABLE IF NOT EXISTS (\w+) \((.*?)\n\) ENGINE = (\w+)(.*?)COMMENT '((?:[^']|'')*)'$", re.DOTALL
)
_COLUMN = re.compile(r"^  (`?\w+`?)\s+(.+?)\s+COMMENT '((?:[^']|'')*)'", re.MULTILINE)
_KEY = re.compile(r"ORDER BY (\(.*?\))\n")
_TTL = re.compile(r"INTERVAL (\d+) DAY")

HEAD = """# Tables

Made by `python docs/tables.py` from the comments in `streams/sql/*.sql`; a test compares.

Times are UTC, the database is `hermes`. Rows with the same key are revisions of one thing: read with `FINAL`, or with
the session settings `final = 1, do_not_merge_across_partitions_select_final = 1`, and each is there once, whatever was
replayed. Filter by `tenant` and a range of `started_at`: both lead the keys. `runs` is a view with one row for each
run over `streams`; it needs no `FINAL`. Texts are clean: personal data was replaced before it came here. A closed
stream's row is final unless a later revision of its output comes.

Delivery. The sink commits its offsets after the insert. After a crash it reads some events again, in other batches; the
rows meet in the key. An insert that is sent again unchanged carries the same deduplication token. Deletion:
`hermes-streams forget`.
"""


def dictionary() -> str:
    """The page."""
    parts = [HEAD]
    for migration in migrations():
        for statement in migration.statements():
            if table := _TABLE.search(statement):
                parts.append(_section(*table.groups()))
    return "\n".join(parts)


def _section(name: str, body: str, engine: str, tail: str, comment: str) -> str:
    key, days = _KEY.search(tail), _TTL.search(tail)
    kept = f"{days[1]} days" if days else "for ever"
    lines = [f"## {name}\n", comment.replace("''", "'"), ""]
    lines += [
        f"Engine {engine}, key `{key[1] if key else ''}`, kept {kept}.\n",
        "| column | type | meaning |",
        "|---|---|---|",
    ]
    for column, kind, meaning in _COLUMN.findall(body):
        kind_only = re.sub(r"\s+(?:DEFAULT|ALIAS|CODEC).*", "", kind)
        lines.append(f"| {column.strip('`')} | {kind_only} | {meaning.replace(chr(39) * 2, chr(39))} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (ROOT / "docs" / "tables.md").write_text(dictionary(), encoding="utf-8")
