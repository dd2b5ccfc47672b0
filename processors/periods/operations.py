"""The table of operations that rules may name: name → what makes a value of the matched tokens."""

from collections.abc import Callable, Mapping

from processors.periods import (
    absolute,
    bounds,
    clocks,
    eras,
    festivals,
    hours,
    parts,
    ranges,
    relative,
    weekdays,
    windows,
)
from processors.periods.found import Found, Made, Skip


def nothing(found: Found) -> Made:  # noqa: ARG001 - all operations are called alike
    """Every Monday, a 3-year warranty: time words that name no period."""
    return Skip()


def itself(found: Found) -> Made:
    """The month of February 2026: the period, said twice."""
    return found.values()[0]


def nothing_if_long(found: Found) -> Made:
    """每周一: a recurrence says what recurs; 每 alone does not."""
    return Skip() if len(found.tokens) > 1 else None


OPERATIONS: Mapping[str, Callable[[Found], Made]] = {
    "nothing": nothing,
    "itself": itself,
    "year": absolute.year,
    "month": absolute.month,
    "month_day": absolute.month_day,
    "month_days": absolute.month_days,
    "months": absolute.months,
    "part_of_year": absolute.part_of_year,
    "parts_of_year": absolute.parts_of_year,
    "day_of_month": absolute.day_of_month,
    "day_in_month": absolute.day_in_month,
    "fill": absolute.fill,
    "week_number": absolute.week_number,
    "week_of": absolute.week_of,
    "decade": eras.decade,
    "decade_by_name": eras.decade_by_name,
    "century": eras.century_span,
    "season": eras.season,
    "fiscal_year": eras.fiscal_year,
    "years": absolute.range_of_years,
    "part_of": absolute.part_of,
    "unit": relative.unit,
    "relative_year": relative.year,
    "relative_day": relative.day,
    "roll": windows.roll,
    "past_unit": windows.past_unit,
    "roll_half": windows.roll_half,
    "ahead": windows.ahead,
    "ahead_half_month": windows.ahead_half_month,
    "full": windows.full,
    "distant": relative.distant,
    "from_day": relative.from_day,
    "weekday": weekdays.weekday,
    "weekday_of_week": weekdays.weekday_of_week,
    "weekend": weekdays.weekend,
    "to_date": windows.to_date,
    "rest": windows.rest,
    "this_day": relative.this_day,
    "last_day_of_unit": relative.month_end_day,
    "vague": relative.vague,
    "business_days": relative.business_days,
    "half": parts.half,
    "half_month": parts.half_month,
    "third": parts.third,
    "some_units": parts.some_units,
    "nth": parts.nth,
    "edge": parts.edge,
    "the_unit": parts.the_unit,
    "clock": clocks.clock,
    "noon_clock": clocks.noon_clock,
    "part_of_clock": clocks.part_of_clock,
    "relative_evening": clocks.relative_evening,
    "on_day": clocks.on_day,
    "clock_span": hours.clock_span,
    "hours_in_daypart": hours.hours_in_daypart,
    "hours_from_now": clocks.distant,
    "roll_hours": hours.roll,
    "part_of_day": clocks.part_of_day,
    "span": ranges.span,
    "days_in_month": ranges.days_in_month,
    "since": bounds.since,
    "until": bounds.until,
    "deadline": bounds.deadline,
    "before": bounds.before,
    "after": bounds.after,
    "onward": bounds.onward,
    "between_bounds": bounds.between_bounds,
    "length_from": ranges.length_from,
    "units_beside": ranges.units_beside,
    "length_until": ranges.length_until,
    "same_period": ranges.same_period,
    "festival": festivals.festival,
    "day_or_holiday": festivals.day_or_holiday,
    "holiday": festivals.holiday,
    "around": festivals.around,
    "half_of_year": absolute.half_of_year,
    "days_in_named_month": absolute.days_in_named_month,
    "units_from_relative": relative.units_from_relative,
    "weekday_span": weekdays.weekday_span,
    "workdays_of_week": weekdays.workdays_of_week,
    "weekend_of_week": weekdays.weekend,
    "weekday_of_said_week": weekdays.weekday_of_week,
    "weekday_of_read_week": weekdays.weekday_of_week,
    "weekday_and_date": weekdays.weekday_and_date,
    "rest_of_unit": windows.rest_of_unit,
    "vague_if_whole_word": relative.vague_if_whole_word,
    "season_if_said": eras.season_if_said,
    "this_day_last_unit": relative.this_day,
    "numbered_edge": parts.numbered_edge,
    "edge_of_year": parts.edge_of_year,
    "day_and_clock": clocks.day_and_clock,
    "hour_in_daypart": clocks.hour_in_daypart,
    "from_alone": bounds.from_alone,
    "day_beside": bounds.day_beside,
    "days_beside": bounds.days_beside,
    "around_day": festivals.around_day,
    "nothing_if_long": nothing_if_long,
}
