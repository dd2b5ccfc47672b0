"""One repair in progress, and what comes of it: Repaired."""

from dataclasses import dataclass, field
from typing import Literal

from processors.repair.rules import NO_RULES, WORD_CHARS_MAX, Rules
from schemas.jsonvalue import Json, JsonObject
from schemas.toolcall import Refusal, Repair

TRIALS_MAX = 20_000
"""Most alternatives of schemas tried in one text: a recursive schema would double them at each level."""
PARTS_A_TRIAL = 16
"""So many pairs or items more count as another trial."""
TRIAL_LEVELS_MAX = 40
"""Most alternatives tried inside of one another: each takes some frames of the stack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """Argument text, made to fit its schema or refused."""

    status: Literal["ok", "repaired", "refused"]
    arguments: JsonObject | None = None
    confidence: float = 1.0
    repairs: tuple[Repair, ...] = ()
    refusal: Refusal | None = None


@dataclass(slots=True)
class Work:
    """What was changed so far, and what stands against accepting."""

    tool: str = ""
    rules: Rules = NO_RULES
    ended: bool = False
    """Something after the arguments proves that the writer was done: an end token, a closing fence or tag."""
    repairs: list[Repair] = field(default_factory=list)
    problems: list[Refusal] = field(default_factory=list)
    was_cut: bool = False
    """The text ended inside the arguments."""
    levels: int = TRIAL_LEVELS_MAX
    """How many more trials may lie in one another."""
    trials: list[int] = field(default_factory=lambda: [TRIALS_MAX])
    """How many more trials there may be in all; one count, which each trial shares."""

    def may_try(self, parts: int) -> bool:
        """Whether one more reading of something with so many parts may be tried; counts it."""
        self.trials[0] -= 1 + parts // PARTS_A_TRIAL
        return self.levels > 0 and self.trials[0] >= 0

    def note(self, code: str, path: str = "", rule: str | None = None, said: str | None = None) -> None:
        """Record one change; `said` is the written word that a rule could be learned from."""
        detail = said if said is not None and len(said) <= WORD_CHARS_MAX else None
        self.repairs.append(Repair(code=code, path=path, rule=rule, detail=detail))

    def refuse(self, code: str, path: str = "", candidate: Json = None, detail: str = "") -> None:
        """Record one reason not to accept."""
        self.problems.append(Refusal(code=code, path=path, candidate=candidate, message=detail))

    def trial(self) -> "Work":
        """An empty one for a reading that may be given up."""
        trial = Work(tool=self.tool, rules=self.rules, ended=self.ended, was_cut=self.was_cut)
        trial.levels, trial.trials = self.levels - 1, self.trials
        return trial

    def take(self, trial: "Work") -> None:
        """Keep what a trial recorded."""
        self.repairs += trial.repairs
        self.problems += trial.problems
        self.was_cut |= trial.was_cut
