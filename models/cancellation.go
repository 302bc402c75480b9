package models

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
)

// CancellationTier is one step of a cancellation policy: with at least MinHours whole hours left before departure,
// Percent of the price is paid back.
type CancellationTier struct {
	MinHours int
	Percent  int
}

// CancellationPolicy says how much of a booking's price a customer who cancels gets back (rules: refunds.policy). It is the steps,
// most notice first. With less notice than the last step, and once the trip has left, nothing is paid back.
type CancellationPolicy []CancellationTier

// DefaultCancellationPolicy applies without configuration (rules: refunds.policy-form).
func DefaultCancellationPolicy() CancellationPolicy {
	return CancellationPolicy{{72, 100}, {24, 50}, {0, 0}}
}

// The bounds of a step: a year of notice, and all of the price.
const (
	maxNoticeHours = 24 * 365
	WholePercent   = 100
)

// UnmarshalText reads `<hours>h:<percent>` steps, separated by commas and in any order, such as `72h:100,24h:50,0h:0`.
// Hours are whole and different, percents are whole, 0–100 and never rise as the notice gets shorter.
func (p *CancellationPolicy) UnmarshalText(b []byte) error {
	var tiers CancellationPolicy

	for part := range strings.SplitSeq(string(b), ",") {
		tier, err := parseTier(strings.TrimSpace(part))
		if err != nil {
			return err
		}

		tiers = append(tiers, tier)
	}

	slices.SortFunc(tiers, func(a, b CancellationTier) int { return b.MinHours - a.MinHours })

	for i := 1; i < len(tiers); i++ {
		if tiers[i].MinHours == tiers[i-1].MinHours {
			return fmt.Errorf("names %dh twice", tiers[i].MinHours)
		}

		if tiers[i].Percent > tiers[i-1].Percent {
			return fmt.Errorf("pays back more at %dh than at %dh", tiers[i].MinHours, tiers[i-1].MinHours)
		}
	}

	*p = tiers

	return nil
}

func parseTier(text string) (CancellationTier, error) {
	hours, percent, ok := strings.Cut(text, "h:")
	if !ok {
		return CancellationTier{}, fmt.Errorf("has %q where <hours>h:<percent> is expected", text)
	}

	h, err := wholeNumber(hours, maxNoticeHours)
	if err != nil {
		return CancellationTier{}, fmt.Errorf("has %q hours, %w", hours, err)
	}

	n, err := wholeNumber(percent, WholePercent)
	if err != nil {
		return CancellationTier{}, fmt.Errorf("has %q percent, %w", percent, err)
	}

	return CancellationTier{MinHours: h, Percent: n}, nil
}

// wholeNumber reads digits and nothing else: a sign is a typing error here.
func wholeNumber(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n > most || strings.Trim(text, "0123456789") != "" {
		return 0, errors.New("not a whole number from 0 to " + strconv.Itoa(most))
	}

	return n, nil
}

// String is the text that UnmarshalText reads.
func (p CancellationPolicy) String() string {
	parts := make([]string, len(p))
	for i, t := range p {
		parts[i] = fmt.Sprintf("%dh:%d", t.MinHours, t.Percent)
	}

	return strings.Join(parts, ",")
}

// Percent is what the policy pays back with so many whole hours left; hours below 0 mean that the trip has left.
func (p CancellationPolicy) Percent(hours int) int {
	for _, tier := range p {
		if hours >= tier.MinHours {
			return tier.Percent
		}
	}

	return 0
}

// HoursToDeparture are the whole hours that are left, rounded down: -1 is anything up to an hour after departure.
func HoursToDeparture(departure, now time.Time) int {
	left := departure.Sub(now)
	hours := int(left / time.Hour)

	if left < 0 && left%time.Hour != 0 {
		hours-- // the division rounds towards 0
	}

	return hours
}

// PolicyTerms are what the cancellation policy makes of a payment at one moment. All of it is kept with the refund, so
// that its amount can be recomputed when the policy is another one.
type PolicyTerms struct {
	Reason   PolicyReason
	Schedule CancellationPolicy
	Hours    int   // to departure
	Percent  int   // of what was paid
	Given    Money // what has gone back before, and what is reserved for refunds
	Amount   Money // what goes back by the policy: 0.00 when that is nothing
}

// Terms finds what goes back of a payment for a trip with that departure: the percentage of what was paid, half-up, less
// what has gone back or is reserved for refunds. Money that came too late has bought nothing that could be cancelled: all of it
// goes back.
func (p CancellationPolicy) Terms(t *PaymentTransaction, departure, now time.Time) PolicyTerms {
	terms := PolicyTerms{
		Reason: PolicyNow, Schedule: p, Hours: HoursToDeparture(departure, now), Percent: WholePercent,
		Given: t.GivenBack().Add(t.RefundReservedAmount),
	}
	if t.Status == TransactionPaid {
		terms.Percent = p.Percent(terms.Hours)
	}

	return terms.of(t)
}

// of finds the amount by the percentage.
func (terms PolicyTerms) of(t *PaymentTransaction) PolicyTerms {
	terms.Amount = Money{}

	due := t.Amount.AtRate(Rate{d: decimal.New(int64(terms.Percent), -2)}).Sub(terms.Given)
	if left := t.Remaining(); due.Cmp(left) > 0 {
		due = left
	}

	if due.IsPositive() {
		terms.Amount = due
	}

	return terms
}

// RefundQuote says beforehand what a refund by the policy would come to (rules: refunds.quote).
type RefundQuote struct {
	BookingID uuid.UUID
	Paid      Money
	Refunded  Money
	Remaining Money // what neither went back nor is reserved for refunds
	Currency  string
	// NeedsApproval: a refund of that amount would wait for the word of a second person.
	NeedsApproval bool
	ExpectedBy    *Date // of such a refund, ordered now (Refund.ExpectedBy); nil when nothing goes back
	Cancels       bool  // a refund of the quote cancels the booking

	PolicyTerms
}

// LeavesFee reports that a refund of the quote would keep a part of what is left, and so leave the booking CONFIRMED.
func (q *RefundQuote) LeavesFee() bool { return !q.Cancels && q.Amount.Cmp(q.Remaining) < 0 }
