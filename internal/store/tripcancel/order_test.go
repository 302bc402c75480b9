package tripcancel_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/ledger"
	"rihla/internal/store/tripcancel"
	"rihla/models"
)

// The preview is what the refunds come to, to the halala, over awkward prices, earlier refunds and parts.
func TestPreviewIsWhatGoesBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Exec(t, "UPDATE trips SET price_per_seat = 33.37 WHERE id = $1", b.Trip.ID)
	b.Trip.PricePerSeat = models.MustMoney("33.37")

	paid, parted, given := b.Paid(t, 1), b.Paid(t, 3), b.Paid(t, 2)
	b.GiveBack(t, given, "10.01")
	b.Open(t, b.Book(t, b.Trip, 1), 1)

	finance := b.As(models.RoleFinanceAdmin)
	_, err := b.Store.Refunds.Cancel(t.Context(), models.RefundRequest{
		ID: models.NewID(), BookingID: *parted.BookingID, Type: models.RefundPolicy, RequestedBy: &finance.UserID, Role: finance.Role,
	}, models.CancelOrder{
		ID: models.NewID(), Passengers: models.PassengerIDs(*parted.BookingID, []int{2}), RefundBy: models.CancelByAmount, Amount: bookstest.Amount("3.33"),
	}, time.Now())
	require.NoError(t, err)
	b.grantAll(t)

	line := b.Records(t, paid)[0]
	_, err = b.Store.Ledger.MarkTransferred(t.Context(), finance, line.ID, ledger.MarkTransfer{})
	require.NoError(t, err)

	sums := b.preview(t)
	require.Equal(t, 3, sums.Bookings)
	require.Equal(t, 5, sums.Seats)
	require.Equal(t, "156.84", sums.RefundTotal.String(), "33.37, twice 33.37, and 66.74 less 10.01")
	require.Equal(t, line.NetAmount.String(), sums.ClawbackTotal.String(), "the company owes what it was paid out")
	require.Equal(t, 1, sums.OpenCheckouts)

	_, err = b.tryOrder(t, sums.RefundTotal.Sub(models.MustMoney("0.01")), time.Now())
	bookstest.RequireFields(t, models.CodeRefundAmountChanged, err, "expected_refund_total")

	c := b.order(t)
	require.Zero(t, b.cancelAll(t, c.ID))
	b.grantAll(t)
	require.True(t, b.finish(t, c.ID))

	got, err := b.Store.TripCancellations.Get(t.Context(), b.As(models.RoleAdmin), b.Trip.ID)
	require.NoError(t, err)
	require.Equal(t, models.TripCancellationCounts{Bookings: 3, Cancelled: 3, RefundsSucceeded: 3, RefundedTotal: got.Counts.RefundedTotal}, got.Counts)
	require.Equal(t, sums.RefundTotal.String(), got.Counts.RefundedTotal.String())
	require.Zero(t, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
	b.RequireBooks(t)
}

func TestWhichTripsAreCalledOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Paid(t, 1)

	total := b.preview(t).RefundTotal

	_, err := b.tryOrder(t, total, b.Trip.DepartureAt)
	bookstest.RequireCode(t, models.CodeInvalidState, err)

	_, err = b.Store.TripCancellations.Order(t.Context(), bookstest.As(b.World, models.RoleAdmin), tripcancel.Order{
		TripID: uuid.New(), Reason: "no such trip", Expected: total,
	}, time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)

	_, err = b.Store.TripCancellations.Order(t.Context(), bookstest.As(b.World, models.RoleAdmin), tripcancel.Order{
		TripID: b.Trip.ID, Reason: "too much for one session", Expected: total, AtMost: bookstest.Amount("1.00"),
	}, time.Now())
	bookstest.RequireCode(t, models.CodeStepUpRequired, err)

	first := b.order(t)
	again, err := b.tryOrder(t, models.Money{}, time.Now())
	require.NoError(t, err)
	require.True(t, again.Repeated)
	require.Equal(t, first.ID, again.ID)

	// A trip that is being called off is neither changed nor deleted, nor sold.
	bookstest.RequireCode(t, models.CodeInvalidState, bookstest.ErrorOf(b.Store.Bookings.UpdateTrip(t.Context(),
		bookstest.As(b.World, models.RoleAdmin), b.Trip.ID, func(x *models.Trip) error { x.Title = "Other"; return nil }, time.Now())))
	bookstest.RequireCode(t, models.CodeInvalidState, b.Store.Catalogue.DeleteTrip(t.Context(), bookstest.As(b.World, models.RoleAdmin), b.Trip.ID, time.Now()))

	_, err = b.Store.Bookings.CreateBooking(t.Context(), b.Request(b.Trip, 1), time.Now())
	require.Error(t, err)
}

