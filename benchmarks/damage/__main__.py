"""Prints the rows of a set: `python -m benchmarks.damage SEED COUNT`."""

import json
import sys

from benchmarks.damage import rows

for row in rows(int(sys.argv[1]), int(sys.argv[2])):
    print(json.dumps(row, ensure_ascii=False))
