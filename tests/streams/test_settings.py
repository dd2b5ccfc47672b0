"""Settings: environment over file over default; wrong ones are named."""

import pytest

from streams.settings import ConfigError, Settings, environment_of, load, sources


def test_environment_wins_over_file(tmp_path) -> None:
    path = tmp_path / "hermes.toml"
    path.write_text('topic_prefix = "a."\nbatch_records_max = 10\n')
    settings = load({"HERMES_CONFIG": str(path), "HERMES_TOPIC_PREFIX": "b.", "KAFKA_BOOTSTRAP": "k:1"})
    assert (settings.topic_prefix, settings.batch_records_max, settings.kafka_bootstrap) == ("b.", 10, "k:1")


def test_child_process_gets_the_same_settings() -> None:
    settings = Settings(topic_prefix="x.", stream_idle_s_max=1.5)
    assert load(environment_of(settings)) == settings


@pytest.mark.parametrize(
    ("text", "why"),
    [("colour = 1", "unknown key 'colour'"), ("batch_records_max = 0", "greater than 0"), ("=", "Invalid")],
)
def test_wrong_file_is_named(tmp_path, text, why) -> None:
    path = tmp_path / "hermes.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=why):
        load({"HERMES_CONFIG": str(path)})


def test_each_value_says_where_it_came_from(tmp_path) -> None:
    path = tmp_path / "hermes.toml"
    path.write_text('topic_prefix = "a."\nredis_url = "redis://r"\n')
    found = sources({"HERMES_CONFIG": str(path), "HERMES_TOPIC_PREFIX": "b."})
    assert (found["topic_prefix"], found["redis_url"], found["data_dir"]) == ("environment", str(path), "default")