// Many call a trip off, approve and reject at once: one of them wins, and the others read it.
func TestDecisionsAboutATripAtOnce(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.TripCancellationAbove = models.MustMoney("1.00")
	b := setup(t, p)
	b.Paid(t, 1)

	total := b.preview(t).RefundTotal

	for range 20 {
		var (
			wg     sync.WaitGroup
			errs   = make([]error, 4)
			orders = make([]uuid.UUID, 2)
		)

		for i := range orders {
			wg.Go(func() {
				o, err := b.tryOrder(t, total, time.Now())
				errs[i], orders[i] = err, o.ID
			})
		}

		wg.Wait()
		require.NoError(t, errs[0])
		require.NoError(t, errs[1])
		require.Equal(t, orders[0], orders[1])

		decide := func(i int, role models.Role, approve bool) {
			wg.Go(func() {
				_, errs[i] = b.Store.TripCancellations.Decide(t.Context(), b.As(role), tripcancel.Decision{
					TripID: b.Trip.ID, Approve: approve, Note: "called them",
				}, time.Now())
			})
		}
		decide(2, models.RoleFinanceAdmin, true)
		decide(3, models.RoleAdmin, false)
		wg.Wait()

		won := 0

		for _, err := range errs[2:] {
			if err == nil {
				won++
			} else {
				bookstest.RequireCode(t, models.CodeInvalidState, err)
			}
		}

		require.Equal(t, 1, won)

		if b.Count(t, "SELECT count(*) FROM trips WHERE id = $1 AND status = 'PUBLISHED'", b.Trip.ID) == 0 {
			break // it was approved
		}
	}
}

// An approval that does not come in time leaves the trip as it was.
func TestApprovalOfATripComesTooLate(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.TripCancellationAbove = models.MustMoney("1.00")
	b := setup(t, p)
	b.Paid(t, 1)
	c := b.order(t)
	require.True(t, c.ApprovalPending)

	out, err := b.Store.TripCancellations.CancelBooking(t.Context(), c.ID, uuid.New(), time.Now())
	bookstest.RequireCode(t, models.CodeInvalidState, err)
	require.Nil(t, out.Refund)

	own := bookstest.As(b.World, models.RoleProviderAdmin)
	own.Role = models.RoleAdmin // whatever role they have by now
	_, err = b.Store.TripCancellations.Decide(t.Context(), own, tripcancel.Decision{TripID: b.Trip.ID, Approve: true}, time.Now())
	bookstest.RequireCode(t, models.CodeForbidden, err)

	late := c.ApprovalUntil.Add(time.Second)

	behind, err := b.Store.TripCancellations.LeftBehind(t.Context(), time.Minute, 10, late.Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, []models.TripCancellationOrder{{ID: c.ID, TripID: b.Trip.ID, ProviderID: b.Provider.ID}}, behind)

	_, err = b.Store.TripCancellations.Decide(t.Context(), b.As(models.RoleFinanceAdmin), tripcancel.Decision{TripID: b.Trip.ID, Approve: true}, late)
	bookstest.RequireCode(t, models.CodeInvalidState, err)

	state, err := b.Store.TripCancellations.Look(t.Context(), c.ID, late)
	require.NoError(t, err)
	require.Equal(t, models.TripCancellationExpired, state.Status)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM trips WHERE id = $1 AND status = 'PUBLISHED'", b.Trip.ID))
	b.RequireBooks(t)
}

