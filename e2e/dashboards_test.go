package e2e_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

const (
	adminDashboard    = "/api/v1/admin/dashboard"
	providerDashboard = "/api/v1/provider/dashboard"
)

// cardsOfSpan are what the tests need of a dashboard.
type cardsOfSpan struct {
	DateFrom string `json:"date_from"`
	DateTo   string `json:"date_to"`
	Cards    struct {
		Gross    models.Money `json:"gross_amount"`
		Refunded models.Money `json:"refunded_amount"`
		Bookings int          `json:"bookings_count"`
	} `json:"cards"`
}

type dashboard struct {
	Today cardsOfSpan `json:"today"`
	Month cardsOfSpan `json:"this_month"`
}

func dashboards(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, staff, finance := s.As(models.RoleEndUser), s.As(models.RoleProviderAdmin), s.As(models.RoleFinanceAdmin)
	own := func() dashboard { return decoded[dashboard](t, http.StatusOK, staff.Get(providerDashboard)) }

	empty := own()
	require.Equal(t, "0.00", empty.Month.Cards.Gross.String())

	customer.BookPaid(2)
	decoded[refund](t, http.StatusCreated, finance.Post(refundPath(customer.BookPaid(1).ID), fully()))

	early, today := customer.BookPaid(3).ID, models.DateIn(time.Now())

	dated := func(day models.Date) {
		_, err := s.DB.Exec("UPDATE financial_records SET record_date = $2 WHERE booking_id = $1", early, day.String())
		require.NoError(t, err)
	}

	dated(today.FirstOfMonth())
	defer dated(today) // as the books have it

	got := own()
	require.Equal(t, today.String(), got.Today.DateFrom)
	require.Equal(t, today.String(), got.Today.DateTo)
	require.Equal(t, today.FirstOfMonth().String(), got.Month.DateFrom)
	require.Equal(t, "575.00", got.Month.Cards.Gross.String())
	require.Equal(t, 2, got.Month.Cards.Bookings)
	require.Equal(t, "115.00", got.Today.Cards.Refunded.String())

	if today != today.FirstOfMonth() {
		require.Equal(t, "230.00", got.Today.Cards.Gross.String())
	}

	all := decoded[dashboard](t, http.StatusOK, finance.Get(adminDashboard))
	require.GreaterOrEqual(t, all.Month.Cards.Gross.Cmp(got.Month.Cards.Gross), 0)
	require.Empty(t, decoded[dashboard](t, http.StatusOK, s.For(t).As(models.RoleProviderStaff).Get(providerDashboard)).Month.Cards.Bookings)
}

// opened listens, and waits until nothing can be missed any more.
func opened(t *testing.T, c *harness.Caller, path string) *harness.Events {
	t.Helper()

	e := c.Listen(path)
	require.Equal(t, http.StatusOK, e.Status)
	require.Equal(t, "text/event-stream", e.Header.Get("Content-Type"))
	require.Equal(t, "no-store", e.Header.Get("Cache-Control"))

	first, ok := e.Next("data: ", patience)
	require.True(t, ok, "no first event")
	require.JSONEq(t, `{"reason": "CONNECTED"}`, first)

	return e
}

// newsPatience is more than live.lookForMoney: an announcement that is lost is made up for by CONNECTED after 40 seconds at the latest.
const newsPatience = 45 * time.Second

// heard is what a test's streams have said so far.
type heard struct {
	missed  bool
	reasons map[string]bool
}

func newHeard() *heard { return &heard{reasons: map[string]bool{}} }

// hears waits for the news of a reason; "": of any. CONNECTED says that they may have been missed, and stands for them: after that those
// that are late may come, too. News say that something is to be read again, and may be said twice.
func (h *heard) hears(t *testing.T, e *harness.Events, reason string) {
	t.Helper()

	for {
		told, ok := e.Next("data: ", newsPatience)
		require.True(t, ok, "nothing has come")

		if told == `{"reason":"CONNECTED"}` {
			h.missed = true

			return
		}

		if reason == "" || told == fmt.Sprintf(`{"reason":%q}`, reason) {
			h.reasons[told] = true

			return
		}

		require.True(t, h.missed || h.reasons[told], "%s instead of %s", told, reason)
	}
}

