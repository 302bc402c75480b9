package ledger_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// exported reads an export as CSV, and checks that its rows are those of ExportRows.
func (b *books) exported(t *testing.T, f ledger.RecordFilter) []map[string]string {
	t.Helper()

	var file bytes.Buffer

	n, err := b.Store.Ledger.ExportCSV(t.Context(), f, "", &file)
	require.NoError(t, err)

	rows, err := csv.NewReader(&file).ReadAll()
	require.NoError(t, err)
	require.EqualValues(t, len(rows)-1, n)

	columns := ledger.ExportColumns()

	out := make([]map[string]string, 0, n)
	for _, row := range rows[1:] {
		named := map[string]string{}
		for i, c := range columns {
			require.Equal(t, c.Name, rows[0][i])

			named[c.Name] = row[i]
		}

		out = append(out, named)
	}

	i := 0
	sums, err := b.Store.Ledger.ExportRows(t.Context(), f, "", func(cells [][]byte) error {
		require.Len(t, cells, len(columns))

		for j, c := range columns {
			require.Equal(t, strings.TrimPrefix(out[i][c.Name], "'"), string(cells[j]), c.Name)
			require.Equal(t, cells[j] == nil, out[i][c.Name] == "" && c.Name != "details", c.Name)
		}

		i++

		return nil
	})
	require.NoError(t, err)
	require.Equal(t, len(out), i)

	for _, s := range sums {
		n -= s.Lines
	}

	require.Zero(t, n, "every entry is in one of the sums")

	return out
}

func TestExport(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "it moves an entry to another day", "record-subject", "transfer-moment")

	old, young := b.sale(t, 1), b.sale(t, 2)
	b.Exec(t, "UPDATE financial_records SET record_date = '2026-03-10', created_at = '2026-03-10 21:59:59.999+00' WHERE id = $1", old.ID)

	reference, day := "=BANK", models.NewDate(2026, time.March, 11)
	marked, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, old.ID, ledger.MarkTransfer{Reference: &reference, Date: &day})
	require.NoError(t, err)

	got := b.exported(t, ledger.RecordFilter{})
	require.Len(t, got, 2)
	require.Equal(t, young.ID.String(), got[0]["id"], "latest first")

	paid, err := b.Store.Payments.TransactionByID(t.Context(), old.PaymentTransactionID)
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"transaction_number": old.TransactionNumber, "record_date": "2026-03-10", "kind": "SALE", "provider_name": "Test Tours",
		"details": old.Details, "gross_amount": "115.00", "platform_commission_amount": "11.50", "net_amount": "103.50",
		"vat_amount": "15.00", "refunded_amount": "0.00", "currency": "SAR", "balance_status": "TRANSFERRED",
		"payout_reference": "'=BANK", "payout_date": "2026-03-11",
		"transferred_at": marked.TransferredAt.UTC().Truncate(time.Second).Format(time.RFC3339),
		"booking_number": marked.BookingNumber, "booking_id": old.BookingID.String(), "ad_campaign_id": "", "payment_transaction_id": old.PaymentTransactionID.String(),
		"id": old.ID.String(), "split_from": "", "created_at": "2026-03-10T21:59:59Z",
		"commission_rate": "0.1000", "captured_at": paid.CapturedAt.UTC().Truncate(time.Second).Format(time.RFC3339),
		"payment_method": string(paid.PaymentMethod), "gateway": string(paid.Gateway), "netted_against": "", "payout_reverted_at": "",
		"gateway_refund_id": "", "paid_by": "",
	}, got[1])

	require.Len(t, b.exported(t, ledger.RecordFilter{
		Days: models.Days{To: models.NewDate(2026, time.March, 10)}, Page: db.Page{Number: 9},
	}), 1, "an export has no pages")
	require.Equal(t, old.ID.String(), b.exported(t, ledger.RecordFilter{Page: db.Page{Sort: bookstest.SortBy("gross_amount")}})[0]["id"])
	require.Empty(t, b.exported(t, ledger.RecordFilter{Search: "'; DROP TABLE users; --"}))
	require.Empty(t, b.exported(t, ledger.RecordFilter{Search: `\' ? $1 ?0`}))

	_, err = b.Store.Ledger.ExportCSV(t.Context(), ledger.RecordFilter{Page: db.Page{Sort: bookstest.SortBy("vat_amount")}}, "", &bytes.Buffer{})
	bookstest.RequireCode(t, models.CodeValidation, err)
}

func TestExportedTextIsNoFormula(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.sale(t, 1)

	for text, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", " =1": "' =1", "\t=1": "' =1", "\n=1": "' =1", "\r": "' ",
		"\ttab": "' tab", "＝1": "'＝1", "－1": "'－1",
		"a;=1": "a;'=1", ";=1": ";'=1", "a;  -1;+1;b;@x;＠1;＝1": "a;'  -1;'+1;b;'@x;'＠1;'＝1", "a;;\t=1;": "a;;' =1;", "=1;=1": "'=1;'=1",
		"a;\"=1;b": "a;'\"=1;b", `a;" "=1`: `a;'" "=1`, "a; b=1; 2-1": "a; b=1; 2-1", "a\r\n=1\tb": "a  =1 b", `a;\1=1`: `a;\1=1`,
		"": "", " ": " ", "a=1": "a=1", "1-1": "1-1", "'=1": "''=1", "''=1": "'''=1", "' =1": "'' =1", "' '=1": "' '=1",
		";'=a;=b": ";''=a;'=b", "'a": "'a", "\u00a0=1": "'\u00a0=1", "a;\u2003'=1;'\u2003=1": "a;\u2003'=1;''\u2003=1", `"quoted", and more`: `"quoted", and more`,
		"رحلة العُلا": "رحلة العُلا", "two\nlines": "two lines", `\.`: `\.`, "🕌": "🕌",
	} {
		b.Exec(t, "UPDATE financial_records SET details = $2 WHERE id = $1", r.ID, text)

		var file bytes.Buffer

		_, err := b.Store.Ledger.ExportCSV(t.Context(), ledger.RecordFilter{}, "", &file)
		require.NoError(t, err)

		rows, err := csv.NewReader(&file).ReadAll()
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, rows[1][4], "%q", text)
	}
}

