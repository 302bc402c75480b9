package ledger_test

import (
	"context"
	"database/sql"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// recomputed are the cards (rules: reports.cards) as a plain query over the entries has them, one CASE for each sentence there.
const recomputed = `
	SELECT count(*) FILTER (WHERE kind = 'SALE' AND balance_status IN ('IN_CURRENT_BALANCE', 'TRANSFERRED')),
	       count(*) FILTER (WHERE kind = 'ADVERTISING' AND balance_status IN ('IN_CURRENT_BALANCE', 'TRANSFERRED')),
	       count(*) FILTER (WHERE balance_status = 'REFUNDED'),
	       coalesce(sum(CASE WHEN kind IN ('SALE', 'ADVERTISING') AND refunded_amount = 0 THEN gross_amount END), 0),
	       coalesce(sum(CASE WHEN kind IN ('SALE', 'ADVERTISING') AND refunded_amount = 0 THEN platform_commission_amount END), 0),
	       coalesce(sum(CASE WHEN kind IN ('SALE', 'ADVERTISING') AND refunded_amount = 0 THEN net_amount END), 0),
	       coalesce(sum(CASE WHEN kind IN ('SALE', 'ADVERTISING') AND refunded_amount = 0 THEN vat_amount END), 0),
	       coalesce(sum(CASE WHEN balance_status = 'IN_CURRENT_BALANCE' THEN net_amount END), 0),
	       coalesce(sum(CASE WHEN transferred_at IS NOT NULL THEN net_amount END), 0),
	       coalesce(sum(refunded_amount), 0),
	       coalesce(sum(CASE WHEN kind = 'ADVERTISING' AND refunded_amount = 0 THEN gross_amount END), 0)
	FROM financial_records
	WHERE record_date BETWEEN $1 AND $2 AND ($3 = '00000000-0000-0000-0000-000000000000' OR provider_id = $3::uuid)`

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func recompute(ctx context.Context, db queryer, provider uuid.UUID, span models.Days) (models.ReportFigures, error) {
	var f models.ReportFigures

	err := db.QueryRowContext(ctx, recomputed, span.From.String(), span.To.String(), provider.String()).Scan(
		&f.Bookings, &f.Campaigns, &f.Refunds, &f.Gross, &f.Commission, &f.Net, &f.VAT, &f.InCurrentBalance, &f.Transferred,
		&f.Refunded, &f.AdvertisingRevenue)

	return f, err
}

// figures makes amounts comparable: decimals of one value can differ inside.
func figures(f models.ReportFigures) map[string]string {
	return map[string]string{
		"gross": f.Gross.String(), "commission": f.Commission.String(), "net": f.Net.String(), "vat": f.VAT.String(),
		"in balance": f.InCurrentBalance.String(), "transferred": f.Transferred.String(), "refunded": f.Refunded.String(),
		"advertising": f.AdvertisingRevenue.String(), "bookings": strconv.FormatInt(f.Bookings, 10),
		"campaigns": strconv.FormatInt(f.Campaigns, 10), "refunds": strconv.FormatInt(f.Refunds, 10),
	}
}

// around is a span that has all days on which the tests do something.
func around(now time.Time) models.Days {
	return models.Days{From: models.DateIn(now).AddDays(-8), To: models.DateIn(now).AddDays(1)}
}

// requireReport compares the summary with the entries, day by day, for the platform and for the provider.
func (b *books) requireReport(t require.TestingT, ctx context.Context) { //nolint:revive // rapid's T comes first, as T does
	span := around(time.Now())

	for _, provider := range []uuid.UUID{uuid.Nil, b.Provider.ID} {
		report, err := b.Store.Ledger.Report(ctx, provider, span)
		require.NoError(t, err)

		want, err := recompute(ctx, b.DB, provider, span)
		require.NoError(t, err)
		require.Equal(t, figures(want), figures(report.Cards))

		for _, day := range report.Series {
			want, err := recompute(ctx, b.DB, provider, models.Days{From: day.Date, To: day.Date})
			require.NoError(t, err)
			require.Equal(t, figures(want), figures(day.ReportFigures), day.Date.String())
		}

		// So are the sums of an export, which counts the entries that it gives.
		sums, err := b.Store.Ledger.ExportRows(ctx, ledger.RecordFilter{Days: span, ProviderID: provider}, models.LocaleArabic,
			func([][]byte) error { return nil })
		require.NoError(t, err)

		var exported models.ReportFigures
		for _, s := range sums {
			exported = exported.Add(s.Figures())
		}

		require.Equal(t, figures(report.Cards), figures(exported))
	}
}

// requireTransfersAgree compares the cards with the ledger's accounts, for which every entry counts (rules: ledger.transfers).
func (b *books) requireTransfersAgree(t *testing.T) {
	t.Helper()

	report, err := b.Store.Ledger.Report(t.Context(), b.Provider.ID, around(time.Now()))
	require.NoError(t, err)

	balance := func(account models.Account) (m models.Money) {
		require.NoError(t, b.DB.QueryRowContext(t.Context(), `
			SELECT coalesce(sum(CASE WHEN credit_account = $1 THEN amount ELSE -amount END), 0) FROM ledger_transfers
			WHERE $1 IN (credit_account, debit_account)`, string(account)).Scan(&m))

		return m
	}

	require.Equal(t, balance(models.PayableAccount(b.Provider.ID)).String(), report.Cards.InCurrentBalance.String())
	require.Equal(t, balance(models.PaidOutAccount(b.Provider.ID)).String(), report.Cards.Transferred.String())
	require.Equal(t, balance(models.AccountAdvertising).Add(balance(models.AccountVAT)).String(), report.Cards.AdvertisingRevenue.String())
	require.Equal(t, balance(models.AccountCommission).Add(report.Cards.AdvertisingRevenue).String(), report.Cards.Commission.String())
}

// Whatever is sold, refunded and paid out on whichever days, the summary is what the entries and the transfers add up to.
func TestReportIsWhatTheLinesAddUpTo(t *testing.T) {
	t.Parallel()
	b := setup(t)

	rapid.Check(t, func(r *rapid.T) {
		trip := b.InsertTrip(t, 100, func(trip *models.Trip) {
			trip.PricePerSeat = models.Halalas(rapid.Int64Range(1, 1_000_00).Draw(r, "price"))
		})

		var sold []models.PaymentTransaction

		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			at := time.Now().AddDate(0, 0, -rapid.IntRange(0, 3).Draw(r, "days ago"))

			switch what := rapid.IntRange(0, 5).Draw(r, "step"); {
			case what == 0:
				today := models.DateIn(time.Now())
				tx := b.OpenCampaign(t, b.Campaign(t, today, today.AddDays(3)), 1)
				b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
				b.Settle(t, tx, at)
			case what <= 2 || len(sold) == 0:
				tx := b.Open(t, b.Book(t, trip, rapid.IntRange(1, 3).Draw(r, "seats")), 1)
				b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
				b.Settle(t, tx, at)
				sold = append(sold, tx)
			case what == 3:
				b.refundSome(t, r, rapid.SampledFrom(sold).Draw(r, "refund"))
			default:
				b.payOutSome(t, r, rapid.SampledFrom(sold).Draw(r, "pay out"))
			}
		}

		b.requireReport(r, t.Context())
	})

	b.requireTransfersAgree(t)

	b.fold(t)
	b.requireReport(t, t.Context())

	before := b.days(t)
	b.Exec(t, "SELECT rebuild_reports()")
	require.Equal(t, before, b.days(t), "a rebuild finds what the triggers have kept")
}

