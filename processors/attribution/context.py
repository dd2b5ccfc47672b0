"""A failed call among the calls around it → signs of its context: the tool's own health and that of its neighbours.

Nothing here reads words. What is compared: how often the tool failed, whether other tools of the same upstream or of
other upstreams failed beside it, and whether failures follow the value of one argument.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from processors.attribution.seen import Seen, Window
from processors.attribution.signs import Borne, normal

MINUTE_MS = 60_000.0
OTHERS_CALLS_MIN = 3
"""Calls of other tools below which nothing is said about their health."""
FOLLOW_OK_MIN = 3
"""Good calls with other values that must stand beside failures before these follow a value."""
FOLLOW_FAILED_MIN = 3
"""Failed calls with different arguments that must have such a value: two of them have one in common by chance."""
FOLLOW_SHARE_MIN = 0.75
"""Share of a value's calls that fail, and of failures that have such a value, from which failures follow it."""
NEIGHBOURS_SHOWN_MAX = 10
LATEST = 8
"""Calls of a tool that say how it is now."""
SPARED_SHARE_MAX = 0.2
WORKS_SHARE_MIN = 0.4
FORMS_MIN, FORMS_MAX = 5, 4
"""Good calls from which the forms of an argument are known; an argument of more forms is free text."""
SHORT_VALUE_CHARS = 3
"""A value shorter than that is found in many texts by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """When something is a defect and not jitter, and how wide is looked."""

    repeats_min: int = 3
    """Failures of the same look and tool, within `within_ms`, that are a defect."""
    within_ms: float = 5 * MINUTE_MS
    repeats_share_min: float = 0.05
    """Share of the tool's calls that they must be: three of a thousand are weather."""
    sick_share: float = 0.5
    """Share of broken calls from which a tool or upstream is sick."""
    conditions_min: int = 1
    """How many of the three conditions (repeated, upstream sick, alert) make a defect."""
    near_ms: float = MINUTE_MS
    """How far around a failure neighbours are looked at."""
    settle_ms: float = 3_000.0
    """How long a failure waits for what its neighbours do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """Something that was said from outside: that an upstream, a tool or the network is not well."""

    about: str
    """A tool's or upstream's name; empty: everything."""
    at_ms: float
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a failure is looked at in."""

    window: Window
    upstreams: Mapping[str, str] = field(default_factory=dict)
    """Tool → what it depends on; a tool that is not there depends on something of its own."""
    alerts: Sequence[Alert] = ()
    terms: Terms = field(default_factory=Terms)

    def upstream(self, tool: str) -> str:
        """What a tool depends on."""
        return self.upstreams.get(tool, tool)


def signs_around(seen: Seen, around: Surroundings) -> list[Borne]:
    """The context's signs of one failed call."""
    terms = around.terms
    until = seen.at_ms + terms.settle_ms
    calls = around.window.of(seen.tool, seen.at_ms - terms.within_ms, until)
    failures = [one for one in calls if looks_same(one, seen)]
    found = [Borne(f"is_{seen.status.split('_')[0]}", seen.status)]
    if len(failures) >= terms.repeats_min and len(failures) >= terms.repeats_share_min * len(calls):
        found.append(Borne("repeats", f"{len(failures)} of {len(calls)} calls in {terms.within_ms / 1000:g} s"))
    found += _neighbours(seen, around)
    found += _own(seen, calls, failures)
    found += _alerts(seen, around)
    return found + _quoted(seen)


def health(seen: Seen, around: Surroundings) -> dict[str, str]:
    """How the tool and its neighbours were: calls that failed, of those there were; neighbours the sickest first."""
    terms = around.terms
    until = seen.at_ms + terms.settle_ms
    own = around.window.of(seen.tool, seen.at_ms - terms.within_ms, until)
    found = {
        seen.tool: f"{sum(one.is_failed for one in own)} of {len(own)} calls failed in {terms.within_ms / 1000:g} s"
    }
    near = []
    for tool in around.window.tools():
        calls = around.window.of(tool, seen.at_ms - terms.near_ms, until) if tool != seen.tool else []
        if calls:
            near.append((-_broken(calls) / len(calls), tool, len(calls), _broken(calls)))
    for _, tool, count, broken in sorted(near)[:NEIGHBOURS_SHOWN_MAX]:
        found[tool] = f"{broken} of {count} calls broken in {terms.near_ms / 1000:g} s"
    return found


def looks_same(one: Seen, other: Seen) -> bool:
    """Whether two failures may have one cause: status, kind and code are the same."""
    same = (one.status, one.fault.kind, one.fault.code) == (other.status, other.fault.kind, other.fault.code)
    return same and one.is_failed


def _neighbours(seen: Seen, around: Surroundings) -> list[Borne]:
    """Other tools, those of the same upstream and those of others, close to the failure."""
    terms = around.terms
    own = around.upstream(seen.tool)
    by_upstream: dict[str, list[Seen]] = {}
    for tool in around.window.tools():
        if tool != seen.tool:
            near = around.window.of(tool, seen.at_ms - terms.near_ms, seen.at_ms + terms.settle_ms)
            by_upstream.setdefault(around.upstream(tool), []).extend(near)
    found = []
    siblings = by_upstream.pop(own, [])
    if _broken(siblings) >= 2 and _broken(siblings) >= terms.sick_share * len(siblings):
        found.append(Borne("upstream_sick", f"{own}: {_broken(siblings)} of {len(siblings)} calls of its other tools"))
    others = {name: calls for name, calls in by_upstream.items() if calls}
    sick = [name for name, calls in others.items() if _is_broken_now(calls)]
    if len(sick) >= 2 and len(sick) * 2 >= len(others):
        found.append(Borne("others_sick", f"{', '.join(sorted(sick)[:5])}: {len(sick)} of {len(others)} upstreams"))
    every = [one for calls in others.values() for one in calls]
    if len(every) >= OTHERS_CALLS_MIN and len(sick) * 4 <= len(others) and len(sick) < 2:
        found.append(Borne("others_fine", f"{len(every) - _broken(every)} of {len(every)} calls of other upstreams"))
    return found


