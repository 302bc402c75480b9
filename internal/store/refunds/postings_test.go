package refunds_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/ledger"
	"rihla/models"
)

const (
	lockPayment = "SELECT FROM payment_transactions WHERE id = $1 FOR NO KEY UPDATE"
	lockRecord  = "SELECT FROM financial_records WHERE id = $1 FOR NO KEY UPDATE"
)

// postings is everything that writes transfers. Each prepares its books, and returns what is left to do, with the row that decides about it.
var postings = map[string]func(t *testing.T, b *books) (locks string, row uuid.UUID, post func(context.Context) error){
	"sale": func(t *testing.T, b *books) (string, uuid.UUID, func(context.Context) error) {
		t.Helper()

		tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))

		return lockPayment, tx.ID, b.settling(tx)
	},
	"late money": func(t *testing.T, b *books) (string, uuid.UUID, func(context.Context) error) {
		t.Helper()

		tx := b.Lapsed(t, b.InsertTrip(t, 1, nil), 1)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))

		return lockPayment, tx.ID, b.settling(tx)
	},
	"money in suspense": func(t *testing.T, b *books) (string, uuid.UUID, func(context.Context) error) {
		t.Helper()

		tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.Amount = bookstest.Amount("1.00") }))

		return lockPayment, tx.ID, b.settling(tx)
	},
	"refund": func(t *testing.T, b *books) (string, uuid.UUID, func(context.Context) error) {
		t.Helper()

		tx := b.Paid(t, 1)
		r := b.Ask(tx, "10.00")
		b.Reserve(t, r)

		return lockPayment, tx.ID, b.settlingRefund(r, bookstest.Granted(r))
	},
	"refund that comes back": func(t *testing.T, b *books) (string, uuid.UUID, func(context.Context) error) {
		t.Helper()

		tx := b.Paid(t, 1)
		r := b.GiveBack(t, tx, "10.00")

		return lockPayment, tx.ID, func(ctx context.Context) error {
			if _, err := b.Store.Inbox.StoreEvent(ctx, takenBack(tx, r), time.Now()); err != nil {
				return err
			}

			return b.settlingRefund(r, models.RefundResult{})(ctx)
		}
	},
	"payout of a refund that came back": func(t *testing.T, b *books) (string, uuid.UUID, func(context.Context) error) {
		t.Helper()

		tx := b.Paid(t, 1)
		r := b.GiveBack(t, tx, "10.00")
		b.Deliver(t, takenBack(tx, r))
		b.SettleRefund(t, r, models.RefundResult{})

		return lockPayment, tx.ID, func(ctx context.Context) error {
			_, err := b.Store.Refunds.DecidePayout(ctx, b.As(models.RoleAdmin), bookstest.PaidOut(r.ID, "TRF-1"), time.Now())

			return err
		}
	},
	"payout to the company": func(t *testing.T, b *books) (string, uuid.UUID, func(context.Context) error) {
		t.Helper()

		line := b.Records(t, b.Paid(t, 1))[0]

		return lockRecord, line.ID, func(ctx context.Context) error {
			_, err := b.Store.Ledger.MarkTransferred(ctx, b.Finance, line.ID, ledger.MarkTransfer{})

			return err
		}
	},
	"payout to the company taken back": func(t *testing.T, b *books) (string, uuid.UUID, func(context.Context) error) {
		t.Helper()

		tx := b.Paid(t, 1)
		line := b.Records(t, tx)[0]
		_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, ledger.MarkTransfer{})
		require.NoError(t, err)

		return lockPayment, tx.ID, func(ctx context.Context) error {
			_, err := b.Store.Ledger.RevertTransferred(ctx, b.As(models.RoleAdmin), line.ID, ledger.RevertTransfer{Reason: "wrong line"})

			return err
		}
	},
}

