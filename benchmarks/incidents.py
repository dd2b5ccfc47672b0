"""Simulated incidents: tools over upstreams with traffic and noise, into which one cause is put. For bench_incidents.

Each incident has a world of its own: 5 to 9 upstreams with 1 to 3 tools, 10 minutes of calls, among them failures that
have nothing to do with it (a wrong argument here, a missing record there, a call lost to the weather). Hard ones: two
lost calls within five minutes, a sick upstream beside a lost call of another, errors that all come as HTTP 500 or as one
kind, messages that say nothing or point elsewhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from benchmarks.incident_words import SHAPES, WORDS
from processors.attribution.seen import Seen
from processors.dispatching.errors import Fault, class_of

CAUSES = ("network", "dependency", "bad_argument", "permission", "data", "stale_list", "jitter")
TIERS = ("plain", "held", "misleading", "late")
MINUTE = 60_000.0
LENGTH_MS = 10 * MINUTE
STEADY = 0.97
"""Share of calls that go well where nothing is wrong."""
NAMES = ("refund", "charge", "quote", "ship", "track", "invoice", "translate", "search", "notify", "book", "stock", "rate", "lookup", "payout", "label", "audit_log", "price", "verify", "archive", "export")  # fmt: skip
CHOICES = {
    "country": ("DE", "FR", "NG", "KE", "BR", "JP", "CN", "US"), "currency": ("EUR", "USD", "CNY", "JPY", "GBP"),
    "channel": ("web", "app", "store", "partner"), "warehouse": ("north", "south", "east", "west", "hub"), "地区": ("华东", "华南", "华北", "西南", "东北"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Simulated:
    """One incident: all calls of its world in order of time, and which failure is to be explained."""

    cause: str
    tier: str
    hard: str
    """What makes it hard; empty where nothing does."""
    calls: tuple[Seen, ...]
    judged: str
    """Call id of the failure."""
    upstreams: dict[str, str] = field(default_factory=dict)


def incidents(count: int, seed: int) -> Iterator[Simulated]:
    """Causes and tiers in turn, everything else by the seed."""
    for number in range(count):
        yield _World(Random(f"{seed}/{number}"), number).incident(
            CAUSES[number % len(CAUSES)], TIERS[number // len(CAUSES) % len(TIERS)]
        )


@dataclass(frozen=True, slots=True)
class Raised:
    """What a failing call raises: kind and HTTP status, a message with places to fill, the cause or nothing."""

    shape: tuple[str, int | None]
    words: str
    cause: str = ""


class _World:
    def __init__(self, random: Random, number: int) -> None:
        self._random, self._number = random, number
        names = random.sample(NAMES, k=len(NAMES))
        self.upstreams: dict[str, str] = {}
        for place in range(random.randint(5, 9)):
            for _ in range(random.randint(1, 2)):
                self.upstreams[names.pop()] = f"up{place}"
        self.choice = {tool: random.choice(sorted(CHOICES)) for tool in self.upstreams}
        self._calls: list[Seen] = []

    def incident(self, cause: str, tier: str) -> Simulated:
        random = self._random
        target = random.choice(sorted(self.upstreams))
        start = random.uniform(5, 6) * MINUTE
        shape = random.choice(SHAPES[cause])
        hard = random.choice(("", "", "neighbour", "" if cause in {"network", "jitter"} else "hidden"))
        if hard == "hidden":  # a tool that raises one kind, or answers 500, for everything
            shape = ("http", 500) if cause == "dependency" else ("BusinessFailure", None)
        ill = self._ill(cause, target)
        words = random.sample(WORDS[cause][tier], k=2)
        values = set(random.sample(CHOICES[self.choice[target]], k=random.randint(1, 3)))
        elsewhere = random.choice(
            [tool for tool in sorted(self.upstreams) if self.upstreams[tool] != self.upstreams[target]]
        )
        for tool in sorted(self.upstreams):
            for at in self._times(tool == target):
                arguments = self._arguments(tool)
                is_hit = tool in ill and at >= start and random.random() < 0.93
                if is_hit and cause == "stale_list":
                    is_hit = arguments[self.choice[tool]] in values
                if is_hit:
                    self._fail(tool, at, arguments, Raised(shape, random.choice(words), cause))
                elif hard == "neighbour" and tool == elsewhere and at >= start and cause != "network":
                    self._fail(tool, at, arguments, Raised(("http", 503), "gone fishing {n}"))
                elif random.random() < STEADY:
                    self._ok(tool, at, arguments)
                else:
                    self._noise(tool, at, arguments)
        if not ill:
            self._single(cause, target, start, shape, words)
        calls = tuple(sorted(self._calls, key=lambda one: one.at_ms))
        judged = [one for one in calls if one.call_id.startswith("x") and one.tool == target]
        return Simulated(cause, tier, hard, calls, judged[-1].call_id, self.upstreams)

    def _ill(self, cause: str, target: str) -> set[str]:
        """Tools whose calls fail from the start on; empty where single calls do."""
        if cause == "network":  # most upstreams, the target's among them
            places = sorted({*self.upstreams.values()} - {self.upstreams[target]})
            hit = {
                *self._random.sample(places, k=max(2, int(len(places) * self._random.uniform(0.6, 1)))),
                self.upstreams[target],
            }
            return {tool for tool, place in self.upstreams.items() if place in hit}
        if cause == "dependency":
            return {tool for tool, place in self.upstreams.items() if place == self.upstreams[target]}
        return {target} if cause in {"permission", "stale_list"} else set()

    def _single(self, cause: str, target: str, start: float, shape: tuple[str, int | None], words: list[str]) -> None:
        """One to three failures of one request (the model tries again), or one or two lost calls."""
        random = self._random
        count = random.choice((1, 1, 2)) if cause == "jitter" else random.choice((1, 1, 2, 3))
        arguments = self._arguments(target)
        if cause == "bad_argument":
            arguments["amount"] = random.choice(("many", "12,50 EUR", "-", "zwölf", "一百"))
        for place in range(count):
            at = start + place * random.uniform(4_000, 60_000)
            given = self._arguments(target) if cause == "jitter" else arguments
            self._fail(target, at, given, Raised(shape, random.choice(words), cause))

    def _times(self, is_target: bool) -> Iterator[float]:
        at, mean = 0.0, self._random.uniform(2_000, 6_000) if is_target else self._random.uniform(2_000, 15_000)
        while (at := at + self._random.expovariate(1 / mean)) < LENGTH_MS * 0.8:
            yield at

    def _arguments(self, tool: str) -> dict[str, object]:
        random = self._random
        choice = self.choice[tool]
        return {
            choice: random.choice(CHOICES[choice]), "reference": f"R{random.randint(100_000, 999_999)}",
            "amount": random.randint(1, 500), "note": random.choice(("", "urgent", "加急")),
        }  # fmt: skip

    def _noise(self, tool: str, at: float, arguments: dict[str, object]) -> None:
        kind = self._random.choice(("jitter", "data", "bad_argument"))
        raised = Raised(self._random.choice(SHAPES[kind]), self._random.choice(WORDS[kind]["plain"]))
        self._fail(tool, at, arguments, raised)

    def _ok(self, tool: str, at: float, arguments: dict[str, object]) -> None:
        self._calls.append(
            Seen(
                stream_id=f"s{self._number}",
                call_id=f"c{len(self._calls)}",
                tool=tool,
                status="ok",
                at_ms=at,
                arguments=arguments,
            )
        )

    def _fail(self, tool: str, at: float, arguments: dict[str, object], raised: Raised) -> None:
        key = {"bad_argument": "amount", "data": "reference"}.get(raised.cause, self.choice[tool])
        given = {
            "key": key,
            "value": arguments[key],
            "host": f"10.2.{self._random.randint(0, 9)}.7",
            "n": self._random.randint(100, 999),
        }
        fault = Fault(kind=raised.shape[0], code=raised.shape[1], text=raised.words.format(**given))
        mark = "x" if raised.cause else "n"
        status = class_of(fault)[0].value
        self._calls.append(Seen(
            stream_id=f"s{self._number}", call_id=f"{mark}{len(self._calls)}", tool=tool, status=status, at_ms=at, arguments=arguments, fault=fault,
        ))  # fmt: skip
