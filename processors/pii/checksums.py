"""Matched text → whether it can be what its shape says: check digits, calendars, issuers, address forms.

What python-stdnum and phonenumbers have is taken from there; what is here they lack or decide differently. The county
rule of `stdnum.cn.ric` is left out: people registered late carry codes that did not exist when they were born.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from ipaddress import AddressValueError, IPv6Address

from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata
from stdnum.cn import ric

from processors.pii.secrets import is_value, key_value, password_value, random_token, token_value, userinfo

VERSION_PART_MAX = 63
"""Greatest part of a version with four that is thought likely."""
_NOT_ALNUM = re.compile(r"[^0-9A-Za-z]+")
_PROVINCES = frozenset(map(str, (*range(11, 16), 21, 22, 23, *range(31, 38), *range(41, 47), *range(50, 55),
                                 *range(61, 66), 71, 81, 82, 83)))  # fmt: skip
"""GB/T 2260 province codes, with 71 and 81 to 83 for residents of Taiwan, Hong Kong and Macao (GB 11643)."""
IBAN_CHARS = {
    country: chars
    for countries, chars in (
        ("NO", 15),
        ("BE", 16),
        ("DK FI FK FO GL NL SD", 18),
        ("MK SI", 19),
        ("AT BA EE KZ LT LU MN XK", 20),
        ("CH HR LI LV", 21),
        ("BG BH CR DE GB GE IE ME RS VA", 22),
        ("AE GI IL IQ OM SO TL", 23),
        ("AD CZ ES MD PK RO SA SE SK TN VG", 24),
        ("LY PT ST", 25),
        ("IS TR", 26),
        ("BI DJ FR GR IT MC MR SM", 27),
        ("AL AZ BY CY DO GT HN HU LB NI PL SV", 28),
        ("BR EG PS QA UA", 29),
        ("JO KW MU YE", 30),
        ("MT SC", 31),
        ("LC", 32),
        ("RU", 33),
    )
    for country in countries.split()
}
"""SWIFT IBAN registry: characters by country."""
_VALUES = bytes(code - 48 if 48 <= code < 58 else 0 for code in range(256))
_DOUBLED = bytes((2 * value // 10 + 2 * value % 10) if value < 10 else 0 for value in range(256))
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_HK_LETTERS = {letter: 10 + place for place, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ")}
_TW_LETTERS = {letter: 10 + place for place, letter in enumerate("ABCDEFGHJKLMNPQRSTUVXYWZIO")}
_BASE58 = {letter: place for place, letter in enumerate("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")}
_ASSET_ENDINGS = frozenset(
    {"png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "bmp", "css", "js", "ts", "jsx", "tsx", "py", "json", "yaml",
     "yml", "html", "txt", "pdf"}
)  # fmt: skip
_E164_DIGITS = range(7, 16)


def luhn(text: str) -> bool:
    """Whether the Luhn sum of the digits is right (ISO/IEC 7812-1)."""
    digits = text.encode("ascii", "replace").translate(_VALUES, b" -")
    return (sum(digits[::-2]) + sum(digits[-2::-2].translate(_DOUBLED))) % 10 == 0


def iban(text: str) -> bool:
    """Whether length and check digits fit the country (ISO 13616)."""
    number = text.replace(" ", "").replace("-", "")
    if IBAN_CHARS.get(number[:2]) != len(number):
        return False
    return int("".join([str(int(letter, 36)) for letter in number[4:] + number[:4]])) % 97 == 1


def _is_day(year: int, month: int, day: int) -> bool:
    if not (1 <= month <= 12 and 1 <= day <= _DAYS[month - 1]):
        return False
    return month != 2 or day < 29 or (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))


def cn_id18(text: str) -> bool:
    """Whether an 18-character Chinese id has a province, a birthday and the right check digit (GB 11643-1999)."""
    number = _NOT_ALNUM.sub("", text).upper()
    if number[:2] not in _PROVINCES or not _is_day(int(number[6:10]), int(number[10:12]), int(number[12:14])):
        return False
    return bool(ric.calc_check_digit(number) == number[17])


def cn_id15(text: str) -> bool:
    """Whether a 15-digit Chinese id of before 1999 has a province and a birthday; it has no check digit."""
    return text[:2] in _PROVINCES and _is_day(1900 + int(text[6:8]), int(text[8:10]), int(text[10:12]))


def hk_id(text: str) -> bool:
    """Whether a Hong Kong identity card number has the right check digit (weights 9 to 1, modulo 11)."""
    number = _NOT_ALNUM.sub("", text)
    values = [36] * (9 - len(number)) + [_HK_LETTERS.get(c, -1) if c.isalpha() else int(c) for c in number[:-1]]
    check = 10 if number[-1] == "A" else int(number[-1])
    return (sum(value * weight for value, weight in zip(values, range(9, 1, -1), strict=True)) + check) % 11 == 0


def tw_id(text: str) -> bool:
    """Whether a Taiwan national or resident id has the right check digit (weights 1, 9 to 1, 1, modulo 10)."""
    letter = _TW_LETTERS[text[0]]
    digits = [letter // 10, letter % 10, *(int(c) for c in text[1:])]
    weights = (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1)
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=True)) % 10 == 0


@lru_cache(maxsize=512)
def _national(country: str) -> tuple[frozenset[int], tuple[re.Pattern[str], ...]]:
    regions = COUNTRY_CODE_TO_REGION_CODE.get(int(country), ())
    lengths: set[int] = set()
    patterns = []
    for region in regions:
        metadata = PhoneMetadata.metadata_for_region_or_calling_code(int(country), region)
        if metadata is not None and metadata.general_desc is not None:
            national = metadata.general_desc.national_number_pattern or ""
            lengths.update(n for n in metadata.general_desc.possible_length if n > 0)
            patterns.append(re.compile(national))
    return frozenset(lengths), tuple(patterns)


def phone_international(text: str) -> bool:
    """Whether a number with its country code is one that the country's numbering plan has.

    The plan is libphonenumber's metadata (country codes, national lengths and shapes), read without its parser, which
    takes 50 times as long. A trunk zero in parentheses is skipped.
    """
    digits = _NOT_ALNUM.sub("", text.replace("(0)", ""))
    digits = digits.removeprefix("00")
    if len(digits) not in _E164_DIGITS:
        return False
    for size in (1, 2, 3):
        lengths, patterns = _national(digits[:size])
        rest = digits[size:]
        if len(rest) in lengths and any(pattern.fullmatch(rest) for pattern in patterns):
            return True
    return False


def ipv4(text: str) -> bool:
    """Whether a dotted quad is the address of some machine, not loopback, "any" or broadcast."""
    return not text.startswith(("127.", "0.")) and text != "255.255.255.255"


def ipv4_wide(text: str) -> bool:
    """Whether it is that and no likely version: in those no part is great, but for addresses of private networks."""
    return ipv4(text) and (text.startswith("10.") or any(int(part) > VERSION_PART_MAX for part in text.split(".")))


def ipv6(text: str) -> bool:
    """Whether the text is an IPv6 address of some machine (RFC 4291)."""
    try:
        address = IPv6Address(text)
    except AddressValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)


def base58check(text: str) -> bool:
    """Whether the last four bytes are the double SHA-256 of the rest (Bitcoin, Tron addresses)."""
    number = 0
    for letter in text:
        number = number * 58 + _BASE58[letter]
    if number >> 200:
        return False
    data = number.to_bytes(25, "big")
    return sha256(sha256(data[:21]).digest()).digest()[:4] == data[21:]


def mail_domain(text: str) -> bool:
    """Whether an address ends in a domain and not in a file name's ending."""
    return text.rpartition(".")[2].lower() not in _ASSET_ENDINGS


def has_digit(text: str) -> bool:
    """Whether at least one ASCII digit is there."""
    return any("0" <= letter <= "9" for letter in text)


CHECKS: dict[str, Callable[[str], bool]] = {
    check.__name__: check
    for check in (
        luhn, iban, cn_id18, cn_id15, hk_id, tw_id, phone_international, ipv4, ipv4_wide, ipv6, base58check,
        mail_domain, has_digit, is_value, key_value, password_value, random_token, token_value, userinfo,
    )
}  # fmt: skip
"""What a rule may name as its `check`."""
