"""Text whose backslashes, quotation marks and line breaks were written raw."""

# ruff: noqa: ARG005 - tests and makers of a table take the same arguments, used or not
from benchmarks.damage.calls import PATHS
from benchmarks.damage.faults import Fault, Raw, fault, is_text

FAULTS: dict[str, Fault] = {}


@fault(FAULTS)
def windows_path(row):
    key = row.pick(lambda k, s: "path" in k or "dir" in k)
    if not key:
        return False
    path = row.rng.choice(["C:\\temp\\notes.txt", "D:\\new\\backup", "E:\\Users\\Ann\\q1.xlsx", "C:\\build\\file.bin"])
    row.want[key], row.args[key] = path, Raw(f'"{path}"')
    return True


@fault(FAULTS)
def regex_single_backslash(row):
    key = row.pick(lambda k, s: k == "regex")
    if not key:
        return False
    pattern = row.rng.choice(["\\d+ km", "\\w+@\\w+", "^\\s*#", "\\bid\\b", "a\\.b"])
    row.want[key], row.args[key] = pattern, Raw(f'"{pattern}"')
    return True


@fault(FAULTS)
def invalid_escape(row):
    key = row.pick(lambda k, s: is_text(k, s) and not ("path" in k or "dir" in k or k in {"regex", "file_name"}))
    if not key:
        return False
    written, right = row.rng.choice(
        [("7\\$ off", "7$ off"), ("see \\[2\\]", "see [2]"), ("a\\_b\\_c", "a_b_c"), ("x\\*y", "x*y")]
    )
    row.want[key], row.args[key] = right, Raw(f'"{written}"')
    return True


INNER = [
    'call it "Nord" from May',
    'write "ok", then stop',
    'first "a", then "b" perhaps',
    'a 9" pot, glazed',
    'the "old" one',
]


@fault(FAULTS)
def unescaped_quotes(row):
    key = row.pick(is_text)
    if not key:
        return False
    text = row.rng.choice(INNER)
    row.want[key], row.args[key] = text, Raw(f'"{text}"')
    return True


@fault(FAULTS)
def raw_newline_tab(row):
    key = row.pick(lambda k, s: is_text(k, s) and row.args[k] not in PATHS)
    if not key:
        return False
    text = row.rng.choice(["top\nbottom", "left\tright", "a:\n- b\n- c\n", "x\r\ny"])
    row.want[key], row.args[key] = text, Raw(f'"{text}"')
    return True
