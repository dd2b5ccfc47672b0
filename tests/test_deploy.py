"""Deployment files agree with each other and with the code: stages, ports, limits, no passwords, loopback only."""

import re
from pathlib import Path

import pytest
import yaml

from streams.settings import Settings, variable
from streams.topics import load_topology

ROOT = Path(__file__).parent.parent
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
MANIFESTS = sorted((ROOT / "deploy" / "k8s").glob("*.yaml"))
STAGES = set(load_topology(Settings()).stages)
METRIC = re.compile(r"\b(?:llm|messaging)_[a-z_]+")


def test_each_stage_is_a_service_and_a_container() -> None:
    run = {name for name, service in COMPOSE["services"].items() if service.get("command", [""])[0] == "run"}
    assert run == STAGES
    started = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in MANIFESTS]
    args = [d["spec"]["template"]["spec"]["containers"][0]["args"] for d in started if d["kind"] == "Deployment"]
    assert {stage for each in args for stage in each[1:]} == STAGES


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_service_has_limits_health_and_loopback_ports(name) -> None:
    service = COMPOSE["services"][name]
    assert service["deploy"]["resources"]["limits"]["memory"]
    assert "healthcheck" in service
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


def test_passwords_come_from_the_environment_file() -> None:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    names = set(re.findall(r"\$\{(\w+_PASSWORD)", text))
    assert names == set(
        re.findall(r'"(\w+_PASSWORD)"', (ROOT / "deploy" / "environment.py").read_text(encoding="utf-8"))
    )
    assert not re.search(r"PASSWORD: [^$\s]", text)


def test_environment_names_are_settings() -> None:
    known = {variable(field) for field in Settings.__dataclass_fields__}
    assert set(COMPOSE["x-stage"]["environment"]) <= known


def test_kustomization_names_its_files() -> None:
    listed = yaml.safe_load((ROOT / "deploy/k8s/kustomization.yaml").read_text(encoding="utf-8"))["resources"]
    assert sorted(listed) == sorted(path.name for path in MANIFESTS if path.name != "kustomization.yaml")


def test_alerts_use_metrics_that_exist() -> None:
    rules = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text(encoding="utf-8"))
    sources = "".join((ROOT / "streams" / name).read_text(encoding="utf-8") for name in ("telemetry.py", "worker.py"))
    for rule in rules["groups"][0]["rules"]:
        assert {"summary", "what_to_do"} <= rule["annotations"].keys()
        assert all(metric in sources for metric in METRIC.findall(rule["expr"]))
