package models

import (
	"strconv"
	"strings"
	"time"
)

// Purchase is what a page on which a customer pays says of what is bought: seats on a trip, or a campaign.
type Purchase struct {
	Title    string // of the trip or the campaign
	Number   string // of the booking; empty for a campaign
	Company  string
	Locale   Locale // of the booking
	VAT      Money
	Currency string

	// Of seats.
	Departure, Return time.Time
	Seats             int
	Policy            CancellationPolicy

	// Of a campaign.
	Trip             string // that is advertised
	StartsOn, EndsOn Date
}

// PurchaseLine is a fact with its name.
type PurchaseLine struct{ Label, Value string }

// Name is what is bought, with the booking's number.
func (p *Purchase) Name() string {
	if p.Number == "" {
		return p.Title
	}

	return p.Title + " (" + p.Number + ")"
}

// Lines are the facts in one language, without those that are not known.
func (p *Purchase) Lines(locale Locale) []PurchaseLine {
	var lines []PurchaseLine

	add := func(label Label, value string) {
		if value != "" {
			lines = append(lines, PurchaseLine{label.In(locale), value})
		}
	}
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}

		return Moment(t, locale)
	}

	add(Label{"الرحلة المُعلن عنها", "Advertised trip"}, p.Trip)

	if !p.StartsOn.IsZero() {
		add(Label{"مدة الإعلان", "Dates of the ad"}, DaysBetween(p.StartsOn, p.EndsOn, locale))
	}

	add(Label{"الشركة", "Company"}, p.Company)
	add(Label{"المغادرة", "Departure"}, at(p.Departure))
	add(Label{"العودة", "Return"}, at(p.Return))

	if p.Seats > 0 {
		add(Label{"عدد المقاعد", "Seats"}, strconv.Itoa(p.Seats))
	}

	if !p.VAT.IsZero() {
		add(Label{"منه ضريبة القيمة المضافة", "VAT included"}, p.VAT.InWords(p.Currency, locale))
	}

	return lines
}

// Details are the facts and the cancellation policy in the booking's language, for the page of a payment company.
func (p *Purchase) Details() []string {
	var out []string

	for _, line := range p.Lines(p.Locale) {
		out = append(out, line.Label+": "+line.Value)
	}

	if len(p.Policy) > 0 {
		separator := Label{"؛ ", "; "}.In(p.Locale)
		out = append(out, Label{"سياسة الإلغاء", "Cancellation"}.In(p.Locale)+": "+strings.Join(p.Policy.Words(p.Locale), separator))
	}

	return out
}

// DaysBetween are the days from one to another for people: 1 December 2026 to 7 December 2026.
func DaysBetween(from, to Date, locale Locale) string {
	if from == to {
		return from.In(locale)
	}

	return from.In(locale) + Label{" إلى ", " to "}.In(locale) + to.In(locale)
}
