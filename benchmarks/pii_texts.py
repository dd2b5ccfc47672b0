"""Texts with personal data, secrets and look-alikes, made from a seed: what bench_pii.py measures on.

All values are made up; those that have check digits have right ones. Sentences, names and templates are our own.
"""

import base64
import json
import random
import string
from dataclasses import dataclass, field

EN = [
    "The kettle is on and the meeting starts at noon.", "Please move the sofa closer to the window.", "I would keep the second draft.",
    "Nobody has touched the garden since spring.", "The train was late, so we walked along the canal.", "That colour suits the kitchen.",
    "Let me think about the order of the chapters first.", "The choir sings better when the hall is warm.", "It rained for the whole weekend.",
    "We can paint the fence once the wood is dry.", "Her answer was short but kind.", "The recipe needs more salt and less haste.",
]  # fmt: skip
ZH = [
    "水开了，先泡一壶茶再说。", "窗边的那盆花该浇水了。", "我更喜欢第二个方案的结尾。", "这条路晚上很安静，适合散步。", "他把旧书都搬到了阁楼上。",
    "先想清楚顺序，再动手写。", "合唱团今晚排练到八点。", "周末下了整整两天的雨。", "等木头干了再刷漆也不迟。", "汤里盐放少了，火也小了些。",
]  # fmt: skip
WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "hazel",
    "iris",
    "juniper",
    "kelp",
    "larch",
    "maple",
    "nettle",
    "olive",
    "poppy",
    "quartz",
    "rowan",
    "sage",
    "thorn",
]
PROVINCES = ["110105", "310104", "440305", "330106", "510104", "420106", "320102", "610113", "370202", "500103"]
CJK_PLATES = "京沪粤浙川鄂苏陕鲁渝"


