package refunds_test

import (
	"flag"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// rounds is how often TestParallelRefunds runs its race (`go test ./internal/store/refunds -run TestParallelRefunds -args -rounds 1000`).
var rounds = flag.Int("rounds", 42, "how many rounds TestParallelRefunds runs")

// TestParallelRefunds asks for 2 to 8 refunds of one payment at the same moment, of every type, which each are allowed and
// together are not, and settles those that were reserved while the others still ask: no round gives back more than was
// paid, and every round gives back exactly what it reserved.
func TestParallelRefunds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var (
		asked, won int
		over       int
		policy     = b.Trip.DepartureAt.Add(-30 * time.Hour) // 50 %
	)

	for round := range *rounds {
		tx := b.Open(t, b.Book(t, b.InsertTrip(t, 1, nil), 1), 1)
		b.Report(t, tx, models.EventPaymentSucceeded)

		var (
			racers  = 2 + round%7
			given   atomic.Int64 // halalas that were reserved for callers
			refused atomic.Int32
		)

		bookstest.Parallel(racers, func(i int) {
			r := b.Ask(tx, [...]string{"69.00", "", "57.51", "115.00"}[(round+i)%4])
			if (round+i)%5 == 0 {
				r = b.ByPolicy(tx)
			}

			reserved, err := b.Store.Refunds.OrderRefund(t.Context(), r, policy)

			switch code := models.CodeOf(err); {
			case err == nil:
			case code == models.CodeRefundExceedsRemaining, code == models.CodeBookingNotRefundable:
				refused.Add(1)

				return
			default:
				t.Error(err)

				return
			}

			given.Add(reserved.Amount.Halalas())

			if s, err := b.Store.Refunds.SettleRefund(t.Context(), r.ID, bookstest.Granted(r), time.Now()); err != nil || s.Status != models.RefundSucceeded {
				t.Error(s, err)
			}
		})

		got := b.Transaction(t, tx.ID)
		asked, won = asked+racers, won+racers-int(refused.Load())

		if got.RefundedAmount.Cmp(got.Amount) > 0 {
			over++
		}

		require.Equal(t, given.Load(), got.RefundedAmount.Halalas(), "round %d", round)
		require.True(t, got.RefundReservedAmount.IsZero(), "round %d", round)
		require.Positive(t, got.RefundedAmount.Halalas(), "round %d: somebody wins", round)
	}

	require.Zero(t, over)
	t.Logf("%d rounds, %d refunds asked for, %d made, %d rounds that gave back more than was paid", *rounds, asked, won, over)
}

// bothOrders runs a race until each of its two orders has come about several times. run gets how long the first of the two
// starts ahead of the second, and reports whether the first was first.
//
// The two do not take the same number of statements up to the lock they meet at, so on an idle machine one of them would
// always be first. The one that was first starts a little later the next time, until they are equally fast: a 64th of what
// a run takes, so a slow machine gets there in as many runs.
func bothOrders(t *testing.T, run func(ahead time.Duration) bool) {
	t.Helper()

	seen, ahead := map[bool]int{}, time.Duration(0)

	for deadline := time.Now().Add(time.Minute); seen[true] < 10 || seen[false] < 10; {
		began := time.Now()
		first := run(ahead)
		seen[first]++

		if step := time.Since(began) / 64; first {
			ahead -= step
		} else {
			ahead += step
		}

		require.True(t, time.Now().Before(deadline), "too few of one order: %v, ahead %s", seen, ahead)
	}

	t.Logf("%d times one was first, %d times the other, at last with %s ahead", seen[true], seen[false], ahead)
}

// A refund and the payout of the same entry to its company: what was paid out before is clawed back, and what was not
// cannot be paid out any more.
func TestRefundRacesThePayout(t *testing.T) {
	t.Parallel()

	for _, amount := range []string{"", "38.33"} {
		t.Run("of "+amount, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			bothOrders(t, func(ahead time.Duration) bool {
				tx := b.Open(t, b.Book(t, b.InsertTrip(t, 1, nil), 1), 1)
				b.Report(t, tx, models.EventPaymentSucceeded)

				r, line := b.Ask(tx, amount), b.Records(t, tx)[0]
				b.Reserve(t, r)

				var marked, settled error

				bookstest.RaceAhead(
					ahead,
					func() {
						_, marked = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, ledger.MarkTransfer{})
					},
					func() { _, settled = b.Store.Refunds.SettleRefund(t.Context(), r.ID, bookstest.Granted(r), time.Now()) },
				)
				require.NoError(t, settled)

				paidOut := marked == nil
				if !paidOut {
					bookstest.RequireCode(t, models.CodeRecordNotTransferable, marked)
				}

				clawbacks := 0

				for _, l := range b.Records(t, tx) {
					if l.Kind == models.RecordClawback {
						clawbacks++
					} else {
						require.Equal(t, paidOut, l.TransferredAt != nil, "rest and refunded part alike")
					}
				}

				require.Equal(t, paidOut, clawbacks == 1)
				require.Equal(t, !paidOut, clawbacks == 0)

				return paidOut
			})
		})
	}
}

