package ledger_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// balance reads the provider's balance now, and compares it with the statement and with the sum over the transfers.
func (b *books) balance(t *testing.T) ledger.Balance {
	t.Helper()

	got, err := b.Store.Ledger.ProviderBalance(t.Context(), b.Provider.ID, nil)
	require.NoError(t, err)
	require.Equal(t, b.Provider.ID, got.ProviderID)
	require.WithinDuration(t, time.Now(), got.AsOf, time.Minute)

	var open models.Money

	require.NoError(t, b.DB.QueryRowContext(t.Context(), `
		SELECT coalesce(sum(net_amount), 0) FROM financial_records
		WHERE provider_id = $1 AND balance_status = 'IN_CURRENT_BALANCE'`, b.Provider.ID).Scan(&open))
	require.Equal(t, open.String(), got.Payable.String(), "payable is what is in the current balance")

	return got
}

// booked moves all transfers that have no day yet to a day of their own, and returns its noon.
func (b *books) booked(t *testing.T, day int) time.Time {
	t.Helper()

	b.Audit.Tampered(t, "it moves transfers to another day", "transfer-moment")

	noon := time.Date(2026, time.March, day, 12, 0, 0, 0, time.UTC)

	b.Exec(t, "ALTER TABLE ledger_transfers DISABLE TRIGGER transfers_append_only")
	b.Exec(t, "UPDATE ledger_transfers SET created_at = $1 WHERE created_at > now() - interval '1 hour'", noon)
	b.Exec(t, "ALTER TABLE ledger_transfers ENABLE TRIGGER transfers_append_only")

	return noon
}

func TestProviderBalance(t *testing.T) {
	t.Parallel()
	b := setup(t)

	empty := b.balance(t)
	require.Equal(t, "0.00", empty.Payable.String())
	require.Equal(t, "0.00", empty.PaidOut.String())
	require.Nil(t, empty.LastPayout)

	tx := b.Paid(t, 2) // 207.00 net
	b.Paid(t, 1)       // 103.50 net
	sold := b.booked(t, 1)

	line := b.entryOf(t, tx)
	_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, ledger.MarkTransfer{})
	require.NoError(t, err)

	paid := b.booked(t, 2)

	b.Refund(t, tx, bookstest.Amount("115.00")) // half of what has been paid out: 103.50 is clawed back
	require.Equal(t, "0.00", b.balance(t).Payable.String())

	refunded := b.booked(t, 3)

	now := b.balance(t)
	require.Equal(t, "0.00", now.Payable.String())
	require.Equal(t, "207.00", now.PaidOut.String())
	require.Equal(t, "207.00", now.Earned().String())
	require.True(t, paid.Equal(*now.LastPayout))

	for name, c := range map[string]struct {
		at              time.Time
		payable, payout string
	}{
		"long before":        {time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC), "0.00", "0.00"},
		"year nought":        {time.Date(0, time.January, 1, 0, 0, 0, 0, time.UTC), "0.00", "0.00"},
		"just before":        {sold.Add(-time.Microsecond), "0.00", "0.00"},
		"at the sale":        {sold, "310.50", "0.00"},
		"before the payout":  {paid.Add(-time.Second), "310.50", "0.00"},
		"at the payout":      {paid, "103.50", "207.00"},
		"before the refund":  {refunded.Add(-time.Second), "103.50", "207.00"},
		"after everything":   {refunded.Add(time.Second), "0.00", "207.00"},
		"another time zone":  {paid.In(models.Riyadh), "103.50", "207.00"},
		"years from now":     {time.Now().AddDate(100, 0, 0).Truncate(time.Microsecond), "0.00", "207.00"},
		"the end of all RFC": {time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC), "0.00", "207.00"},
	} {
		got, err := b.Store.Ledger.ProviderBalance(t.Context(), b.Provider.ID, &c.at)
		require.NoError(t, err, name)
		require.Equal(t, c.payable, got.Payable.String(), name)
		require.Equal(t, c.payout, got.PaidOut.String(), name)
		require.True(t, c.at.Equal(got.AsOf), name)
	}

	_, err = b.Store.Ledger.ProviderBalance(t.Context(), uuid.New(), nil)
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

