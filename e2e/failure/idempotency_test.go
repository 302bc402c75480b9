package failure_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// keyed is a request with an Idempotency-Key.
type keyed struct {
	by   *harness.Caller
	path string
	body any
	key  string
}

func (k keyed) send() (harness.Answer, error) {
	return k.by.Do(http.MethodPost, k.path, k.body, map[string]string{"Idempotency-Key": k.key})
}

// killAfter sends the request, kills the API once the effect has begun, and starts it again. The caller gets no answer.
func (k keyed) killAfter(t *testing.T, s *harness.Stack, begun func() bool) {
	t.Helper()

	var (
		sent sync.WaitGroup
		err  error
	)

	sent.Go(func() { _, err = k.send() })
	require.Eventually(t, begun, patience, time.Millisecond)
	s.API.Kill()
	sent.Wait()
	require.Error(t, err, "it was answered before the kill")
	s.API.Start()
}

// again repeats the request, as its client does, until the key of the killed request is free.
func (k keyed) again(t *testing.T) harness.Answer {
	t.Helper()

	var a harness.Answer

	require.Eventually(t, func() bool {
		var err error

		a, err = k.send()
		require.NoError(t, err)

		return a.Code() != models.CodeIdempotencyKeyInProcess
	}, patience, 50*time.Millisecond)

	return a
}

// slowCommit lets the transaction that writes to a table take its time to commit: long enough to kill the API between the
// effect and the answer. The database commits all the same.
func slowCommit(t *testing.T, s *harness.Stack, table, event string) {
	t.Helper()

	_, err := s.DB.ExecContext(t.Context(), `
		CREATE FUNCTION slow_`+table+`() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(2); RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER slow_`+table+` AFTER `+event+` ON `+table+`
		DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow_`+table+`()`)
	require.NoError(t, err)
}

func quickCommit(t *testing.T, s *harness.Stack, table string) {
	t.Helper()

	_, err := s.DB.ExecContext(t.Context(), "DROP TRIGGER slow_"+table+" ON "+table+"; DROP FUNCTION slow_"+table)
	require.NoError(t, err)
}

// committing reports whether a transaction is in the middle of its slow commit.
func committing(s *harness.Stack) func() bool {
	return func() bool {
		var n int

		err := s.ServiceDB.QueryRowContext(context.Background(),
			"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'").Scan(&n)

		return err == nil && n > 0
	}
}

func data[T any](t *testing.T, want int, a harness.Answer) T {
	t.Helper()
	require.Equal(t, want, a.Status, "%s", a.Body)

	var out T

	require.NoError(t, a.Data(&out))

	return out
}

// TestKillBetweenPayoutAndAnswer: the payout is committed with its answer, which is what the repeated request gets.
func TestKillBetweenPayoutAndAnswer(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: inLife()})
	b := s.As(models.RoleEndUser).BookPaid(1)

	var line struct {
		ID string `json:"id"`
	}

	require.NoError(t, s.DB.QueryRowContext(t.Context(), "SELECT id FROM financial_records WHERE booking_id = $1", b.ID).Scan(&line.ID))

	payout := keyed{
		s.As(models.RoleFinanceAdmin), "/api/v1/admin/financial-records/" + line.ID + "/mark-transferred",
		map[string]any{"payout_reference": "TRF-1", "payout_date": models.DateIn(time.Now()).String()},
		uuid.NewString(),
	}

	slowCommit(t, s, "financial_records", "UPDATE")
	payout.killAfter(t, s, committing(s))

	a := payout.again(t)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	require.Equal(t, "true", a.Header.Get("Idempotent-Replayed"), "it was not run a second time")
	quickCommit(t, s, "financial_records")

	// The stored answer is the one that the request would have had: word for word that of the same call under another key.
	other := payout
	other.key = uuid.NewString()
	b2, err := other.send()
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, b2.Status)
	require.Equal(t, string(b2.Body), string(a.Body))
	require.Equal(t, b2.Header.Get("Content-Type"), a.Header.Get("Content-Type"))

	require.Equal(t, 1, s.Count("SELECT count(*) FROM audit_log WHERE action = 'FINANCIAL_RECORD_TRANSFERRED'"))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT'"))
}

