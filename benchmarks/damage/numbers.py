"""Numbers in other clothes: as text, as words, grouped, with units, as sums."""

# ruff: noqa: ARG005 - tests and makers of a table take the same arguments, used or not
from benchmarks.damage.faults import Fault, Raw, fault, is_float, is_int, is_number, replaced

FAULTS: dict[str, Fault] = {}


@fault(FAULTS)
def number_as_string(row):
    return replaced(row, is_number, lambda k, s, v, r: (r.choice(["{}", " {}", "{} "]).format(v), v))


@fault(FAULTS)
def number_word(row):
    key = row.pick(lambda k, s: is_int(k, s) and s.get("minimum", 0) <= 7 <= s.get("maximum", 99))
    if not key:
        return False
    row.args[key], row.want[key] = row.rng.choice(["seven", "sieben", "sept", "siete", "七"]), 7
    return True


@fault(FAULTS)
def number_grouped_string(row):
    key = row.pick(lambda k, s: is_number(k, s) and s.get("maximum", 1e9) >= 4321)
    if not key:
        return False
    row.args[key], row.want[key] = row.rng.choice(["4,321", "4 321", "4_321", "4'321"]), 4321
    return True


@fault(FAULTS)
def decimal_comma_string(row):
    key = row.pick(lambda k, s: is_float(k, s) and s.get("maximum", 1e9) >= 8)
    if not key:
        return False
    row.args[key], row.want[key] = "7,25", 7.25
    return True


@fault(FAULTS)
def integer_as_float(row):
    return replaced(row, is_int, lambda k, s, v, r: (Raw(f"{v}.0"), v))


@fault(FAULTS)
def nonstandard_number(row):
    return replaced(row, is_int, lambda k, s, v, r: (Raw(r.choice([f"+{v}", f"{v}.", f"0x{v:x}"])), v))


@fault(FAULTS)
def arithmetic_expression(row):
    key = row.pick(lambda k, s: is_int(k, s) and s.get("minimum", 0) <= 48 <= s.get("maximum", 1e9))
    if not key:
        return False
    row.args[key], row.want[key] = Raw(row.rng.choice(["12 * 4", "40 + 8", "96 / 2"])), 48
    return True


@fault(FAULTS)
def magnitude_suffix(row):
    key = row.pick(lambda k, s: is_float(k, s) and "EUR" in s.get("description", ""))
    if not key:
        return False
    row.args[key], row.want[key] = row.rng.choice([("4k", 4000), ("2.5K", 2500), ("1.1M", 1100000)])
    return True


UNITS = {
    "minutes": (["{} min", "{} minutes", "{}m"], [("2h", 120), ("1 hour", 60), ("half an hour", None)]),
    "seconds": (["{} s", "{} sec", "{}s", "{} seconds"], [("3 minutes", 180), ("2h", 7200)]),
    "hours": (["{} h", "{} hours", "{}h"], [("90 minutes", 1.5), ("30 min", 0.5)]),
    "km": (["{} km", "{}km"], [("900m", 0.9), ("5000 m", 5)]),
    "EUR": (["{} EUR", "{}€", "{} euros", "€{}"], []),
    "celsius": (["{}°C", "{} °C", "{} celsius", "{} degrees celsius"], [("50°F", 10)]),
    "megabytes": (["{} MB", "{}mb"], [("2 GB", 2000), ("500 kB", 0.5)]),
}


def unit_in(key: str, spec: dict) -> str | None:
    return (
        next((unit for unit in UNITS if unit in key or unit in spec.get("description", "")), None)
        if is_number(key, spec)
        else None
    )


@fault(FAULTS)
def unit_same(row):
    return replaced(
        row, lambda k, s: unit_in(k, s) is not None, lambda k, s, v, r: (r.choice(UNITS[unit_in(k, s)][0]).format(v), v)
    )


@fault(FAULTS)
def unit_convert(row):
    key = row.pick(
        lambda k, s: (
            unit_in(k, s) is not None
            and any(
                right is not None and s.get("minimum", 0) <= right <= s.get("maximum", 1e9)
                for _, right in UNITS[unit_in(k, s)][1]
            )
        )
    )
    if not key:
        return False
    spec = row.props[key]
    options = [
        (w, right)
        for w, right in UNITS[unit_in(key, spec)][1]
        if right is not None and spec.get("minimum", 0) <= right <= spec.get("maximum", 1e9)
    ]
    row.args[key], row.want[key] = row.rng.choice(options)
    return True


@fault(FAULTS)
def percent_for_share(row):
    key = row.pick(lambda k, s: is_float(k, s) and s.get("maximum") == 1)
    if not key:
        return False
    row.args[key], row.want[key] = row.rng.choice([("30%", 0.3), ("5 %", 0.05), ("75%", 0.75)])
    return True