def _is_broken_now(calls: Sequence[Seen]) -> bool:
    """Whether the latest call was broken: an outage turns good to broken within seconds, so earlier ones say little."""
    return max(calls, key=lambda one: one.at_ms).is_broken


def _own(seen: Seen, calls: Sequence[Seen], failures: Sequence[Seen]) -> list[Borne]:
    """The tool's other calls: does it work for others, does it fail for everybody, do failures follow a value."""
    found = []
    latest = sorted(calls, key=lambda one: one.at_ms)[-LATEST:]
    fine = sum(one.status == "ok" for one in latest)
    failed = {one.key for one in latest if looks_same(one, seen)}
    if len(failed) >= 3 and fine <= SPARED_SHARE_MAX * len(latest):
        found.append(Borne("spares_none", f"{len(latest) - fine} of the last {len(latest)} calls failed"))
    if fine >= WORKS_SHARE_MIN * len(latest):
        found.append(Borne("tool_works", f"{fine} of the last {len(latest)} calls went well"))
    same = [one for one in failures if one.key == seen.key]
    if fine and len(same) >= 2 and len(same) == len(failures):
        found.append(Borne("only_these_arguments", f"{len(same)} failures, all with the same arguments"))
    if followed := followed_value(calls, failures, seen):
        found.append(Borne("follows_value", f"{followed[0]} = {', '.join(followed[1])}"))
    if odd := _odd(seen, calls):
        found.append(Borne("odd_form", odd))
    return found


def followed_value(calls: Sequence[Seen], failures: Sequence[Seen], seen: Seen) -> tuple[str, tuple[str, ...]] | None:
    """The argument whose value tells failed calls from good ones, with the values that fail; None: there is none.

    The argument must be a choice among few: its values come again, in failures and in good calls.
    """
    if len({one.key for one in failures}) < FOLLOW_FAILED_MIN:
        return None
    first = min(one.at_ms for one in failures)
    fine = [one.values for one in calls if one.status == "ok" and one.at_ms >= first]
    failed = [one.values for one in failures]
    best: tuple[int, str, tuple[str, ...]] | None = None
    for path, value in seen.values.items():
        bad = Counter(values[path] for values in failed if path in values)
        good = Counter(values[path] for values in fine if path in values)
        if bad.total() < len(failed) or bad.total() <= len(bad) or good.total() <= len(good):
            continue
        follow = {one for one, count in bad.items() if count >= FOLLOW_SHARE_MIN * (count + good[one])}
        explained = sum(bad[one] for one in follow)
        elsewhere = good.total() - sum(good[one] for one in follow)
        calls_that_follow = {one.key for one in failures if one.values.get(path) in follow}
        if len(calls_that_follow) < FOLLOW_FAILED_MIN:
            continue
        if value not in follow or explained < FOLLOW_SHARE_MIN * bad.total() or elsewhere < FOLLOW_OK_MIN:
            continue
        # Fewer values that fail explain more; a tie goes to the name, so that the answer does not depend on order.
        rank = (len(follow), path, tuple(sorted(follow)))
        best = rank if best is None else min(best, rank)
    return best[1:] if best else None


def _odd(seen: Seen, calls: Sequence[Seen]) -> str | None:
    """An argument that is missing, or whose value has a form with which no call of the tool went well."""
    fine = [one.values for one in calls if one.status == "ok"]
    if len(fine) < FORMS_MIN:
        return None
    own = seen.values
    for path in own:
        forms = {_form(values[path]) for values in fine if path in values}
        if forms and len(forms) <= FORMS_MAX and _form(own[path]) not in forms:
            return path
    always = set.intersection(*(set(values) for values in fine))
    return min(always - own.keys(), default=None)


def _form(value: str) -> str:
    """What a value is written as: runs of letters, digits and other characters, without their lengths."""
    kinds = ("9" if one.isdigit() else "a" if one.isalpha() else one for one in value)
    return "".join(kind for kind, _ in groupby(kinds))


def _alerts(seen: Seen, around: Surroundings) -> list[Borne]:
    names = {"", seen.tool, around.upstream(seen.tool)}
    near = [
        one for one in around.alerts if one.about in names and abs(one.at_ms - seen.at_ms) <= around.terms.within_ms
    ]
    if not near:
        return []
    return [Borne("alert_all" if all(not one.about for one in near) else "alert", near[-1].text or near[-1].about)]


def _quoted(seen: Seen) -> list[Borne]:
    """An argument's name, or a value that is long enough, which the error names."""
    text = normal(seen.fault.text)
    found: dict[str, Borne] = {}
    for path, value in seen.values.items():
        name = path.rsplit(".", 1)[-1].lower()
        if len(name) >= SHORT_VALUE_CHARS and re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text):
            found.setdefault("names_argument", Borne("names_argument", path))
        if len(value) > SHORT_VALUE_CHARS and value.lower() in text:
            found.setdefault("quotes_value", Borne("quotes_value", f"{path} = {value}"))
    return list(found.values())


def _broken(calls: Sequence[Seen]) -> int:
    return sum(one.is_broken for one in calls)
