"""Damaged argument text → arguments, by form; each row is a text of our own."""

import json

import pytest

from processors.repair import repair
from tests.processors.repair_rows import FERRY, NOTE

DAY = {"route": "express", "departure_day": "2031-05-04"}
SAME = [
    ("single quotes", "{'route': 'express', 'departure_day': '2031-05-04'}"),
    ("curly quotes", "{“route”: “express”, “departure_day”: “2031-05-04”}"),
    ("full width", "｛“route”：“express”，“departure_day”：“２０３１-05-04”｝"),
    ("backticks", "{`route`: `express`, `departure_day`: `2031-05-04`}"),
    ("bare keys", '{route: "express", departure_day: "2031-05-04"}'),
    ("bare values", '{"route": express, "departure_day": 2031-05-04}'),
    ("trailing comma", '{"route": "express", "departure_day": "2031-05-04",}'),
    ("doubled comma", '{"route": "express",, "departure_day": "2031-05-04"}'),
    ("missing comma", '{"route": "express" "departure_day": "2031-05-04"}'),
    ("missing colon", '{"route" "express", "departure_day": "2031-05-04"}'),
    ("equals", '{"route" = "express", "departure_day" = "2031-05-04"}'),
    ("comment", '{"route": "express", // the fast one\n "departure_day": "2031-05-04" /* fixed */}'),
    ("hash comment", '{"route": "express", # the fast one\n "departure_day": "2031-05-04"}'),
    ("no opening brace", '"route": "express", "departure_day": "2031-05-04"}'),
    ("no braces", '"route": "express", "departure_day": "2031-05-04"'),
    ("no closing brace", '{"route": "express", "departure_day": "2031-05-04"'),
    ("too many braces", '{"route": "express", "departure_day": "2031-05-04"}}]'),
    ("fence", '```json\n{"route": "express", "departure_day": "2031-05-04"}\n```'),
    ("open fence", '```\n{"route": "express", "departure_day": "2031-05-04"}'),
    ("prose", 'Here you go: {"route": "express", "departure_day": "2031-05-04"}\nAnything else?'),
    ("prose, zh", '好的，参数是：{"route": "express", "departure_day": "2031-05-04"}，请确认。'),
    ("end token", '{"route": "express", "departure_day": "2031-05-04"}<|im_end|>'),
    ("string", json.dumps('{"route": "express", "departure_day": "2031-05-04"}')),
    ("escaped", '{\\"route\\": \\"express\\", \\"departure_day\\": \\"2031-05-04\\"}'),
    ("written newline", '{\\n"route": "express",\\n"departure_day": "2031-05-04"\\n}'),
    ("doubled quotes", '"{""route"": ""express"", ""departure_day"": ""2031-05-04""}"'),
    ("no-break blanks", '\ufeff{\u00a0"route":\u00a0"express", "departure_day": "2031-05-04"}'),
    ("half a key", '{"route: "express", departure_day": "2031-05-04"}'),
    ("half a value", '{"route": "express, "departure_day": 2031-05-04"}'),
    ("call", "book_ferry(route='express', departure_day='2031-05-04')"),
    ("call in a list", '[book_ferry(route="express", departure_day="2031-05-04")]'),
    ("call with a dict", "book_ferry(**{'route': 'express', 'departure_day': '2031-05-04'});"),
    ("call in a fence", "```python\nbook_ferry(route='express', departure_day='2031-05-04')\n```"),
    ("wrapper", '{"name": "book_ferry", "arguments": {"route": "express", "departure_day": "2031-05-04"}}'),
    ("wrapper, text", '{"tool": "book_ferry", "args": "{\\"route\\": \\"express\\", \\"departure_day\\": \\"2031-05-04\\"}"}'),
    ("tool name as key", '{"book_ferry": {"route": "express", "departure_day": "2031-05-04"}}'),
    ("tool calls", '{"tool_calls": [{"name": "x", "arguments": {"route": "express", "departure_day": "2031-05-04"}}]}'),
    ("name line", 'book_ferry\n{"route": "express", "departure_day": "2031-05-04"}'),
    ("action input", 'Action: book_ferry\nAction Input: {"route": "express", "departure_day": "2031-05-04"}'),
    ("lines", "route: express\ndeparture_day: 2031-05-04"),
    ("lines with =", "route=express\ndeparture_day=2031-05-04"),
    ("flags", 'book_ferry --route express --departure-day "2031-05-04"'),
    ("parameter tags", ('<invoke name="book_ferry"><parameter name="route">express</parameter>'
     '<parameter name="departure_day">2031-05-04</parameter></invoke>')),
    ("function tag", ("<function=book_ferry>\n<parameter=route>\nexpress\n</parameter>\n"
     "<parameter=departure_day>\n2031-05-04\n</parameter>\n</function>")),
    ("own tags", "<book_ferry><route>express</route><departure_day>2031-05-04</departure_day></book_ferry>"),
    ("attributes", '<book_ferry route="express" departure_day="2031-05-04"/>'),
    ("entities", '<call name="book_ferry" args="{&quot;route&quot;: &quot;express&quot;, &quot;departure_day&quot;: &quot;2031-05-04&quot;}"/>'),
    ("cdata", '<call name="x"><![CDATA[{"route": "express", "departure_day": "2031-05-04"}]]></call>'),
    ("three quotes", 'book_ferry(route="""express""", departure_day="2031-05-04")'),
    ("entities alone", "{&quot;route&quot;: &quot;express&quot;, &quot;departure_day&quot;: &quot;2031-05-04&quot;}"),
    ("names and values", '{"parameters": [{"name": "route", "value": "express"}, {"name": "departure_day", "value": "2031-05-04"}]}'),
    ("twice the same", '{"route": "express", "departure_day": "2031-05-04"}' * 2),
    ("an empty one first", '{}{"route": "express", "departure_day": "2031-05-04"}'),
    ("same key again", '{"route": "express", "departure_day": "2031-05-04", "route": "express"}'),
]  # fmt: skip


