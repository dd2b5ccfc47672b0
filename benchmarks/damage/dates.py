"""Dates in other notations, and those that no day can be read from."""

# ruff: noqa: ARG001, ARG005 - tests and makers of a table take the same arguments, used or not
from benchmarks.damage.faults import REFUSE, Fault, Raw, fault, is_date, replaced

FAULTS: dict[str, Fault] = {}


@fault(FAULTS)
def date_other_format(row):
    months = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ]

    def make(k, s, v, r):
        y, m, d = map(int, v.split("-"))
        forms = [
            f"{d} {months[m - 1]} {y}",
            f"{months[m - 1]} {d}, {y}",
            f"{months[m - 1][:3]} {d} {y}",
            f"{y}/{m:02d}/{d:02d}",
            f"{y}.{m}.{d}",
            f"{y}年{m}月{d}日",
            f"{v}T00:00:00Z",
            f"{y}{m:02d}{d:02d}",
            f"{y}-{m}-{d}",
        ]
        return r.choice([form for form in forms if form != v]), v

    return replaced(row, is_date, make)


@fault(FAULTS)
def date_ambiguous(row):
    row.why = "date_day_month_unclear"

    def make(k, s, v, r):
        a, b = r.sample(range(1, 13), 2)
        return f"{a:02d}/{b:02d}/2027", REFUSE

    return replaced(row, is_date, make)


@fault(FAULTS)
def date_impossible_or_relative(row):
    row.why = "date_unresolved"
    return replaced(
        row,
        is_date,
        lambda k, s, v, r: (
            r.choice(
                [
                    "2027-02-31",
                    "2027-14-02",
                    "tomorrow",
                    "next month",
                    "Q3 2027",
                    "2027",
                    "下个月",
                    "月底",
                    "end of the week",
                ]
            ),
            REFUSE,
        ),
    )


@fault(FAULTS)
def date_unquoted(row):
    return replaced(row, is_date, lambda k, s, v, r: (Raw(v), v))
