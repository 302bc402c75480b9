package payments_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/incidents"
	"rihla/internal/store/ledger"
	"rihla/internal/store/payments"
	"rihla/models"
)

func TestTimeline(t *testing.T) {
	t.Parallel()
	b := setup(t)

	booking := b.Book(t, b.Trip, 2)
	tx := b.Open(t, booking, 1)
	b.Report(t, tx, models.EventPaymentFailed)
	b.Report(t, tx, models.EventPaymentSucceeded)
	b.Report(t, tx, models.EventPaymentSucceeded)

	records, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{BookingID: booking.ID})
	require.NoError(t, err)
	_, err = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, records.Items[0].ID, ledger.MarkTransfer{})
	require.NoError(t, err)

	refund := b.Refund(t, tx, bookstest.Amount("30.00"))

	all, err := b.Store.Payments.Timeline(t.Context(), tx.ID)
	require.NoError(t, err)
	require.True(t, slices.IsSortedFunc(all, func(x, y payments.TimelineEntry) int { return x.At.Compare(y.At) }))

	told := make([]string, 0, len(all))
	for _, e := range all {
		told = append(told, e.Kind+" "+e.Summary)
	}

	story := strings.Join(told, "\n")
	number := records.Items[0].TransactionNumber

	for _, line := range []string{
		"STATE_CHANGE The transaction was opened as PENDING",
		"WEBHOOK The gateway reported payment.failed: applied",
		"STATE_CHANGE The transaction went from PENDING to FAILED (DECLINED)",
		"WEBHOOK The gateway reported payment.succeeded: applied",
		"STATE_CHANGE The transaction went from FAILED to PAID",
		"LEDGER Ledger entry " + number + " (SALE) was written",
		"NOTIFICATION Notification PAYMENT_SUCCEEDED by EMAIL was queued",
		"LEDGER Ledger entry " + number + " was paid out to the provider",
		"REFUND A PARTIAL refund of 30.00 SAR was requested",
		"REFUND The refund of 30.00 SAR succeeded",
		"(CLAWBACK) was written",
	} {
		require.Contains(t, story, line)
	}

	for _, e := range all {
		details, err := json.Marshal(e.Details)
		require.NoError(t, err)

		for _, personal := range []string{"contact@rihla.test", "+966500000000", "Passenger", "D1", "Contact"} {
			require.NotContains(t, e.Summary+string(details), personal)
		}

		// An entry is listed with the amounts of its moment, although the refund has split it since.
		switch e.Summary {
		case "Ledger entry " + number + " (SALE) was written", "Ledger entry " + number + " was paid out to the provider":
			require.Equal(t, *bookstest.Amount("230.00"), e.Details["gross_amount"])
			require.Equal(t, *bookstest.Amount("23.00"), e.Details["platform_commission_amount"])
		case "The refund of 30.00 SAR succeeded":
			require.Equal(t, *bookstest.Amount("30.00"), e.Details["gross_amount"])
			require.Equal(t, number, e.Facts.TransactionNumber)
			require.Equal(t, "gw-"+refund.ID.String(), e.Facts.GatewayRefundID)
		}
	}

	requireTold(t, all, map[payments.TimelineEvent]int{
		payments.EventTransactionOpened: 1, payments.EventStatusChanged: 2, payments.EventWebhookReceived: 2, payments.EventRecordWritten: 2,
		payments.EventRecordSplit: 1, payments.EventRecordPaidOut: 1, payments.EventRefundRequested: 1, payments.EventRefundSucceeded: 1,
		payments.EventMessageQueued: 4,
	})

	// The transaction of the refund has a timeline of its own, without the payment's beginnings.
	all, err = b.Store.Payments.Timeline(t.Context(), *refund.RefundTransactionID)
	require.NoError(t, err)
	require.NotEmpty(t, all)

	for _, e := range all {
		require.NotContains(t, e.Summary, "payment.")
		require.NotContains(t, e.Summary, "PENDING")
		require.NotEqual(t, "Ledger entry "+number+" (SALE) was written", e.Summary)
	}
}

// requireTold compares how often each event stands in a timeline, and that each has its kind.
func requireTold(t *testing.T, all []payments.TimelineEntry, want map[payments.TimelineEvent]int) {
	t.Helper()

	told := map[payments.TimelineEvent]int{}

	for i := range all {
		told[all[i].Event]++
		require.Equal(t, payments.TimelineEvents()[all[i].Event], all[i].Kind)
		require.NotEmpty(t, all[i].Kind)
	}

	require.Equal(t, want, told)
}

// What the gateway says twice, by two webhooks or by an answer to our question, is one entry that keeps both.
func TestTimelineFoldsRepetitions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)

	for i := range 3 {
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) {
			body, proof := fmt.Sprintf(`{"n": %d}`, i), "v1,proof"
			e.Body, e.Signature = &body, &proof
		}))

		if i == 1 {
			b.Settle(t, tx, time.Now())
		}
	}

	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.Amount = bookstest.Amount("1.00") }))

	all, err := b.Store.Payments.Timeline(t.Context(), tx.ID)
	require.NoError(t, err)

	var said []payments.TimelineEntry

	for _, e := range all {
		if e.Kind == payments.TimelineWebhook {
			said = append(said, e)
		}
	}

	require.Len(t, said, 2, "another amount is another statement")
	require.Equal(t, 3, said[0].Facts.Deliveries)

	again, _ := said[0].Details["repeats"].([]map[string]any)

	bodies := make([]any, 0, 1+len(again))
	bodies = append(bodies, said[0].Details["body"])

	for _, one := range again {
		bodies = append(bodies, one["body"])
	}

	require.ElementsMatch(t, []any{`{"n": 0}`, `{"n": 1}`, `{"n": 2}`}, bodies, "every message is kept with its body")
}

func TestTimelineOfIncidents(t *testing.T) {
	t.Parallel()
	b := setup(t)

	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	wrong := tx
	wrong.Amount = models.MustMoney("1.00")
	b.Report(t, wrong, models.EventPaymentSucceeded)

	open, err := b.Store.Incidents.ListIncidents(t.Context(), incidents.IncidentFilter{})
	require.NoError(t, err)
	require.Len(t, open.Items, 1)
	_, err = b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, open.Items[0].ID, "refunded manually")
	require.NoError(t, err)

	all, err := b.Store.Payments.Timeline(t.Context(), tx.ID)
	require.NoError(t, err)

	last := all[len(all)-1]
	require.Equal(t, payments.TimelineIncident, last.Kind)
	require.Equal(t, "Incident AMOUNT_MISMATCH was resolved", last.Summary)
	require.WithinDuration(t, time.Now(), last.At, time.Minute)
}

func TestTimelineOfNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)

	_, err := b.Store.Payments.Timeline(t.Context(), models.NewID())
	bookstest.RequireCode(t, models.CodeNotFound, err)

	all, err := b.Store.Payments.Timeline(t.Context(), b.Open(t, b.Book(t, b.Trip, 1), 1).ID)
	require.NoError(t, err)
	require.Len(t, all, 1)
}
