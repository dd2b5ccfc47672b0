"""Lock file and what is installed → a CycloneDX 1.6 bill of materials on standard output.

Versions and hashes are those of the lock file; licences are what each installed package says of itself. The same lock
file in the same environment gives the same bytes.
"""

import json
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).parent.parent
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def components(lock: Path) -> list[dict[str, object]]:
    """One entry for each pinned package."""
    found: list[dict[str, object]] = []
    hashes: list[dict[str, str]] = []
    for line in lock.read_text(encoding="utf-8").splitlines():
        if pinned := PINNED.match(line):
            name, version = pinned.groups()
            hashes = []
            entry: dict[str, object] = {"type": "library", "name": name, "version": version}
            entry["purl"] = f"pkg:pypi/{name.lower()}@{version}"
            entry["bom-ref"] = entry["purl"]
            entry["hashes"] = hashes
            if licence := _licence(name):
                entry["licenses"] = [{"license": {"name": licence}}]
            found.append(entry)
        hashes += [{"alg": "SHA-256", "content": digest} for digest in HASH.findall(line)]
    return found


def _licence(name: str) -> str:
    try:
        about = metadata(name)
    except PackageNotFoundError:  # for another system, or another extra
        return ""
    classifiers = [str(value) for value in about.get_all("Classifier") or []]
    classified = [value.rpartition(" :: ")[2] for value in classifiers if value.startswith("License")]
    said = str(about.get("License-Expression") or "") or ", ".join(classified) or str(about.get("License") or "")
    return said.partition("\n")[0]


def document(lock: Path) -> dict[str, object]:
    """The whole bill."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    about = {"type": "application", "name": project["name"], "version": project["version"]}
    about["licenses"] = [{"license": {"id": project["license"]}}]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": about},
        "components": components(lock),
    }


if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else "runtime"
    print(json.dumps(document(ROOT / "requirements" / f"{name}.lock"), indent=1))
