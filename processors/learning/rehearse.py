"""A sample through the whole pipeline, with a format added or without: how an entry is tried before it is let in."""

from dataclasses import replace

import orjson

from processors.catalog import Catalog, catalog_of
from processors.knowledge import Knowledge
from processors.learning.sample import Sample
from processors.pipeline import run
from processors.segmenting.format import Format
from schemas.jsonvalue import JsonObject
from schemas.output import Output
from schemas.token import Meta

COMPILED_MAX = 8
"""Catalogues kept: one proof runs one entry over hundreds of samples."""


class Rehearsal:
    """Runs samples with what is known now."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._compiled: dict[bytes, Catalog] = {}

    @property
    def knowledge(self) -> Knowledge:
        """What is known now."""
        return self._knowledge

    def use(self, knowledge: Knowledge) -> None:
        """From now on this is known."""
        if knowledge is not self._knowledge:
            self._knowledge = knowledge
            self._compiled.clear()

    def adopt(self, definition: JsonObject) -> None:
        """From now on this format is known too."""
        self.use(replace(self._knowledge, catalog=self._with(definition), canary_catalog=None))

    def run(self, item: Sample, definition: JsonObject | None) -> Output:
        """The output of one sample, with a format's definition added or without."""
        # What is proven must not depend on which streams a canary happens to be served to.
        knowledge = replace(self._knowledge, canary_catalog=None)
        if definition is not None:
            knowledge = replace(knowledge, catalog=self._with(definition))
        schemas = tuple(
            {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
            for name, properties in item.tools.items()
        )
        return run(item.id, [item.text], Meta(tools=schemas), knowledge)

    def _with(self, definition: JsonObject) -> Catalog:
        key = orjson.dumps(definition)
        if key not in self._compiled:
            if len(self._compiled) >= COMPILED_MAX:
                self._compiled.clear()
            entries = (*self._knowledge.catalog.formats.values(), Format.model_validate(definition))
            self._compiled[key] = catalog_of(entries, self._knowledge.version)
        return self._compiled[key]