// TestEveryPostingWaitsForItsRow: whatever writes transfers does so under the lock of the payment, or of the ledger entry for a payout.
// While another transaction holds it, nothing is written.
func TestEveryPostingWaitsForItsRow(t *testing.T) {
	t.Parallel()

	for name, prepare := range postings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			locks, row, post := prepare(t, b)
			before := b.transfers(t)

			holder, err := b.DB.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			_, err = holder.ExecContext(t.Context(), locks, row)
			require.NoError(t, err)

			done := make(chan error, 1)

			go func() { done <- post(t.Context()) }()

			b.awaitLock(t)
			require.Equal(t, before, b.transfers(t), "written while the row was locked")
			require.NoError(t, holder.Rollback())
			require.NoError(t, <-done)
			require.Greater(t, b.transfers(t), before)
		})
	}
}

// TestTakenBackWhileOthersBook: the company takes a refund back with several events while further refunds of the payment are settled and
// the payout of the first is confirmed. It is booked once, and only a refund that came back is paid out.
func TestTakenBackWhileOthersBook(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for range 5 {
		tx := b.Open(t, b.Book(t, b.InsertTrip(t, 1, nil), 1), 1)
		b.Report(t, tx, models.EventPaymentSucceeded)

		r, second := b.Ask(tx, "10.00"), b.Ask(tx, "20.00")
		for _, one := range []models.RefundRequest{r, second} {
			b.Reserve(t, one)
		}

		b.SettleRefund(t, r, bookstest.Granted(r))

		var (
			wg   sync.WaitGroup
			errs [5]error
			paid error
		)

		for i := range 3 {
			wg.Go(func() {
				if _, errs[i] = b.Store.Inbox.StoreEvent(t.Context(), takenBack(tx, r), time.Now()); errs[i] == nil {
					errs[i] = b.settlingRefund(r, models.RefundResult{})(t.Context())
				}
			})
		}

		wg.Go(func() { errs[3] = b.settlingRefund(second, bookstest.Granted(second))(t.Context()) })
		wg.Go(func() {
			_, paid = b.Store.Refunds.DecidePayout(t.Context(), b.As(models.RoleAdmin), bookstest.PaidOut(r.ID, "TRF-"+r.ID.String()), time.Now())
		})
		wg.Wait()

		for _, err := range errs {
			require.NoError(t, err)
		}

		returned := b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE refund_id = $1 AND kind = 'REFUND_RETURNED'", r.ID)
		require.Equal(t, 1, returned)

		repaid := b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE refund_id = $1 AND kind = 'REFUND_REPAID'", r.ID)
		if paid != nil {
			bookstest.RequireCode(t, models.CodeInvalidState, paid)
			require.Zero(t, repaid)
		} else {
			require.Equal(t, 1, repaid)
		}
	}
}

// takenBack is the event by which the company says that the refund r of tx, which had succeeded, failed.
func takenBack(tx models.PaymentTransaction, r models.RefundRequest) models.WebhookEvent {
	return bookstest.Event(tx, models.EventRefundFailed, func(e *models.WebhookEvent) {
		e.MerchantReference, e.Amount, e.Revises = r.ID.String(), r.Amount, true
	})
}

func (b *books) settling(tx models.PaymentTransaction) func(context.Context) error {
	return func(ctx context.Context) error {
		return bookstest.ErrorOf(b.Store.Payments.SettlePayment(ctx, tx.ID, time.Now()))
	}
}

func (b *books) settlingRefund(r models.RefundRequest, result models.RefundResult) func(context.Context) error {
	return func(ctx context.Context) error {
		return bookstest.ErrorOf(b.Store.Refunds.SettleRefund(ctx, r.ID, result, time.Now()))
	}
}

func (b *books) transfers(t *testing.T) int {
	t.Helper()

	return b.Count(t, "SELECT count(*) FROM ledger_transfers")
}

// awaitLock waits until a session waits for a lock in the test's database.
func (b *books) awaitLock(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		return b.Count(t, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
	}, 10*time.Second, 5*time.Millisecond)
}