func dashboardEvents(t *testing.T, s *harness.Stack) {
	t.Helper()

	news := newHeard()

	const path = providerDashboard + "/events"

	customer, staff := s.As(models.RoleEndUser), s.As(models.RoleProviderStaff)
	own, others, platform := opened(t, staff, path), opened(t, s.For(t).As(models.RoleProviderStaff), path),
		opened(t, s.As(models.RoleFinanceAdmin), adminDashboard+"/events")

	b := customer.BookPaid(1)

	news.hears(t, own, "PAYMENT_SETTLED")
	news.hears(t, platform, "") // of any test

	decoded[refund](t, http.StatusCreated, s.As(models.RoleFinanceAdmin).Post(refundPath(b.ID), fully()))

	news.hears(t, own, "REFUND_COMPLETED")

	// What is owed to the company changes with marks and with their reversal.
	line := entriesOf(t, s, customer.BookPaid(1).ID)[0]
	news.hears(t, own, "PAYMENT_SETTLED")
	decoded[record](t, http.StatusOK, s.As(models.RoleFinanceAdmin).Post(markPath(line.ID), nil))
	news.hears(t, own, "TRANSFERS_CHANGED")
	decoded[record](t, http.StatusOK, s.As(models.RoleAdmin).Post(adminRecords+"/"+line.ID.String()+"/revert-transfer",
		map[string]string{"reason": "The bank returned it."}))
	news.hears(t, own, "TRANSFERS_CHANGED")

	told, _ := others.Next(`data: {"reason":"P`, time.Second)
	require.Empty(t, told, "money of another company")

	// So many and no more, and one that is closed makes room.
	open := make([]*harness.Events, 9)
	for i := range open {
		open[i] = opened(t, staff, path)
	}

	refused(t, staff.Get(path), http.StatusServiceUnavailable, models.CodeServiceUnavailable)
	open[0].Close()
	require.Eventually(t, func() bool {
		e := staff.Listen(path)
		defer e.Close()

		return e.Status == http.StatusOK
	}, patience, 200*time.Millisecond)

	for more := true; more; { // those that are late
		_, more = own.Next("data: ", time.Second)
	}

	// A deleted account gets no more events.
	_, err := s.DB.ExecContext(t.Context(), "UPDATE users SET deleted_at = now() WHERE id = $1", s.World.Users[models.RoleProviderStaff].ID)
	require.NoError(t, err)
	customer.BookPaid(1)

	told, ok := own.Next("data: ", patience)
	require.False(t, ok, "a removed account has heard of money: %s", told)
	require.True(t, own.Ended(patience))
	refused(t, staff.Get(path), http.StatusUnauthorized, models.CodeUnauthenticated)
}

// dashboardReplicas receives events of payments at another replica, and the end of its own.
func dashboardReplicas(t *testing.T, s *harness.Stack) {
	t.Helper()

	replica := s.Replica(map[string]string{"ACCESS_TOKEN_TTL": "20s", "DATABASE_URL": s.ServiceURL + "&application_name=replica"})
	events := opened(t, replica.As(models.RoleProviderAdmin), providerDashboard+"/events")

	s.As(models.RoleEndUser).BookPaid(1)

	newHeard().hears(t, events, "PAYMENT_SETTLED")

	// A lost connection to the database is made again, and every dashboard is notified to read again.
	ended, err := s.ServiceDB.ExecContext(t.Context(), `
		SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE query LIKE 'LISTEN dashboard%' AND datname = current_database() AND application_name = 'replica'`)
	require.NoError(t, err)

	n, err := ended.RowsAffected()
	require.NoError(t, err)
	require.Positive(t, n)

	told, ok := events.Next("data: ", patience)
	require.True(t, ok)
	require.JSONEq(t, `{"reason": "CONNECTED"}`, told)

	_, ok = events.Next(": ", patience)
	require.True(t, ok, "a comment keeps the connection open")
	require.True(t, events.Ended(time.Minute), "the token has expired")

	events = opened(t, replica.As(models.RoleProviderAdmin), providerDashboard+"/events")
	began := time.Now()
	replica.API.Stop()
	require.True(t, events.Ended(patience))
	require.Less(t, time.Since(began), 10*time.Second, "nobody waits for a stream that would never end")
}
