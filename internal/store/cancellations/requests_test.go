package cancellations_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/cancellations"
	"rihla/internal/store/db"
	"rihla/models"
)

// books is bookstest.Books with the steps of this package's tests.
type books struct{ *bookstest.Books }

func setup(t *testing.T, own ...models.Policies) *books {
	t.Helper()

	return &books{bookstest.NewBooks(t, own...)}
}

// early is a moment at which the policy gives half.
func (b *books) early() time.Time { return b.Trip.DepartureAt.Add(-30 * time.Hour) }

func (b *books) owner() db.Actor { return b.As(models.RoleEndUser) }

// ask asks for passengers, by their positions, to be cancelled at now.
func (b *books) ask(t *testing.T, booking uuid.UUID, now time.Time, positions ...int) models.CancellationRequest {
	t.Helper()

	r, err := b.Store.Cancellations.Request(t.Context(), b.owner(), asking(booking, positions...), now)
	require.NoError(t, err)

	return r
}

func asking(booking uuid.UUID, positions ...int) cancellations.Ask {
	return cancellations.Ask{ID: models.NewID(), BookingID: booking, Passengers: models.PassengerIDs(booking, positions)}
}

func (b *books) decide(
	t *testing.T, r models.CancellationRequest, by models.Role, to models.CancellationRequestStatus, now time.Time,
) (models.CancellationRequest, error) {
	t.Helper()

	return b.Store.Cancellations.Decide(t.Context(), b.As(by), cancellations.Decision{RequestID: r.ID, To: to, Note: "as agreed"}, now)
}

func TestApprovedRequestPaysItsQuote(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 3)
	r := b.ask(t, *tx.BookingID, b.early(), 1)
	require.Equal(t, "57.50", r.RefundAmount.String())
	require.Equal(t, 3, b.seatsTaken(t), "until it is approved")

	// It is approved when the policy would give nothing any more.
	r, err := b.decide(t, r, models.RoleFinanceAdmin, models.CancellationApproved, b.Trip.DepartureAt.Add(-time.Hour))
	require.NoError(t, err)
	require.Equal(t, models.CancellationApproved, r.Status)
	require.Equal(t, 2, b.seatsTaken(t))

	refund, err := b.Store.Refunds.RefundByID(t.Context(), *r.RefundID)
	require.NoError(t, err)
	require.Equal(t, "57.50", refund.Amount.String())

	again, err := b.decide(t, r, models.RoleFinanceAdmin, models.CancellationApproved, b.early())
	require.NoError(t, err)
	require.Equal(t, r.RefundID, again.RefundID)

	_, err = b.decide(t, r, models.RoleAdmin, models.CancellationRejected, b.early())
	bookstest.RequireCode(t, models.CodeInvalidState, err)

	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'BOOKING_CANCELLED'"))
	b.RequireBooks(t)
}

// A trip that was moved or cancelled since gives more than the quote; one that was not gives what was quoted.
func TestBetterTermsCountForAnOpenRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.ask(t, *tx.BookingID, b.early())
	b.Exec(t, "UPDATE trips SET status = 'CANCELLED' WHERE id = $1", b.Trip.ID)

	r, err := b.decide(t, r, models.RoleAdmin, models.CancellationApproved, b.early())
	require.NoError(t, err)

	refund, err := b.Store.Refunds.RefundByID(t.Context(), *r.RefundID)
	require.NoError(t, err)
	require.Equal(t, "115.00", refund.Amount.String())
	require.Equal(t, models.PolicyTripCancelled, *refund.PolicyReason)
	require.Equal(t, models.RefundTripCancelled, refund.Cause)
}

