"""Which tools need repair, from an export: no server, no ClickHouse, only Parquet files.

    hermes-streams export --format parquet -o exported
    python parquet.py exported

Needs pyarrow (`pip install pyarrow`); the export itself does not.
"""

import sys
from collections import Counter

import pyarrow.parquet as pq


def main(path: str) -> None:
    """Print calls by tool and status."""
    columns = pq.read_table(f"{path}/steps", columns=["kind", "name", "status"]).to_pydict()
    rows = zip(columns["kind"], columns["name"], columns["status"], strict=True)
    found = Counter((name, status) for kind, name, status in rows if kind == "tool_call")
    print(f"{'tool':24} {'status':14} {'calls':>6}")
    for (name, status), count in sorted(found.items()):
        print(f"{name:24} {status:14} {count:>6}")


if __name__ == "__main__":
    main(sys.argv[1])