// What needs a second person cannot be had trip by trip.
func TestTripsOfACompanyAddUp(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.TripCancellationAbove = models.MustMoney("200.00")
	b := setup(t, p)

	for i, waits := range []bool{false, true, true} {
		b.Trip = b.InsertTrip(t, 20, nil)
		b.Paid(t, 1)
		require.Equal(t, waits, b.preview(t).NeedsApproval, i)

		c := b.order(t)
		require.Equal(t, waits, c.ApprovalPending, i)

		if !waits {
			require.Zero(t, b.cancelAll(t, c.ID))
			b.grantAll(t)
			require.True(t, b.finish(t, c.ID))
		}
	}

	// By a trip without customers nothing goes back.
	b.Trip = b.InsertTrip(t, 20, nil)
	require.False(t, b.order(t).ApprovalPending)

	b.RequireBooks(t)
}

// While a second person is waited for, who is at the checkout is confirmed; once the trip is called off the money goes back.
func TestPaymentsWhileATripWaits(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.TripCancellationAbove = models.MustMoney("1.00")
	b := setup(t, p)
	b.Paid(t, 1)

	first, second := b.Open(t, b.Book(t, b.Trip, 1), 1), b.Open(t, b.Book(t, b.Trip, 1), 1)
	c := b.order(t)
	require.True(t, c.ApprovalPending)

	pay := func(tx models.PaymentTransaction) models.Settled {
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))

		return b.Settle(t, tx, time.Now())
	}
	require.Equal(t, models.TransactionPaid, pay(first).Status)
	require.Equal(t, models.BookingConfirmed, b.BookingNow(t, *first.BookingID).Status)

	_, err := b.Store.TripCancellations.Decide(t.Context(), b.As(models.RoleFinanceAdmin), tripcancel.Decision{TripID: b.Trip.ID, Approve: true}, time.Now())
	require.NoError(t, err)

	late := pay(second)
	require.Equal(t, models.TransactionFailed, late.Status)
	require.True(t, late.RefundOwed)

	require.Zero(t, b.cancelAll(t, c.ID))
	b.grantAll(t)
	require.True(t, b.finish(t, c.ID))
	require.Equal(t, models.BookingCancelled, b.BookingNow(t, *first.BookingID).Status)
	b.RequireBooks(t)
}

// What one person may call off without a code, or without a second person, adds up over trips and companies.
func TestOnePersonsTripsAddUp(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.TripCancellationAbove = models.MustMoney("300.00")
	b := setup(t, p)
	admin := b.As(models.RoleAdmin)

	call := func(most string) (tripcancel.Ordered, error) {
		b.Trip = b.InsertTrip(t, 20, nil)
		b.Paid(t, 1)

		return b.Store.TripCancellations.Order(t.Context(), admin, tripcancel.Order{
			TripID: b.Trip.ID, Reason: "a storm", Expected: models.MustMoney("115.00"), AtMost: bookstest.Amount(most),
		}, time.Now())
	}

	_, err := call("200.00")
	require.NoError(t, err)
	_, err = call("200.00")
	bookstest.RequireCode(t, models.CodeStepUpRequired, err)

	second, err := call("1000.00")
	require.NoError(t, err)
	require.False(t, second.ApprovalPending)

	third, err := call("1000.00")
	require.NoError(t, err)
	require.True(t, third.ApprovalPending, "345.00 within a day")

	// The preview says the same to the same person.
	b.Trip = b.InsertTrip(t, 20, nil)
	b.Paid(t, 1)

	sums, err := b.Store.TripCancellations.Preview(t.Context(), admin, b.Trip.ID, time.Now())
	require.NoError(t, err)
	require.True(t, sums.NeedsApproval)
}
