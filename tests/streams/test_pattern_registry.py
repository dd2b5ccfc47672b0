"""The registry, in Redis and in a file: one change is one step, history, followers, file form."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from processors.snapshot import RegistryFormatError, Snapshot, from_json, to_json
from schemas.pattern import Pattern, PatternKind, PatternState
from streams import embedded
from streams.pattern_registry import connected, opened
from streams.registry_changes import StaleChangeError, back_to, edit, following
from streams.settings import ConfigError, ServerAwayError

RULE = Pattern(
    id="天气-1",
    version=1,
    kind=PatternKind.REPAIR_RULE,
    definition={"kind": "enum_alias", "match": {"folded": "摄氏"}, "action": {"set": "celsius"}, "empty": [], "n": 1.5},
    state=PatternState.ACTIVE,
)
PREFIXES = iter(f"test{number}:" for number in range(1_000))


def rule(entry_id: str, version: int = 1, **changes) -> Pattern:
    return replace(RULE, id=entry_id, version=version, **changes)


@pytest.fixture(params=["redis", "file"])
def place(request, tmp_path):
    if request.param == "file":
        return str(tmp_path / "registry.json"), ""
    return request.getfixturevalue("running").settings.redis_url, next(PREFIXES)


@pytest.fixture
def redis_place(running):
    return running.settings.redis_url, next(PREFIXES)


def run(place, story):
    async def told():
        async with opened(*place) as registry:
            return await story(registry)

    return asyncio.run(told())


def test_a_change_bumps_the_version_and_is_read_back_whole(place) -> None:
    async def story(registry):
        assert await registry.snapshot() == Snapshot()
        stored = await registry.publish([RULE, rule("b", state=PatternState.SHADOW)])
        return stored, await registry.snapshot()

    stored, snapshot = run(place, story)
    assert snapshot.version == 1
    assert snapshot.rules == (replace(RULE, registry_version=1),)
    assert snapshot.of(PatternKind.REPAIR_RULE, PatternState.SHADOW) == (stored[1],)
    assert snapshot.get(PatternKind.REPAIR_RULE, "b") == stored[1]


def test_a_stale_change_changes_nothing(place) -> None:
    async def story(registry):
        await registry.publish([RULE])
        with pytest.raises(StaleChangeError, match="天气-1"):
            await registry.publish([rule("other"), RULE])
        return await registry.snapshot()

    snapshot = run(place, story)
    assert (snapshot.version, len(snapshot.entries)) == (1, 1)


def test_an_entry_twice_in_one_change_is_refused(place) -> None:
    async def story(registry):
        with pytest.raises(ConfigError, match="twice"):
            await registry.publish([RULE, RULE])

    run(place, story)


def test_a_huge_record_is_refused_with_its_name(redis_place) -> None:
    async def story(registry):
        with pytest.raises(ConfigError, match="repair_rule/big"):
            await registry.publish([rule("big", positives=("x" * 300_000,))])

    run(redis_place, story)


def test_two_writers_lose_no_update(redis_place) -> None:
    def more(snapshot):
        known = snapshot.entries.get("repair_rule/天气-1")
        count = known.counters["used"] + 1 if known else 1
        return [following(snapshot, replace(RULE, counters={"used": count}))]

    async def writer():
        async with opened(*redis_place) as registry:
            for _ in range(10):
                await edit(registry, more)

    async def both():
        await asyncio.gather(writer(), writer())
        async with opened(*redis_place) as registry:
            return await registry.snapshot(), await registry.records()

    snapshot, records = asyncio.run(both())
    (entry,) = snapshot.rules
    assert (entry.counters, entry.version, snapshot.version) == ({"used": 20}, 20, 20)
    assert [record.registry_version for record in records] == list(range(1, 21))


def test_rolling_back_makes_the_entries_what_they_were(redis_place) -> None:
    async def story(registry):
        await registry.publish([RULE])
        await registry.publish([rule("天气-1", 2, priority=9), rule("new")])
        now = await registry.snapshot()
        await registry.publish(back_to(1, await registry.records(), now))
        return await registry.snapshot()

    snapshot = run(redis_place, story)
    first, new = snapshot.entries["repair_rule/天气-1"], snapshot.entries["repair_rule/new"]
    assert (first.priority, first.version, first.state) == (0, 3, PatternState.ACTIVE)
    assert new.state is PatternState.RETIRED
    assert first.evidence[-1].step == "rollback"
    assert snapshot.version == 3


@asynccontextmanager
async def followed(place, last=None):
    """A queue of the snapshots that a follower gets."""
    async with connected(*place) as registry:
        seen = asyncio.Queue()

        async def listen():
            async for snapshot in registry.follow(last):
                await seen.put(snapshot)

        task = asyncio.create_task(listen())
        yield seen
        task.cancel()


def test_a_follower_has_a_change_within_two_seconds(redis_place) -> None:
    async def story():
        async with followed(redis_place) as seen, opened(*redis_place) as registry:
            assert (await asyncio.wait_for(seen.get(), 2)).version == 0
            await registry.publish([RULE])
            await registry.publish([rule("b")])
            snapshot = Snapshot()
            while snapshot.version < 2:
                snapshot = await asyncio.wait_for(seen.get(), 2)
            return snapshot, await registry.snapshot()

    of_follower, of_registry = asyncio.run(story())
    assert of_follower == of_registry


def test_a_lost_announcement_is_made_up_for(redis_place) -> None:
    async def story():
        async with connected(*redis_place) as quiet, followed(redis_place) as seen:
            await asyncio.wait_for(seen.get(), 2)
            quiet._channel = "elsewhere"
            await quiet.publish([RULE])
            return await asyncio.wait_for(seen.get(), 2)

    assert asyncio.run(story()).rules


def test_a_follower_outlives_a_restart_of_the_server(tmp_path, monkeypatch) -> None:
    def start():
        return embedded._started("registry", tmp_path, lambda port: embedded._valkey(port, tmp_path, "secret"))

    engine = start()
    monkeypatch.setattr(embedded, "_free_port", lambda: engine.port)
    place = f"redis://:secret@127.0.0.1:{engine.port}/0", ""

    async def publish(*changes):
        async with opened(*place) as registry:
            await registry.publish(changes)
            return await registry.snapshot()

    async def story():
        async with followed(place) as seen:
            await asyncio.wait_for(seen.get(), 2)
            await publish(RULE)
            assert (await asyncio.wait_for(seen.get(), 2)).version == 1
            engine.stop()
            with pytest.raises(ServerAwayError):
                await publish(rule("b"))
            again = await asyncio.to_thread(start)
            try:
                now = await publish(rule("b"))
                return now, await asyncio.wait_for(seen.get(), 5)
            finally:
                again.stop()

    of_registry, of_follower = asyncio.run(story())
    assert of_registry == of_follower
    assert list(of_registry.entries) == ["repair_rule/b", "repair_rule/天气-1"]


def test_a_registry_rebuilt_from_its_records_is_the_same_to_the_byte(redis_place) -> None:
    other = redis_place[0], next(PREFIXES)

    async def story():
        async with connected(*redis_place) as registry, connected(*other) as empty:
            await registry.publish([RULE, rule("b")])
            await registry.publish([rule("天气-1", 2)])
            latest = (await registry.snapshot()).entries.values()
            await empty.restore(tuple(latest))
            assert to_json(await registry.snapshot()) == to_json(await empty.snapshot())
            with pytest.raises(StaleChangeError):
                await empty.restore(tuple(latest))
            await empty.publish([rule("天气-1", 3)])
            return await empty.snapshot()

    assert asyncio.run(story()).version == 3


def test_the_file_form_is_exact(tmp_path) -> None:
    snapshot = run((str(tmp_path / "a.json"), ""), _two_changes)
    assert from_json(to_json(snapshot)) == snapshot
    assert from_json(to_json(Snapshot())) == Snapshot()


async def _two_changes(registry):
    await registry.publish([RULE])
    await registry.publish([rule("天气-1", 2), rule("b")])
    return await registry.snapshot()


BAD_FILES = [
    (b"{", "line 1"),
    (b"[]", "schema"),
    (b'{"schema": "registry/1", "version": -1, "entries": []}', "version"),
    (b'{"schema": "registry/1", "version": 1, "entries": [{"id": 1}]}', "entries.0"),
    (b'{"schema": "registry/1", "version": 1}', "entries"),
]


@pytest.mark.parametrize(("data", "place"), BAD_FILES)
def test_a_bad_file_is_refused_with_the_place(data, place, tmp_path) -> None:
    with pytest.raises(RegistryFormatError, match=place):
        from_json(data)
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=r"bad\.json"):
        run((str(path), ""), lambda registry: registry.snapshot())
