"""A run's streams and steps → what is done, what is running now, what comes next."""

from dataclasses import dataclass

from schemas.jsonvalue import JsonObject

NAMES_MAX = 5


@dataclass(frozen=True, slots=True)
class Progress:
    """Three short lists for the head of a live run's page."""

    done: tuple[str, ...]
    running: tuple[str, ...]
    next: tuple[str, ...]


def progress_of(streams: list[JsonObject], steps: list[JsonObject]) -> Progress:
    """Sum up; of a long run only the steps at hand are looked at."""
    closed = [stream for stream in streams if stream["state"] != "open"]
    opened = [stream for stream in streams if stream["state"] == "open"]
    answered = {(step["stream_id"], step["call_id"]) for step in steps if step["kind"] == "tool_result"}
    calls = [step for step in steps if step["kind"] == "tool_call" and not step["error_class"]]
    waiting = [call["name"] for call in calls if (call["stream_id"], call["call_id"]) not in answered]
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
