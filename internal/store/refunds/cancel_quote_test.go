package refunds_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/payments"
	"rihla/models"
)

// limitOf are policies under which one person orders back that much of a payment.
func limitOf(amount string) models.Policies {
	p := models.DefaultPolicies()
	p.Approval.Above = models.MustMoney(amount)

	return p
}

// quote is what finance staff are quoted for passengers, by their positions, at now.
func (b *books) quote(t *testing.T, tx models.PaymentTransaction, now time.Time, positions ...int) models.CancelQuote {
	t.Helper()

	q, _, err := b.Store.Refunds.QuoteCancellation(t.Context(), b.Finance.UserID, *tx.BookingID,
		models.PassengerIDs(*tx.BookingID, positions), now)
	require.NoError(t, err)

	return q
}

// A quote says what an order of the same moment does: by the policy, in full, and whether it waits for a second person.
func TestQuotesSayWhatAnOrderDoes(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		given        string // what goes back before, beside the policy
		before       int    // the passenger that is cancelled before; 0: none
		left         time.Duration
		positions    []int
		refund, full string
		fee, unpaid  string // what an order by the policy keeps, and one without a refund
		waits        bool   // an order by the policy
	}{
		"half of one":            {"", 0, 30 * time.Hour, []int{1}, "57.50", "115.00", "57.50", "115.00", false},
		"all of two":             {"", 0, 80 * time.Hour, []int{1, 3}, "230.00", "230.00", "0.00", "230.00", true},
		"nothing":                {"", 0, time.Hour, []int{2}, "0.00", "115.00", "115.00", "115.00", false},
		"what went back before":  {"100.00", 0, 80 * time.Hour, []int{2}, "81.67", "81.67", "0.00", "115.00", true},
		"half of the others":     {"", 2, 30 * time.Hour, nil, "115.00", "230.00", "115.00", "230.00", false},
		"with what went before":  {"45.00", 3, 30 * time.Hour, []int{1}, "42.50", "100.00", "57.50", "115.00", false},
		"nothing, with a gift":   {"100.00", 0, time.Hour, nil, "0.00", "245.00", "245.00", "245.00", false},
		"more than the policy's": {"160.00", 0, 30 * time.Hour, []int{1}, "4.17", "61.67", "57.50", "115.00", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, by := range []models.CancelRefund{models.CancelByPolicy, models.CancelInFull, models.CancelUnpaid} {
				b := setup(t, limitOf("180.00"))
				tx := b.Paid(t, 3) // 345.00
				now := b.Trip.DepartureAt.Add(-c.left)

				if c.given != "" {
					b.GiveBack(t, tx, c.given)
				}

				if c.before != 0 {
					b.cancel(t, tx, c.left, c.before)
				}

				q := b.quote(t, tx, now, c.positions...)
				require.Equal(t, c.refund, q.Part.Refund.String())
				require.Equal(t, c.full, q.Now.Full.String())
				require.Equal(t, c.fee, q.Part.Fee().String())
				require.Equal(t, c.unpaid, q.Now.UnpaidFee.String())
				require.Equal(t, c.waits, q.Now.NeedsApproval)
				require.Equal(t, q.Part.Refund.IsPositive() && !c.waits, q.Now.ExpectedBy != nil)

				r, order := b.cancelling(tx, c.positions...)
				order.RefundBy = by
				done, err := b.Store.Refunds.Cancel(t.Context(), r, order, now)
				require.NoError(t, err)

				part := done.Cancellation.Part()
				refund, fee := c.refund, c.fee

				switch by {
				case models.CancelInFull:
					refund, fee = c.full, "0.00"
				case models.CancelUnpaid:
					refund, fee = "0.00", c.unpaid
				default:
					require.Equal(t, c.waits, done.Refund != nil && done.Refund.NeedsApproval())
				}

				require.Equal(t, refund, part.Refund.String())
				require.Equal(t, fee, part.Fee().String())

				if done.Refund != nil && done.Refund.NeedsApproval() {
					continue
				}

				kept, err := b.Store.Refunds.FeeOf(t.Context(), *tx.BookingID)
				require.NoError(t, err)
				require.Equal(t, part.Kept.Add(part.Fee()).String(), kept.String())
			}
		})
	}
}

// Above the limit of a day every refund of a person waits, and no other person's.
func TestQuotesCountWhatTheirReaderHasOrdered(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.Approval.AlonePerDay = models.MustMoney("150.00")
	b := setup(t, p)
	b.Reserve(t, b.Ask(b.Paid(t, 1), "100.00"))

	tx := b.Paid(t, 2)
	now := b.Trip.DepartureAt.Add(-30 * time.Hour)
	require.True(t, b.quote(t, tx, now).Now.NeedsApproval)
	require.False(t, b.quote(t, tx, b.Trip.DepartureAt).Now.NeedsApproval, "nothing goes back")

	q, _, err := b.Store.Refunds.QuoteCancellation(t.Context(), b.Users[models.RoleAdmin].ID, *tx.BookingID, nil, now)
	require.NoError(t, err)
	require.False(t, q.Now.NeedsApproval)
}

// Money that came twice is no part of what was paid for the seats, also when nothing is left of that.
func TestQuotesAreOfWhatBoughtTheBooking(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	at := time.Now()
	_, err := b.Store.Payments.NoteSecondDebits(t.Context(), tx.ID, []payments.SecondDebit{{
		GatewayPaymentID: "twice", Amount: tx.Amount, Currency: models.Currency, TakenAt: &at,
	}})
	require.NoError(t, err)

	all := tx.Amount
	r := b.Ask(tx, "")
	r.Type, r.Amount, r.TransactionID = models.RefundPartial, &all, tx.ID
	b.Reserve(t, r)

	q := b.quote(t, tx, b.Trip.DepartureAt.Add(-80*time.Hour))
	require.Equal(t, "0.00", q.Part.Refund.String())
	require.Equal(t, "0.00", q.Now.Full.String())

	r, order := b.cancelling(tx)
	done, err := b.Store.Refunds.Cancel(t.Context(), r, order, b.Trip.DepartureAt.Add(-80*time.Hour))
	require.NoError(t, err)
	require.Nil(t, done.Refund)
	require.Equal(t, "0.00", done.Cancellation.RefundAmount.String())
}
