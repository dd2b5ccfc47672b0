"""Write .env with random passwords, unless it is there: docker compose reads it."""

import secrets
from pathlib import Path

TARGET = Path(__file__).parent.parent / ".env"
NAMES = ("REDIS_PASSWORD", "CLICKHOUSE_PASSWORD", "GRAFANA_PASSWORD")

if __name__ == "__main__" and not TARGET.exists():
    TARGET.touch(mode=0o600)
    TARGET.write_text("".join(f"{name}={secrets.token_urlsafe(24)}\n" for name in NAMES), encoding="ascii")
    print(f"passwords are in {TARGET.name}")
