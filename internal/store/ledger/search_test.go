package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// searchable puts entries of three titles and all kinds into the ledger, of two companies, over a hundred days.
func (b *books) searchable(t *testing.T, n int) uuid.UUID {
	t.Helper()

	b.Audit.Tampered(t, "its entries are inserted manually, without their payments")
	tx := b.Paid(t, 1)
	other := uuid.New()

	// All entries are of one payment, and of refunds that there are not.
	b.Exec(t, "DROP INDEX records_live; ALTER TABLE financial_records DROP CONSTRAINT financial_records_refund_id_fkey")
	b.Exec(t, `INSERT INTO providers (id, name, email, phone, commission_rate, status)
		VALUES ($1, 'Other', 'other@rihla.test', '+966500000000', 0.1, 'ACTIVE')`, other)
	b.Exec(t, `INSERT INTO financial_records (id, transaction_number, kind, payment_transaction_id, provider_id, booking_id, refund_id,
			gross_amount, platform_commission_amount, net_amount, vat_amount, refunded_amount, trip_title, details, record_date,
			balance_status, transferred_at, commission_rate)
		SELECT gen_random_uuid(), 'RH-2025-' || lpad((n * 37)::text, 8, '0'), kind, $1, CASE WHEN n % 5 = 0 THEN $3::uuid ELSE $2::uuid END, $4,
			CASE WHEN kind = 'CLAWBACK' OR status = 'REFUNDED' THEN gen_random_uuid() END, gross, 0, gross, 0,
			CASE status WHEN 'REFUNDED' THEN gross ELSE 0 END, title,
			CASE kind WHEN 'CLAWBACK' THEN 'Claw-back of RH-2024-' || lpad((n * 11)::text, 8, '0') ELSE title END,
			date '2026-01-01' + n % 100, status, CASE status WHEN 'TRANSFERRED' THEN now() END, 0
		FROM generate_series(1, $5::int) AS n
		CROSS JOIN LATERAL (SELECT CASE WHEN n % 7 = 0 THEN 'CLAWBACK' ELSE 'SALE' END AS kind,
			(ARRAY['عمرة من الرياض', 'Umrah from Riyadh 100%', 'The coach_to Abha'])[1 + n % 3] || CASE WHEN n % 50 = 0 THEN ' / ' || n ELSE '' END AS title) AS k
		CROSS JOIN LATERAL (SELECT CASE WHEN kind = 'CLAWBACK' THEN -1 ELSE 1 END * (1 + n % 90) AS gross,
			(ARRAY['IN_CURRENT_BALANCE', 'TRANSFERRED'])[1 + n % 2] AS status) AS m`,
		tx.ID, b.Provider.ID, other, *tx.BookingID, n)
	// Refunds leave an entry with another state behind.
	b.Exec(t, `UPDATE financial_records SET balance_status = 'REFUNDED', refunded_amount = gross_amount, refund_id = gen_random_uuid()
		WHERE kind = 'SALE' AND transaction_number LIKE '%7'`)
	b.Exec(t, "UPDATE financial_records SET payout_reference = 'TRF-' || right(transaction_number, 2) || ' أ' WHERE balance_status = 'TRANSFERRED'")
	b.Exec(t, "UPDATE providers SET name = 'Other / شركة الأولى' WHERE id = $1", other)
	b.Exec(t, "ANALYZE financial_records")
	// Folding costs more than everything else of looking at an entry: it is done once, and not again for every search.
	b.Exec(t, `CREATE TABLE plain_lines AS SELECT f.*, search_fold(trip_title) AS folded_title, search_fold(details) AS folded_details,
			search_fold(payout_reference) AS folded_reference, search_fold(p.name) AS folded_company
		FROM financial_records AS f JOIN providers AS p ON p.id = provider_id`)

	return other
}

// likeEscaper makes the wildcards of LIKE ordinary characters.
var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// plainSearch is the list without any index or sum that the store has for it.
const plainSearch = `SELECT id FROM plain_lines, search_fold($1) AS words, search_fold($6) AS reference
	WHERE (folded_title LIKE words OR folded_details LIKE words OR lower(transaction_number) LIKE words
	   OR folded_reference LIKE reference OR folded_company LIKE words)
	  AND ($2 = '' OR provider_id::text = $2) AND ($3 = '' OR balance_status = $3) AND record_date BETWEEN $4::date AND $5::date
	ORDER BY `