@pytest.mark.parametrize("raw", [raw for _, raw in SAME], ids=[name for name, _ in SAME])
def test_form_is_read(raw: str) -> None:
    got = repair(raw, FERRY)
    assert got.arguments == DAY, got
    assert got.status == "repaired"
    assert got.repairs
    assert 0 < got.confidence < 1


TEXTS = [
    ("inner quotes", '{"heading": "they call it "Kiel", nobody knows why", "lines": []}', 'they call it "Kiel", nobody knows why'),
    ("inch marks", '{"heading": "a 24" board, oiled", "lines": ["x"]}', 'a 24" board, oiled'),
    ("apostrophe", "{'heading': 'the driver's bag', 'lines': ['x']}", "the driver's bag"),
    ("code", '{"heading": "f(a: "b"); x", "lines": ["x"]}', 'f(a: "b"); x'),
    ("a call as text", '{"heading": "print("hi")", "lines": ["x"]}', 'print("hi")'),
    ("brackets as text", '{"heading": "a ("b"), (c)", "lines": ["x"]}', 'a ("b"), (c)'),
    ("German quotes", '{"heading": "Er sagte „ja", dann ging er.", "lines": ["x"]}', 'Er sagte „ja", dann ging er.'),
    ("Chinese quotes kept", '{"heading": "他说“好”，走了", "lines": ["x",]}', "他说“好”，走了"),
    ("comment-like text", '{"heading": "see http://x.example//a # b", "lines": ["x",]}', "see http://x.example//a # b"),
    ("raw newline", '{"heading": "one\ntwo", "lines": ["x"]}', "one\ntwo"),
    ("unknown escape", '{"heading": "5\\$ each \\[1\\]", "lines": ["x"]}', "5$ each [1]"),
    ("looks like null", '{"heading": "null", "lines": ["x",]}', "null"),
    ("looks like a list", '{"heading": "[1, 2]", "lines": ["x",]}', "[1, 2]"),
    ("keeps zeros", '{"heading": 0042}', "0042"),
    ("keeps a version", '{"heading": 1.10}', "1.10"),
    ("keeps long digits", '{"heading": 12345678901234567890123}', "12345678901234567890123"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "heading"), [row[1:] for row in TEXTS], ids=[row[0] for row in TEXTS])
def test_text_is_kept_as_meant(raw: str, heading: str) -> None:
    got = repair(raw, NOTE)
    assert got.arguments is not None, got
    assert got.arguments["heading"] == heading


PATHS = [
    ("file_path", '"C:\\temp\\new.txt"', "C:\\temp\\new.txt"),
    ("file_path", '"C:\\Users\\Ann\\a.md"', "C:\\Users\\Ann\\a.md"),
    ("file_path", '"C:\\\\temp\\\\new.txt"', "C:\\temp\\new.txt"),
    ("file_path", '"D:\\data\\"', "D:\\data\\"),
    ("search_pattern", '"\\d+\\s*km"', "\\d+\\s*km"),
    ("search_pattern", '"\\bword\\b"', "\\bword\\b"),
    ("search_pattern", '"\\\\d+"', "\\d+"),
]


@pytest.mark.parametrize(("key", "written", "meant"), PATHS)
def test_backslashes_of_paths_and_patterns_stand(key: str, written: str, meant: str) -> None:
    got = repair(f'{{"heading": "a", "{key}": {written}, "lines": ["x"]}}', NOTE)
    assert got.arguments == {"heading": "a", key: meant, "lines": ["x"]}, got


