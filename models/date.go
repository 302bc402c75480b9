package models

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Riyadh is the time zone of business days, periods and record dates (rules: dates.riyadh): UTC+3, without daylight saving.
var Riyadh = time.FixedZone("Asia/Riyadh", 3*60*60)

// ErrDateFormat reports a date that is not YYYY-MM-DD.
var ErrDateFormat = errors.New("field.date")

// Date is a calendar day, without a time or a zone. The zero value is no day.
type Date struct {
	t time.Time // midnight UTC
}

// NewDate makes a day.
func NewDate(year int, month time.Month, day int) Date {
	return Date{t: time.Date(year, month, day, 0, 0, 0, 0, time.UTC)}
}

// DateIn is the day on which t falls in Riyadh.
func DateIn(t time.Time) Date {
	y, m, d := t.In(Riyadh).Date()

	return NewDate(y, m, d)
}

// ParseDate reads YYYY-MM-DD; anything else is ErrDateFormat.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return Date{}, ErrDateFormat
	}

	return Date{t: t}, nil
}

// Start is the moment at which the day begins in Riyadh.
func (d Date) Start() time.Time {
	return time.Date(d.t.Year(), d.t.Month(), d.t.Day(), 0, 0, 0, 0, Riyadh)
}

// AddDays moves the day by n.
func (d Date) AddDays(n int) Date { return Date{t: d.t.AddDate(0, 0, n)} }

// Before reports whether d is earlier than o.
func (d Date) Before(o Date) bool { return d.t.Before(o.t) }

// After reports whether d is later than o.
func (d Date) After(o Date) bool { return d.t.After(o.t) }

// IsZero reports whether d is no day.
func (d Date) IsZero() bool { return d.t.IsZero() }

// Year is the calendar year.
func (d Date) Year() int { return d.t.Year() }

// Weekday is the day of the week; the week starts on Sunday (rules: dates.riyadh).
func (d Date) Weekday() time.Weekday { return d.t.Weekday() }

// FirstOfMonth is the first day of d's month.
func (d Date) FirstOfMonth() Date { return NewDate(d.t.Year(), d.t.Month(), 1) }

// DaysUntil counts the days from d to o.
func (d Date) DaysUntil(o Date) int { return int(o.t.Sub(d.t).Hours() / 24) }

// Time is midnight UTC of the day, for formats that know only timestamps.
func (d Date) Time() time.Time { return d.t }

// String is YYYY-MM-DD.
func (d Date) String() string { return d.t.Format(time.DateOnly) }

// MarshalText writes YYYY-MM-DD.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads YYYY-MM-DD.
func (d *Date) UnmarshalText(b []byte) error {
	p, err := ParseDate(strings.TrimSpace(string(b)))
	if err != nil {
		return err
	}

	*d = p

	return nil
}

// Value hands the day to PostgreSQL.
func (d Date) Value() (driver.Value, error) {
	if d.IsZero() {
		return nil, nil //nolint:nilnil // database/sql spells NULL like this
	}

	return d.String(), nil
}

// Scan reads a date column; NULL is the zero Date.
func (d *Date) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*d = Date{}
	case time.Time:
		*d = NewDate(v.Year(), v.Month(), v.Day())
	case string:
		return d.UnmarshalText([]byte(v))
	case []byte:
		return d.UnmarshalText(v)
	default:
		return fmt.Errorf("cannot scan %T into Date", src)
	}

	return nil
}

var arabicMonths = [...]string{
	"يناير", "فبراير", "مارس", "أبريل", "مايو", "يونيو", "يوليو", "أغسطس", "سبتمبر", "أكتوبر", "نوفمبر", "ديسمبر",
}

// MonthName is the month for people.
func MonthName(m time.Month, locale Locale) string {
	if locale == LocaleEnglish {
		return m.String()
	}

	return arabicMonths[m-1]
}

// In is the day as people write it: 2 November 2026.
func (d Date) In(locale Locale) string {
	return fmt.Sprintf("%d %s %d", d.t.Day(), MonthName(d.t.Month(), locale), d.t.Year())
}
