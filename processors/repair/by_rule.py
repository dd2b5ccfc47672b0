"""A flat JSON object that learned rules alone make right → its arguments, without the long way.

The long way reads every token and asks what it could mean; after a rule was learned, nothing is left to ask. What this
way does not settle, it leaves: it gives an answer only where the long way gives the same one.
"""

from processors.repair.confidence import confidence_of
from processors.repair.rules import Rules
from processors.repair.toolschema import ToolSchema
from processors.repair.work import Repaired
from schemas.jsonvalue import JsonObject
from schemas.toolcall import Repair


def by_rule(value: JsonObject, schema: ToolSchema, rules: Rules) -> Repaired | None:
    """The arguments after rules for names and values; None if none applies or if they leave anything to do."""
    properties = schema.root.properties
    arguments: JsonObject = {}
    renamed: list[Repair] = []
    replaced: list[Repair] = []
    for written, said in value.items():
        key = written
        if key not in properties:
            rule = rules.find("param_alias", schema.name, "", key)
            if rule is None or rule.action not in properties:
                return None
            key = str(rule.action)
            renamed.append(Repair(code="rule", path=f"/{key}", rule=rule.id))
        if key in arguments or "/" in key or "~" in key or not isinstance(said, str | int):
            return None
        path = f"/{key}"
        rule = rules.find("value_alias", schema.name, path, str(said))
        if rule is None and rules.find("placeholder", schema.name, path, str(said)):
            return None
        arguments[key] = said if rule is None else rule.action
        if rule is not None:
            replaced.append(Repair(code="rule", path=path, rule=rule.id))
    repairs = (*renamed, *replaced)
    if not repairs or not schema.validator.is_valid(arguments):
        return None
    return Repaired(status="repaired", arguments=arguments, confidence=confidence_of(repairs), repairs=repairs)
