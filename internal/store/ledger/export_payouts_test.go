package ledger_test

import (
	"bytes"
	"encoding/csv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// exportedEntry is a ledger entry of the export, by its id.
func (b *books) exportedEntry(t *testing.T, id uuid.UUID) map[string]string {
	t.Helper()

	for _, row := range b.exported(t, ledger.RecordFilter{}) {
		if row["id"] == id.String() {
			return row
		}
	}

	require.Fail(t, "not exported", id)

	return nil
}

// TestRecordsShowATransferTakenBack: a part that was refunded under a mark keeps the mark, and its claw-back is TRANSFERRED. Both
// say that the provider was not paid, in exports and lists, until the rest is marked again.
func TestRecordsShowATransferTakenBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	part := b.mark(t, b.Records(t, tx)[0].ID)
	b.GiveBack(t, tx, "38.33")

	rest, clawback := b.onlyEntry(t, tx, isLive), b.onlyEntry(t, tx, isClawback)
	for _, line := range []models.FinancialRecord{part, rest, clawback} {
		require.Empty(t, b.exportedEntry(t, line.ID)["payout_reverted_at"], "nothing was taken back")
	}

	reverted := b.revert(t, rest.ID)
	when := reverted.PayoutRevertedAt.UTC().Truncate(time.Second).Format(time.RFC3339)

	got := b.exportedEntry(t, part.ID)
	require.Equal(t, "REFUNDED", got["balance_status"])
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM refunds WHERE payment_transaction_id = $1 AND gateway_refund_id = $2`,
		tx.ID, got["gateway_refund_id"]))
	require.NotEmpty(t, got["transferred_at"])
	require.Equal(t, when, got["payout_reverted_at"])
	require.Equal(t, when, b.exportedEntry(t, rest.ID)["payout_reverted_at"])

	got = b.exportedEntry(t, clawback.ID)
	require.Equal(t, "TRANSFERRED", got["balance_status"])
	require.Equal(t, rest.ID.String(), got["netted_against"])

	list, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{BookingID: *tx.BookingID})
	require.NoError(t, err)
	require.Len(t, list.Items, 3)

	for _, line := range list.Items {
		require.WithinDuration(t, *b.Transaction(t, tx.ID).CapturedAt, *line.CapturedAt, 0)
		require.Equal(t, line.Kind == models.RecordClawback, line.PayoutRevertedAt == nil, string(line.Kind))
	}

	require.Nil(t, b.mark(t, rest.ID).PayoutRevertedAt)
	require.Empty(t, b.exportedEntry(t, rest.ID)["payout_reverted_at"], "its mark stands again")
	require.Equal(t, when, b.exportedEntry(t, part.ID)["payout_reverted_at"], "that of the part does not")
}

// TestExportWordsInArabic: what the service itself has written into details is in the language of the file; titles are as people have
// written them.
func TestExportWordsInArabic(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())

	campaign := b.OpenCampaign(t, b.Campaign(t, today, today.AddDays(3)), 1)
	b.Deliver(t, bookstest.Event(campaign, models.EventPaymentSucceeded, nil))
	b.Settle(t, campaign, time.Now())

	tx := b.Paid(t, 1)
	sold := b.mark(t, b.Records(t, tx)[0].ID)
	b.GiveBack(t, tx, "115.00")

	advertised, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{AdCampaignID: *campaign.AdCampaignID})
	require.NoError(t, err)

	title := advertised.Items[0].TripTitle + " (Spring)"

	for lang, want := range map[models.Locale][3]string{
		"":                   {"Test Trip", "Claw-back of " + sold.TransactionNumber, "Ad campaign for trip " + title},
		models.LocaleEnglish: {"Test Trip", "Claw-back of " + sold.TransactionNumber, "Ad campaign for trip " + title},
		models.LocaleArabic:  {"Test Trip", "استرجاع عن العملية " + sold.TransactionNumber, "حملة إعلانية لرحلة " + title},
	} {
		var file bytes.Buffer

		_, err := b.Store.Ledger.ExportCSV(t.Context(), ledger.RecordFilter{}, lang, &file)
		require.NoError(t, err)

		rows, err := csv.NewReader(&file).ReadAll()
		require.NoError(t, err)

		details := make([]string, len(rows)-1)
		for i, row := range rows[1:] {
			details[i] = row[4]
		}

		require.ElementsMatch(t, want, details, string(lang))

		i := 0
		_, err = b.Store.Ledger.ExportRows(t.Context(), ledger.RecordFilter{}, lang, func(cells [][]byte) error {
			require.Equal(t, details[i], string(cells[4]))

			i++

			return nil
		})
		require.NoError(t, err)
	}
}

// Each entry says by what its payment came, where that is not what was chosen.
func TestExportSaysWhatWasPaidBy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.PaymentMethod = models.MethodBillPayment }))
	b.Settle(t, tx, time.Now())

	got := b.exportedEntry(t, b.Records(t, tx)[0].ID)
	require.Equal(t, "credit_card", got["payment_method"])
	require.Equal(t, "bill_payment", got["paid_by"])

	var file bytes.Buffer

	_, err := b.Store.Ledger.ExportCSV(t.Context(), ledger.RecordFilter{}, models.LocaleEnglish, &file)
	require.NoError(t, err)
	require.Contains(t, file.String(), "Paid by another method")
	require.Contains(t, file.String(), ",Bill payment")
}