@dataclass
class Maker:
    """Values and look-alikes from one random source."""

    seed: int
    draw: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)

    def digits(self, count: int) -> str:
        return "".join(self.draw.choice(string.digits) for _ in range(count))

    def some(self, count: int, letters: str = string.ascii_letters + string.digits) -> str:
        return "".join(self.draw.choice(letters) for _ in range(count))

    def luhn(self, prefix: str, length: int) -> str:
        body = prefix + self.digits(length - len(prefix) - 1)
        total = sum(
            int(c) if i % 2 else (2 * int(c) - 9 if 2 * int(c) > 9 else 2 * int(c))
            for i, c in enumerate(reversed(body))
        )
        return body + str(-total % 10)

    def day(self) -> str:
        return f"{self.draw.randint(1948, 2008)}{self.draw.randint(1, 12):02d}{self.draw.randint(1, 28):02d}"

    def cn_id(self) -> str:
        body = self.draw.choice(PROVINCES) + self.day() + self.digits(3)
        total = sum(
            int(c) * w for c, w in zip(body, (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2), strict=True)
        )
        return body + "10X98765432"[total % 11]

    def hk_id(self) -> str:
        letter, number = self.draw.choice(string.ascii_uppercase), self.digits(6)
        total = 36 * 9 + (ord(letter) - 55) * 8 + sum(int(c) * w for c, w in zip(number, range(7, 1, -1), strict=True))
        return f"{letter}{number}({'0123456789A'[-total % 11]})"

    def tw_id(self) -> str:
        letter = self.draw.choice("ABCDEFGHJKLMNPQRSTUV")
        code = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(letter) + 10
        number = self.draw.choice("12") + self.digits(7)
        total = code // 10 + code % 10 * 9 + sum(int(c) * w for c, w in zip(number, range(8, 0, -1), strict=True))
        return letter + number + str(-total % 10)

    def iban(self) -> str:
        country, shape = self.draw.choice(
            [("DE", "0" * 18), ("GB", "AAAA" + "0" * 14), ("FR", "0" * 10 + "A" * 11 + "00"), ("NL", "AAAA" + "0" * 10)]
        )
        body = "".join(self.draw.choice(string.ascii_uppercase if c == "A" else string.digits) for c in shape)
        check = 98 - int("".join(str(int(c, 36)) for c in body + country + "00")) % 97
        plain = f"{country}{check:02d}{body}"
        return plain if self.draw.random() < 0.5 else " ".join(plain[i : i + 4] for i in range(0, len(plain), 4))

    def mobile(self) -> str:
        plain = self.draw.choice(["13", "15", "17", "18", "19"]) + self.digits(9)
        a, b, c = plain[:3], plain[3:7], plain[7:]
        form = self.draw.choice(
            [
                "{p}",
                "{p}",
                "{a}-{b}-{c}",
                "{a} {b} {c}",
                "+86{p}",
                "+86 {a} {b} {c}",
                "+86-{a}-{b}-{c}",
                "(+86){p}",
                "86-{p}",
                "0086{p}",
                "wide",
            ]
        )
        if form == "wide":
            return plain.translate({48 + i: 0xFF10 + i for i in range(10)})
        return form.format(p=plain, a=a, b=b, c=c)

    def phone(self) -> str:
        kind = self.draw.randrange(5)
        if kind < 3:
            return self.mobile()
        if kind == 3:
            return self.draw.choice(["010-", "021-", "0571-", "0755-"]) + self.draw.choice("2345678") + self.digits(7)
        last = f"555-01{self.digits(2)}"
        return self.draw.choice(["+1 (646) ", "(512) ", "+1-303-", "415-"]) + last

    def email(self) -> str:
        local = self.draw.choice([".", "_", "-", ""]).join(self.draw.sample(WORDS, 2)) + self.draw.choice(
            ["", "7", "+list", "2024"]
        )
        domain = self.draw.choice(["{a}.com", "mail.{a}.co.uk", "{a}-{b}.dev", "{a}.com.cn", "größe-{a}.de"])
        at = self.draw.choice(["@"] * 8 + ["＠", " [at] "])
        text = local + at + domain.format(a=self.draw.choice(WORDS), b=self.draw.choice(WORDS))
        return text.replace(".", " [dot] ") if "[at]" in at else text

    def api_key(self) -> str:
        hexes, base64s = string.hexdigits[:16], string.ascii_letters + string.digits + "-_"
        a = self.some
        makers = [
            lambda: "sk-proj-" + a(64, base64s), lambda: "sk-" + a(48), lambda: "sk-" + a(32, hexes), lambda: "sk-ant-api03-" + a(93, base64s) + "AA",
            lambda: "sk-or-v1-" + a(64, hexes), lambda: "ghp_" + a(36), lambda: "github_pat_" + a(22) + "_" + a(59), lambda: "glpat-" + a(20),
            lambda: f"xoxb-{self.digits(12)}-{self.digits(12)}-{a(24)}", lambda: "npm_" + a(36), lambda: "hf_" + a(34), lambda: "gsk_" + a(52),
            lambda: "AKIA" + a(16, string.ascii_uppercase + "234567"), lambda: "AIza" + a(35, base64s), lambda: "GOCSPX-" + a(28, base64s),
            lambda: "LTAI5t" + a(18), lambda: "AKID" + a(32), lambda: a(32, hexes) + "." + a(16), lambda: "sk_live_" + a(24), lambda: "whsec_" + a(32),
            lambda: "SK" + a(32, hexes), lambda: "SG." + a(22, base64s) + "." + a(43, base64s), lambda: "key-" + a(32, hexes), lambda: "dapi" + a(32, hexes),
            lambda: "dop_v1_" + a(64, hexes), lambda: "lin_api_" + a(40), lambda: f"{self.digits(10)}:AA{a(33, base64s)}", lambda: "shpat_" + a(32, hexes),
            lambda: "xai-" + a(80), lambda: "r8_" + a(37), lambda: "pplx-" + a(48), lambda: "nvapi-" + a(64, base64s), lambda: "tvly-" + a(32),
            lambda: "hvs." + a(90, base64s), lambda: "figd_" + a(43, base64s), lambda: "ATATT3" + a(180), lambda: "dckr_pat_" + a(27, base64s),
        ]  # fmt: skip
        return self.draw.choice(makers)()

    def jwt(self) -> str:
        parts = [json.dumps({"alg": "HS256"}), json.dumps({"sub": self.some(8)})]
        return ".".join([*(base64.urlsafe_b64encode(p.encode()).decode().rstrip("=") for p in parts), self.some(43)])

    def pem(self) -> str:
        kind = self.draw.choice(["RSA ", "EC ", "", "OPENSSH "])
        lines = "\n".join(
            self.some(64, string.ascii_letters + string.digits + "+/") for _ in range(self.draw.randint(3, 12))
        )
        return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}\n-----END {kind}PRIVATE KEY-----"

    def wallet(self) -> str:
        if self.draw.random() < 0.5:
            return "0x" + self.some(40, "0123456789abcdef")
        return "bc1q" + self.some(38, "qpzry9x8gf2tvdw0s3jn54khce6mua7l")

    def mac(self) -> str:
        return self.draw.choice(":-").join(self.some(2, "0123456789abcdef") for _ in range(6))

    def ip(self) -> str:
        if self.draw.random() < 0.6:
            return ".".join(str(self.draw.randint(11, 126)) for _ in range(4))
        return "2001:" + ":".join(self.some(4, "0123456789abcdef") for _ in range(7))

    def password(self) -> str:
        if self.draw.random() < 0.3:
            return (
                "".join(word.title() for word in self.draw.sample(WORDS, 3)) + self.draw.choice("#!") + self.digits(3)
            )
        letters = string.ascii_letters + string.digits
        return (
            self.some(2, string.ascii_letters)
            + self.some(self.draw.randint(8, 20), letters + "!#%*_-")
            + self.digits(1)
            + self.some(1, string.ascii_letters)
        )

    def value(self) -> tuple[str, str, str, str]:
        """Type, value, what stands before it, what stands behind it."""
        d = self.draw
        zh = d.random() < 0.5
        kinds = {
            "phone": (self.phone, ("手机号", "，请联系"), ("call ", " tonight")), "id_card": (d.choice([self.cn_id, self.cn_id, self.hk_id, self.tw_id]), ("证件", "已核验"), ("id number ", " on file")),
            "email": (self.email, ("邮箱", "已经失效"), ("write to ", " please")), "api_key": (self.api_key, ("密钥是", "，不要外传"), ("the key ", " was pasted")),
            "credit_card": (lambda: self.luhn(*d.choice([("4", 16), ("52", 16), ("37", 15), ("6011", 16)])), ("信用卡号", "，有效"), ("card ", " expired")),
            "bank_card": (lambda: self.luhn(d.choice(["6217", "6222", "6225"]), d.choice([16, 19])), ("退款到", "即可"), ("the payout account is ", " now")),
            "iban": (self.iban, ("收款账户为", "。"), ("IBAN: ", " today")), "us_ssn": (lambda: f"{d.randint(100, 665)}-{d.randint(10, 99)}-{d.randint(1000, 9999)}", ("社保号", "需要脱敏"), ("her SSN is ", " indeed")),
            "passport": (lambda: "E" + self.digits(8), ("护照号", "，有效"), ("passport ", " was issued")), "ip_address": (self.ip, ("来源地址是", "，已封禁"), ("login from ", " failed")),
            "mac": (self.mac, ("网卡地址", "已登记"), ("mac ", " seen")), "jwt": (self.jwt, ("会话令牌", "过期"), ("session ", " expired")), "private_key": (self.pem, ("私钥：\n", "\n请保管"), ("key file:\n", "\nkeep it")),
            "secret": (self.password, ("密码是", " 请修改"), ("password: ", " for now")), "crypto_wallet": (self.wallet, ("钱包地址：", "，转账"), ("send it to ", " soon")),
            "url_credential": (lambda: f"{d.choice(WORDS)}:{self.some(12)}7", ("连接串redis://", "@cache.internal"), ("db postgres://", "@db.internal/x")),
            "license_plate": (lambda: d.choice(CJK_PLATES) + d.choice("ABCEF") + self.digits(3) + self.some(2, "ABCDEFGH"), ("一辆", "停着"), ("plate ", " parked")),
        }  # fmt: skip
        kind = d.choice(list(kinds))
        make, chinese, english = kinds[kind]
        before, behind = chinese if zh else english
        return kind, make(), before, behind

    def look_alike(self) -> str:
        d = self.draw
        forms = [
            lambda: f"{d.random():.16f}", lambda: str(d.randint(1_500_000_000_000, 1_790_000_000_000)), lambda: self.some(40, "0123456789abcdef"),
            lambda: f"{d.randint(1, 9)}.{d.randint(1, 30)}.{d.randint(1, 99)}", lambda: f"version {d.randint(1, 9)}.{d.randint(1, 9)}.{d.randint(1, 9)}.{d.randint(1, 255)}",
            lambda: f"{d.randint(0, 23):02d}:{d.randint(0, 59):02d}:{d.randint(0, 59):02d}", lambda: f"2024-0{d.randint(1, 9)}-1{d.randint(0, 9)}T08:{d.randint(10, 59)}:00Z",
            lambda: f"2024{self.digits(14)}", lambda: f"@{d.choice(WORDS)}/{d.choice(WORDS)}@{d.randint(1, 9)}.0.{d.randint(1, 9)}", lambda: f"git@github.com:{d.choice(WORDS)}/{d.choice(WORDS)}.git",
            lambda: f"{d.choice(WORDS)}@2x.png", lambda: "api_key: YOUR_API_KEY_HERE", lambda: f"sk-{d.choice(WORDS)}-{d.choice(WORDS)}-{d.choice(WORDS)}", lambda: f"138****{self.digits(4)}",
            lambda: f"std::{d.choice(WORDS)}::{d.choice(WORDS)}", lambda: f"pp. {self.digits(4)}-{self.digits(4)}", lambda: f"#{self.some(6, '0123456789abcdef')}", lambda: f"ISBN 978{self.digits(10)}",
            lambda: "-".join(self.some(n, "0123456789abcdef") for n in (8, 4, 4, 4, 12)), lambda: f"{self.digits(2)},{self.digits(3)},{self.digits(3)}", lambda: "token = get_token(user)",
        ]  # fmt: skip
        return d.choice(forms)()


