package models_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/models"
)

func TestBookingTerms(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	left := func(hours int) time.Time { return now.Add(time.Duration(hours) * time.Hour) }

	for _, c := range []struct {
		name           string
		schedule       string
		departs        int // hours from now
		booked         string
		bookedDeparts  int
		rescheduled    bool
		percent, hours int
		reason         models.PolicyReason
	}{
		{"as it was", "72h:100,24h:50", 80, "72h:100,24h:50", 80, false, 100, 80, models.PolicyNow},
		{"the company moved it to tomorrow", "72h:100,24h:50", 23, "72h:100,24h:50", 80, false, 100, 80, models.PolicyAtBooking},
		{"it leaves later", "72h:100,24h:50", 80, "72h:100,24h:50", 30, false, 100, 80, models.PolicyNow},
		{"the policy is worse", "72h:50", 80, "72h:100", 80, false, 100, 80, models.PolicyAtBooking},
		{"the policy is better", "24h:100", 30, "72h:100", 30, false, 100, 30, models.PolicyNow},
		{"bought: a schedule; given: more notice", "0h:0", 72, "72h:100", 71, false, 100, 72, models.PolicyAtBooking},
		{"no schedule was kept", "72h:100,24h:50", 30, "", 80, false, 100, 80, models.PolicyAtBooking},
		{"moved", "72h:100", 1, "72h:100", 3, true, 100, 1, models.PolicyRescheduled},
		{"moved, and early enough anyway", "72h:100", 100, "72h:100", 110, true, 100, 100, models.PolicyRescheduled},
		{"moved, and it has left", "72h:100,24h:50", 0, "72h:100,24h:50", -1, true, 0, 0, models.PolicyNow},
		{"moved to before, and it has left", "72h:100,24h:50", -1, "72h:100,24h:50", 30, true, 50, 30, models.PolicyAtBooking},
	} {
		tx := models.PaymentTransaction{
			Status: models.TransactionPaid, Amount: models.MustMoney("115.00"), RefundedAmount: models.MustMoney("15.00"), CapturedAt: &now,
		}
		terms := models.BookingTerms{
			Policy: policy(t, c.schedule), Departure: left(c.departs), BookedDeparture: left(c.bookedDeparts), Rescheduled: c.rescheduled,
		}

		if c.booked != "" {
			terms.BookedPolicy = policy(t, c.booked)
		}

		got := terms.Of(&tx, now)
		require.Equal(t, c.percent, got.Percent, c.name)
		require.Equal(t, c.hours, got.Hours, c.name)
		require.Equal(t, c.reason, got.Reason, c.name)
		require.Equal(t, map[int]string{0: "0.00", 50: "42.50", 100: "100.00"}[c.percent], got.Amount.String(), c.name)

		tx.Status = models.TransactionFailed
		require.Equal(t, 100, terms.Of(&tx, now).Percent, "money that came too late")
	}
}

// However a trip is moved and whatever the policy becomes, the customer never gets less than what was bought, nor less than
// what the policy gives now.
func TestBookingTermsNeverTakeAnythingAway(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Now()
		draw := func(name string) models.CancellationPolicy {
			return models.CancellationPolicy{
				{MinHours: rapid.IntRange(10, 99).Draw(t, name+" hours"), Percent: rapid.IntRange(50, 100).Draw(t, name+" percent")},
				{MinHours: rapid.IntRange(0, 9).Draw(t, name+" hours late"), Percent: rapid.IntRange(0, 50).Draw(t, name+" percent late")},
			}
		}
		departure := func(name string) time.Time {
			return now.Add(time.Duration(rapid.IntRange(-100, 200*60).Draw(t, name)) * time.Minute)
		}
		tx := models.PaymentTransaction{Status: models.TransactionPaid, CapturedAt: &now, Amount: models.MustMoney("115.00")}
		terms := models.BookingTerms{
			Policy: draw("now"), Departure: departure("departs"), BookedPolicy: draw("booked"), BookedDeparture: departure("booked to depart"),
			Rescheduled: rapid.Bool().Draw(t, "rescheduled"),
		}

		got := terms.Of(&tx, now)
		bought := terms.BookedPolicy.Terms(&tx, terms.BookedDeparture, now)
		require.GreaterOrEqual(t, got.Percent, bought.Percent)
		require.GreaterOrEqual(t, got.Percent, terms.Policy.Terms(&tx, terms.Departure, now).Percent)
		require.LessOrEqual(t, got.Amount.Cmp(tx.Amount), 0)

		if got.Reason != models.PolicyRescheduled {
			require.Equal(t, got.Percent, got.Schedule.Percent(got.Hours), "what is kept says how it was found")
		}
	})
}

func TestGivesRefund(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)

	for _, c := range []struct {
		from, to time.Duration // after what was booked
		want     bool
	}{
		{0, 2 * time.Hour, false},
		{0, 2*time.Hour + time.Second, true},
		{0, -2*time.Hour - time.Second, true},
		{90 * time.Minute, 3 * time.Hour, true},     // little by little
		{-90 * time.Minute, 90 * time.Minute, true}, // by three hours at once
		{3 * time.Hour, 2 * time.Hour, false},       // back within the tolerance; the move before it has given the right
		{-30 * time.Minute, 45 * time.Minute, false},
	} {
		require.Equal(t, c.want, models.GivesRefund(at.Add(c.from), at.Add(c.to), at, 2*time.Hour), c)
	}
}
