"""A user's text → tokens: time words by class, numbers and written dates, all else as one `x` between them.

What cannot be time is taken out here: links, addresses, versions, money, ids, numbers that name or count something,
and quoted text that says more than a period. Offsets are those of the text: every change is one character for one.
"""

import re
from functools import cache

from processors.periods.lexicon import cues, lexicon, misspelt
from processors.periods.literals import Token, literal
from processors.periods.reading import Context

_WIDE = {ord("　"): " ", ord("〜"): "~", ord("～"): "~", ord("’"): "'", ord("‘"): "'", ord("ʼ"): "'", ord("−"): "-"}
_WIDE |= {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5E)}
_TRADITIONAL = (
    "週個號後點兩這禮內從來間時鐘國慶節聖誕當過開現萬勞動兒婦軍陽曆農財歲頭續結啟後與還對較環預約訂計劃幾數雙購物暫應該齊晝裡裏佔佈並於為們訊無號醫樓",
    "周个号后点两这礼内从来间时钟国庆节圣诞当过开现万劳动儿妇军阳历农财岁头续结启后与还对较环预约订计划几数双购物暂应该齐昼里里占布并于为们讯无号医楼",
)
"""Traditional letters of time words and their neighbours, as the lexicon writes them."""
_WIDE |= {ord(old): new for old, new in zip(*_TRADITIONAL, strict=True)}
_SLIPS = re.compile(
    r"(?<=[上下这那本几两一二三四五六七八九十半整])各(?=月|季度|星期|礼拜|周末|钟头|小时|半年)|(?<!工)作(?=天(?!地))|夭(?![折寿亡])"
)
"""Letters that stand for others that sound or look alike: 上各月, 作天, 昨夭."""
_MEANT = {"各": "个", "作": "昨", "夭": "天"}
_PUNCTUATION = {"comma": ",、", "dash": "-–—~", "slash": "/", "poss": "'"}
_STOPS = ".;!?:\n()。[]{}|…"
_KIND_OF = {letter: kind for kind, letters in _PUNCTUATION.items() for letter in letters}
_KIND_OF |= dict.fromkeys(_STOPS, "stop") | {"&": "and", "+": "and", "'s": "poss"}
_MARKS: dict[str, tuple[str, int | str]] = {"年": ("nian", "year"), "月": ("yue", "month"), "日": ("ri", "day")}
_MARKS |= {"点": ("dian", 0), "前": ("qian", 1), "后": ("hou", 1)}
_NUMERALS = frozenset("0123456789零〇一二两三四五六七八九十")
_AGES = ("年级", "年龄", "年轻", "年纪", "点评", "点赞", "点击", "点数")
_SUFFIXES = {"d": ("unit", "day"), "w": ("unit", "week"), "y": ("unit", "year"), "h": ("hunit", "hour")}
_ADDRESS_MARKS = ("@", "://", "www.", "`", "localhost:")
_PORT_OR_PATH = re.compile(r"\.[a-z\d-]{1,63}:\d|(?<!\S)/[a-z]")
_QUOTED = re.compile(r"《[^《》\n]{1,200}》|[“「『][^”」』\n]{1,400}[”」』]|\"[^\"\n]{1,400}\"")
NAMES_TOO = frozenset({"mon", "wmon"})
PEOPLE = frozenset({"april", "may", "june", "august"})
NEAR_CHARS = 24
"""How far before a number the word that makes it an id may begin."""


def normalise(text: str) -> str:
    """Lower case and plain width, one character for one, so that offsets stay valid."""
    plain = text if text.isascii() else text.translate(_WIDE)
    lower = plain.lower()
    if len(lower) != len(plain):
        lower = "".join(small if len(small := letter.lower()) == 1 else letter for letter in plain)
    return lower if lower.isascii() else _SLIPS.sub(lambda slip: _MEANT[slip[0]], lower)


