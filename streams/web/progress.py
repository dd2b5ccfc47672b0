"""A run's streams and steps → what is done, what is running now, what comes next."""

from collections import Counter
from dataclasses import dataclass

from schemas.jsonvalue import JsonObject
from streams.web.calls import Calls

NAMES_MAX = 5


@dataclass(frozen=True, slots=True)
class Progress:
    """Three short lists for the head of a live run's page."""

    done: tuple[str, ...]
    running: tuple[str, ...]
    next: tuple[str, ...]


def progress_of(streams: list[JsonObject], steps: list[JsonObject], calls: Calls) -> Progress:
    """Sum up; of a long run only the steps at hand are looked at. Where calls are dispatched, each of them is known."""
    closed = [stream for stream in streams if stream["state"] != "open"]
    opened = [stream for stream in streams if stream["state"] == "open"]
    answered = {(step["stream_id"], step["call_id"]) for step in steps if step["kind"] == "tool_result"}
    wanted = [step for step in steps if step["kind"] == "tool_call" and not step["error_class"]]
    if calls.counts:
        return _dispatched(streams, opened, calls)
    waiting = [call["name"] for call in wanted if (call["stream_id"], call["call_id"]) not in answered]
    done = []
    if closed:
        done.append(f"{len(closed)} of {len(streams)} streams")
    if answered:
        done.append(f"{len(answered)} tool results")
    running = [f"stream {stream['stream_id']}: {stream['steps']} steps so far" for stream in opened[:NAMES_MAX]]
    running += [f"tool {name}" for name in waiting[:NAMES_MAX]] if answered else []
    following = []
    if opened:
        following.append("rest of the stream, then its output")
    if waiting and not answered:
        following += [f"result of {name}, if its executor reports one" for name in waiting[:NAMES_MAX]]
    return Progress(tuple(done), tuple(running), tuple(following))


def _dispatched(streams: list[JsonObject], opened: list[JsonObject], calls: Calls) -> Progress:
    results = Counter(call["status"] for call in calls.done)
    done = [f"{len(streams) - len(opened)} of {len(streams)} streams"] if len(streams) > len(opened) else []
    if results:
        said = ", ".join(f"{count} {status}" for status, count in results.most_common())
        done.append(f"{calls.counts.get('ended', 0)} calls: {said}")
    running = [f"stream {stream['stream_id']}: {stream['steps']} steps so far" for stream in opened[:NAMES_MAX]]
    running += [f"{call['tool']} {call['arguments']}" for call in calls.running[:NAMES_MAX]]
    following = [f"{call['tool']} {call['arguments']}" for call in calls.next[:NAMES_MAX]]
    more = calls.counts.get("planned", 0) - len(following)
    following += [f"and {more} more calls"] if more > 0 else []
    following += ["rest of the stream, then its calls"] if opened else []
    return Progress(tuple(done), tuple(running), tuple(following))