// TestKillBetweenBookingAndPayment: the booking is committed, and its payment is not started. Whatever becomes of
// the trip, the repeated request gets this booking and no other.
func TestKillBetweenBookingAndPayment(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: inLife()})
	customer := s.As(models.RoleEndUser)

	for name, change := range map[string]string{
		"nothing happens":    "SELECT 1",
		"it sells out":       "UPDATE trips SET capacity = seats_taken WHERE id = $1",
		"its price changes":  "UPDATE trips SET price_per_seat = 999 WHERE id = $1",
		"it is called off":   "UPDATE trips SET status = 'CANCELLED' WHERE id = $1",
		"its company leaves": "UPDATE providers SET status = 'INACTIVE' WHERE id = (SELECT provider_id FROM trips WHERE id = $1)",
	} {
		trip := s.NewTrip(name, 10)
		body := s.BookingRequest(2)
		body["trip_id"] = trip.ID
		booking := keyed{customer, "/api/v1/bookings", body, uuid.NewString()}

		slowCommit(t, s, "bookings", "INSERT")
		booking.killAfter(t, s, committing(s))
		require.Eventually(t, func() bool {
			return s.Count("SELECT count(*) FROM bookings WHERE trip_id = $1", trip.ID) == 1
		}, patience, 20*time.Millisecond)
		quickCommit(t, s, "bookings")
		require.Zero(t, s.Count("SELECT count(*) FROM payment_transactions AS pt JOIN bookings AS bk ON bk.id = pt.booking_id WHERE trip_id = $1", trip.ID))

		_, err := s.DB.ExecContext(t.Context(), change, argsOf(change, trip.ID)...)
		require.NoError(t, err)

		a := booking.again(t)
		b := data[harness.Booking](t, http.StatusCreated, a)
		require.Equal(t, "/api/v1/bookings/"+b.ID.String(), a.Header.Get("Location"), name)
		require.Equal(t, "230.00", b.Amount.String(), name)
		require.Equal(t, 1, s.Count("SELECT count(*) FROM bookings WHERE trip_id = $1", trip.ID), name)
		require.Equal(t, 2, s.Count("SELECT seats_taken FROM trips WHERE id = $1", trip.ID), name)

		next := booking.again(t)
		require.Equal(t, string(a.Body), string(next.Body), name)
		require.Equal(t, "true", next.Header.Get("Idempotent-Replayed"), name)

		_, err = s.DB.ExecContext(t.Context(), "UPDATE providers SET status = 'ACTIVE'")
		require.NoError(t, err)

		if name == "it is called off" {
			require.Empty(t, b.Payment.CheckoutURL, "nobody can pay for it")

			continue
		}

		require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
		require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus, name)
	}

	require.Len(t, takenBy(s.GatewayLedger()), 4)
}

// argsOf gives a statement its argument if it has one.
func argsOf(query string, id uuid.UUID) []any {
	if query == "SELECT 1" {
		return nil
	}

	return []any{id}
}

