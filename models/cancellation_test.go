package models_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/models"
)

func policy(t require.TestingT, text string) models.CancellationPolicy {
	var p models.CancellationPolicy

	require.NoError(t, p.UnmarshalText([]byte(text)))

	return p
}

func ofHalalas(n int64) models.Money { return models.MustMoney(fmt.Sprintf("%d.%02d", n/100, n%100)) }

func TestCancellationPolicyGrammar(t *testing.T) {
	t.Parallel()

	for text, same := range map[string]string{
		"72h:100,24h:50,0h:0": "72h:100,24h:50,0h:0", "0h:10, 48h:80": "48h:80,0h:10", "8760h:100": "8760h:100", "1h:0": "1h:0",
		"2h:30,1h:30": "2h:30,1h:30",
	} {
		require.Equal(t, same, policy(t, text).String())
	}

	for _, text := range []string{
		"", " ", "72:100", "72h100", "72h:101", "-1h:5", "+1h:5", "1h:+5", "1h:-0", "1h:x", "x:1", "1.5h:10", "1h:50%", "1h:5,1h:5",
		"0h:50,24h:10", "8761h:1", "99999999999999999999h:1", "1h:5,", ",1h:5", "1h:5;0h:0", "1h: 5",
	} {
		var p models.CancellationPolicy

		require.Error(t, p.UnmarshalText([]byte(text)), text)
		require.Nil(t, p)
	}
}

func TestCancellationPercent(t *testing.T) {
	t.Parallel()

	departure := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)

	for _, c := range []struct {
		schedule string
		left     time.Duration
		hours    int
		percent  int
	}{
		{"72h:100,24h:50,0h:0", 30 * 24 * time.Hour, 720, 100},
		{"72h:100,24h:50,0h:0", 72*time.Hour + time.Nanosecond, 72, 100},
		{"72h:100,24h:50,0h:0", 72 * time.Hour, 72, 100},
		{"72h:100,24h:50,0h:0", 72*time.Hour - time.Nanosecond, 71, 50},
		{"72h:100,24h:50,0h:0", 24 * time.Hour, 24, 50},
		{"72h:100,24h:50,0h:0", 24*time.Hour - time.Nanosecond, 23, 0},
		{"72h:100,24h:50,0h:0", 0, 0, 0},
		{"72h:100,24h:50,0h:10", 0, 0, 10},
		{"72h:100,24h:50,0h:10", -time.Nanosecond, -1, 0}, // it has left
		{"72h:100,24h:50,0h:10", -time.Hour, -1, 0},
		{"72h:100,24h:50,0h:10", -time.Hour - time.Nanosecond, -2, 0},
		{"24h:80", 23 * time.Hour, 23, 0},
	} {
		hours := models.HoursToDeparture(departure, departure.Add(-c.left))
		require.Equal(t, c.hours, hours, "%s before", c.left)
		require.Equal(t, c.percent, policy(t, c.schedule).Percent(hours), "%s at %s before", c.schedule, c.left)
	}

	require.Equal(t, "72h:100,24h:50,0h:0", models.DefaultCancellationPolicy().String())
}

func TestCancellationTerms(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)

	for _, c := range []struct {
		name                     string
		paid, refunded, reserved string
		status                   models.TransactionStatus
		schedule                 string
		percent                  int
		amount                   string
	}{
		{"all of it", "115.00", "0", "0", models.TransactionPaid, "24h:100", 100, "115.00"},
		{"half of it", "115.00", "0", "0", models.TransactionPaid, "24h:50", 50, "57.50"},
		{"half-up", "0.03", "0", "0", models.TransactionPaid, "24h:50", 50, "0.02"},
		{"below half", "0.01", "0", "0", models.TransactionPaid, "24h:49", 49, "0.00"},
		{"less what went back", "115.00", "20.00", "0", models.TransactionPaid, "24h:50", 50, "37.50"},
		{"less what is reserved", "115.00", "20.00", "30.00", models.TransactionPaid, "24h:50", 50, "7.50"},
		{"all of the half has gone back", "115.00", "57.50", "0", models.TransactionPaid, "24h:50", 50, "0.00"},
		{"more than the half has gone back", "115.00", "100.00", "0", models.TransactionPaid, "24h:50", 50, "0.00"},
		{"nothing is left", "115.00", "115.00", "0", models.TransactionPaid, "24h:100", 100, "0.00"},
		{"nothing by the policy", "115.00", "0", "0", models.TransactionPaid, "24h:0", 0, "0.00"},
		{"money that came too late", "115.00", "0", "0", models.TransactionFailed, "24h:0", 100, "115.00"},
	} {
		tx := models.PaymentTransaction{
			Status: c.status, Amount: models.MustMoney(c.paid), RefundedAmount: models.MustMoney(c.refunded),
			RefundReservedAmount: models.MustMoney(c.reserved), CapturedAt: &now,
		}
		terms := policy(t, c.schedule).Terms(&tx, now.Add(30*time.Hour), now)
		require.Equal(t, c.percent, terms.Percent, c.name)
		require.Equal(t, c.amount, terms.Amount.String(), c.name)
		require.Equal(t, 30, terms.Hours)
		require.Equal(t, tx.RefundedAmount.Add(tx.RefundReservedAmount).String(), terms.Given.String())
	}
}

// Whatever was paid, has gone back and is reserved: the policy never gives more than is left, never less than nothing,
// and a further quote after the refund gives nothing more.
func TestPolicyNeverGivesMoreThanIsLeft(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Now()
		paid := rapid.Int64Range(1, 10_000_000).Draw(t, "paid")
		refunded := rapid.Int64Range(0, paid).Draw(t, "refunded")
		reserved := rapid.Int64Range(0, paid-refunded).Draw(t, "reserved")
		p := models.CancellationPolicy{{MinHours: 0, Percent: rapid.IntRange(0, 100).Draw(t, "percent")}}
		tx := models.PaymentTransaction{
			Status: models.TransactionPaid, CapturedAt: &now, Amount: ofHalalas(paid),
			RefundedAmount: ofHalalas(refunded), RefundReservedAmount: ofHalalas(reserved),
		}

		terms := p.Terms(&tx, now.Add(time.Hour), now)
		require.False(t, terms.Amount.IsNegative())
		require.LessOrEqual(t, terms.Amount.Cmp(tx.Remaining()), 0)

		tx.RefundReservedAmount = tx.RefundReservedAmount.Add(terms.Amount)
		require.True(t, p.Terms(&tx, now.Add(time.Hour), now).Amount.IsZero())
	})
}