// Whatever is searched for, in whichever order and on whichever page: a search finds what looking at every entry does.
func TestSearchFindsWhatLookingAtEveryLineDoes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := b.searchable(t, 2000)

	filters := []struct {
		name string
		ledger.RecordFilter
	}{
		{"all", ledger.RecordFilter{}},
		{"a company", ledger.RecordFilter{ProviderID: other}},
		{"a state", ledger.RecordFilter{BalanceStatus: models.BalanceRefunded}},
		{"days", ledger.RecordFilter{Days: models.Days{From: models.NewDate(2026, 1, 20), To: models.NewDate(2026, 3, 1)}}},
		{"from a day on", ledger.RecordFilter{Days: models.Days{From: models.NewDate(2026, 3, 1)}}},
		{"a company and state", ledger.RecordFilter{
			ProviderID: b.Provider.ID, BalanceStatus: models.BalanceInCurrent, Days: models.Days{To: models.NewDate(2026, 2, 2)},
		}},
	}
	orders := []struct {
		columns string
		by      []db.Sort
	}{
		{"record_date DESC, id", nil},
		{"record_date, id", []db.Sort{{Field: "record_date"}}},
		{"gross_amount DESC, net_amount, id", []db.Sort{{Field: "gross_amount", Desc: true}, {Field: "net_amount"}}},
	}

	for i, search := range []string{
		"umrah", "UMRAH from", "عمرة", "الرياض", "100%", "coach_to", "/ 150", "nowhere", "a", "H", "-", "rh-", "RH-2025", "rh-2025-000000", "RH-2025-00000037",
		"00037", "37", "7", "2024", "RH-2024-0000", "claw-back", "Claw-back of", "k of rh-2024-00000", "back of RH-2024-00000077", "%", "_", `\`, "of r",
		"rh-2025-_", "coach", "عُمـرة", "الرّيَاض", "٠٠٠٣٧", "TRF", "trf-١٧", "شركه الاولي", "other", "TOURS", "tou",
	} {
		for j, f := range filters {
			order := orders[(i+j)%len(orders)] // every search, filter and order meets each of the other two
			f.Search, f.Page = search, db.Page{PerPage: 7, Sort: order.by}
			b.requireFound(t, f.RecordFilter, order.columns, fmt.Sprintf("%s: %q by %s", f.name, search, order.columns))
		}
	}
}

// What is in more numbers than anybody lists is found all the same.
func TestSearchFindsMoreNumbersThanItHolds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.searchable(t, 6000)

	f := ledger.RecordFilter{Search: "025-00", Page: db.Page{PerPage: 7}}
	b.requireFound(t, f, "record_date DESC, id", "all")

	f.BalanceStatus = models.BalanceInCurrent
	b.requireFound(t, f, "record_date DESC, id", "in the balance")
}

// requireFound compares the first page, one in the middle, the last, and the one after a cursor with the plain list.
func (b *books) requireFound(t *testing.T, f ledger.RecordFilter, order, what string) {
	t.Helper()

	want := b.plainly(t, f, order)
	per := f.Page.PerPage
	last := max((len(want)+per-1)/per, 1)

	for _, number := range slices.Compact([]int{1, max(last/2, 1), last, last + 1}) {
		f.Page.Number = number

		got, err := b.Store.Ledger.ListRecords(t.Context(), f)
		require.NoError(t, err, what)
		require.EqualValues(t, len(want), got.Total, what)

		from, to := min((f.Page.Number-1)*per, len(want)), min(f.Page.Number*per, len(want))
		require.Equal(t, want[from:to], recordIDs(got.Items), "%s, page %d", what, f.Page.Number)
		require.Equal(t, to < len(want), got.Next != "", "%s, page %d", what, f.Page.Number)

		if got.Next != "" {
			following := f
			following.Page = db.Page{PerPage: per, Cursor: got.Next}

			next, err := b.Store.Ledger.ListRecords(t.Context(), following)
			require.NoError(t, err, what)
			require.Equal(t, want[to:min(to+per, len(want))], recordIDs(next.Items), "%s, after page %d", what, f.Page.Number)
		}
	}
}

func (b *books) plainly(t *testing.T, f ledger.RecordFilter, order string) []uuid.UUID {
	t.Helper()

	provider, from, to := "", "-infinity", "infinity"
	if f.ProviderID != uuid.Nil {
		provider = f.ProviderID.String()
	}

	if !f.Days.From.IsZero() {
		from = f.Days.From.String()
	}

	if !f.Days.To.IsZero() {
		to = f.Days.To.String()
	}

	// What is shorter than the index of references can find begins one.
	reference := likeEscaper.Replace(f.Search) + "%"
	if utf8.RuneCountInString(f.Search) >= 3 {
		reference = "%" + reference
	}

	rows, err := b.DB.QueryContext(t.Context(), plainSearch+order,
		"%"+likeEscaper.Replace(f.Search)+"%", provider, string(f.BalanceStatus), from, to, reference)
	require.NoError(t, err)

	defer rows.Close()

	ids := []uuid.UUID{}

	for rows.Next() {
		var id uuid.UUID

		require.NoError(t, rows.Scan(&id))
		ids = append(ids, id)
	}

	require.NoError(t, rows.Err())

	return ids
}

func recordIDs(lines []models.FinancialRecord) []uuid.UUID {
	ids := make([]uuid.UUID, len(lines))
	for i, l := range lines {
		ids[i] = l.ID
	}

	return ids
}
