package e2e_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

func statusPath(booking uuid.UUID) string {
	return bookingsPath + "/" + booking.String() + "/payment-status"
}

func statusOf(t *testing.T, c *harness.Caller, booking uuid.UUID) harness.Status {
	t.Helper()

	return decoded[harness.Status](t, http.StatusOK, c.Get(statusPath(booking)))
}

// statusLabels follows a booking through its life in both languages.
func statusLabels(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	b := customer.Book(2)

	requireLabels := func(status models.TransactionStatus, ar, en string) {
		t.Helper()

		for language, want := range map[string]struct{ locale, label string }{
			"": {"ar", ar}, "ar": {"ar", ar}, "en": {"en", en}, "en-GB,en;q=0.8": {"en", en}, "fr": {"ar", ar}, "ar-SA,en;q=0.5": {"ar", ar},
		} {
			header := map[string]string{}
			if language != "" {
				header["Accept-Language"] = language
			}

			a, err := customer.Do(http.MethodGet, statusPath(b.ID), nil, header)
			require.NoError(t, err)

			got := decoded[harness.Status](t, http.StatusOK, a)
			require.Equal(t, status, got.PaymentStatus)
			require.Equal(t, want.locale, a.Header.Get("Content-Language"), language)
			require.Equal(t, want.label, got.UILabel, language)
			require.Equal(t, ar, got.UILabelAr)
			require.Equal(t, en, got.UILabelEn)
			require.Equal(t, status == models.TransactionPending, got.CheckoutURL != nil)
		}
	}

	requireLabels(models.TransactionPending, "قيد التنفيذ", "In progress")
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "decline"))
	customer.Await(b.ID)
	requireLabels(models.TransactionFailed, "فاشلة", "Failed")

	next := decoded[transaction](t, http.StatusCreated, customer.Post(intentPath(b.ID), byCard()))
	require.NoError(t, s.Pay(*next.CheckoutURL, "succeed"))
	customer.Await(b.ID)
	requireLabels(models.TransactionPaid, "مكتملة", "Completed")

	part := map[string]any{"refund_type": models.RefundPartial, "amount": models.MustMoney("30.00")}
	require.Equal(t, http.StatusCreated, finance.Post(refundPath(b.ID), part).Status)
	requireLabels(models.TransactionPartialRefund, "مستردة", "Refunded")
	require.Equal(t, models.BookingConfirmed, statusOf(t, customer, b.ID).BookingStatus)

	require.Equal(t, http.StatusCreated, finance.Post(refundPath(b.ID), map[string]any{"refund_type": models.RefundFull}).Status)
	requireLabels(models.TransactionRefunded, "مستردة", "Refunded")
	require.Equal(t, models.BookingCancelled, statusOf(t, customer, b.ID).BookingStatus)
}

// waitingAtTheEnd: customers who wait at a process that gets SIGTERM are answered before it ends, with what is known.
func waitingAtTheEnd(t *testing.T, s *harness.Stack) {
	t.Helper()

	const polls = 5

	replica := s.Replica(map[string]string{"LONG_POLLS_AT_ONCE": strconv.Itoa(polls)})
	customer := replica.As(models.RoleEndUser)
	b := customer.Book(1)
	path := statusPath(b.ID) + "?wait=30"
	answered := make(chan harness.Answer, polls)

	for range polls {
		waiter := *customer

		go func() {
			for {
				a, err := waiter.Do(http.MethodGet, path, nil, nil)
				if err != nil {
					a = harness.Answer{Body: []byte(err.Error())}
				}

				if a.Status != http.StatusTooManyRequests { // the request below had its place
					answered <- a

					return
				}
			}
		}()
	}

	for began := time.Now(); customer.Get(statusPath(b.ID)+"?wait=1").Status != http.StatusTooManyRequests; {
		require.Less(t, time.Since(began), patience, "not all of them wait")
	}

	began := time.Now()
	replica.API.Stop()
	require.Less(t, time.Since(began), 10*time.Second)

	for range polls {
		require.Equal(t, models.TransactionPending, decoded[harness.Status](t, http.StatusOK, <-answered).PaymentStatus)
	}
}

// waiting checks that one call is enough: it answers soon after the payment, and after the given time without one.
func waiting(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)

	began := time.Now()
	require.Equal(t, models.TransactionPending, decoded[harness.Status](t, http.StatusOK, customer.Get(statusPath(b.ID)+"?wait=1")).PaymentStatus)
	require.GreaterOrEqual(t, time.Since(began), time.Second)

	began = time.Now()
	require.Equal(t, models.TransactionPending, decoded[harness.Status](t, http.StatusOK, customer.Get(statusPath(b.ID)+"?wait=0")).PaymentStatus)
	require.Less(t, time.Since(began), time.Second)

	answered := make(chan harness.Answer, 1)
	waiter := *customer

	go func() {
		a, err := waiter.Do(http.MethodGet, statusPath(b.ID)+"?wait=30", nil, nil)
		if err != nil {
			a = harness.Answer{Body: []byte(err.Error())}
		}

		answered <- a
	}()

	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))

	paid := time.Now()
	got := decoded[harness.Status](t, http.StatusOK, <-answered)
	require.Equal(t, models.TransactionPaid, got.PaymentStatus)
	require.Equal(t, models.BookingConfirmed, got.BookingStatus)
	require.Less(t, time.Since(paid), 8*time.Second, "soon, even on a busy machine")

	began = time.Now()
	require.Equal(t, models.TransactionPaid, decoded[harness.Status](t, http.StatusOK, customer.Get(statusPath(b.ID)+"?wait=30")).PaymentStatus)
	require.Less(t, time.Since(began), 5*time.Second, "what is decided needs no waiting")
}
