package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// No list and no summary reads the whole ledger: the planner finds every page in an index.
func TestReportsAndListsAreFoundInIndexes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "its entries are inserted manually, without their payments")
	b.Lines(t, 30_000)

	e := &bookstest.Explainer{}
	storetest.Watch(b.Store, e)

	march := models.Days{From: models.NewDate(2026, 3, 1), To: models.NewDate(2026, 3, 31)}

	for name, c := range map[string]struct {
		filter ledger.RecordFilter
		index  string // that the page is found in
		number string // and the entries with a number, where it could be one
	}{
		"page 1":                      {ledger.RecordFilter{}, "records_date", ""},
		"page 100":                    {ledger.RecordFilter{Page: db.Page{Number: 100}}, "records_date", ""},
		"a month":                     {ledger.RecordFilter{Days: march}, "records_date", ""},
		"a company":                   {ledger.RecordFilter{ProviderID: b.Provider.ID, Page: db.Page{Number: 3}}, "records_", ""},
		"a status":                    {ledger.RecordFilter{BalanceStatus: models.BalanceRefunded}, "records_date", ""},
		"by amount":                   {ledger.RecordFilter{Page: db.Page{Sort: []db.Sort{{Field: "gross_amount", Desc: true}}}}, "records_gross", ""},
		"by net amount":               {ledger.RecordFilter{Page: db.Page{Sort: []db.Sort{{Field: "net_amount"}}}}, "records_net", ""},
		"by creation":                 {ledger.RecordFilter{Page: db.Page{Sort: []db.Sort{{Field: "created_at"}}}}, "records_created", ""},
		"a title":                     {ledger.RecordFilter{Search: "trip 0042"}, "records_text", ""},
		"part of a number":            {ledger.RecordFilter{Search: "04242"}, "financial_records_pkey", "records_number_part"},
		"a word that is in a third":   {ledger.RecordFilter{Search: "trip 00"}, "records_date", ""},
		"a number":                    {ledger.RecordFilter{Search: "rh-2025-004242"}, "financial_records_pkey", "records_number"},
		"a word that is in all of it": {ledger.RecordFilter{Search: "umrah"}, "records_date", ""},
	} {
		e.Queries = nil

		page, err := b.Store.Ledger.ListRecords(t.Context(), c.filter)
		require.NoError(t, err, name)
		require.NotEmpty(t, page.Items, name)

		plans := make([]string, len(e.Queries))
		for i, q := range e.Queries {
			plans[i] = b.Plan(t, q)
			require.NotContains(t, plans[i], "Seq Scan on financial_records", name)
		}

		require.NotContains(t, e.Queries[0], "financial_records", "%s: totals come from sums", name)
		require.Contains(t, plans[len(plans)-1], c.index, "%s: the page", name)

		if c.number != "" {
			require.Contains(t, plans[len(plans)-2], c.number, "%s: the number", name)
		}
	}

	report, err := b.Store.Ledger.Report(t.Context(), b.Provider.ID, march)
	require.NoError(t, err)
	require.EqualValues(t, 3100, report.Cards.Refunds)
}