@cache
def _scanner() -> re.Pattern[str]:
    """The pattern of all tokens; what starts with a letter first, since most places of a text do."""
    named = _letters() | _chinese() | _numbers()
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in named.items()))


_ADDRESS = re.compile(
    r"https?://[!-~]+|www\.[!-~]+|(?<![a-z\d.-])(?:localhost|[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,4}):\d{2,5}(?:/[!-~]*)?"
    r"|(?<!\S)/[a-z][!-~]*|(?<![a-z0-9._+-])[a-z0-9._+-]{1,64}@[a-z0-9.-]+|`[^`\n]*`"
)
_YEAR = r"(?:19|20)\d\d"
_END = r"(?![a-z\d])"


def _letters() -> dict[str, str]:
    return {
        "qy": rf"[qh][ -]?[1-4](?:[-/ ]?{_YEAR}| ?'\d\d|[-/]\d\d)(?![a-z\d%年])(?![-/:.]\d)",
        "qh": rf"[qh][ -]?[1-4]{_END}",
        "fy": rf"fy ?'?(?:{_YEAR}|\d\d)(?:[-/]\d\d(?:\d\d)?)?(?!\d)",
        "cy": rf"cy ?{_YEAR}{_END}",
        "suffix": r"(?<=\d)[dwyh](?![a-z\d])",
        "latin": rf"(?:{lexicon().latin_phrases})(?![a-z\d])",
        "word": r"[a-z]+(?![a-z]|[-_]?\d)(?:-(?:date|to)(?![a-z])|'(?!s(?![a-z]))[a-z]+)?",
    }


def _chinese() -> dict[str, str]:
    return {
        "weekday": r"(?<=[周期拜])(?:一(?![共起直定般样些切旦度边并律次个家名百千万条批款周年月天键])(?!下(?!午))"
        r"|二(?![手次维线期季十百月年])|三(?![个家名方款大星次件种条位十百天四成月年])|四(?![个家川大十季名种款次件成月年])"
        r"|五(?![个家大名十种款次件位百金成月年])|六(?![个家安大十名种款次百成月年])"
        r"|日(?![均志常语元韩产化光销]|活(?!动)|报(?![表名告销修到警])|程(?!度)|记(?!录)|本(?![店部人地科])|用(?![户电水量]))"
        r"|天(?![天气猫津数河才])|[1-7](?![\d个家名.:%点万千]))|(?<=周)末",
        "place": r"(?:五一|五四|六一|七一|八一|三八|国庆|建国|元旦)"
        r"(?:大道|大街|广场|公园|商场|大桥|新村|[路街村桥站镇]|[东西南北中]路)",
        "eleven": r"十一(?=假期|长假|黄金周|小长假|期间|放假|当天|国庆)",
        "mark": r"(?<=[\d零〇一二三四五六七八九十])[年月日](?=环比|同比)"
        r"|[年月](?=中(?:秋|国|间|心|文|等|小|大|旬|学)|底(?:价|薪|层|部|盘|特)"
        r"|初(?:稿|始|级|步|审|试)|内(?:部|容|存|测|业|蒙)"
        r"|末[端日])|前(?=提醒|提交|提供)|后(?=提醒|提交|台风)",
        "quarter": r"(?<=[去今明前\d]年)第?[一二三四1-4]季(?![度节末初报])",
        "upto": r"[到至](?=今[天日](?:[\d一二两三四五六七八九十]|[上下]午|凌晨|中午|清晨|傍晚|早上|晚上))",
        "chinese": lexicon().chinese,
        "numeral": r"[零〇一二两三四五六七八九十百]+",
    }