// Where the decimal sign is a comma, a spreadsheet takes every semicolon for the end of a cell, and every line for a row.
func TestExportedTextIsNoFormulaBetweenSemicolons(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "it is paid out manually", "record-payout")
	b.sale(t, 1)

	for _, evil := range []string{"x;=1", "x; \t+1", "x\n=1;", "x\r@1", `x;"=1;`, `x";-1`, "x;\n=1", `"=1;"`} {
		b.Exec(t, "UPDATE financial_records SET details = $1, payout_reference = $1", evil)
		b.Exec(t, "UPDATE providers SET name = $1", evil)

		var file bytes.Buffer

		_, err := b.Store.Ledger.ExportCSV(t.Context(), ledger.RecordFilter{}, "", &file)
		require.NoError(t, err)

		lines := strings.Split(strings.TrimSuffix(file.String(), "\n"), "\n")
		require.Len(t, lines, 2, "%q", evil)

		for cell := range strings.SplitSeq(lines[1], ";") {
			require.NotRegexp(t, `^[\s"]*[-=+@]`, cell, "%q", evil)
		}
	}
}

// An export that is cut has handed on as many entries as it says, and the one that it was at.
func TestExportCountsWhatItHandsOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "its entries are inserted manually, without their payments")
	b.manyRecords(t, 100)

	var whole bytes.Buffer

	rows, err := b.Store.Ledger.ExportCSV(t.Context(), ledger.RecordFilter{}, "", &whole)
	require.NoError(t, err)
	require.EqualValues(t, strings.Count(whole.String(), "\n")-1, rows)

	for _, room := range []int{0, 100, 1000, whole.Len() / 2, whole.Len() - 1} {
		var taken bytes.Buffer

		rows, err := b.Store.Ledger.ExportCSV(t.Context(), ledger.RecordFilter{}, "", io.MultiWriter(&failing{left: room}, &taken))
		require.ErrorIs(t, err, errGone)
		require.EqualValues(t, strings.Count(taken.String(), "\n"), rows, "the header, and the entry that it was at, too")
	}
}

// failing is a client that goes away after so many bytes.
type failing struct{ left int }

var errGone = errors.New("the client is gone")

func (w *failing) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errGone
	}

	return len(p), nil
}

// Whatever ends an export ends its statement, and the pool has its connection back, or another one for it.
func TestExportStops(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "its entries are inserted manually, without their payments")
	b.manyRecords(t, 20_000)

	for range 11 { // more often than there are connections
		_, err := b.Store.Ledger.ExportCSV(t.Context(), ledger.RecordFilter{}, "", &failing{left: 1000})
		require.ErrorIs(t, err, errGone)

		_, err = b.Store.Ledger.ExportRows(t.Context(), ledger.RecordFilter{}, "", func([][]byte) error { return errGone })
		require.ErrorIs(t, err, errGone)
	}

	ctx, cancel := context.WithCancel(t.Context())

	var file bytes.Buffer

	_, err := b.Store.Ledger.ExportCSV(ctx, ledger.RecordFilter{}, "", writerFunc(func(p []byte) (int, error) {
		cancel()

		return file.Write(p)
	}))
	require.ErrorIs(t, err, context.Canceled)

	sums, err := b.Store.Ledger.ExportRows(ctx, ledger.RecordFilter{}, "", func([][]byte) error { return nil })
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, sums)

	// A statement that has not given its first row yet ends, too.
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()

	_, err = b.Store.Ledger.ExportCSV(ctx, ledger.RecordFilter{Page: db.Page{Sort: bookstest.SortBy("-net_amount", "gross_amount")}}, "", &file)
	require.Error(t, err)

	require.Eventually(t, func() bool {
		return b.Count(t, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND state = 'active' AND query LIKE 'COPY%'`) == 0
	}, 20*time.Second, 20*time.Millisecond, "a statement is still running")
	require.NoError(t, b.Store.DB.Ping(t.Context()))
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// manyRecords adds ledger entries that are nothing but rows.
func (b *books) manyRecords(t *testing.T, n int) {
	t.Helper()

	tx := b.Paid(t, 1)
	b.Exec(t, fmt.Sprintf(`
		INSERT INTO financial_records (id, transaction_number, kind, payment_transaction_id, provider_id, booking_id, gross_amount,
			platform_commission_amount, net_amount, vat_amount, refunded_amount, trip_title, details, record_date, balance_status,
			commission_rate)
		SELECT gen_random_uuid(), 'T-' || n, 'SALE', $1, $2, $3, n, 0, n, 0, n, 'رحلة ' || n %% 100, 'رحلة ' || n, '2026-01-01'::date + n %% 365, 'REFUNDED', 0
		FROM generate_series(1, %d) AS n`, n), tx.ID, b.Provider.ID, tx.BookingID)
}
