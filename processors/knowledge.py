"""A registry snapshot → what processors are built with: the shipped catalogues plus the registry's active entries."""

from dataclasses import dataclass, replace
from functools import lru_cache

from processors.catalog import Catalog, catalog_of, load_catalog, load_formats
from processors.clean import CleanOptions
from processors.learning.lifecycle import CANARY_SHARE, is_canary
from processors.pii.custom import rules_with
from processors.reasoning.options import ReasonOptions, options_of
from processors.repair import RuleBook
from processors.segmenting.format import Format
from processors.snapshot import Snapshot
from processors.tool import ToolOptions
from processors.tools.toolbox import Toolbox
from schemas.pattern import PatternKind, PatternState


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """All that the stages of one stream know; one value for the whole life of a stream."""

    version: int
    """Registry version; 0 is what was shipped."""
    catalog: Catalog
    canary_catalog: Catalog | None
    """The catalogue with canary formats too, if there are any: for the share of streams that they are tried on."""
    toolbox: Toolbox
    tool_options: ToolOptions
    clean_options: CleanOptions
    reason_options: ReasonOptions
    canary_share: float = CANARY_SHARE

    def catalog_for(self, stream_id: str) -> Catalog:
        """The catalogue that a stream is read with."""
        if self.canary_catalog is not None and is_canary(stream_id, self.canary_share):
            return self.canary_catalog
        return self.catalog


def knowledge_of(snapshot: Snapshot, canary_share: float = CANARY_SHARE) -> Knowledge:
    """Compile a snapshot; the cost is paid once for each registry version."""
    learned = tuple(Format.model_validate(pattern.definition) for pattern in snapshot.formats)
    tried = tuple(
        Format.model_validate(pattern.definition) for pattern in snapshot.of(PatternKind.FORMAT, PatternState.CANARY)
    )
    catalog = catalog_of((*load_formats(), *learned), snapshot.version) if learned else load_catalog()
    canary = catalog_of((*load_formats(), *learned, *tried), snapshot.version) if tried else None
    return Knowledge(
        version=snapshot.version,
        catalog=catalog,
        canary_catalog=canary,
        toolbox=Toolbox([pattern.definition for pattern in snapshot.tools]),
        tool_options=ToolOptions(
            rules=RuleBook(snapshot.rules), learned_formats=frozenset(entry.id for entry in (*learned, *tried))
        ),
        clean_options=CleanOptions(rules=rules_with(snapshot.pii)),
        reason_options=options_of(pattern.definition for pattern in snapshot.cues),
        canary_share=canary_share,
    )


def with_placeholders(knowledge: Knowledge, *, is_consistent: bool) -> Knowledge:
    """The same, with or without numbers in placeholders."""
    return replace(knowledge, clean_options=replace(knowledge.clean_options, is_consistent=is_consistent))


@lru_cache(maxsize=1)
def shipped_knowledge() -> Knowledge:
    """What is known without a registry."""
    return knowledge_of(Snapshot())
