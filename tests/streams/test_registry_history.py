"""What a person is shown of an entry's life, and of what differs between two versions of the registry."""

import asyncio
from dataclasses import replace

import pytest

from processors.snapshot import snapshot_of, to_json
from schemas.pattern import Evidence, Pattern, PatternKind, PatternState
from streams.cli.app import main
from streams.registry_changes import stamped, state_at
from streams.registry_file import FileRegistry
from streams.registry_history import difference, timeline_of
from streams.settings import ConfigError


def records() -> list[Pattern]:
    proof = Evidence(step="proof", data={"valid": 7, "reason": "", "samples": ["s"] * 400})
    first = Pattern(
        id="ring", version=1, kind=PatternKind.FORMAT, state=PatternState.SHADOW, evidence=(proof,),
        definition={"open": "a"}, registry_version=3,
    )  # fmt: skip
    step = Evidence(step="moved", data={"from": "shadow", "to": "active", "reason": "further outputs read", "valid": 2})
    second = replace(first, version=2, state=PatternState.ACTIVE, evidence=(proof, step), registry_version=5)
    third = replace(second, version=3, pinned=True, definition={"open": "b"}, registry_version=6)
    return [first, second, third]


def test_a_timeline_shows_each_step_once_and_in_order() -> None:
    lines = timeline_of(records())
    assert [line for line in lines if line.startswith(("format", "registry"))] == [
        "format/ring",
        "registry version 3: shadow (version 1)",
        "registry version 5: active (version 2)",
        "registry version 6: active, pinned (version 3)",
    ]
    assert lines.count("  proof") == 1
    assert "  moved: shadow → active, further outputs read" in lines
    assert max(map(len, lines)) < 230


def test_a_difference_names_what_came_what_went_and_what_changed() -> None:
    one, other = state_at(3, records()), state_at(6, records())
    assert difference(snapshot_of([], 0), one) == ["+ format/ring: shadow (version 1)"]
    assert difference(one, snapshot_of([], 0)) == ["- format/ring: shadow (version 1)"]
    assert difference(one, one) == []
    lines = difference(one, other)
    assert lines[0] == "~ format/ring: shadow (version 1) → active, pinned (version 3)"
    assert {'    -  "open": "a"', '    +  "open": "b"'} <= set(lines)


def test_a_pinned_entry_is_pinned_by_command_and_let_go(tmp_path, capsys) -> None:
    registry = FileRegistry(tmp_path / "registry.json")
    first = replace(records()[0], registry_version=0)
    asyncio.run(registry.publish(stamped([first], 1)))
    where = ["format/ring", "--registry", str(tmp_path / "registry.json")]

    def said(command: str, *options: str) -> str:
        with pytest.raises(SystemExit):
            main(["registry", command, *where, *options])
        return capsys.readouterr().out

    assert said("pin", "--dry-run") == "format/ring: would be shadow, pinned, version 2\n"
    assert said("pin") == "format/ring: shadow, pinned, version 2\n"
    assert said("pin") == "nothing to do\n"
    assert said("unpin") == "format/ring: shadow, version 3\n"
    assert "registry version 3: shadow (version 3)" in said("show", "--timeline")


def rule(**given) -> Pattern:
    known = {
        "id": "badge", "version": 1, "kind": PatternKind.PII, "state": PatternState.ACTIVE,
        "definition": {"type": "badge", "pattern": "AB-[0-9]{4}"}, "positives": ("AB-1234",), "negatives": ("AB-12",),
    }  # fmt: skip
    return Pattern(**(known | given))


def test_a_rule_that_its_examples_disprove_is_not_written(tmp_path) -> None:
    registry = FileRegistry(tmp_path / "registry.json")
    for broken, why in (
        (rule(positives=("AB-1234", "secret-4711")), "pii/badge: does not find its positive number 1"),
        (rule(negatives=("AB-4711",)), "pii/badge: finds its negative number 0"),
        (rule(negatives=()), "pii/badge: needs at least one"),
        (rule(definition={"type": "badge", "pattern": "("}), "pii/badge: pattern"),
    ):
        with pytest.raises(ConfigError, match=why) as found:
            asyncio.run(registry.publish([broken]))
        assert "4711" not in str(found.value)
    assert not (tmp_path / "registry.json").exists()
    asyncio.run(registry.publish([rule()]))
    asyncio.run(registry.publish([rule(version=2, state=PatternState.RETIRED, positives=())]))


def test_importing_a_disproved_rule_is_a_usage_error_that_shows_no_example(tmp_path, capsys) -> None:
    given = tmp_path / "given.json"
    given.write_bytes(to_json(snapshot_of([rule(positives=("secret-4711",))], 1)))
    for options in ([], ["--dry-run"]):
        with pytest.raises(SystemExit) as ended:
            main(["registry", "import", str(given), "--registry", str(tmp_path / "registry.json"), *options])
        assert ended.value.code == 2
        said = capsys.readouterr().err
        assert "registry: pii/badge: does not find its positive number 0" in said
        assert "4711" not in said