REFUSED = [
    ("cut text", '{"route": "express", "departure_day": "2031-05-04", "remark": "please wai', "truncated_text"),
    ("cut number", '{"route": "express", "departure_day": "2031-05-04", "budget": 12', "truncated_number"),
    ("cut before a required one", '{"route": "expr', "truncated_required"),
    (
        "cut behind an item",
        '{"route": "express", "departure_day": "2031-05-04", "cabins": ["suite",',
        "truncated_array",
    ),
    ("two different ones", '{"route": "express"}{"route": "northern"}', "two_objects"),
    (
        "same key, other value",
        '{"route": "express", "route": "northern", "departure_day": "2031-05-04"}',
        "duplicate_conflict",
    ),
    ("left out items", '{"route": "express", "departure_day": "2031-05-04", "cabins": ["suite", ...]}', "elided_items"),
    ("pairs behind", '{"route": "express", "departure_day": "2031-05-04"}\nand "passengers": 3', "unreadable"),
    ("nothing", "I would rather not.", "no_call_found"),
    ("empty", "", "no_call_found"),
]


@pytest.mark.parametrize(("raw", "code"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_cannot_be_trusted_is_refused(raw: str, code: str) -> None:
    got = repair(raw, FERRY)
    assert got.status == "refused"
    assert got.arguments is None
    assert got.refusal is not None
    assert got.refusal.code == code


WHOLE = [
    ('{"departure_day": "2031-05-04", "route": "express', {}),
    ('{"route": "express", "departure_day": "2031-05-04', {}),
    ('{"route": "express", "departure_day": "2031-05-04", "passengers": 7', {"passengers": 7}),
    ('{"route": "express", "departure_day": "2031-05-04", "with_car": true', {"with_car": True}),
    (
        '{"route": "express", "departure_day": "2031-05-04", "contact": {"surname": "Li"}',
        {"contact": {"surname": "Li"}},
    ),
]


@pytest.mark.parametrize(("raw", "more"), WHOLE)
def test_a_value_that_cannot_go_on_is_whole(raw: str, more: dict) -> None:
    assert repair(raw, FERRY).arguments == DAY | more


NESTED = [
    ("cabins: \n  - inside\n  - suite", {"cabins": ["inside", "suite"]}),
    ("cabins: [inside, suite]", {"cabins": ["inside", "suite"]}),
    ('contact: {"surname": "Li"}', {"contact": {"surname": "Li"}}),
]


@pytest.mark.parametrize(("line", "more"), NESTED)
def test_containers_in_lines_are_read(line: str, more: dict) -> None:
    assert repair(f"route: express\n{line}\ndeparture_day: 2031-05-04", FERRY).arguments == DAY | more


TAGGED = [
    ("<contact><surname>Li</surname><mobile>1</mobile></contact>", {"contact": {"surname": "Li", "mobile": "1"}}),
    ("<cabins><item>inside</item><item>suite</item></cabins>", {"cabins": ["inside", "suite"]}),
    ("<cabins>suite</cabins>", {"cabins": ["suite"]}),
]


@pytest.mark.parametrize(("tags", "more"), TAGGED)
def test_containers_in_tags_are_read(tags: str, more: dict) -> None:
    raw = f"<book_ferry><route>express</route><departure_day>2031-05-04</departure_day>{tags}</book_ferry>"
    assert repair(raw, FERRY).arguments == DAY | more


def test_an_unquoted_number_with_groups_is_one_number() -> None:
    raw = '{"route": "express", "departure_day": "2031-05-04", "budget": 1,234.50}'
    assert repair(raw, FERRY).arguments == DAY | {"budget": 1234.5}


BODIES = [
    'x = {"a": 1, "b": [1, 2]}', 'if x == "y": print("z")', '<div class="a" id="b">hi</div>', '{"name": "pkg", "lines": "x"}',
    'SELECT "a", "b" FROM "t" WHERE c = "d";', 'echo "hi"; cat "f" | grep "x"', 'He said "yes", she said "no".',
    'arr = ["a", "b", "c"]', 'f("a", "b")', 'say "hi"', 'a "b"', 'key: "value", other: "x"', 'const o = {heading: "x", lines: "y"};',
    'dict["k"] = "v"', 'print(f"{x}: {y}")', "it's \"x\"", '他说"好"，然后走了', '标题："a"，内容："b"',
]  # fmt: skip
FRAMES = [
    '{"heading": "%s", "lines": ["x"]}',
    '{"lines": ["x"], "heading": "%s"}',
    '{"lines": ["x"], "heading": "%s", "low_mark": 2}',
]


@pytest.mark.parametrize("body", BODIES)
def test_a_text_with_bare_quotes_is_kept_whole_or_refused(body: str) -> None:
    for frame in FRAMES:
        got = repair(frame.replace("%s", body), NOTE)
        assert got.arguments is None or (got.arguments["heading"], got.arguments["lines"]) == (body, ["x"]), got