// A list of balances says of each company what its own balance does, at any moment.
func TestListBalances(t *testing.T) {
	t.Parallel()
	b := setup(t)

	tx := b.Paid(t, 2) // 207.00 net
	sold := b.booked(t, 1)

	_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, b.entryOf(t, tx).ID, ledger.MarkTransfer{})
	require.NoError(t, err)

	paid := b.booked(t, 2)
	b.Refund(t, tx, bookstest.Amount("115.00")) // 103.50 is clawed back: the company owes it
	b.booked(t, 3)

	for _, name := range []string{"أحمد للسفر", "50% Travel"} {
		p, err := b.Store.Catalogue.CreateProvider(t.Context(), models.Provider{
			Name: name, Email: "balances@rihla.test", Phone: "+966500000000", CommissionRate: b.Provider.CommissionRate,
		})
		require.NoError(t, err)
		_, err = b.Store.Catalogue.SetProviderStatus(t.Context(), b.Finance, p.ID, false)
		require.NoError(t, err)
	}

	longBefore := time.Date(0, time.January, 1, 0, 0, 0, 0, time.UTC)

	for what, at := range map[string]*time.Time{"now": nil, "sold": &sold, "paid": &paid, "the year nought": &longBefore} {
		list, err := b.Store.Ledger.ListBalances(t.Context(), ledger.BalanceFilter{AsOf: at, Page: db.Page{PerPage: 100}})
		require.NoError(t, err, what)
		require.Len(t, list.Items, b.Count(t, "SELECT count(*) FROM providers"), what)

		for _, of := range list.Items {
			one, err := b.Store.Ledger.ProviderBalance(t.Context(), of.ID, at)
			require.NoError(t, err, what)
			require.WithinDuration(t, one.AsOf, of.AsOf, time.Minute, what)
			require.Equal(t, at != nil, at != nil && at.Equal(of.AsOf), what)

			one.AsOf = of.AsOf
			require.Equal(t, one, of.Balance, "%s: %s", what, of.Name)
		}
	}

	names := b.balances(t, ledger.BalanceFilter{})
	require.Len(t, names, 3)
	require.Equal(t, []string{"50% Travel", "أحمد للسفر"}, []string{names[0], names[2]}, "by name")
	require.Equal(t, []string{"50% Travel"}, b.balances(t, ledger.BalanceFilter{Search: "0%"}))
	require.Empty(t, b.balances(t, ledger.BalanceFilter{Search: "0_"}))
	require.Equal(t, []string{"أحمد للسفر"}, b.balances(t, ledger.BalanceFilter{Search: "احمد"}), "Arabic is folded")
	require.Equal(t, []string{b.Provider.Name}, b.balances(t, ledger.BalanceFilter{OnlyOwed: true, AsOf: &sold}))
	require.Empty(t, b.balances(t, ledger.BalanceFilter{OnlyOwed: true}), "one that owes is not owed")

	lowest := b.balances(t, ledger.BalanceFilter{Page: db.Page{Sort: []db.Sort{{Field: "payable_amount"}}}})
	require.Equal(t, b.Provider.Name, lowest[0])

	last := b.balances(t, ledger.BalanceFilter{Page: db.Page{Sort: []db.Sort{{Field: "last_payout_at"}, {Field: "name"}}}})
	require.Equal(t, b.Provider.Name, last[0], "those that were never paid come last")

	_, err = b.Store.Ledger.ListBalances(t.Context(), ledger.BalanceFilter{Page: db.Page{Sort: []db.Sort{{Field: "as_of"}}}})
	bookstest.RequireCode(t, models.CodeValidation, err)
}

// balances are the names of the companies on all pages of a list, of one company each.
func (b *books) balances(t *testing.T, f ledger.BalanceFilter) []string {
	t.Helper()

	var names []string

	for f.Page.PerPage = 1; ; {
		list, err := b.Store.Ledger.ListBalances(t.Context(), f)
		require.NoError(t, err)

		for _, item := range list.Items {
			names = append(names, item.Name)
		}

		if f.Page.Cursor = list.Next; list.Next == "" {
			require.Len(t, names, int(list.Total))

			return names
		}
	}
}

// entryOf is the live ledger entry of a payment.
func (b *books) entryOf(t *testing.T, tx models.PaymentTransaction) models.FinancialRecord {
	t.Helper()

	got, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{BookingID: *tx.BookingID})
	require.NoError(t, err)
	require.NotEmpty(t, got.Items)

	for _, r := range got.Items {
		if r.BalanceStatus != models.BalanceRefunded && r.Kind != models.RecordClawback {
			return r
		}
	}

	require.Fail(t, "no live entry")

	return models.FinancialRecord{}
}

// The balance comes out of the indexes alone: no page of the table is read for it.
func TestProviderBalanceIsReadFromIndexes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "its transfers are inserted manually, without their entries")
	tx := b.Paid(t, 1)

	b.Exec(t, `
		INSERT INTO ledger_transfers (id, debit_account, credit_account, amount, kind, transaction_id, created_at)
		SELECT gen_random_uuid(), 'gateway:gateway_a', 'provider:' || (n % 50) || ':payable', 1, 'SALE_NET', $1, now() - n * interval '1 minute'
		FROM generate_series(1, 20000) AS n`, tx.ID)

	// A page counts as visible to all once no transaction is left that might not see it.
	require.Eventually(t, func() bool {
		b.Exec(t, "VACUUM ANALYZE ledger_transfers")

		return b.Count(t, "SELECT relpages - relallvisible FROM pg_class WHERE oid = 'ledger_transfers'::regclass") == 0
	}, time.Minute, 50*time.Millisecond)

	rows, err := b.DB.QueryContext(t.Context(), `
		EXPLAIN SELECT sum(amount) FROM ledger_transfers WHERE credit_account = 'provider:7:payable' AND created_at <= now()
		UNION ALL SELECT sum(amount) FROM ledger_transfers WHERE debit_account = 'provider:7:payable' AND created_at <= now()`)
	require.NoError(t, err)

	defer rows.Close()

	var lines []string

	for rows.Next() {
		var line string

		require.NoError(t, rows.Scan(&line))
		lines = append(lines, line)
	}

	require.NoError(t, rows.Err())

	plan := strings.Join(lines, "\n")
	require.Contains(t, plan, "Index Only Scan using transfers_credit_amount", plan)
	require.Contains(t, plan, "Index Only Scan using transfers_debit_amount", plan)
	require.NotContains(t, plan, "Seq Scan", plan)
}
