"""Booleans and words of an enum: other spellings, synonyms, slips of the pen."""

# ruff: noqa: ARG005 - tests and makers of a table take the same arguments, used or not
from benchmarks.damage.faults import REFUSE, Fault, Raw, fault, is_bool, is_enum, misspelt, replaced

FAULTS: dict[str, Fault] = {}


@fault(FAULTS)
def boolean_word(row):
    words = {
        True: ["true", "True", "yes", "Yes", "on", 1, "oui", "ja", "是", "はい"],
        False: ["false", "False", "no", "NO", "off", 0, "non", "nein", "否", "いいえ"],
    }
    return replaced(row, is_bool, lambda k, s, v, r: (r.choice(words[v]), v))


@fault(FAULTS)
def python_literals(row):
    return replaced(row, is_bool, lambda k, s, v, r: (Raw(str(v)), v))


@fault(FAULTS)
def enum_case(row):
    return replaced(row, is_enum, lambda k, s, v, r: (r.choice([v.upper(), v.title(), " " + v, v + " "]), v))


@fault(FAULTS)
def enum_decorated(row):
    return replaced(
        row,
        is_enum,
        lambda k, s, v, r: (
            r.choice(["`{v}`", '"{v}"', "{v}.", "{k}: {v}", "{v} ({k})", "'{v}'", "<{v}>"]).format(k=k, v=v),
            v,
        ),
    )


@fault(FAULTS)
def enum_near_miss(row):
    key = row.pick(lambda k, s: is_enum(k, s) and row.args[k].isascii() and len(row.args[k]) >= 5)
    if not key:
        return False
    row.want[key], row.args[key] = row.args[key], misspelt(row.args[key], row.rng)
    return row.args[key] != row.want[key]


SYNONYMS = {
    "overwrite": ["replace", "覆盖"],
    "warning": ["warn", "警告"],
    "error": ["err", "错误"],
    "jpeg": ["jpg"],
    "utf-8": ["UTF8", "unicode"],
    "latin-1": ["iso-8859-1"],
    "staging": ["stage", "stg", "预发布"],
    "production": ["prod", "live", "生产"],
    "private": ["私有"],
    "public": ["everyone", "公开"],
}


@fault(FAULTS)
def enum_synonym(row):
    key = row.pick(lambda k, s: is_enum(k, s) and row.args[k] in SYNONYMS)
    if not key:
        return False
    row.want[key], row.args[key] = row.args[key], row.rng.choice(SYNONYMS[row.args[key]])
    return True


@fault(FAULTS)
def enum_unrelated(row):
    row.why = "enum_no_match"
    return replaced(
        row,
        is_enum,
        lambda k, s, v, r: (r.choice(["as the crow flies", "mauve", "seventy-one", "no idea", "随便"]), REFUSE),
    )