// fold folds the sums of reports, and nothing is left to be folded.
func (b *books) fold(t *testing.T) {
	t.Helper()

	_, err := b.Store.Ledger.FoldReports(t.Context())
	require.NoError(t, err)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM report_deltas"))
}

// days is the content of the folded sums, without days whose entries have all gone.
func (b *books) days(t *testing.T) string {
	t.Helper()

	var all string

	require.NoError(t, b.DB.QueryRowContext(t.Context(), `SELECT coalesce(string_agg(d::text, E'\n' ORDER BY provider_id, day, slot), '')
		FROM report_days_folded AS d WHERE in_current_balance_count + transferred_count + refunded_count > 0`).Scan(&all))

	return all
}

func (b *books) refundSome(t *testing.T, r *rapid.T, tx models.PaymentTransaction) {
	t.Helper()

	now := b.Transaction(t, tx.ID)

	left := now.Remaining().Halalas()
	if left == 0 {
		return
	}

	part := models.Halalas(rapid.Int64Range(1, left).Draw(r, "refunded"))
	b.Refund(t, tx, &part)
}

func (b *books) payOutSome(t *testing.T, r *rapid.T, tx models.PaymentTransaction) {
	t.Helper()

	for _, line := range b.Records(t, tx) {
		if line.BalanceStatus != models.BalanceInCurrent || !rapid.Bool().Draw(r, "this line") {
			continue
		}

		_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, ledger.MarkTransfer{})
		require.NoError(t, err)
	}
}

