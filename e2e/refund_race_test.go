package e2e_test

import (
	"flag"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"rihla/e2e/harness"
	"rihla/models"
)

// rounds is how often the race is run (`go test ./e2e -run TestParallelRefunds -args -rounds 1000`).
var rounds = flag.Int("rounds", 50, "how many rounds TestParallelRefunds runs")

const (
	// racers is how many refunds are asked for at the same moment, at most.
	racers = 8
	// lanes is how many rounds run beside each other.
	lanes = 2
)

// TestParallelRefunds is where money is lost first: refunds that each are allowed and together are not.
func TestParallelRefunds(t *testing.T) { //nolint:tparallel // its parts share one service, one after the other
	t.Parallel()

	service := harness.Start(t, harness.Options{})

	t.Run("most of it", func(t *testing.T) { mostOfIt(t, service.For(t)) })
	t.Run("one key", func(t *testing.T) { oneKey(t, service.For(t)) })
	t.Run("full and partial", func(t *testing.T) { fullAndPartial(t, service.For(t)) })

	requireGatewayNeverOverpays(t, service)
	cleanLogs(t, service)
	require.Equal(t, 0, service.Count("SELECT count(*) FROM payment_transactions WHERE refund_reserved_amount <> 0"))
	require.Equal(t, 0, service.Count("SELECT count(*) FROM incidents"))
}

// paidBookings makes n paid bookings of one seat, 115.00 SAR each.
func paidBookings(t *testing.T, s *harness.Stack, n int) []harness.Booking {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	paid := make([]harness.Booking, n)

	const seats = 100 // of a trip

	for begin := 0; begin < n; begin += seats {
		s.World.Trip = s.NewTrip("Refund Race", seats)

		var g errgroup.Group

		g.SetLimit(4)

		for i := begin; i < min(begin+seats, n); i++ {
			g.Go(func() error {
				paid[i] = customer.Book(1)

				return s.Pay(*paid[i].Payment.CheckoutURL, "succeed")
			})
		}

		require.NoError(t, g.Wait())
	}

	for _, b := range paid {
		require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)
	}

	return paid
}

// inLanes runs the rounds beside each other and fails the test with what the first bad one returns.
func inLanes(t *testing.T, bookings []harness.Booking, round func(int, harness.Booking) []harness.Answer) [][]harness.Answer {
	t.Helper()

	out := make([][]harness.Answer, len(bookings))

	var g errgroup.Group

	g.SetLimit(lanes)

	for i, b := range bookings {
		g.Go(func() error {
			out[i] = round(i, b)

			return nil
		})
	}

	require.NoError(t, g.Wait())

	return out
}

// mostOfIt asks 2 to 8 times at once for 60 % of a payment: one may have it.
func mostOfIt(t *testing.T, s *harness.Stack) {
	t.Helper()

	admin, bookings := s.As(models.RoleFinanceAdmin), paidBookings(t, s, *rounds)
	most := models.MustMoney("69.00")

	answers := inLanes(t, bookings, func(i int, b harness.Booking) []harness.Answer {
		return atOnce(2+i%(racers-1), func(int) harness.Answer {
			return post(admin, refundPath(b.ID), map[string]any{"refund_type": models.RefundPartial, "amount": most}, uuid.NewString())
		})
	})

	for i, b := range bookings {
		won := 0

		for _, a := range answers[i] {
			if a.Status == http.StatusCreated || a.Status == http.StatusAccepted {
				won++

				var r refund

				require.NoError(t, a.Data(&r))
				require.Equal(t, models.RefundSucceeded, awaitRefund(t, admin, r.ID).Status)

				continue
			}

			refused(t, a, http.StatusConflict, models.CodeRefundExceedsRemaining)
		}

		require.Equal(t, 1, won, "round %d", i)
		requireRefunded(t, s, b, most, 1)
	}

	t.Logf("%d rounds of 2 to %d refunds at once, one made in each", *rounds, racers)
}

