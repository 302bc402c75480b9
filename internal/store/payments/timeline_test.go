package payments_test

import (
	"encoding/json"
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
		"LEDGER Ledger line " + number + " (SALE) was written",
		"NOTIFICATION Notification PAYMENT_SUCCEEDED by EMAIL was queued",
		"WEBHOOK The gateway reported payment.succeeded: known already, nothing changed",
		"LEDGER Ledger line " + number + " was paid out to the provider",
		"REFUND A PARTIAL refund of 30.00 SAR was requested",
		"STATE_CHANGE The transaction was opened as PARTIAL_REFUND",
		"LEDGER Ledger line " + number + " became REFUNDED",
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

		// A line is listed with the amounts of its moment, although the refund has split it since.
		switch e.Summary {
		case "Ledger line " + number + " (SALE) was written", "Ledger line " + number + " was paid out to the provider":
			require.Equal(t, *bookstest.Amount("230.00"), e.Details["gross_amount"])
			require.Equal(t, *bookstest.Amount("23.00"), e.Details["platform_commission_amount"])
		case "Ledger line " + number + " became REFUNDED":
			require.Equal(t, *bookstest.Amount("30.00"), e.Details["gross_amount"])
		}
	}

	// The transaction of the refund has a timeline of its own, without the payment's beginnings.
	all, err = b.Store.Payments.Timeline(t.Context(), *refund.RefundTransactionID)
	require.NoError(t, err)
	require.NotEmpty(t, all)

	for _, e := range all {
		require.NotContains(t, e.Summary, "payment.")
		require.NotContains(t, e.Summary, "PENDING")
		require.NotEqual(t, "Ledger line "+number+" (SALE) was written", e.Summary)
	}
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
	_, err = b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, open.Items[0].ID, "refunded by hand")
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
