package refunds_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// sums are the limits of configuration on what one person does.
func sums() models.Policies {
	p := models.DefaultPolicies()
	p.Approval.AlonePerDay, p.PayoutAbove = models.MustMoney("20000.00"), models.MustMoney("50000.00")

	return p
}

// paidFor are n payments of as many bookings.
func (b *books) paidFor(t *testing.T, n int, price string) []models.PaymentTransaction {
	t.Helper()

	all := make([]models.PaymentTransaction, n)
	for i := range all {
		all[i] = b.PaidFor(t, price)
	}

	return all
}

// orderAtOnce orders all of the payments back in parallel, and counts what was answered: ordered, to be approved, a code asked for.
func (b *books) orderAtOnce(t *testing.T, of []models.PaymentTransaction, atMost *models.Money) (ordered, waits, asked int) {
	t.Helper()

	var count [3]atomic.Int32

	bookstest.Parallel(len(of), func(i int) {
		r := b.Ask(of[i], "")
		r.AtMost = atMost

		refund, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())

		switch {
		case models.CodeOf(err) == models.CodeStepUpRequired:
			count[2].Add(1)
		case err != nil:
			t.Error(err)
		case refund.NeedsApproval():
			count[1].Add(1)
		default:
			count[0].Add(1)
		}
	})

	return int(count[0].Load()), int(count[1].Load()), int(count[2].Load())
}

// A person chooses how many payments refunds are of: what they order without a code is bounded over all of them, in parallel too.
func TestManyRefundsWithAnOldCode(t *testing.T) {
	t.Parallel()
	b := setup(t, sums())

	ordered, waits, asked := b.orderAtOnce(t, b.paidFor(t, 50, "1000.00"), bookstest.Amount("1000.00"))
	require.Equal(t, []int{1, 0, 49}, []int{ordered, waits, asked})
}

// One code counts for ten minutes, not for any sum: beyond that of the day another person approves.
func TestManyRefundsWithOneCode(t *testing.T) {
	t.Parallel()
	b := setup(t, sums())

	ordered, waits, asked := b.orderAtOnce(t, b.paidFor(t, 30, "5000.00"), nil)
	require.Equal(t, []int{4, 26, 0}, []int{ordered, waits, asked})

	// From now on every refund of theirs needs an approval, as the quote and the preview say beforehand; another person's needs none.
	tx := b.PaidFor(t, "10.00")
	quote, err := b.Store.Refunds.RefundQuote(t.Context(), b.Finance.UserID, *tx.BookingID, time.Now())
	require.NoError(t, err)
	require.True(t, quote.NeedsApproval)

	preview, err := b.Store.Refunds.PreviewRefund(t.Context(), b.Ask(tx, ""), time.Now())
	require.NoError(t, err)
	require.True(t, preview.NeedsApproval)

	other := b.Ask(tx, "5.00")
	other.RequestedBy, other.Role = new(b.Users[models.RoleAdmin].ID), models.RoleAdmin
	require.False(t, new(b.Reserve(t, other)).NeedsApproval())
	require.True(t, new(b.Reserve(t, b.Ask(tx, ""))).NeedsApproval())
}

// What counts towards the sums of a person, each in books of its own.
func TestWhatCountsForAPerson(t *testing.T) {
	t.Parallel()

	limits := sums()
	limits.Approval.AlonePerDay = models.MustMoney("150.00")

	for name, c := range map[string]struct {
		before func(t *testing.T, b *books, r models.RefundRequest)
		counts bool
	}{
		"ordered": {func(*testing.T, *books, models.RefundRequest) {}, true},
		"made": {func(t *testing.T, b *books, r models.RefundRequest) {
			t.Helper()
			b.SettleRefund(t, r, bookstest.Granted(r))
		}, true},
		"refused by the gateway": {func(t *testing.T, b *books, r models.RefundRequest) {
			t.Helper()
			b.refuseAtGateway(t, r.ID)
		}, false},
		"a day ago": {func(t *testing.T, b *books, r models.RefundRequest) {
			t.Helper()
			b.Exec(t, "UPDATE refunds SET created_at = created_at - interval '24 hours' WHERE id = $1", r.ID)
		}, false},
		"of a trip that was cancelled then": {func(t *testing.T, b *books, r models.RefundRequest) {
			t.Helper()
			b.Exec(t, "UPDATE trips SET status = 'CANCELLED' WHERE id = (SELECT trip_id FROM bookings WHERE id = $1)", r.BookingID)
		}, true}, // it was none when it was ordered
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, limits)
			r := b.Ask(b.PaidFor(t, "100.00"), "")
			b.Reserve(t, r)
			c.before(t, b, r)
			require.Equal(t, c.counts, new(b.Reserve(t, b.Ask(b.PaidFor(t, "60.00"), ""))).NeedsApproval())
		})
	}
}

// All customers of a trip that was cancelled get their money back: that is no sum of one person, neither of the day nor of the hour.
func TestRefundsOfACancelledTrip(t *testing.T) {
	t.Parallel()

	limits := sums()
	limits.Approval.AlonePerDay = models.MustMoney("150.00")
	b := setup(t, limits)
	of := b.paidFor(t, 6, "100.00")
	b.Exec(t, "UPDATE trips SET status = 'CANCELLED' WHERE id IN (SELECT trip_id FROM bookings)")

	ordered, waits, asked := b.orderAtOnce(t, of, bookstest.Amount("100.00"))
	require.Equal(t, []int{6, 0, 0}, []int{ordered, waits, asked})

	// They leave as much for others, and of a single one the code is asked for as ever.
	require.False(t, new(b.Reserve(t, b.Ask(b.PaidFor(t, "150.00"), ""))).NeedsApproval())

	large := b.PaidFor(t, "100.01")
	b.Exec(t, "UPDATE trips SET status = 'CANCELLED' WHERE id = (SELECT trip_id FROM bookings WHERE id = $1)", *large.BookingID)
	_, _, asked = b.orderAtOnce(t, []models.PaymentTransaction{large}, bookstest.Amount("100.00"))
	require.Equal(t, 1, asked)
}