func TestRequestsThatEndWithoutACancellation(t *testing.T) {
	t.Parallel()

	for _, to := range []models.CancellationRequestStatus{
		models.CancellationRejected, models.CancellationWithdrawn, models.CancellationExpired,
	} {
		t.Run(string(to), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			tx := b.Paid(t, 2)
			r := b.ask(t, *tx.BookingID, b.early(), 2)

			_, err := b.Store.Cancellations.Request(t.Context(), b.owner(), asking(*tx.BookingID, 1), b.early())
			bookstest.RequireCode(t, models.CodeInvalidState, err)

			switch to {
			case models.CancellationRejected:
				r, err = b.decide(t, r, models.RoleFinanceAdmin, to, b.early())
			case models.CancellationWithdrawn:
				_, err = b.decide(t, r, models.RoleProviderAdmin, to, b.early())
				bookstest.RequireCode(t, models.CodeNotFound, err)

				r, err = b.decide(t, r, models.RoleEndUser, to, b.early())
			default:
				var state models.OpenCancellation

				state, err = b.Store.Cancellations.Expire(t.Context(), r.ID, b.Trip.DepartureAt)
				r.Status = state.Status
			}

			require.NoError(t, err)
			require.Equal(t, to, r.Status)
			require.Equal(t, 2, b.seatsTaken(t))

			_, err = b.decide(t, r, models.RoleFinanceAdmin, models.CancellationApproved, b.early())
			bookstest.RequireCode(t, models.CodeInvalidState, err)

			b.ask(t, *tx.BookingID, b.early(), 2) // another one may follow
			b.RequireBooks(t)
		})
	}
}

// A decision that comes after the departure is none: the request has expired by it.
func TestDecisionAfterDeparture(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.ask(t, *tx.BookingID, b.early())

	_, err := b.decide(t, r, models.RoleFinanceAdmin, models.CancellationApproved, b.Trip.DepartureAt)
	bookstest.RequireCode(t, models.CodeInvalidState, err)

	r, err = b.Store.Cancellations.ByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.CancellationExpired, r.Status)
}

func TestWhoMayAskAndDecide(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)

	_, err := b.Store.Cancellations.Request(t.Context(), b.As(models.RoleAdmin), asking(*tx.BookingID), b.early())
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Cancellations.Request(t.Context(), b.owner(), asking(*tx.BookingID, 2), b.early())
	bookstest.RequireCode(t, models.CodeValidation, err)
	_, err = b.Store.Cancellations.Request(t.Context(), b.owner(), asking(*tx.BookingID), b.Trip.DepartureAt)
	bookstest.RequireCode(t, models.CodeInvalidState, err)
	_, err = b.Store.Cancellations.Request(t.Context(), b.owner(), asking(b.Book(t, b.Trip, 1).ID), b.early())
	bookstest.RequireCode(t, models.CodeInvalidState, err)

	ask := asking(*tx.BookingID)
	r, err := b.Store.Cancellations.Request(t.Context(), b.owner(), ask, b.early())
	require.NoError(t, err)

	same, err := b.Store.Cancellations.Request(t.Context(), b.owner(), ask, b.early())
	require.NoError(t, err)
	require.Equal(t, r.ID, same.ID)

	// Who has booked cannot approve, whatever role the account has by now.
	_, err = b.Store.Cancellations.Decide(t.Context(), db.Actor{UserID: b.Customer.ID, Role: models.RoleFinanceAdmin},
		cancellations.Decision{RequestID: r.ID, To: models.CancellationApproved}, b.early())
	bookstest.RequireCode(t, models.CodeForbidden, err)
}

func TestPoliciesApproveAlone(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.CancelAlone, p.Approval.Above = true, models.MustMoney("100.00")
	b := setup(t, p)

	small, large := b.Paid(t, 1), b.Paid(t, 2)
	r := b.ask(t, *small.BookingID, b.early())
	require.Equal(t, models.CancellationApproved, r.Status)
	require.Nil(t, r.DecidedBy)
	require.NotNil(t, r.RefundID)

	r = b.ask(t, *large.BookingID, b.early())
	require.Equal(t, models.CancellationRequested, r.Status, "115.00 go back")

	waiting := b.Paid(t, 3)
	_, err := b.Store.Refunds.OrderRefund(t.Context(), b.Ask(waiting, ""), bookstest.Clock())
	require.NoError(t, err)

	r = b.ask(t, *waiting.BookingID, b.early())
	require.Equal(t, models.CancellationRequested, r.Status, "nothing is cancelled while a refund waits")
	b.RequireBooks(t)
}