// A refund is asked for while the money that it is about comes late: there is nothing to refund yet, or what has come is
// refunded.
func TestRefundRacesLateMoney(t *testing.T) {
	t.Parallel()
	b := setup(t)

	bothOrders(t, func(ahead time.Duration) bool {
		tx := b.Lapsed(t, b.InsertTrip(t, 1, nil), 1)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))

		r := b.Ask(tx, "")

		var refused, settled error

		bookstest.RaceAhead(
			ahead,
			func() { _, refused = b.Store.Refunds.OrderRefund(t.Context(), r, time.Now()) },
			func() { _, settled = b.Store.Payments.SettlePayment(t.Context(), tx.ID, time.Now()) },
		)
		require.NoError(t, settled)
		require.Equal(t, models.TransactionPaid, b.Transaction(t, tx.ID).Status)

		if refused != nil {
			bookstest.RequireCode(t, models.CodeBookingNotRefundable, refused)
			require.Equal(t, models.BookingConfirmed, b.BookingNow(t, *tx.BookingID).Status)

			return true
		}

		require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, r, bookstest.Granted(r)).Status)
		require.Equal(t, models.BookingCancelled, b.BookingNow(t, *tx.BookingID).Status)

		return false
	})
}

// A booking was paid by a second attempt; while it is refunded, the money of the first comes too. In either order, each
// payment goes back once, and out of itself.
func TestRefundRacesTheMoneyOfAnotherAttempt(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 20 {
		booking := b.Book(t, b.InsertTrip(t, 1, nil), 1)
		first := b.Open(t, booking, 1)
		_, err := b.Store.Payments.EndPayment(t.Context(), first.ID, models.FailureDeclined, "", time.Now())
		require.NoError(t, err)

		second := b.Open(t, booking, 2)
		b.Report(t, second, models.EventPaymentSucceeded)
		b.Deliver(t, bookstest.Event(first, models.EventPaymentSucceeded, nil))

		r := b.Ask(second, "")

		var refunded, settled error

		bookstest.Race(
			func() {
				if _, refunded = b.Store.Refunds.OrderRefund(t.Context(), r, time.Now()); refunded == nil {
					_, refunded = b.Store.Refunds.SettleRefund(t.Context(), r.ID, bookstest.Granted(r), time.Now())
				}
			},
			func() { _, settled = b.Store.Payments.SettlePayment(t.Context(), first.ID, time.Now()) },
		)
		require.NoError(t, refunded)
		require.NoError(t, settled)

		require.Equal(t, models.BookingCancelled, b.BookingNow(t, booking.ID).Status, "the sale is what was refunded")
		require.Equal(t, "115.00", b.Transaction(t, second.ID).RefundedAmount.String())

		owed := b.Transaction(t, first.ID)
		require.Equal(t, models.TransactionFailed, owed.Status)
		require.Equal(t, "115.00", owed.Remaining().String(), "the late money is still owed")

		late := models.RefundRequest{ID: models.RefundID(first.ID, "late"), TransactionID: first.ID, Type: models.RefundFull}
		b.Reserve(t, late)
		require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, late, bookstest.Granted(late)).Status)
		_, err = b.Store.Refunds.OrderRefund(t.Context(), b.Ask(second, ""), time.Now())
		bookstest.RequireCode(t, models.CodeBookingNotRefundable, err)
	}
}

// While one refund runs, a full one takes what is left and nothing more; what the first does not give back in the end can
// be asked for again.
func TestRefundWhileAnotherIsRunning(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	running, rest := b.Ask(tx, "69.00"), b.Ask(tx, "")
	b.Reserve(t, running)

	require.Equal(t, "46.00", b.Reserve(t, rest).Amount.String())
	_, err := b.Store.Refunds.OrderRefund(t.Context(), b.Ask(tx, "0.01"), time.Now())
	bookstest.RequireCode(t, models.CodeRefundExceedsRemaining, err)

	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, rest, bookstest.Granted(rest)).Status)
	require.Equal(t, models.BookingConfirmed, b.BookingNow(t, *tx.BookingID).Status, "the first is not decided")
	require.Equal(t, models.RefundFailed, b.SettleRefund(t, running, models.RefundResult{Status: models.RefundFailed}).Status)
	require.Equal(t, "69.00", b.Transaction(t, tx.ID).Amount.Sub(b.Transaction(t, tx.ID).RefundedAmount).String())

	again := b.Ask(tx, "")
	require.Equal(t, "69.00", b.Reserve(t, again).Amount.String())
	b.SettleRefund(t, again, bookstest.Granted(again))
	require.Equal(t, models.BookingCancelled, b.BookingNow(t, *tx.BookingID).Status)
}

// TestParallelFullRefundsOfTwoPayments: a booking was paid twice, and both payments are asked for at the same moment. In either
// comes second gets the other one, as it would a moment later, and is not told that nothing is left.
func TestParallelFullRefundsOfTwoPayments(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 10 {
		booking := b.Book(t, b.Trip, 1)
		first := b.Open(t, booking, 1)
		b.Report(t, first, models.EventPaymentFailed)
		second := b.Open(t, booking, 2)
		b.Report(t, first, models.EventPaymentSucceeded)
		b.Deliver(t, bookstest.Event(second, models.EventPaymentSucceeded, nil))
		b.RequireOwed(t, second, b.Settle(t, second, time.Now()), models.FailureCancelled)

		var errs [2]error

		bookstest.Parallel(2, func(i int) {
			r := b.Ask(first, "")
			if _, errs[i] = b.Store.Refunds.OrderRefund(t.Context(), r, time.Now()); errs[i] == nil {
				_, errs[i] = b.Store.Refunds.SettleRefund(t.Context(), r.ID, bookstest.Granted(r), time.Now())
			}
		})

		require.NoError(t, errs[0])
		require.NoError(t, errs[1])
		require.Equal(t, "115.00", b.Transaction(t, first.ID).RefundedAmount.String())
		require.Equal(t, "115.00", b.Transaction(t, second.ID).RefundedAmount.String())
	}
}