// Another currency than SAR has no rate: whatever its number, it is over the limit of what goes without a code.
func TestOtherCurrencyAsksForACode(t *testing.T) {
	t.Parallel()
	b := setup(t, sums())
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.Currency = "USD" }))
	b.Settle(t, tx, time.Now())

	r := b.Ask(tx, "")
	r.TransactionID, r.AtMost = tx.ID, bookstest.Amount("100000.00")
	_, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())
	bookstest.RequireCode(t, models.CodeStepUpRequired, err)

	r.AtMost = nil
	require.Equal(t, "USD", b.Reserve(t, r).Currency)

	d := bookstest.PaidOut(r.ID, "TRF-USD")
	d.AtMost = bookstest.Amount("100000.00")
	_, err = b.Store.Refunds.DecidePayout(t.Context(), b.As(models.RoleAdmin), d, time.Now())
	bookstest.RequireCode(t, models.CodeStepUpRequired, err)

	d.AtMost = nil
	b.Decide(t, d, models.RoleAdmin)
}

// Approving and confirming payouts move money as ordering does: their sums of an hour ask for a code, in parallel too.
func TestDecisionsAreSummedUp(t *testing.T) {
	t.Parallel()

	const n = 8

	limits := sums()
	limits.Approval.Above = models.MustMoney("50.00")
	at := bookstest.Amount("250.00")

	for name, c := range map[string]struct {
		make   func(t *testing.T, b *books) uuid.UUID
		decide func(t *testing.T, b *books, refund uuid.UUID) error
	}{
		"approvals": {
			func(t *testing.T, b *books) uuid.UUID {
				t.Helper()

				return b.Reserve(t, b.Ask(b.PaidFor(t, "100.00"), "")).ID
			},
			func(t *testing.T, b *books, refund uuid.UUID) error {
				t.Helper()

				d := bookstest.Approved(refund)
				d.AtMost = at
				_, err := b.Store.Refunds.DecideApproval(t.Context(), b.As(models.RoleAdmin), d, time.Now())

				return err
			},
		},
		"payouts": {
			func(t *testing.T, b *books) uuid.UUID {
				t.Helper()

				r := b.Reserve(t, b.Ask(b.PaidBill(t), "100.00"))
				b.DecideApproval(t, bookstest.Approved(r.ID), models.RoleSuperAdmin)

				return r.ID
			},
			func(t *testing.T, b *books, refund uuid.UUID) error {
				t.Helper()

				d := bookstest.PaidOut(refund, "TRF-"+refund.String())
				d.AtMost = at
				_, err := b.Store.Refunds.DecidePayout(t.Context(), b.As(models.RoleAdmin), d, time.Now())

				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, limits)

			ids := make([]uuid.UUID, n)
			for i := range ids {
				ids[i] = c.make(t, b)
			}

			var done atomic.Int32

			bookstest.Parallel(n, func(i int) {
				switch err := c.decide(t, b, ids[i]); {
				case err == nil:
					done.Add(1)
				case models.CodeOf(err) != models.CodeStepUpRequired:
					t.Error(err)
				}
			})
			require.EqualValues(t, 2, done.Load())
		})
	}
}

// One person confirms payouts up to the limit of a day; the first of them whatever its amount, since it cannot be paid in parts.
func TestPayoutsOfOnePerson(t *testing.T) {
	t.Parallel()

	limits := models.DefaultPolicies()
	limits.PayoutAbove = models.MustMoney("100.00")
	b := setup(t, limits)

	confirm := func(by models.Role) error {
		r := b.Reserve(t, b.Ask(b.PaidBill(t), ""))
		require.Equal(t, "115.00", r.Amount.String())

		_, err := b.Store.Refunds.DecidePayout(t.Context(), b.As(by), bookstest.PaidOut(r.ID, "TRF-1"), time.Now())

		return err
	}

	require.NoError(t, confirm(models.RoleAdmin))
	err := confirm(models.RoleAdmin)
	bookstest.RequireCode(t, models.CodeApprovalRequired, err)
	require.ErrorContains(t, err, "Another person has to confirm it")
	require.NoError(t, confirm(models.RoleSuperAdmin))
}

// The database holds a person to the limit, whatever the code has counted.
func TestDatabaseHoldsAPersonToTheLimit(t *testing.T) {
	t.Parallel()

	limits := sums()
	limits.Approval.AlonePerDay = models.MustMoney("150.00")
	b := setup(t, limits)
	r := b.Reserve(t, b.Ask(b.PaidFor(t, "100.00"), ""))
	other := b.PaidFor(t, "60.00")

	_, err := b.DB.ExecContext(t.Context(), `INSERT INTO refunds (id, payment_transaction_id, booking_id, refund_type, amount, requested_by, alone_above)
		VALUES (gen_random_uuid(), $1, $2, 'FULL', 60, $3, 150)`, other.ID, *other.BookingID, b.Finance.UserID)
	require.ErrorContains(t, err, "needs an approval")

	for _, change := range []string{"alone_above = NULL", "alone_above = 1000"} {
		_, err := b.DB.ExecContext(t.Context(), "UPDATE refunds SET "+change+" WHERE id = $1", r.ID)
		require.ErrorContains(t, err, "never change")
	}
}
