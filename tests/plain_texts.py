"""Texts without calls, reasoning or state: prose, code, documents and talk about markers, in English and Chinese."""

CODE = {
    "python": [
        'def area(r: float) -> float:\n    """Circle."""\n    return 3.14159 * r**2\n\n\nprint([area(x) for x in range(3)])\n',
        "import functools\n\n@functools.lru_cache(maxsize=None)\ndef fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n",
        '>>> d = {"name": "x", "arguments": {}}\n>>> d["name"]\n\'x\'\n>>> [f(a=1) for f in fs]\n[]\n',
        'x = {"a": [1, 2], "b": {"c": None}}\nif x["a"][0] < 2 and x["b"]["c"] is None:\n    pass\n',
    ],
    "javascript": [
        "const el = document.querySelector('#tool');\nel.innerHTML = `<b>${name}</b>`;\n",
        "export default function App() {\n  return <Think label={1 < 2 ? 'a' : 'b'} />;\n}\n",
        "fetch('/api').then(r => r.json()).then(({ name, args }) => call(name, args));\n",
    ],
    "typescript": [
        "type Tool<T extends object> = { name: string; parameters: T };\nconst xs: Array<Tool<{}>> = [];\n",
        "function id<T>(x: T): T { return x; }\nconst m = new Map<string, number[]>();\n",
    ],
    "java": [
        "public class Main {\n    List<Map<String, Integer>> xs = new ArrayList<>();\n    int f(int a) { return a << 2; }\n}\n",
        '@Override\npublic String toString() { return "<" + name + ">"; }\n',
    ],
    "c": [
        '#include <stdio.h>\nint main(void) { int a[3] = {1, 2, 3}; printf("%d\\n", a[0] < a[1]); return 0; }\n',
        "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n",
    ],
    "cpp": [
        "std::vector<std::pair<int, std::string>> v; std::cout << v.size() << '\\n';\n",
        "template <typename T> T max(T a, T b) { return a > b ? a : b; }\n",
    ],
    "go": [
        "func main() {\n\tch := make(chan int)\n\tgo func() { ch <- 1 }()\n\tfmt.Println(<-ch)\n}\n",
        'type T struct {\n\tName string `json:"name"`\n\tArgs map[string]any `json:"arguments"`\n}\n',
    ],
    "rust": [
        'fn main() { let v: Vec<&str> = vec!["a", "b"]; println!("{:?}", v.iter().max()); }\n',
        'impl<T: Display> Show for Wrapper<T> { fn show(&self) -> String { format!("<{}>", self.0) } }\n',
    ],
    "sql": [
        "SELECT name, COUNT(*) FROM calls WHERE ts < '2024-01-01' GROUP BY name HAVING COUNT(*) > 3;\n",
        "INSERT INTO tools (name, arguments) VALUES ('a', '{\"k\": 1}');\n",
    ],
    "bash": [
        'for f in *.txt; do\n  [ -f "$f" ] && grep -c "<think>" "$f" > out 2>&1\ndone\n',
        "cat <<EOF | sed 's/<[^>]*>//g'\nhello\nEOF\n",
        'if [[ "$x" == [a-z]* ]]; then echo "{ok}"; fi\n',
    ],
    "ruby": ["xs.map { |x| x.name }.select { |n| n =~ /tool_call/ }\nputs <<~T\n  hi\nT\n"],
    "php": ['<?php\necho "<p>$name</p>";\n$a = ["name" => "x", "arguments" => []];\n?>\n'],
    "diff": ["--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-old = [1]\n+new = [2]\n"],
    "latex": ["\\[ f(x) = \\sum_{i<n} a_i \\]\n\\begin{tabular}{l|r} a & b \\\\ \\end{tabular}\n"],
}

