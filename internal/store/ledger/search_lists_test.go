package ledger_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookings"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/ledger"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// What payments have just written is found in the indexes of searches, and is still there when it has been moved into their trees.
func TestSearchFindsWhatIsInTheListsOfItsIndexes(t *testing.T) {
	t.Parallel()

	at, err := url.Parse(storetest.Database(t))
	require.NoError(t, err)

	query := at.Query()
	query.Set("enable_seqscan", "off") // the few rows of a test are not read past the index
	at.RawQuery = query.Encode()

	s, conn := storetest.OpenAt(t, at.String(), models.DefaultPolicies())
	b := &books{bookstest.BooksOf(t, s, conn)}
	e := &bookstest.Explainer{}
	storetest.Watch(b.Store, e)

	clean := func() int64 {
		t.Helper()
		b.Exec(t, "UPDATE search_lists SET rows_at_cleaning = 1000000000") // more than were ever written: as after a crash

		pages, err := b.Store.DB.CleanSearchLists(t.Context())
		require.NoError(t, err)

		return pages
	}
	clean()

	tx := b.Paid(t, 1)
	line := b.Records(t, tx)[0]
	digits := line.TransactionNumber[len(line.TransactionNumber)-5:]

	find := func() {
		t.Helper()

		e.Queries = nil

		lines, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{Search: digits})
		require.NoError(t, err)
		require.Equal(t, line.ID, lines.Items[0].ID)
		b.requireOnePlan(t, e, "records_number_part")

		e.Queries = nil

		found, err := b.Store.Bookings.ListBookings(t.Context(), bookings.BookingFilter{Search: "contact@rihla"})
		require.NoError(t, err)
		require.Equal(t, *tx.BookingID, found.Items[0].ID)
		b.requireOnePlan(t, e, "booking_texts_search")
	}

	find()
	require.EqualValues(t, 2, clean(), "both were in the lists")
	find()
	require.Zero(t, clean())
}

// requireOnePlan requires that one of the queries is answered by an index.
func (b *books) requireOnePlan(t *testing.T, e *bookstest.Explainer, index string) {
	t.Helper()

	plans := make([]string, 0, len(e.Queries))
	for _, q := range e.Queries {
		plans = append(plans, b.Plan(t, q))
	}

	require.Contains(t, strings.Join(plans, "\n"), "on "+index)
}
