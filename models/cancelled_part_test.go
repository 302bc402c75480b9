package models_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/models"
)

// paidBooking is the payment of a booking, of which nothing has gone back.
func paidBooking(amount models.Money) *models.PaymentTransaction {
	at := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)

	return &models.PaymentTransaction{
		Kind: models.KindPayment, Status: models.TransactionPaid, Amount: amount, Currency: models.Currency, CapturedAt: &at,
	}
}

// percentOf is a percentage as a rate.
func percentOf(percent int) models.Rate {
	if percent == models.WholePercent {
		return models.MustRate("1")
	}

	return models.MustRate("0." + strconv.Itoa(models.WholePercent + percent)[1:])
}

func TestPartsOfAnAwkwardPrice(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		price          string
		percent        int
		seats          []int // of each cancellation
		paid, refunded []string
	}{
		{"100.00", 100, []int{1, 1, 1}, []string{"33.33", "33.34", "33.33"}, []string{"33.33", "33.34", "33.33"}},
		{"100.00", 50, []int{1, 1, 1}, []string{"33.33", "33.34", "33.33"}, []string{"16.67", "16.67", "16.66"}},
		{"0.01", 50, []int{1, 1}, []string{"0.01", "0.00"}, []string{"0.01", "0.00"}},
		{"1000.01", 33, []int{2, 3, 2}, []string{"285.72", "428.57", "285.72"}, []string{"94.29", "141.43", "94.28"}},
		{"345.00", 0, []int{3}, []string{"345.00"}, []string{"0.00"}},
	} {
		tx := paidBooking(models.MustMoney(c.price))
		booked := 0

		for _, n := range c.seats {
			booked += n
		}

		parts := make([]models.CancelledPart, 0, len(c.seats))

		for i, n := range c.seats {
			p := tx.CancelPart(parts, booked, n, c.percent)
			require.Equal(t, c.paid[i], p.Paid.String(), "%s at %d %%, part %d", c.price, c.percent, i)
			require.Equal(t, c.refunded[i], p.Refund.String(), "%s at %d %%, part %d", c.price, c.percent, i)
			require.Equal(t, p.Paid.Sub(p.Refund).String(), p.Fee().String())

			tx.RefundReservedAmount = tx.RefundReservedAmount.Add(p.Refund)
			parts = append(parts, p)
		}
	}
}

// Whatever a booking costs and in whatever parts it is cancelled, at whatever percentages and whatever went back beside them: the parts add up to
// what was paid, at one percentage the refunds add up to that percentage, and never does more go back than was paid.
func TestPartsAddUp(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		tx := paidBooking(models.Halalas(rapid.Int64Range(1, 9_999_999).Draw(t, "price")))
		booked := rapid.IntRange(1, 20).Draw(t, "booked")
		percent := rapid.IntRange(0, 100).Draw(t, "percent")
		steady := rapid.Bool().Draw(t, "one percentage")
		goodwill := rapid.Bool().Draw(t, "goodwill")

		var (
			parts    []models.CancelledPart
			paid     models.Money
			refunded models.Money
			given    models.Money
		)

		for left := booked; left > 0; {
			if !steady {
				percent = rapid.IntRange(0, 100).Draw(t, "percent")
			}

			if goodwill {
				more := models.Halalas(rapid.Int64Range(0, tx.Remaining().Halalas()/4).Draw(t, "given"))
				tx.RefundedAmount, given = tx.RefundedAmount.Add(more), given.Add(more)
			}

			seats := rapid.IntRange(1, left).Draw(t, "seats")
			p := tx.CancelPart(parts, booked, seats, percent)
			if rapid.Bool().Draw(t, "named") {
				amount := models.Halalas(rapid.Int64Range(0, tx.Remaining().Halalas()).Draw(t, "amount"))
				p, steady = tx.CancelPartFor(parts, booked, seats, amount), false
			}

			require.Equal(t, left, p.Of)
			require.False(t, p.Refund.IsNegative())
			require.False(t, p.Fee().IsNegative())
			require.LessOrEqual(t, p.Refund.Cmp(p.Left), 0)

			tx.RefundReservedAmount = tx.RefundReservedAmount.Add(p.Refund)
			paid, refunded = paid.Add(p.Paid), refunded.Add(p.Refund)
			parts = append(parts, p)
			left -= seats
		}

		require.Equal(t, tx.Amount.String(), paid.String())
		require.False(t, tx.Remaining().IsNegative())
		require.Equal(t, tx.Remaining().String(), models.FeesOf(parts).String(), "what is kept is the fee")

		if steady && given.IsZero() {
			require.Equal(t, tx.Amount.AtRate(percentOf(percent)).String(), refunded.String())
		}
	})
}

// What was given beside the policy is set off once, whenever it was given and however the passengers go.
func TestGivenBeforeIsSetOffOnce(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name   string
		before []string // what goes back before each cancellation
		refund []string
	}{
		{"first of all", []string{"10.00", ""}, []string{"45.00", "45.00"}},
		{"between the two", []string{"", "10.00"}, []string{"50.00", "40.00"}},
		{"more than is due", []string{"", "60.00"}, []string{"50.00", "0.00"}},
	} {
		tx := paidBooking(models.MustMoney("110.00"))
		tx.Amount = models.MustMoney("100.00")

		parts := make([]models.CancelledPart, 0, len(c.before))

		for i, before := range c.before {
			if before != "" {
				more := models.MustMoney(before)
				if more.Cmp(tx.Remaining()) > 0 {
					more = tx.Remaining()
				}

				tx.RefundedAmount = tx.RefundedAmount.Add(more)
			}

			p := tx.CancelPart(parts, 2, 1, 100)
			require.Equal(t, c.refund[i], p.Refund.String(), "%s, part %d", c.name, i)
			require.Equal(t, "0.00", p.Fee().String(), "all goes back")

			tx.RefundReservedAmount = tx.RefundReservedAmount.Add(p.Refund)
			parts = append(parts, p)
		}
	}
}

func TestQuotesKeepTheirWord(t *testing.T) {
	t.Parallel()

	tx := paidBooking(models.MustMoney("100.00"))
	quoted := tx.CancelPart(nil, 2, 1, 50)
	require.Equal(t, "25.00", quoted.Refund.String())

	tx.RefundedAmount = models.MustMoney("10.00")
	now := tx.CancelPart(nil, 2, 1, 50)
	require.Equal(t, "20.00", now.Refund.String())
	require.Equal(t, "25.00", now.AsQuoted(quoted).Refund.String())

	was := models.CancelQuote{Terms: models.PolicyTerms{Reason: models.PolicyNow, Percent: 50}, Part: quoted}
	require.Equal(t, 50, was.Better(models.PolicyTerms{Reason: models.PolicyNow, Percent: 100}).Percent, "the terms of asking")
	require.Equal(t, 50, was.Better(models.PolicyTerms{Reason: models.PolicyNow, Percent: 0}).Percent)
	require.Equal(t, 100, was.Better(models.PolicyTerms{Reason: models.PolicyRescheduled, Percent: 100}).Percent)
	require.Equal(t, 100, was.Better(models.PolicyTerms{Reason: models.PolicyTripCancelled, Percent: 100}).Percent)

	var none *models.CancelQuote
	require.Equal(t, 30, none.Better(models.PolicyTerms{Percent: 30}).Percent)
}
