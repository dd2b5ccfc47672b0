"""The page in a real browser: every page drawn on full, empty and hostile stores, by mouse and keys, without a network."""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from schemas.execution import Execution
from schemas.trajectory import Step
from streams.settings import Settings
from streams.store import Reader
from streams.trajectories_to_clickhouse import Sink
from streams.web.app import start_web
from tests.browser.conftest import CHROMIUM, DRIVER
from tests.streams.samples import executions, stats, week
from tests.streams.test_web import HOSTILE, hostile

pytestmark = pytest.mark.browser

POLL_S = 0.05
AXE = (Path(__file__).parent / "axe-4.14.1.min.js").read_text(encoding="utf-8")
PAGES = {
    "runs": "/runs?range=7d", "run": "/runs/run-00058", "transcript": "/runs/run-00058?tab=transcript",
    "run-pipeline": "/runs/run-00058?tab=pipeline", "run-json": "/runs/run-00058?tab=json", "live-run": "/runs/run-live",
    "step": "/runs/run-00058/streams/run-00058-s0/steps/1/0", "failures": "/failures?range=7d",
    "signature": "/failures/signature?range=7d&signature=tool:repaired:object/single_quotes", "patterns": "/patterns",
    "pattern": "/patterns/rr-quotes?range=7d", "overview": "/dashboards?range=7d", "tools": "/dashboards/tools?range=7d",
    "behaviour": "/dashboards/behaviour?range=7d", "pipeline": "/pipeline?range=1h", "sql": "/sql", "export": "/export",
    "calls": "/calls?range=1h",
    "not-found": "/runs/nothing",
}  # fmt: skip
EMPTY = ("/runs", "/calls", "/failures", "/failures/signature?signature=x", "/patterns", "/dashboards", "/dashboards/tools",
         "/dashboards/behaviour", "/pipeline", "/sql", "/export")  # fmt: skip