// An entry that is moved, deleted or inserted by SQL is followed like any other change.
func TestReportFollowsEveryChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "it deletes and truncates entries by SQL")

	first, second := b.sale(t, 1), b.sale(t, 2)

	for _, change := range []string{
		"UPDATE financial_records SET record_date = record_date - 7 WHERE id = '" + first.ID.String() + "'",
		"UPDATE financial_records SET vat_amount = 0",
		"UPDATE financial_records SET vat_amount = 1 WHERE false",
		"DELETE FROM ledger_transfers WHERE false",
		"UPDATE financial_records SET gross_amount = 100, net_amount = 100 - platform_commission_amount WHERE id = '" + second.ID.String() + "'",
	} {
		b.Exec(t, change)
		b.requireReport(t, t.Context())
	}

	b.Exec(t, "ALTER TABLE ledger_transfers DISABLE TRIGGER USER")
	b.Exec(t, "DELETE FROM ledger_transfers")
	b.Exec(t, "DELETE FROM financial_records WHERE id = $1", first.ID)
	b.requireReport(t, t.Context())
	require.Equal(t, 1, b.Count(t, "SELECT sum(in_current_balance_count)::int FROM report_days WHERE provider_id = $1", b.Provider.ID))

	b.Exec(t, "ALTER TABLE payout_reversals DISABLE TRIGGER USER")
	b.Exec(t, "TRUNCATE financial_records CASCADE")
	b.requireReport(t, t.Context())
	require.Zero(t, b.Count(t, "SELECT count(*) FROM report_days"))
}

// Writers at the same time wait neither for each other nor for who folds: entries that are not committed are folded later.
func TestReportWritersDoNotWait(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.sale(t, 1)

	tx, err := b.DB.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	defer func() { _ = tx.Rollback() }()

	_, err = tx.ExecContext(t.Context(), "UPDATE financial_records SET vat_amount = vat_amount WHERE id = $1", first.ID)
	require.NoError(t, err)

	b.sale(t, 1) // would wait for ever
	b.fold(t)
	b.requireReport(t, t.Context())
	require.NoError(t, tx.Commit())
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM report_deltas"), "what the line was, and what it is")
	b.requireReport(t, t.Context())
	b.fold(t)
	b.requireReport(t, t.Context())
}

// While one session folds, nothing is left to do for another, which does not wait for it; neither do writers, and readers see what they
// saw before.
func TestReportsAreFoldedByOneAtATime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.sale(t, 1)

	tx, err := b.DB.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	defer func() { _ = tx.Rollback() }()

	var folded int64

	require.NoError(t, tx.QueryRowContext(t.Context(), "SELECT fold_reports(10)").Scan(&folded))
	require.EqualValues(t, 1, folded)
	b.requireReport(t, t.Context())

	b.sale(t, 2)

	n, err := b.Store.Ledger.FoldReports(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
	b.requireReport(t, t.Context())
	require.NoError(t, tx.Commit())
	b.requireReport(t, t.Context())
	b.fold(t)
	b.requireReport(t, t.Context())
}

// More deltas than one fold takes are folded by several, to the same sums.
func TestReportsAreFoldedInBatches(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for seats := range 3 {
		b.sale(t, seats+1)
	}

	for left := 2; left >= 0; left-- {
		b.Exec(t, "SELECT fold_reports(1)")
		require.Equal(t, left, b.Count(t, "SELECT count(*) FROM report_deltas"))
		b.requireReport(t, t.Context())
	}
}