// The booking is cancelled otherwise: nothing is left to decide, and the caller learns which request has ended.
func TestRequestOfABookingThatIsCancelledOtherwise(t *testing.T) {
	t.Parallel()

	for name, cancel := range map[string]func(*testing.T, *books, models.PaymentTransaction) uuid.UUID{
		"the order of a refund": func(t *testing.T, b *books, tx models.PaymentTransaction) uuid.UUID {
			t.Helper()

			r := b.Ask(tx, "")
			r.Type = models.RefundPolicy

			return b.Reserve(t, r).Withdrawn
		},
		"the end of a refund that cancels nothing before": func(t *testing.T, b *books, tx models.PaymentTransaction) uuid.UUID {
			t.Helper()

			half, no := models.MustMoney("57.50"), false
			first, rest := b.Ask(tx, ""), b.Ask(tx, "")
			first.Type, first.Amount, first.CancelBooking = models.RefundPartial, &half, &no
			rest.Type, rest.Amount, rest.CancelBooking = models.RefundPartial, &half, &no
			require.Equal(t, uuid.Nil, b.Reserve(t, first).Withdrawn)
			require.Equal(t, uuid.Nil, b.Reserve(t, rest).Withdrawn)
			require.Equal(t, uuid.Nil, b.SettleRefund(t, first, bookstest.Granted(first)).Withdrawn)

			return b.SettleRefund(t, rest, bookstest.Granted(rest)).Withdrawn
		},
		"staff": func(t *testing.T, b *books, tx models.PaymentTransaction) uuid.UUID {
			t.Helper()

			r := b.Ask(tx, "")
			done, err := b.Store.Refunds.Cancel(t.Context(), r, models.CancelOrder{
				ID: models.CancellationID(*tx.BookingID, "desk"), RefundBy: models.CancelUnpaid, Cause: models.RefundOther,
			}, b.early())
			require.NoError(t, err)

			return done.Cancellation.Withdrawn
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			tx := b.Paid(t, 1)
			asked := b.ask(t, *tx.BookingID, b.early())
			require.Equal(t, asked.ID, cancel(t, b, tx))

			r, err := b.Store.Cancellations.ByID(t.Context(), asked.ID)
			require.NoError(t, err)
			require.Equal(t, models.CancellationWithdrawn, r.Status)
		})
	}
}

func (b *books) seatsTaken(t *testing.T) int {
	t.Helper()

	return b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID)
}

// What no workflow has looked at, and what it does not know is decided, is left behind.
func TestRequestsThatAreLeftBehind(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.ask(t, *b.Paid(t, 1).BookingID, b.early())

	left := func(now time.Time) []uuid.UUID {
		t.Helper()

		ids, err := b.Store.Cancellations.LeftBehind(t.Context(), time.Minute, 10, now)
		require.NoError(t, err)

		return ids
	}
	look := func(now time.Time) models.CancellationRequestStatus {
		t.Helper()

		state, err := b.Store.Cancellations.Expire(t.Context(), r.ID, now)
		require.NoError(t, err)

		return state.Status
	}
	later := b.early().Add(2 * time.Minute)

	require.Empty(t, left(b.early()))
	require.Equal(t, []uuid.UUID{r.ID}, left(later), "no workflow")
	require.Equal(t, models.CancellationRequested, look(b.early()))
	require.Empty(t, left(later))
	require.Equal(t, []uuid.UUID{r.ID}, left(b.Trip.DepartureAt.Add(time.Hour)), "not expired")

	_, err := b.decide(t, r, models.RoleAdmin, models.CancellationApproved, b.early())
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{r.ID}, left(later), "decided, and not known")
	require.Equal(t, models.CancellationApproved, look(later))
	require.Empty(t, left(later))
}

func TestRemindersAreSentOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.ask(t, *b.Paid(t, 1).BookingID, b.early())

	for range 2 {
		require.NoError(t, b.Store.Cancellations.Remind(t.Context(), r.ID))
	}

	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'CANCELLATION_WAITING'"))

	_, err := b.decide(t, r, models.RoleAdmin, models.CancellationRejected, b.early())
	require.NoError(t, err)
	require.NoError(t, b.Store.Cancellations.Remind(t.Context(), r.ID))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'CANCELLATION_WAITING'"))
}

