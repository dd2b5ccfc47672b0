"""Write into .env the random passwords that it lacks: docker compose reads it."""

import secrets
from pathlib import Path

TARGET = Path(__file__).parent.parent / ".env"
NAMES = ("REDIS_PASSWORD", "CLICKHOUSE_PASSWORD", "GRAFANA_PASSWORD", "WEB_TOKEN")

if __name__ == "__main__":
    known = TARGET.read_text(encoding="ascii") if TARGET.exists() else ""
    missing = [name for name in NAMES if f"{name}=" not in known]
    if missing:
        TARGET.touch(mode=0o600)
        TARGET.write_text(
            known + "".join(f"{name}={secrets.token_urlsafe(24)}\n" for name in missing), encoding="ascii"
        )
        print(f"passwords are in {TARGET.name}")
