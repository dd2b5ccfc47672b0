"""The page that runs on a data directory: commands ask it, because chDB lets only one process open its path.

The page notes its address and a token of this run in a file that only the user can read.
"""

import json
import urllib.error
import urllib.request
from dataclasses import fields
from pathlib import Path

from schemas.jsonvalue import JsonObject
from streams.settings import ServerAwayError, Settings
from streams.store import QueryError

PAGE_FILE = "web.json"
"""In the data directory while a page runs: its address and token."""
ANSWER_S_MAX = 120
DSN_DEFAULT = next(str(field.default) for field in fields(Settings) if field.name == "clickhouse_dsn")


def store_dsn(settings: Settings) -> str:
    """The configured store; when none is, and the data directory has an embedded one, that."""
    embedded = Path(settings.data_dir).absolute() / "clickhouse"
    if settings.clickhouse_dsn == DSN_DEFAULT and embedded.is_dir():
        return f"chdb://{embedded}"
    return settings.clickhouse_dsn


def running_page(settings: Settings) -> JsonObject | None:
    """Address and token of the page that runs on this data directory, if one does."""
    try:
        page: JsonObject = json.loads((Path(settings.data_dir).absolute() / PAGE_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return page


def from_page(page: JsonObject, path: str, body: JsonObject) -> JsonObject | None:
    """The running page's answer; None when no page answers, because its process was killed."""
    request = urllib.request.Request(  # noqa: S310 - the address is our own file's
        f"{page['url']}{path}",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {page['token']}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_S_MAX) as response:  # noqa: S310
            answer: JsonObject = json.load(response)
    except urllib.error.HTTPError as error:
        raise QueryError(json.load(error).get("error", str(error))) from None
    except TimeoutError:
        raise ServerAwayError(f"{page['url']} does not answer") from None
    except OSError:  # nobody listens there any more
        return None
    return answer


def from_owner(settings: Settings, path: str, body: JsonObject) -> JsonObject | None:
    """The answer of the page whose process holds the embedded store; None when none does: open the store then."""
    if not store_dsn(settings).startswith("chdb:"):
        return None
    page = running_page(settings)
    return from_page(page, path, body) if page else None
