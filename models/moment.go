package models

import (
	"fmt"
	"time"
)

var arabicWeekdays = [...]string{"الأحد", "الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت"}

// Moment is a time in Riyadh for people, and says so: Saturday, 28 November 2026, 00:30 (Riyadh time).
func Moment(t time.Time, locale Locale) string {
	t = t.In(Riyadh)
	month := MonthName(t.Month(), locale)

	if locale == LocaleEnglish {
		return fmt.Sprintf("%s, %d %s %d, %s (Riyadh time)", t.Weekday(), t.Day(), month, t.Year(), t.Format("15:04"))
	}

	return fmt.Sprintf("%s %d %s %d، الساعة %s (بتوقيت الرياض)", arabicWeekdays[t.Weekday()], t.Day(), month, t.Year(), t.Format("15:04"))
}

// ShortMoment is the same for an SMS. In English the month is a word: 11/12/2026 is another day to some readers.
func ShortMoment(t time.Time, locale Locale) string {
	if locale == LocaleEnglish {
		return t.In(Riyadh).Format("2 Jan 2006 15:04")
	}

	return t.In(Riyadh).Format("02/01/2006 15:04")
}

// InWords is an amount with its currency, SAR as people in the language write it: 1,150.00 SAR.
func (m Money) InWords(currency string, locale Locale) string {
	if currency == "" || SameCurrency(currency, Currency) {
		currency = Label{AR: "ر.س", EN: Currency}.In(locale)
	}

	return m.Grouped() + " " + currency
}
