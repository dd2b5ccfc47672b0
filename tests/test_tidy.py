"""The house rules, as tests: who imports whom, sizes, names, one client in one module, no mocks."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("schemas", "processors", "streams")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}

MODULE_LINES_MAX = 300
FUNCTION_LINES_MAX = 50
PARAMETERS_MAX = 5
NESTING_MAX = 3

FORBIDDEN = {
    "schemas": {"processors", "streams", "aiokafka", "faust", "redis", "clickhouse_connect", "asyncio", "logging"},
    "processors": {
        "streams", "aiokafka", "faust", "redis", "clickhouse_connect", "asyncio", "socket", "threading", "logging",
        "time", "random", "os", "aiohttp", "subprocess",
    },
}  # fmt: skip
BANNED_NAMES = re.compile(r"^(utils?|helpers?|common|misc|core|base|managers?|handlers?|services?|factory)$")
FORMAT_IDS = {path.stem for path in (ROOT / "processors" / "formats").glob("*.toml")}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) and len(function.body) > 1 else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1


def depth(node: ast.AST, level: int = 0) -> int:
    nests = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.Match, ast.AsyncFor, ast.AsyncWith)
    deepest = level
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                continue
            is_elif = field == "orelse" and isinstance(node, ast.If) and isinstance(child, ast.If) and len(value) == 1
            deepest = max(deepest, depth(child, level + (isinstance(child, nests) and not is_elif)))
    return deepest


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_keeps_to_its_layer(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    assert not imports(TREES[path]) & FORBIDDEN.get(package, set())


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_sizes_stay_in_proportion(path: Path) -> None:
    tree = TREES[path]
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MODULE_LINES_MAX
    for function in functions(tree):
        arguments = function.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        named = [argument for argument in named if argument.arg not in {"self", "cls"}]
        assert lines_of(function) <= FUNCTION_LINES_MAX, function.name
        is_command = path.parent.name == "cli"  # a command's parameters are its options
        assert is_command or len(named) <= PARAMETERS_MAX, function.name
        assert depth(function) <= NESTING_MAX, function.name


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_names_are_of_the_field(path: Path) -> None:
    assert not BANNED_NAMES.match(path.stem)
    assert len(path.relative_to(ROOT).parts) <= 3, "folders below a package are one level deep"


def test_no_class_in_processors_inherits_from_ours() -> None:
    ours = {node.name for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    protocols = {"Processor"}
    for path, tree in TREES.items():
        if path.relative_to(ROOT).parts[0] == "processors":
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
                    assert not bases & (ours - protocols), f"{path}: {node.name}"


def test_no_format_id_stands_in_code() -> None:
    for path, tree in TREES.items():
        if path.relative_to(ROOT).parts[0] == "processors":
            strings = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
            assert not strings & (FORMAT_IDS - {"json"}), path


def test_no_mocks() -> None:
    for path in (ROOT / "tests").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            assert not (isinstance(node, ast.ImportFrom) and node.module == "unittest.mock"), path


def test_every_module_is_imported_somewhere() -> None:
    imported = set()
    for path in [*MODULES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    program = TREES[ROOT / "streams" / "cli" / "app.py"]  # loads the groups of commands by name
    imported |= {f"streams.cli.{node.value}" for node in ast.walk(program) if isinstance(node, ast.Constant)}
    for path in MODULES:
        if path.stem not in {"__init__", "__main__", "limits"}:
            dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            assert dotted in imported or dotted == "streams.cli.app", f"nobody imports {dotted}"