@dataclass(frozen=True)
class Served:
    url: str
    sink: Sink


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    dsn = f"chdb://{tmp_path_factory.mktemp('browser')}"
    sink = Sink(dsn)
    sink.migrate()
    sink.write([*week(time.time() * 1000, 60), *hostile(), *executions(time.time() * 1000)])
    sink.write_stats(stats(int(time.time())))
    reader = Reader(dsn)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    settings = replace(Settings(), data_dir="/nonexistent", web_port=0)
    page = asyncio.run_coroutine_threadsafe(start_web(reader, settings), loop).result(10)
    yield Served(page.url, sink)
    asyncio.run_coroutine_threadsafe(page.close(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(5)
    loop.close()
    reader.close()
    sink.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    options = Options()
    options.binary_location = CHROMIUM or ""
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
        "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_page_load_timeout(30)
    yield driver
    driver.quit()


def shot(browser: webdriver.Chrome, name: str) -> None:
    """Keep a picture in the folder HERMES_SCREENSHOTS, if that is set."""
    if folder := os.environ.get("HERMES_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        browser.save_screenshot(f"{folder}/{name}.png")


def sized(browser: webdriver.Chrome, width: int, height: int, scheme: str) -> None:
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )


def opened(browser: webdriver.Chrome, address: str) -> None:
    """Open a page and wait for what it loads."""
    browser.get_log("browser")
    browser.get(address)
    WebDriverWait(browser, 15, POLL_S).until(
        lambda driver: driver.execute_script("return document.readyState") == "complete"
    )
    browser.execute_script("window.scrollTo(0, document.body.scrollHeight)")
    still = "return [...document.querySelectorAll('.drawing')].some((box) => box.textContent.includes('Loading'))"
    WebDriverWait(browser, 15, POLL_S).until(lambda driver: not driver.execute_script(still))
    browser.execute_script("window.scrollTo(0, 0)")


def complaints(browser: webdriver.Chrome, allowed: str = "") -> list[str]:
    """What the console has, but for an answer's status that the test asked for."""
    return [entry["message"] for entry in browser.get_log("browser") if not (allowed and allowed in entry["message"])]


def findings(browser: webdriver.Chrome) -> list[str]:
    """Serious and critical findings of axe."""
    browser.execute_script(AXE)
    script = "const done = arguments[arguments.length - 1]; axe.run(document, {resultTypes: ['violations']}).then(done)"
    result = browser.execute_async_script(script)
    return [
        f"{found['id']}: {found['nodes'][0]['html'][:200]} ({found['nodes'][0]['failureSummary'][:200]})"
        for found in result["violations"]
        if found["impact"] in {"serious", "critical"}
    ]


def overflows(browser: webdriver.Chrome) -> bool:
    return bool(browser.execute_script("return document.documentElement.scrollWidth > innerWidth + 1"))


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("screen", [(1280, "light"), (390, "dark")], ids=["wide-light", "phone-dark"])
def test_each_page_is_drawn_accessible_and_quiet(
    served: Served, browser: webdriver.Chrome, name: str, screen: tuple[int, str]
) -> None:
    width, scheme = screen
    sized(browser, width, 860, scheme)
    opened(browser, served.url + PAGES[name])
    assert browser.find_elements(By.CSS_SELECTOR, "h1, h2")
    shot(browser, f"{name}-{width}-{scheme}")
    assert not findings(browser)
    assert not overflows(browser)
    assert not complaints(browser, allowed="404" if name == "not-found" else "")


def test_an_empty_store_is_explained(served: Served, browser: webdriver.Chrome) -> None:
    sized(browser, 1280, 860, "dark")
    for address in EMPTY:
        opened(browser, f"{served.url}{address}{'&' if '?' in address else '?'}since=2026-01-01&until=2026-01-02")
        assert not findings(browser)
        assert not complaints(browser)
        shot(browser, f"empty{address.split('?')[0].replace('/', '-')}")


def test_hostile_content_does_nothing(served: Served, browser: webdriver.Chrome) -> None:
    sized(browser, 1280, 860, "light")
    opened(browser, f"{served.url}/runs")
    links = {link.get_attribute("href") for link in browser.find_elements(By.CSS_SELECTOR, "a[href*='/runs/bad']")}
    assert len(links) == len(HOSTILE)
    for number, link in enumerate(sorted(links)):
        for tab in ("timeline", "transcript", "pipeline", "json"):
            opened(browser, f"{link}?tab={tab}")
            assert not browser.find_elements(By.CSS_SELECTOR, "img[onerror], svg[onload], main script")
            assert not complaints(browser)
        opened(browser, link)
        browser.find_element(By.CSS_SELECTOR, "[data-pane]").click()
        WebDriverWait(browser, 10, POLL_S).until(lambda driver: driver.find_elements(By.CSS_SELECTOR, "#pane .step"))
        assert not overflows(browser)
        assert not complaints(browser)
        shot(browser, f"hostile-{number}")


def test_keys_lead_through_the_pages(served: Served, browser: webdriver.Chrome) -> None:
    sized(browser, 1280, 860, "light")
    opened(browser, f"{served.url}/runs?range=7d&outcome=repaired")
    body = browser.switch_to.active_element
    body.send_keys("jj")
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    WebDriverWait(browser, 10, POLL_S).until(lambda driver: "/runs/run-" in driver.current_url)
    browser.find_element(By.TAG_NAME, "body").send_keys("j")
    WebDriverWait(browser, 10, POLL_S).until(lambda driver: driver.find_elements(By.CSS_SELECTOR, "#pane .step"))
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not browser.find_elements(By.CSS_SELECTOR, "#pane .step")
    browser.find_element(By.TAG_NAME, "body").send_keys("]")
    WebDriverWait(browser, 10, POLL_S).until(lambda driver: "tab=transcript" in driver.current_url)
    browser.find_element(By.TAG_NAME, "body").send_keys("gf")
    WebDriverWait(browser, 10, POLL_S).until(lambda driver: "/failures" in driver.current_url)
    browser.find_element(By.TAG_NAME, "body").send_keys("?")
    assert browser.find_element(By.ID, "keys").is_displayed()
    browser.find_element(By.CSS_SELECTOR, "#keys button").click()
    browser.find_element(By.TAG_NAME, "body").send_keys("t")
    assert browser.find_element(By.TAG_NAME, "html").get_attribute("data-theme") == "dark"
    browser.execute_script("localStorage.clear()")
    assert not complaints(browser)


def test_filters_live_in_the_address(served: Served, browser: webdriver.Chrome) -> None:
    sized(browser, 1280, 860, "light")
    opened(browser, f"{served.url}/runs?range=7d")
    browser.find_element(By.CSS_SELECTOR, "select[name=outcome] option[value=failed]").click()
    WebDriverWait(browser, 10, POLL_S).until(lambda driver: "outcome=failed" in driver.current_url)
    chips = {chip.text for chip in browser.find_elements(By.CSS_SELECTOR, "#run-rows td:nth-child(2) .chip")}
    assert chips == {"failed"}
    assert "text=" not in browser.current_url


def test_a_new_run_comes_into_the_live_list_and_waits_while_somebody_reads(
    served: Served, browser: webdriver.Chrome
) -> None:
    sized(browser, 1280, 500, "light")
    opened(browser, f"{served.url}/runs?range=7d&live=1")
    time.sleep(0.5)
    write(served, "live-one")
    WebDriverWait(browser, 2, POLL_S).until(lambda driver: driver.find_elements(By.ID, "run-live-one"))
    browser.execute_script("window.scrollTo(0, 400)")
    write(served, "live-two")
    WebDriverWait(browser, 3, POLL_S).until(lambda driver: driver.find_element(By.ID, "paused").is_displayed())
    assert not browser.find_elements(By.ID, "run-live-two")
    browser.execute_script("document.getElementById('resume').click()")
    assert browser.find_elements(By.ID, "run-live-two")
    assert not complaints(browser)


def test_a_call_moves_from_next_to_now_to_done_by_itself(served: Served, browser: webdriver.Chrome) -> None:
    sized(browser, 1280, 860, "light")
    now = time.time() * 1000
    call = Execution(
        stream_id="moving-s0", call_id="call_0", task="moving", tenant="acme", tool="refund_order", order=0,
        state="planned", arguments='{"order_id": 7}', ts=now,
    )  # fmt: skip
    served.sink.write([call])
    opened(browser, f"{served.url}/calls?range=1h")

    def shown_under(title: str) -> bool:
        place = f"//section[h2[starts-with(normalize-space(.), '{title}')]]//a[.='refund_order']"
        WebDriverWait(browser, 6, 0.1, [StaleElementReferenceException]).until(
            lambda driver: driver.find_elements(By.XPATH, place)
        )
        return len(browser.find_elements(By.XPATH, "//a[.='refund_order']")) == 1

    assert shown_under("What comes next")
    served.sink.write([replace(call, state="running", ts=now + 100)])
    assert shown_under("Being done now")
    shot(browser, "calls-running")
    served.sink.write([replace(call, state="ended", status="ok", duration_ms=40.0, ts=now + 200)])
    assert shown_under("Done")
    assert not complaints(browser)


def test_sql_is_asked_on_the_page(served: Served, browser: webdriver.Chrome) -> None:
    sized(browser, 1280, 860, "light")
    opened(browser, f"{served.url}/sql")
    field = browser.find_element(By.ID, "sql")
    field.clear()
    field.send_keys("SELECT 6 * 7 AS answer", Keys.CONTROL, Keys.ENTER)
    WebDriverWait(browser, 10, POLL_S).until(lambda driver: "42" in driver.find_element(By.ID, "answer").text)
    field.clear()
    field.send_keys("DROP TABLE steps", Keys.CONTROL, Keys.ENTER)
    WebDriverWait(browser, 10, POLL_S).until(
        lambda driver: "did not take it" in driver.find_element(By.ID, "answer").text
    )
    assert not complaints(browser)


def test_runs_and_steps_can_be_read_without_scripts(served: Served, browser: webdriver.Chrome) -> None:
    sized(browser, 1280, 860, "light")
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(f"{served.url}/runs?range=7d&outcome=repaired")
        browser.find_element(By.CSS_SELECTOR, "#run-rows a").click()
        WebDriverWait(browser, 10, POLL_S).until(lambda driver: driver.find_elements(By.CSS_SELECTOR, "#steps a"))
        browser.find_element(By.CSS_SELECTOR, "#steps a[href*='/steps/1/0']").click()
        WebDriverWait(browser, 10, POLL_S).until(lambda driver: "/steps/1/0" in driver.current_url)
        assert "Arguments" in browser.find_element(By.TAG_NAME, "main").text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def write(served: Served, name: str) -> None:
    served.sink.write(
        [Step(stream_id=name, order=0, kind="response", text="hello", tenant="acme", ts=time.time() * 1000)]
    )