def _numbers() -> dict[str, str]:
    return {
        "mask": r"\d+(?:\.\d+)?% of \d[\d,.]*|[$€£¥] ?\d[\d,.]*[kmb]?|#[a-z\d]+",
        "moment": r"\d{4}-\d\d-\d\dt\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:z|[+-]\d\d:?\d\d)?",
        "ymd": rf"{_YEAR}(?:-\d\d?-|/\d\d?/|\.\d\d?\.)\d\d?(?!\d)(?!\.\d|-\d\d?(?![\d./]))",
        "md": r"(?<=[-~–—至到])\d\d?[./]\d\d?(?![\d./])",
        "dmy": rf"\d\d?(?:-\d\d?-|/\d\d?/|\.\d\d?\.){_YEAR}(?![\d])|\d\d?/\d\d?/\d\d(?![\d/])",
        "isoweek": rf"{_YEAR}-?w\d\d?{_END}",
        "yq": rf"(?:{_YEAR}|\d\d)[-/ ]?[qh][1-4]{_END}",
        "nq": rf"[1-4][qh](?:[-/ ]?(?:{_YEAR}|'?\d\d))?{_END}",
        "ym": rf"{_YEAR}(?:[-/](?:0?[1-9]|1[0-2])|\.(?:0[1-9]|1[0-2]))(?!\d)(?![/.]\d|-\d\d?(?!\d))(?!-?[qhw]\d)",
        "my": rf"(?:0?[1-9]|1[0-2])/{_YEAR}(?![\d/])",
        "decade": r"(?:(?:19|20)\d0|'?\d0)'?s(?![a-z])",
        "splityear": rf"{_YEAR}[-/]\d\d(?!\d)(?![-/.]\d)",
        "clock": r"\d\d?:\d\d(?::\d\d)?(?: ?[ap]\.?m(?![a-z])\.?)?(?![\d:])|\d\d?(?:\.\d\d)? ?[ap]\.?m(?![a-z])\.?",
        "ymd8": rf"{_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?![\d-])",
        "ordinal": r"\d\d?(?:st|nd|rd|th)(?![a-z])",
        "glued": r"\d{1,3}(?=(?:d|w|wk|wks|mo|mos|yr|yrs|y|h|hr|hrs|days?|weeks?|months?|years?|mins?"
        r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6})(?![a-z\d]))",
        "number": rf"\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)+|\d+%|\d{{2,}}(?:-\d{{2,}}){{2,}}|\d{{5,}}[a-z\d-]*"
        rf"|\d+[a-z_][a-z\d_-]*|(?:{_YEAR}(?!\d))|\d{{1,4}}",
        "shortyear": r"'\d\d(?![\da-z])",
        "span": r"(?<=\d)\.\.(?=\d)",
        "id": r"(?!(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*-|(?:pre|post|mid|early|late)-)"
        r"[a-z]+[-_]?\d[a-z\d_-]*",
        "tail": r"[a-z]+",
        "point": r"'s(?![a-z])|[-–—~,、/'.;!?:\n()。\[\]{}|…&+]",
    }


def tokens_of(text: str, context: Context) -> list[Token]:
    """Tokens of a normalised text, in order; everything between them that is no blank is one `x`."""
    found: list[Token] = []
    words, done = lexicon().words, 0
    has_addresses = any(mark in text for mark in _ADDRESS_MARKS) or _PORT_OR_PATH.search(text) is not None
    if has_addresses:
        text = _ADDRESS.sub(lambda address: "\0" * len(address[0]), text)
    for match in _scanner().finditer(text):
        name, (start, end) = match.lastgroup, match.span()
        if name == "word" or name == "latin" or name == "chinese" or name == "tail":  # noqa: PLR1714 - the hot line
            entry = words.get(match.group()) or (misspelt(match.group()) if name == "word" else None)
            if entry is None:
                continue
            if entry.kind in NAMES_TOO and _is_person(text, start, end):
                continue
            if entry.kind in ("x", "often") and _is_counted(text, start):
                token = _marked(text[start], start)
            elif entry.kind != "x":
                token = Token(entry.kind, start, end, entry.value)
            else:
                continue
        elif (read := _token(name or "", match.group(), start, context)) is not None:
            token = read
        else:
            continue
        if start > done and not text[done:start].isspace():
            found.append(Token("x", done, start))
        found.append(token)
        done = token.end
    if text[done:].strip():
        found.append(Token("x", done, len(text)))
    return _without_quotes(text, found)