// oneKey sends one refund 8 times at once: it is one refund.
func oneKey(t *testing.T, s *harness.Stack) {
	t.Helper()

	admin, bookings := s.As(models.RoleFinanceAdmin), paidBookings(t, s, 10)
	part := models.MustMoney("40.00")

	answers := inLanes(t, bookings, func(_ int, b harness.Booking) []harness.Answer {
		key := uuid.NewString()

		return atOnce(racers, func(int) harness.Answer {
			return post(admin, refundPath(b.ID), map[string]any{"refund_type": models.RefundPartial, "amount": part}, key)
		})
	})

	for i, b := range bookings {
		first, ids := 0, map[uuid.UUID]bool{}

		for _, a := range answers[i] {
			if a.Status == http.StatusConflict {
				refused(t, a, http.StatusConflict, models.CodeIdempotencyKeyInProcess)

				continue
			}

			ids[decoded[refund](t, http.StatusCreated, a).ID] = true

			if a.Header.Get("Idempotent-Replayed") == "" {
				first++
			}
		}

		require.Equal(t, 1, first, "round %d", i)
		require.Len(t, ids, 1)
		requireRefunded(t, s, b, part, 1)
	}
}

// fullAndPartial lets refunds of everything that is left race with refunds of 60 %. Whichever is first, all of the
// payment goes back, and not a halala more.
func fullAndPartial(t *testing.T, s *harness.Stack) {
	t.Helper()

	admin, bookings := s.As(models.RoleAdmin), paidBookings(t, s, 15)

	answers := inLanes(t, bookings, func(_ int, b harness.Booking) []harness.Answer {
		return atOnce(racers, func(i int) harness.Answer {
			body := map[string]any{"refund_type": models.RefundFull}
			if i%2 == 0 {
				body = map[string]any{"refund_type": models.RefundPartial, "amount": models.MustMoney("69.00")}
			}

			return post(admin, refundPath(b.ID), body, uuid.NewString())
		})
	})

	for i, b := range bookings {
		won := 0

		for _, a := range answers[i] {
			if a.Status == http.StatusCreated || a.Status == http.StatusAccepted {
				won++

				continue
			}

			require.Equal(t, http.StatusConflict, a.Status, "%s", a.Body)
			require.Contains(t, []models.Code{models.CodeRefundExceedsRemaining, models.CodeBookingNotRefundable}, a.Code())
		}

		require.Contains(t, []int{1, 2}, won, "round %d", i)
		requireRefunded(t, s, b, b.Amount, won)
		require.Equal(t, models.BookingCancelled, s.As(models.RoleEndUser).Await(b.ID).BookingStatus)
	}
}

// requireRefunded checks that n refunds of a booking gave back the amount, here and in the ledger.
func requireRefunded(t *testing.T, s *harness.Stack, b harness.Booking, amount models.Money, n int) {
	t.Helper()

	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM refunds WHERE booking_id = $1 AND status = 'PENDING'", b.ID) == 0
	}, patience, refundPoll)
	require.Equal(t, n, s.Count("SELECT count(*) FROM refunds WHERE booking_id = $1", b.ID))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions WHERE id = $1 AND refunded_amount = $2",
		b.Payment.TransactionID, amount.String()))
	require.Equal(t, 1, s.Count("SELECT (sum(refunded_amount) = $2)::int FROM financial_records WHERE booking_id = $1",
		b.ID, amount.String()))
	require.Equal(t, 1, s.Count("SELECT (sum(gross_amount) = $2)::int FROM financial_records WHERE booking_id = $1 AND kind = 'SALE'",
		b.ID, b.Amount.String()))
}

// requireGatewayNeverOverpays reads the gateway's own books: what went back of a payment, and whether it was ever more
// than came in.
func requireGatewayNeverOverpays(t *testing.T, s *harness.Stack) {
	t.Helper()

	books, back := s.GatewayLedger(), map[string]models.Money{}

	for _, r := range books.Refunds {
		require.Equal(t, "succeeded", r.Status)

		back[r.CheckoutID] = back[r.CheckoutID].Add(r.Amount)
	}

	for _, c := range books.Checkouts {
		require.LessOrEqual(t, back[c.ID].Cmp(c.Amount), 0, "%s of %s went back", back[c.ID], c.Amount)
		require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions WHERE id = $1 AND refunded_amount = $2",
			c.MerchantReference, back[c.ID].String()), "gateway and service disagree on %s", c.ID)
	}
}
