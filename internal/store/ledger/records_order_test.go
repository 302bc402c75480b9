package ledger_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
)

// TestRecordsOfADay: within a day the list, its pages and both exports go by when the entries were written. Their ids are derived,
// and in no order.
func TestRecordsOfADay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "it moves entries to other days", "record-subject", "transfer-moment")

	const lines = 8

	written := make([]string, 0, lines) // transaction numbers, latest entry of the latest day first

	for i := range lines {
		line := b.sale(t, 1)
		// The days go up, and times within a day go up: 3 entries a day.
		b.Exec(t, "UPDATE financial_records SET record_date = $2, created_at = $3 WHERE id = $1", line.ID,
			time.Date(2026, 3, 10+i/3, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 20, 10, 0, i%3, 0, time.UTC))

		written = append([]string{line.TransactionNumber}, written...)
	}

	numbers := func(f ledger.RecordFilter) []string {
		var out []string

		for {
			got, err := b.Store.Ledger.ListRecords(t.Context(), f)
			require.NoError(t, err)

			for _, r := range got.Items {
				out = append(out, r.TransactionNumber)
			}

			if got.Next == "" {
				return out
			}

			f.Page.Cursor = got.Next
		}
	}

	exported := func(f ledger.RecordFilter) (out []string) {
		for _, row := range b.exported(t, f) { // as CSV, and as rows of a workbook
			out = append(out, row["transaction_number"])
		}

		return out
	}

	earliest := slices.Clone(written)
	slices.Reverse(earliest)

	for sort, want := range map[string][]string{
		"": written, "-record_date": written, "record_date": earliest, "record_date,created_at": earliest,
		"-record_date,-created_at": written,
	} {
		for _, search := range []string{"", "test"} {
			for _, perPage := range []int{1, 2, 5, 100} {
				require.Equal(t, want, numbers(ledger.RecordFilter{Search: search, Page: db.Page{Sort: bookstest.SortBy(strings.FieldsFunc(sort, comma)...), PerPage: perPage}}),
					"%q, %q, %d a page", sort, search, perPage)
			}

			require.Equal(t, want, exported(ledger.RecordFilter{Search: search, Page: db.Page{Sort: bookstest.SortBy(strings.FieldsFunc(sort, comma)...)}}), sort)
		}
	}

	// What the caller says about times within a day stands.
	up := numbers(ledger.RecordFilter{Page: db.Page{Sort: bookstest.SortBy("-record_date", "created_at")}})
	require.Equal(t, []string{written[1], written[0]}, up[:2])
}

func comma(r rune) bool { return r == ',' }