def _token(name: str, text: str, start: int, context: Context) -> Token | None:
    """What is no word of the lexicon; None if it is no time either."""
    if name in ("mask", "id", "place"):
        return None
    if name == "point":
        return Token(_KIND_OF[text], start, start + len(text))
    if name == "mark":
        return _marked(text, start)
    if name == "quarter":
        return Token(
            "q", start, start + len(text), "零一二三四".find(text[-2]) if text[-2] in "一二三四" else int(text[-2])
        )
    if name == "upto":
        return Token("to", start, start + 1)
    if name == "span":
        return Token("dash", start, start + len(text))
    if name == "suffix":
        return _suffix(text, start, start + len(text))
    token = literal(name, text, start, context)
    return None if token is None or _is_no_time(context.text, token) else token


def _is_person(text: str, start: int, end: int) -> bool:
    """Whether April, May, June, August stand where a name stands, and no number behind them."""
    if text[start:end] not in PEOPLE or text[end : end + 2].strip()[:1].isdigit():
        return False
    return _ends_with_cue("person_before", text[max(0, start - NEAR_CHARS) : start].rstrip())


def _is_counted(text: str, start: int) -> bool:
    """Whether an everyday word that begins with 年, 月, 日 or 点 stands right after a number: 5月|会员数, not 月会."""
    is_unit = text[start] in "年月日点" and start > 0 and text[start - 1] in _NUMERALS
    return is_unit and not text.startswith(_AGES, start)


def _marked(letter: str, start: int) -> Token:
    kind, held = _MARKS[letter]
    return Token(kind, start, start + 1, held)


def _suffix(letter: str, start: int, end: int) -> Token:
    kind, unit = _SUFFIXES[letter]
    return Token(kind, start, end, unit)


def _is_no_time(text: str, token: Token) -> bool:
    """Whether a number is a name (room 2031) or counts something (2025 dollars)."""
    if token.kind not in ("n", "y4", "Month", "Day") or (token.kind == "Day" and token.end - token.start != 8):
        return False
    before = text[max(0, token.start - NEAR_CHARS) : token.start].rstrip(" #:：'\"(（")
    after = text[token.end : token.end + NEAR_CHARS].lstrip(" -")
    if token.kind == "y4" and after.startswith("年"):
        return False
    return _ends_with_cue("id_before", before) or (
        token.kind in ("n", "y4") and _starts_with_cue("counted_after", after)
    )


@cache
def _edges() -> dict[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    return {
        cue: (re.compile(latin.pattern + r"\Z"), re.compile(rf"(?:{chinese.pattern})\Z"))
        for cue, (latin, chinese) in cues().items()
        if cue in ("id_before", "person_before")
    }


def _ends_with_cue(cue: str, text: str) -> bool:
    latin, chinese = _edges()[cue]
    return bool(latin.search(text) or (not text.isascii() and chinese.search(text)))


def _starts_with_cue(cue: str, text: str) -> bool:
    latin, chinese = cues()[cue]
    return bool(latin.match(text) or (not text.isascii() and chinese.match(text)))


def _without_quotes(text: str, tokens: list[Token]) -> list[Token]:
    """Tokens without those of quotations that say more than a period: they are content, not the request."""
    if not any(quote in text for quote in '《“「『"'):
        return tokens
    for match in _QUOTED.finditer(text):
        start, end = match.span()
        inside = [token for token in tokens if token.start < end - 1 and token.end > start + 1]
        says_more = any(t.kind == "x" and text[max(t.start, start + 1) : min(t.end, end - 1)].strip() for t in inside)
        if text[start] == "《" or says_more:
            kept = [token for token in tokens if token.end <= start + 1 or token.start >= end - 1]
            tokens = sorted([*kept, Token("x", start, end)], key=lambda token: token.start)
    return tokens
