"""What is written around the arguments."""

import html
import json

from benchmarks.damage.calls import fresh
from benchmarks.damage.faults import Fault, dumped, fault

FAULTS: dict[str, Fault] = {}


@fault(FAULTS)
def markdown_fence(row):
    row.text = row.rng.choice(
        ["```json\n{}\n```", "```\n{}\n```\n", "`{}`", "```json5\n{}", "Sure:\n```json\n{}\n```\nDone."]
    ).replace("{}", row.text)
    return True


@fault(FAULTS)
def prose_around(row):
    row.text = (
        row.rng.choice(["I'll call it with ", "参数如下：", "Voici l'appel :\n", "Arguments:\n"])
        + row.text
        + row.rng.choice(["", "\nLet me know.", "\n(done)", "\n以上。"])
    )
    return row.text.rstrip()[-1] not in "0123456789" or row.why is None


@fault(FAULTS)
def token_residue(row):
    row.text = row.rng.choice(
        ["{}<|im_end|>", "{}</s>", "<tool_call>{}</tool_call>", "[TOOL_CALLS] {}", "{}<|eot_id|>", "{}\n</tool_call>"]
    ).replace("{}", row.text)
    return True


@fault(FAULTS)
def double_encoded(row):
    row.text = json.dumps(row.text, ensure_ascii=row.rng.random() < 0.5)
    return True


@fault(FAULTS)
def escaped_without_outer_quotes(row):
    row.text = json.dumps(row.text, ensure_ascii=False)[1:-1]
    return row.text.startswith('{\\"')


@fault(FAULTS)
def concat_same(row):
    row.text = row.text + row.rng.choice(["", "\n", " "]) + row.text
    return True


@fault(FAULTS)
def concat_empty_first(row):
    row.text = "{}" + row.text
    return True


@fault(FAULTS)
def concat_different(row):
    other = fresh(row.rng, row.tool)
    if other.args == row.args:
        return False
    row.why = "two_objects"
    row.text = row.text + row.rng.choice(["", "\n", " "]) + dumped(other.args, row.rng)
    return True


@fault(FAULTS)
def wrapped_under_key(row):
    row.text = '{"' + row.rng.choice(["arguments", "params", "kwargs", "input", row.name]) + '": ' + row.text + "}"
    return True


@fault(FAULTS)
def whole_call_object(row):
    name, inner = row.rng.choice(
        [("name", "arguments"), ("tool", "parameters"), ("function", "args"), ("tool_name", "input")]
    )
    row.text = f'{{"{name}": "{row.name}", "{inner}": {row.text}}}'
    return True


@fault(FAULTS)
def wrapped_stringified(row):
    row.text = json.dumps({"name": row.name, "arguments": row.text}, ensure_ascii=False)
    return True


@fault(FAULTS)
def tool_calls_object(row):
    row.text = '{"tool_calls": [{"name": "' + row.name + '", "arguments": ' + row.text + "}]}"
    return True


@fault(FAULTS)
def name_line_then_object(row):
    row.text = row.rng.choice(
        [f"{row.name}\n{row.text}", f"{row.name} {row.text}", f"Action: {row.name}\nAction Input: {row.text}"]
    )
    return True


@fault(FAULTS)
def xml_cdata(row):
    row.text = f'<tool_call name="{row.name}"><![CDATA[{row.text}]]></tool_call>'
    return True


@fault(FAULTS)
def xml_attr_json_entities(row):
    row.text = f'<function_call name="{row.name}" input="{html.escape(row.text)}" />'
    return True
