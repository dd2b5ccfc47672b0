"""Streams full of marked personal data in every place a model may put it, and the marks that must never come out."""

PHONE = "13907284615"
SPACED = "+86 139 0728 4615"
MAIL = "qzx.marker@lantern-hall.org"
ID = "11010519491231002X"
KEY = "sk-proj-Zk3vQ81xPq7mNw2LtYb5RcD9HsJf4GaUe6TiOoXp"
SECRET = "Qz7#mArk!99xW"
CARD = "4591 1154 5621 8471"
URL = "admin:Zx81!mark77@db.internal"
MARKS = (PHONE, "139 0728 4615", MAIL, ID, KEY, SECRET, CARD, "Zx81!mark77")

TOOLS = (
    {
        "type": "function",
        "function": {
            "name": "send_message",
            "description": f"Sends a text, for example to {MAIL}.",
            "parameters": {
                "type": "object",
                "properties": {"to": {"type": "string"}, "body": {"type": "string"}, "tel": {"type": "integer"}},
                "required": ["to", "body"],
            },
        },
    },
)

_CALL = f'{{"name": "send_message", "arguments": {{"to": "{MAIL}", "body": "{{\\"tel\\": \\"{PHONE}\\", \\"password\\": \\"{SECRET}\\"}}", "tel": {PHONE}}}}}'
_BROKEN = f"{{'name': 'send_message', arguments: {{'to': '{MAIL}', 'body': 'id {ID}', 'tel': '{PHONE}', }}"

STREAMS = {
    "reasoning and answer": f"<think>The user is {MAIL}, phone {SPACED}. 身份证{ID}。 Wait, the card is {CARD}.</think>\nI will call {PHONE}.",
    "call": f"<think>send</think>\n<tool_call>\n{_CALL}\n</tool_call>",
    "broken call": f"<tool_call>\n{_BROKEN}\n</tool_call>\nDone, 密码是{SECRET} 请修改。",
    "cut call": f"ok <tool_call>\n{_CALL[:-30]}",
    "unknown tool": f'<tool_call>\n{{"name": "send_massage_to", "arguments": {{"to": "{MAIL}"}}}}\n</tool_call>',
    "state": f'<!-- contact: {{"tel": "{PHONE}", "mail": "{MAIL}", "key": "{KEY}"}} -->\nSaved. 手机号{PHONE}。',
    "soup": f"<|tool▁sep|>{PHONE}<function=send_message<parameter=to>{MAIL}</parm> </tool_call> </think> <call:{ID}> {KEY}",
    "fence": f'```json\n{{"api_key": "{KEY}", "url": "postgres://{URL}/x"}}\n```\n',
    "escaped": f'<tool_call>{{"name": "send_message", "arguments": "{{\\"to\\": \\"\\\\u0071zx.marker@lantern-hall.org\\", \\"body\\": \\"{PHONE}\\"}}"}}</tool_call>',
    "python call": f'```python\nsend_message(to="{MAIL}", body="card {CARD}", tel={PHONE})\n```',
    "plain xml": f'<function_calls><invoke name="send_message"><parameter name="to">{MAIL}</parameter><parameter name="body">{ID}</parameter></invoke></function_calls>',
    "long soup": "x " * 230 + f"<|unknown|>{PHONE}" + " y" * 260 + f"<|unknown|>{MAIL} password={SECRET}",
}  # fmt: skip


def leaked(text: str | bytes) -> list[str]:
    """Marks that stand in it, whole or as the first or last eight characters of their digits or letters."""
    text = text if isinstance(text, str) else text.decode("utf-8", "replace")
    return [mark for mark in MARKS if mark in text or mark[-8:] in text or mark[:8] in text.replace("sk-proj-", "")]