def sentence(maker: Maker) -> str:
    return maker.draw.choice(ZH) if maker.draw.random() < 0.5 else maker.draw.choice(EN) + " "


def benign(seed: int, count: int) -> list[str]:
    """Texts of about 250 bytes without personal data; 30 % hold one look-alike."""
    maker = Maker(seed)
    texts = []
    for _ in range(count):
        parts = [f"See {maker.look_alike()} there. "] if maker.draw.random() < 0.3 else []
        while sum(len(part.encode()) for part in parts) < 215:
            parts.append(sentence(maker))
        maker.draw.shuffle(parts)
        texts.append("".join(parts))
    return texts


def labelled(seed: int, count: int, values: tuple[int, int]) -> list[dict]:
    """Rows with `text` and `spans`; each text is prose, a log, a table, or JSON, plain, nested or ASCII-escaped."""
    maker = Maker(seed)
    return [_row(maker, f"own-{seed}-{number}", maker.draw.randint(*values)) for number in range(count)]


def _row(maker: Maker, row_id: str, values: int) -> dict:
    parts: list[tuple[str, str | None]] = []
    for _ in range(values):
        kind, value, before, behind = maker.value()
        parts += [
            (sentence(maker) + before, None),
            (value, kind),
            (behind + maker.draw.choice([". ", "\n", "；"]), None),
        ]
    for _ in range(maker.draw.randint(0, 2)):
        parts.append((f"See {maker.look_alike()} there. ", None))
    escape = maker.draw.choice([_plain, _plain, _plain, _json, _nested, _ascii])
    head, foot = {_plain: ("", "")}.get(escape, (escape('{"body": "', quote=False), escape('"}', quote=False)))
    text, spans = head, []
    for part, kind in parts:
        shown = escape(part)
        if kind:
            spans.append({"start": len(text), "end": len(text) + len(shown), "type": kind})
        text += shown
    return {"id": row_id, "text": text + foot, "spans": spans}


def _plain(text: str, *, quote: bool = True) -> str:  # noqa: ARG001 - as its sisters
    return text


def _json(text: str, *, quote: bool = True) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1] if quote else text


def _ascii(text: str, *, quote: bool = True) -> str:
    return json.dumps(text)[1:-1] if quote else text


def _nested(text: str, *, quote: bool = True) -> str:
    inner = _json(text) if quote else text
    return json.dumps(inner, ensure_ascii=False)[1:-1]
