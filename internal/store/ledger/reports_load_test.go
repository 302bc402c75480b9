package ledger_test

import (
	"context"
	"flag"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// settleFor is how long the load lasts: a few seconds with every run of the tests, and a minute when it is to be measured
// (`go test ./internal/store -run UnderLoad -args -settle-for 1m`).
var settleFor = flag.Duration("settle-for", 3*time.Second, "how long TestReportsUnderLoad settles payments")

const (
	settlementsPerSecond = 50
	seatsPerTrip         = 40
)

// agreement compares rollups with entries in one statement, and so in one snapshot: every sum of every day and company.
const agreement = `
	WITH kept AS (
		SELECT provider_id, day, sum(gross_amount) AS g, sum(platform_commission_amount) AS c, sum(net_amount) AS n, sum(vat_amount) AS v,
		       sum(in_current_balance_amount) AS b, sum(transferred_amount) AS t, sum(refunded_amount) AS r,
		       sum(in_current_balance_count) AS bs, sum(transferred_count) AS ts, sum(refunded_count) AS rs
		FROM report_days WHERE provider_id <> '00000000-0000-0000-0000-000000000000' GROUP BY 1, 2
	), platform AS (
		SELECT day, sum(gross_amount) AS g, sum(net_amount) AS n, sum(refunded_amount) AS r
		FROM report_days WHERE provider_id = '00000000-0000-0000-0000-000000000000' GROUP BY 1
	), counted AS (
		SELECT provider_id, record_date AS day,
		       sum(CASE WHEN kind IN ('SALE', 'ADVERTISING') THEN gross_amount - refunded_amount ELSE 0 END) AS g,
		       sum(CASE WHEN kind IN ('SALE', 'ADVERTISING') AND refunded_amount = 0 THEN platform_commission_amount ELSE 0 END) AS c,
		       sum(CASE WHEN kind IN ('SALE', 'ADVERTISING') AND refunded_amount = 0 THEN net_amount ELSE 0 END) AS n,
		       sum(CASE WHEN kind IN ('SALE', 'ADVERTISING') AND refunded_amount = 0 THEN vat_amount ELSE 0 END) AS v,
		       sum(CASE balance_status WHEN 'IN_CURRENT_BALANCE' THEN net_amount ELSE 0 END) AS b,
		       sum(CASE WHEN transferred_at IS NULL THEN 0 ELSE net_amount END) AS t, sum(refunded_amount) AS r,
		       count(*) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE') AS bs,
		       count(*) FILTER (WHERE balance_status = 'TRANSFERRED') AS ts, count(*) FILTER (WHERE balance_status = 'REFUNDED') AS rs
		FROM financial_records GROUP BY 1, 2
	)
	SELECT (SELECT count(*) FROM (
		SELECT * FROM kept EXCEPT SELECT * FROM counted UNION ALL (SELECT * FROM counted EXCEPT SELECT * FROM kept)) AS differences)
	+ (SELECT count(*) FROM (
		SELECT * FROM platform EXCEPT SELECT day, sum(g), sum(n), sum(r) FROM counted GROUP BY 1) AS differences)`

// Fifty payments a second are settled, some of them refunded and paid out, while reports and lists are read all the time: no writer
// is a deadlock's victim, and at no moment does a sum differ from its entries. How long the longest wait for a lock was is logged, not
// held to a limit: on a busy machine it measures the machine. It runs alone, for the same reason.
func TestReportsUnderLoad(t *testing.T) {
	url := storetest.Database(t)
	s, conn := storetest.OpenAt(t, url, models.DefaultPolicies())
	b := &books{bookstest.BooksOf(t, s, conn)}

	// A pool of its own: PostgreSQL counts deadlocks for good when connections end.
	pool, err := store.Open(t.Context(), url, models.DefaultPolicies(), db.Options{MaxConns: 40})
	require.NoError(t, err)

	n := int(settleFor.Seconds() * settlementsPerSecond)
	attempts := b.reported(t, n)

	ctx, stop := context.WithCancel(t.Context())

	var (
		watchers sync.WaitGroup
		reads    atomic.Int64
		wrong    atomic.Int64
		folded   atomic.Int64
		longest  atomic.Int64 // wait for a lock, ns
	)

	watchers.Go(func() {
		repeat(ctx, func() {
			var differences int64
			if b.DB.QueryRowContext(ctx, agreement).Scan(&differences) == nil {
				wrong.Add(differences)
				reads.Add(1)
			}
		})
	})
	watchers.Go(func() {
		repeat(ctx, func() {
			if n, err := pool.Ledger.FoldReports(ctx); err == nil {
				folded.Add(n)
			}
		})
	})
	watchers.Go(func() { repeat(ctx, func() { b.readReports(ctx, pool, &wrong) }) })
	watchers.Go(func() {
		repeat(ctx, func() {
			var micros int64

			err := b.DB.QueryRowContext(ctx, `SELECT coalesce(max(extract(microseconds FROM clock_timestamp() - waitstart)), 0)::bigint
				FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&micros)
			if wait := micros * int64(time.Microsecond); err == nil && wait > longest.Load() {
				longest.Store(wait)
			}
		})
	})

	began := time.Now()

	b.settleAll(t, pool, attempts)

	took := time.Since(began)

	stop()
	watchers.Wait()
	require.NoError(t, pool.Close())
	t.Logf("%d settlements in %s with %d comparisons; longest wait for a lock %s; %d deltas folded", n, took.Round(time.Millisecond),
		reads.Load(), time.Duration(longest.Load()), folded.Load())

	require.Zero(t, wrong.Load(), "sums that differed from their entries while money moved")
	require.Positive(t, reads.Load())
	require.Positive(t, folded.Load())
	require.Zero(t, b.Count(t, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"))
	require.Zero(t, b.Count(t, agreement))
	require.Equal(t, n, b.Count(t, "SELECT count(*) FROM payment_transactions WHERE kind = 'PAYMENT' AND status = 'PAID'"))
	b.requireReport(t, t.Context())
}

// repeat does something over and over until ctx ends, and lets others run in between.
func repeat(ctx context.Context, do func()) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()

	for ctx.Err() == nil {
		do()

		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// readReports reads what people read, and adds up what must add up within one answer.
func (b *books) readReports(ctx context.Context, pool *store.Store, wrong *atomic.Int64) {
	report, err := pool.Ledger.Report(ctx, b.Provider.ID, around(time.Now()))
	if err == nil && !report.Cards.Gross.Equal(report.Cards.Commission.Add(report.Cards.Net)) {
		wrong.Add(1)
	}

	_, err = pool.Ledger.ListRecords(ctx, ledger.RecordFilter{ProviderID: b.Provider.ID, Page: db.Page{Number: 2}})
	if err != nil && ctx.Err() == nil {
		wrong.Add(1)
	}
}

// reported makes n open attempts whose success the gateway has reported already.
func (b *books) reported(t *testing.T, n int) []models.PaymentTransaction {
	t.Helper()

	trips := make([]models.Trip, n/seatsPerTrip+1)
	for i := range trips {
		trips[i] = b.InsertTrip(t, seatsPerTrip, nil)
	}

	attempts := make([]models.PaymentTransaction, n)

	for i := range attempts {
		attempts[i] = b.Open(t, b.Book(t, trips[i%len(trips)], 1), 1)
		b.Deliver(t, bookstest.Event(attempts[i], models.EventPaymentSucceeded, nil))
	}

	return attempts
}

// settleAll settles the attempts at their rate; every fifth is given back in part, every third paid out, some are both.
func (b *books) settleAll(t *testing.T, pool *store.Store, attempts []models.PaymentTransaction) {
	t.Helper()

	var (
		group  sync.WaitGroup
		mu     sync.Mutex
		failed []error
	)

	tick := time.NewTicker(time.Second / settlementsPerSecond)
	defer tick.Stop()

	for i, tx := range attempts {
		<-tick.C
		group.Go(func() {
			if err := b.moveMoney(t.Context(), pool, tx, i); err != nil {
				mu.Lock()
				defer mu.Unlock()

				failed = append(failed, err)
			}
		})
	}

	group.Wait()
	require.Empty(t, failed)
}

func (b *books) moveMoney(ctx context.Context, pool *store.Store, tx models.PaymentTransaction, i int) error {
	if _, err := pool.Payments.SettlePayment(ctx, tx.ID, time.Now()); err != nil {
		return err
	}

	if i%3 == 0 {
		lines, err := pool.Ledger.ListRecords(ctx, ledger.RecordFilter{BookingID: *tx.BookingID})
		if err != nil {
			return err
		}

		if _, err := pool.Ledger.MarkTransferred(ctx, b.Finance, lines.Items[0].ID, ledger.MarkTransfer{}); err != nil {
			return err
		}
	}

	if i%5 != 0 {
		return nil
	}

	r := b.Ask(tx, "40.01")
	if _, err := pool.Refunds.OrderRefund(ctx, r, time.Now()); err != nil {
		return err
	}

	_, err := pool.Refunds.SettleRefund(ctx, r.ID, bookstest.Granted(r), time.Now())

	return err
}