// What an approval would do is what it does: the quote of asking, or better terms of now, in spite of what went back meanwhile.
func TestApprovalsDoWhatIsForeseen(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.Approval.Above = models.MustMoney("100.00")

	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, b *books, tx models.PaymentTransaction)
		refund    string
		waits     bool
	}{
		"as asked": {func(*testing.T, *books, models.PaymentTransaction) {}, "57.50", false},
		"the trip is cancelled": {func(t *testing.T, b *books, _ models.PaymentTransaction) {
			t.Helper()
			b.Exec(t, "UPDATE trips SET status = 'CANCELLED' WHERE id = $1", b.Trip.ID)
		}, "115.00", true},
		"money has gone back": {func(t *testing.T, b *books, tx models.PaymentTransaction) {
			t.Helper()
			b.GiveBack(t, tx, "45.00")
		}, "57.50", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, p)
			tx := b.Paid(t, 2)
			r := b.ask(t, *tx.BookingID, b.early(), 1)
			late := b.Trip.DepartureAt.Add(-time.Hour) // the policy of now gives nothing
			c.meanwhile(t, b, tx)

			asked, err := r.Quote()
			require.NoError(t, err)

			finance := b.As(models.RoleFinanceAdmin).UserID
			q, positions, err := b.Store.Refunds.QuoteOrder(t.Context(), finance, r.BookingID, r.Order(&asked), late)
			require.NoError(t, err)
			require.Equal(t, []int{1}, positions)
			require.Equal(t, c.refund, q.Part.Refund.String())
			require.Equal(t, c.waits, q.Now.NeedsApproval)

			r, err = b.decide(t, r, models.RoleFinanceAdmin, models.CancellationApproved, late)
			require.NoError(t, err)

			refund, err := b.Store.Refunds.RefundByID(t.Context(), *r.RefundID)
			require.NoError(t, err)
			require.Equal(t, c.refund, refund.Amount.String())
			require.Equal(t, c.waits, refund.NeedsApproval())
		})
	}
}

// Requests name the member of staff who has decided, and no customer who has withdrawn.
func TestWhoHasDecidedIsNamed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rejected, withdrawn := b.ask(t, *b.Paid(t, 1).BookingID, b.early()), b.ask(t, *b.Paid(t, 1).BookingID, b.early())
	b.Exec(t, "UPDATE users SET name = 'Who Decides' WHERE id = $1", b.Users[models.RoleAdmin].ID)

	_, err := b.decide(t, rejected, models.RoleAdmin, models.CancellationRejected, b.early())
	require.NoError(t, err)
	_, err = b.decide(t, withdrawn, models.RoleEndUser, models.CancellationWithdrawn, b.early())
	require.NoError(t, err)

	list, err := b.Store.Cancellations.List(t.Context(), cancellations.Filter{Page: db.Page{}})
	require.NoError(t, err)

	names := map[uuid.UUID]string{}
	for i := range list.Items {
		names[list.Items[i].ID] = list.Items[i].DeciderName
	}

	require.Equal(t, map[uuid.UUID]string{rejected.ID: "Who Decides", withdrawn.ID: ""}, names)
}

// An approval that would order another amount than expected decides nothing.
func TestApprovalsOfAnExpectedAmount(t *testing.T) {
	t.Parallel()
	b := setup(t)

	approve := func(r models.CancellationRequest, expected string) (models.CancellationRequest, error) {
		return b.Store.Cancellations.Decide(t.Context(), b.As(models.RoleFinanceAdmin), cancellations.Decision{
			RequestID: r.ID, To: models.CancellationApproved, Expected: bookstest.Amount(expected),
		}, b.early())
	}

	for _, c := range []struct {
		asked          time.Time
		refund, others string
	}{
		{b.early(), "57.50", "115.00"}, {b.Trip.DepartureAt.Add(-time.Hour), "0.00", "0.01"},
	} {
		r := b.ask(t, *b.Paid(t, 2).BookingID, c.asked, 1)

		_, err := approve(r, c.others)
		bookstest.RequireCode(t, models.CodeRefundAmountChanged, err)

		now, err := b.Store.Cancellations.ByID(t.Context(), r.ID)
		require.NoError(t, err)
		require.Equal(t, models.CancellationRequested, now.Status)

		r, err = approve(r, c.refund)
		require.NoError(t, err)
		require.Equal(t, models.CancellationApproved, r.Status)

		// Decided, it is the same approval, whatever its repetition expects.
		again, err := approve(r, c.others)
		require.NoError(t, err)
		require.Equal(t, r.RefundID, again.RefundID)
	}

	b.RequireBooks(t)
}
