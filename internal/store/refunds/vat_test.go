package refunds_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// Each document is rate × base by itself, in the order of the refunds; the entries add up to the VAT of the sale. The books are audited and
// held against their identities when the test ends.
func TestDocumentsOfRefunds(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name, price     string
		refunds         []string
		documents, line []string
	}{
		{"thirds", "99.99", []string{"33.33", "33.33", "33.33"}, []string{"4.35", "4.35", "4.35"}, []string{"4.35", "4.35", "4.34"}},
		{
			"sevenths", "139.93",
			[]string{"19.99", "19.99", "19.99", "19.99", "19.99", "19.99", "19.99"},
			[]string{"2.61", "2.61", "2.61", "2.61", "2.61", "2.61", "2.61"},
			[]string{"2.61", "2.61", "2.61", "2.61", "2.60", "2.61", "2.60"},
		},
		{"in one piece", "99.99", []string{"99.99"}, []string{"13.04"}, []string{"13.04"}},
		{"a halala", "115.00", []string{"0.01", "114.99"}, []string{"0.00", "15.00"}, []string{"0.00", "15.00"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			tx := b.PaidFor(t, tt.price)

			documents, lines := make([]string, 0, len(tt.refunds)), make([]string, 0, len(tt.refunds))

			for _, amount := range tt.refunds {
				r := b.GiveBack(t, tx, amount)
				refund, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
				require.NoError(t, err)

				documents = append(documents, b.Transaction(t, *refund.RefundTransactionID).VATAmount.String())
			}

			for _, r := range b.Records(t, tx) {
				lines = append(lines, r.VATAmount.String())
			}

			require.Equal(t, tt.documents, documents)
			require.Equal(t, tt.line, lines)
			require.Zero(t, b.Count(t, `SELECT count(*) FROM (
				SELECT account, sum(amount) AS left FROM (
					SELECT debit_account AS account, -amount AS amount FROM ledger_transfers
					UNION ALL SELECT credit_account, amount FROM ledger_transfers) AS sides
				GROUP BY account) AS a WHERE a.left <> 0`), "every account is at 0.00 again")
		})
	}
}

// Earlier refunds carry the VAT that was taken out of the entry, and are audited by that rule.
func TestDocumentsOfRefundsOfBefore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.PaidFor(t, "99.99")

	for range 3 {
		b.GiveBack(t, tx, "33.33")
	}

	b.Exec(t, `UPDATE payment_transactions AS a SET vat_amount = r.vat_amount
		FROM refunds AS f JOIN financial_records AS r ON r.refund_id = f.id WHERE a.id = f.refund_transaction_id`)
	b.Exec(t, "UPDATE refunds SET vat_of_amount = false")
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM payment_transactions WHERE kind = 'REFUND' AND vat_amount = 4.34"))
}

// Money that came too late was never sold, and its document is right by itself, too.
func TestDocumentsOfLateMoney(t *testing.T) {
	t.Parallel()
	b := setup(t)
	trip := b.InsertTrip(t, 1, func(trip *models.Trip) { trip.PricePerSeat = models.MustMoney("99.99") })
	tx := b.Lapsed(t, trip, 1)
	b.Book(t, trip, 1)
	b.Report(t, tx, models.EventPaymentSucceeded)
	b.Settle(t, tx, bookstest.Clock())

	for range 3 {
		b.GiveBack(t, tx, "33.33")
	}

	require.Equal(t, 3, b.Count(t, "SELECT count(*) FROM payment_transactions WHERE kind = 'REFUND' AND vat_amount = 4.35"))
}
