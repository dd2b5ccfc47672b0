"""What the documentation shows is checked: Python compiles and its imports exist, commands and options are the program's,
fields in Java and TypeScript are those of the schemas. Generated pages are what their sources say."""

import ast
import importlib.util
import json
import re
import shlex
from pathlib import Path

import pytest

from tests.doc_blocks import ROOT, doc_blocks

OWN = {"schemas", "processors", "streams"}


def script(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE = script("reference_pages")
CONTRACTS = script("contracts")
COMMANDS = REFERENCE.commands()


def names_of(module: Path) -> set[str]:
    """What a module defines or takes from others; it is not imported, as an extra may be missing here."""
    found = set()
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom | ast.Import):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign):
            found.add(node.target.id)
        else:
            found.add(getattr(node, "name", ""))
    return found


def blocks(*languages: str) -> list:
    return [pytest.param(block.text, id=block.name) for block in doc_blocks(*languages)]


@pytest.mark.parametrize("text", blocks("python"))
def test_python_compiles_and_its_imports_exist(text) -> None:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in OWN:
            names = names_of(Path(importlib.util.find_spec(node.module).origin))
            assert {alias.name for alias in node.names} <= names


@pytest.mark.parametrize("text", blocks("sh", ""))
def test_commands_and_options_are_those_of_the_program(text) -> None:
    for line in text.splitlines():
        words = shlex.split(line, comments=True) if line.startswith("hermes-streams ") else []
        words = words[1:]
        if not words or words[0].startswith("-"):
            continue
        name = words[0] if words[0] in COMMANDS else " ".join(words[:2])
        assert name in COMMANDS or any(known.startswith(f"{name.split()[0]} ") for known in COMMANDS), line
        if name in COMMANDS:
            options = {
                option for parameter in COMMANDS[name].params for option in parameter.opts + parameter.secondary_opts
            }
            used = {word.split("=")[0] for word in words if word.startswith("-") and word != "-"}
            assert used <= options, line


@pytest.mark.parametrize("text", blocks("ts", "java"))
def test_fields_in_other_languages_are_those_of_the_schemas(text) -> None:
    known = {"schema"}
    for schema in CONTRACTS.schemas().values():
        for part in [schema, *schema.get("$defs", {}).values()]:
            known |= set(part.get("properties", {}))
    used = set(re.findall(r"\.(?:path|hasNonNull|put|set)\(\"(\w+)\"", text))
    used |= set(re.findall(r"\b(?:output|call|result)\.([a-z_]+)\b(?!\()", text))
    assert used
    assert used <= known
    topics = set(re.findall(r"\"(llm\.[\w.-]+)\"", text))
    assert topics <= {channel["address"] for channel in json.loads(CONTRACTS.asyncapi())["channels"].values()}


@pytest.mark.parametrize("text", blocks("json"))
def test_json_is_json(text) -> None:
    for line in [text] if text.lstrip().startswith("[") or text.count("\n{") == 0 else text.splitlines():
        json.loads(line)


def test_generated_pages_and_contracts_are_made_from_the_code() -> None:
    assert CONTRACTS.ASYNCAPI.read_text(encoding="utf-8") == CONTRACTS.asyncapi()
    assert CONTRACTS.TYPES.read_text(encoding="utf-8") == CONTRACTS.typescript()
    assert CONTRACTS.EVENTS.read_text(encoding="utf-8") == CONTRACTS.events()
    assert REFERENCE.CLI.read_text(encoding="utf-8") == REFERENCE.cli()
    assert REFERENCE.SETTINGS.read_text(encoding="utf-8") == REFERENCE.settings()


def test_asyncapi_refers_to_schemas_that_exist() -> None:
    document = json.loads(CONTRACTS.asyncapi())
    assert {channel["address"] for channel in document["channels"].values()} >= {"llm.tokens", "llm.outputs"}
    for message in document["components"]["messages"].values():
        assert (ROOT / "docs" / message["payload"]["$ref"]).resolve().exists()


def test_every_type_of_the_typescript_file_is_declared() -> None:
    text = CONTRACTS.TYPES.read_text(encoding="utf-8")
    declared = set(re.findall(r"export (?:interface|type) (\w+)", text))
    bodies = re.sub(r"\"[^\"]*\"|//.*", "", text)
    used = set(re.findall(r"\b[A-Z]\w+", bodies)) - {"Array", "Record"}
    assert used <= declared


def test_pages_of_the_site_exist() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in re.findall(r"[\w/-]+\.md", text):
        assert (ROOT / "docs" / page).exists(), page