DOCUMENTS = [
    '<!DOCTYPE html>\n<html lang="en">\n<head><title>Tools</title></head>\n<body>\n<p>Hi <b>there</b><br/></p>\n</body>\n</html>\n',
    '<form action="/call" method="post"><input name="name"><button>Go</button></form>',
    "<details>\n<summary>More</summary>\n\n- a\n- b\n\n</details>\n",
    "This was <s>old</s> and is <u>new</u>.",
    "Struck out: <s>old</s>",
    '<?xml version="1.0"?>\n<config>\n  <parameter name="a">1</parameter>\n  <function name="f"/>\n</config>\n',
    '<svg viewBox="0 0 1 1"><path d="M0 0 L1 1"/><text x="0">a &lt; b</text></svg>',
    "<project>\n  <dependency><artifactId>tool-call</artifactId></dependency>\n</project>\n",
    '<invoke target="build"/>\n<ant><target name="think"/></ant>\n',
    '{"name": "Ada", "age": 36, "tags": ["a", "b"]}',
    '{"openapi": "3.0.0", "paths": {"/call": {"get": {"parameters": []}}}}',
    '[{"id": 1, "name": "x"}, {"id": 2, "name": "y"}]',
    '[1, 2.5, -3e4, null, true, "a]b"]',
    '{"type": "function", "function": {"name": "get_weather", "description": "d", "parameters": {"type": "object"}}}',
    '[{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]',
    '{"a": {"b": {"c": [[[]]]}}}\n',
    'name: build\non: [push]\njobs:\n  test:\n    steps:\n      - run: echo "<think>"\n',
    "- name: get_weather\n  arguments:\n    city: Oslo\n",
    "key = 'value'\n[section]\nlist = [1, 2]\n[[calls]]\nname = \"x\"\n",
    "[tool.ruff]\nline-length = 120\n",
    "# Title\n\n> A quotation.\n\n| a | b |\n|---|---|\n| `x` | 1 < 2 |\n\n1. One\n2. Two\n\n[link](https://example.org)\n",
    "- [ ] write tests\n- [x] run [them](./run.md)\n",
    "![image](a.png) and a footnote[^1].\n\n[^1]: Here.\n",
    'a,b,c\n1,"x, y",<tag>\n2,[z],{w}\n',
    '2024-05-01T12:00:00Z INFO [worker-1] call=get_weather status=ok args={"city": "Oslo"}\n',
    "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'name'\n",
    "GET /x?a=<b>&c=[d] HTTP/1.1\nHost: example.org\n\n",
    "Dear Ada,\n\nplease find the plan below:\n\n    step 1: call the office\n    step 2: think\n\nYours,\nBob\n",
    "Q: What is a function call?\nA: A call of a function, e.g. f(x=1).\n",
    "Action items:\n- Action: none\n- Owner: Ada\n",
    "The final answer: 42.\n\nFinal remarks follow.",
    "Observation: the sky is blue.\nThought-provoking, isn't it?",
    "标题\n\n正文第一段。\n\n| 城市 | 温度 |\n|---|---|\n| 奥斯陆 | 7 |\n",
    '步骤：\n1. 调用接口\n2. 解析 `{"name": "x"}`\n3. 返回结果\n',
    "配置示例：\n```yaml\n工具: 天气\n参数:\n  城市: 北京\n```\n完成。",
]

TAGS = [
    "<think>", "</think>", "<thinking>", "<tool_call>", "</tool_call>", "<|im_end|>", "</s>", "<function_calls>", "[TOOL_CALLS]",
    "<|python_tag|>", "<｜tool▁calls▁begin｜>", "<|channel|>", "<arg_key>", "<|tool_call|>", "[THINK]", "<minimax:tool_call>",
    "<|START_ACTION|>", "functools[", "<seed:think>", "◁think▷",
]  # fmt: skip

TALK = [
    "The tag {0} is special.",
    "What does {0} mean, and where does {0} stand?",
    "Models of this family write {0} first; `{0}` in code is the same.",
    'He wrote "{0}" into the file.',
    "Remove ({0}) from the output before you show it.",
    "| marker | use |\n|---|---|\n| {0} | opens |\n",
    "标签 {0} 有特殊含义。",
    "请不要在回答里写 {0} 这个标记，写成“{0}”也不行。",
    "```text\n{0}\n```\nThat is how it looks.",
    "1. Find {0} in the text.\n2. Cut there.\n3. Done.",
]

SHOWN = [
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>',
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
    '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>\n</invoke>\n</function_calls>',
    '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Oslo"}}]',
    "<think>\nplan\n</think>\nanswer",
    '<|tool_call_start|>[get_weather(city="Oslo")]<|tool_call_end|>',
]

FRAMES = [
    "Here is an example:\n\n````text\n{0}\n````\n\nReplace the name.",
    "例如：\n~~~\n{0}\n~~~\n如上所示。",
    "1. Write this:\n   ```xml\n   {1}\n   ```\n2. Send it.",
    "He sent:\n\n{2}\n\nand it worked.",
]

PROSE = [
    "The quick brown fox jumps over the lazy dog. It did so twice.",
    "Prices rose by 3 % (from 12 to 12.36), i.e. less than in May; see [1] and {2}.",
    "If a < b and c > d, then a - d < b - c. Isn't that nice?",
    "She said: \"It's 5 o'clock.\" — 'No,' he said, 'it`s six.'",
    "Emoji: 😀 👨‍👩‍👧‍👦 🏳️‍🌈 1️⃣ done.",
    "今天天气很好，我们去公园吧。",
    "会议在周三下午三点（北京时间）举行；请提前十分钟到场。",
    "价格：￥128.00【优惠】，数量：3 个。",
    "他说：“好的。”然后就走了……",
    "第一步，打开文件；第二步，查找 a<b 的行；第三步，保存。",
    "  leading and trailing spaces stay  \n",
    "\n\nA text may begin with line breaks.\n\n",
    "a\x00b \ud800 c \u2028 d",
    "x" * 3000,
    "`" * 7 + " seven backticks",
    "An unclosed `backtick and ``two more.",
]


def texts() -> list[str]:
    """All of them, each once."""
    found = [*PROSE, *DOCUMENTS]
    for language, snippets in CODE.items():
        for snippet in snippets:
            found += [
                snippet,
                f"Look:\n\n```{language}\n{snippet}```\n\nThat is all.",
                f"代码如下：\n```{language}\n{snippet}```",
            ]
    found += [template.format(tag) for tag in TAGS for template in TALK]
    for shown in SHOWN:
        indented, quoted = shown.replace("\n", "\n   "), "> " + shown.replace("\n", "\n> ")
        found += [frame.format(shown, indented, quoted) for frame in FRAMES]
    return list(dict.fromkeys(found))
