package models

import "time"

// Period names a span of business days (rules: reports.periods).
type Period string

// The periods.
const (
	PeriodToday  Period = "today"
	PeriodWeek   Period = "this_week"
	PeriodMonth  Period = "this_month"
	PeriodCustom Period = "custom"
)

// maxPeriodDays bounds a custom period (rules: reports.periods).
const maxPeriodDays = 366

// Days is a span of days in Riyadh, both ends included. The zero value is all days.
type Days struct {
	From, To Date
}

// IsAll reports whether the span is unbounded.
func (d Days) IsAll() bool { return d.From.IsZero() && d.To.IsZero() }

// Len counts the days of a span that is bounded on both ends.
func (d Days) Len() int { return d.From.DaysUntil(d.To) + 1 }

// Has reports whether the day is in a span that is bounded on both ends.
func (d Days) Has(day Date) bool { return !day.Before(d.From) && !day.After(d.To) }

// Resolve turns a period into days. `this_week` and `this_month` run to their last day; the week starts on
// Sunday. custom needs both dates, from ≤ to, at most 366 days (rules: reports.periods); so do dates without a period. Errors:
// VALIDATION_ERROR on the field.
func (p Period) Resolve(from, to Date, now time.Time) (Days, error) {
	today := DateIn(now)

	switch p {
	case "":
		if from.IsZero() && to.IsZero() {
			return Days{}, nil
		}

		return customDays(from, to) // dates say it all
	case PeriodToday:
		return Days{today, today}, nil
	case PeriodWeek:
		start := today.AddDays(-int(today.Weekday()))

		return Days{start, start.AddDays(6)}, nil
	case PeriodMonth:
		first := today.FirstOfMonth()

		return Days{first, first.AddDays(31).FirstOfMonth().AddDays(-1)}, nil
	case PeriodCustom:
		return customDays(from, to)
	default:
		return Days{}, Invalid("period", "period.unknown")
	}
}

func customDays(from, to Date) (Days, error) {
	switch {
	case from.IsZero():
		return Days{}, Invalid("date_from", "period.date_required")
	case to.IsZero():
		return Days{}, Invalid("date_to", "period.date_required")
	case to.Before(from):
		return Days{}, Invalid("date_to", "period.ends_before_start")
	case from.DaysUntil(to) >= maxPeriodDays:
		return Days{}, Invalid("date_to", "period.too_long", "n", maxPeriodDays)
	}

	return Days{from, to}, nil
}