// TestKillWhileTheGatewayIsAsked: the API is killed while it waits for a checkout or a refund that the worker goes on
// with. The repeated request gets what came of the first, in whatever state it is by then.
func TestKillWhileTheGatewayIsAsked(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: inLife(map[string]string{"CHECKOUT_WAIT": "10s", "REFUND_WAIT": "10s"})})
	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	slow := func(operation string) {
		s.Fault(map[string]any{"operation": operation, "mode": "slow", "delay_ms": 3000, "times": 1})
	}
	attempts := func(booking uuid.UUID) int {
		return s.Count("SELECT count(*) FROM payment_transactions WHERE booking_id = $1 AND kind = 'PAYMENT'", booking)
	}

	b := customer.Book(1)

	// The attempt that replaced another one is not replaced by the repetition of the same request.
	replace := keyed{customer, intentPath(b.ID), map[string]any{"payment_method": models.MethodWalletB, "replace": true}, uuid.NewString()}

	slow("create_checkout")
	replace.killAfter(t, s, func() bool { return attempts(b.ID) == 2 })

	type transaction struct {
		ID          uuid.UUID                `json:"id"`
		Status      models.TransactionStatus `json:"status"`
		CheckoutURL string                   `json:"checkout_url"`
	}

	second := data[transaction](t, http.StatusCreated, replace.again(t))
	require.Equal(t, models.BookingAttemptID(b.ID, 2), second.ID)
	require.NotEmpty(t, second.CheckoutURL)
	require.Equal(t, 2, attempts(b.ID))

	// An attempt that has ended before the request was repeated is the answer, too, and nothing that can be paid.
	require.NoError(t, s.Pay(second.CheckoutURL, "decline"))
	require.Equal(t, models.TransactionFailed, customer.Await(b.ID).PaymentStatus)

	third := keyed{customer, intentPath(b.ID), map[string]any{"payment_method": models.MethodCreditCard}, uuid.NewString()}

	slow("create_checkout")
	third.killAfter(t, s, func() bool { return attempts(b.ID) == 3 })
	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM payment_transactions WHERE booking_id = $1 AND attempt = 3 AND checkout_url IS NOT NULL", b.ID) == 1
	}, patience, 20*time.Millisecond)

	var url string

	require.NoError(t, s.DB.QueryRowContext(t.Context(),
		"SELECT checkout_url FROM payment_transactions WHERE booking_id = $1 AND attempt = 3", b.ID).Scan(&url))
	require.NoError(t, s.Pay(url, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)

	paid := data[transaction](t, http.StatusCreated, third.again(t))
	require.Equal(t, models.BookingAttemptID(b.ID, 3), paid.ID)
	require.Equal(t, models.TransactionPaid, paid.Status)
	require.Equal(t, 3, attempts(b.ID))

	// A booking whose checkout was being made.
	booking := keyed{customer, "/api/v1/bookings", s.BookingRequest(1), uuid.NewString()}

	slow("create_checkout")
	booking.killAfter(t, s, func() bool { return s.Count("SELECT count(*) FROM bookings") == 2 })

	made := data[harness.Booking](t, http.StatusCreated, booking.again(t))
	require.NotEmpty(t, made.Payment.CheckoutURL)
	require.Equal(t, 2, s.Count("SELECT count(*) FROM bookings"))

	// A refund that the gateway was making.
	back := keyed{finance, refundPath(b.ID), map[string]any{"refund_type": "PARTIAL", "amount": 10}, uuid.NewString()}

	slow("refund")
	back.killAfter(t, s, func() bool { return s.Count("SELECT count(*) FROM refunds") == 1 })

	data[struct{}](t, http.StatusCreated, back.again(t))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM refunds"))
	require.Len(t, s.GatewayLedger().Refunds, 1)
}

// TestFailuresAreNotStored: a client that gets 5xx retries and gets the result that the first request would have had.
func TestFailuresAreNotStored(t *testing.T) {
	t.Parallel()

	// Long enough for a busy worker to write the attempt down: before it has, the answer is 503.
	s := harness.Start(t, harness.Options{Env: inLife(map[string]string{"CHECKOUT_WAIT": "4s"})})
	customer := s.As(models.RoleEndUser)
	declined := bookDeclined(t, s, customer)
	intent := keyed{customer, intentPath(declined.ID), map[string]any{"payment_method": models.MethodWalletB}, uuid.NewString()}

	s.Fault(map[string]any{"operation": "create_checkout", "mode": "error", "times": 1000})

	for range 2 {
		a, err := intent.send()
		require.NoError(t, err)
		require.Equal(t, http.StatusBadGateway, a.Status, "%s", a.Body)
		require.Empty(t, a.Header.Get("Idempotent-Replayed"))
	}

	s.ClearFaults()

	var a harness.Answer

	require.Eventually(t, func() bool {
		a = intent.again(t)

		return a.Status == http.StatusCreated
	}, patience, 50*time.Millisecond)
	require.Empty(t, a.Header.Get("Idempotent-Replayed"))
	require.Equal(t, 2, s.Count("SELECT count(*) FROM payment_transactions WHERE booking_id = $1", declined.ID))
	require.Equal(t, string(a.Body), string(intent.again(t).Body))
}

// TestRepeatsAreNoMoreWork: no worker runs, and the customer retries again and again. Only one payment waits for a worker.
func TestRepeatsAreNoMoreWork(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: inLife(map[string]string{"CHECKOUT_WAIT": "1s"})})
	customer := s.As(models.RoleEndUser)
	booking := keyed{customer, "/api/v1/bookings", s.BookingRequest(1), uuid.NewString()}

	s.Worker.Kill()

	for range 3 {
		a, err := booking.send()
		require.NoError(t, err)
		require.Equal(t, http.StatusServiceUnavailable, a.Status, "%s", a.Body)
		require.Zero(t, s.Count("SELECT count(*) FROM bookings"))
	}

	require.Len(t, s.AwaitWorkflow("Payment", 1), 1)
	s.Worker.Start()

	var b harness.Booking

	require.Eventually(t, func() bool {
		a := booking.again(t)

		return a.Status == http.StatusCreated && a.Data(&b) == nil
	}, patience, 50*time.Millisecond)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM bookings"))
	require.Equal(t, 1, s.Count("SELECT seats_taken FROM trips WHERE id = $1", s.World.Trip.ID))
}
