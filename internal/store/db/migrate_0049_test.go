package db_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// What was taken before is noted from the gateway's success, unless something was ordered back of it: that has gone by what was chosen. Run
// once more, also on a database that has the migrations after it, the migration changes nothing.
func TestMigrationNotesWhatWasPaidBy(t *testing.T) {
	t.Parallel()
	s, conn := storetest.Open(t, models.DefaultPolicies())
	b := bundle(t, s, conn)

	pay := func(m models.PaymentMethod) models.PaymentTransaction {
		t.Helper()
		tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.PaymentMethod = m }))
		b.Settle(t, tx, time.Now())

		return tx
	}
	sadad, asChosen, odd, refunded := pay(models.MethodBillPayment), pay(models.MethodCreditCard), pay("shells"), pay(models.MethodDebitNetwork)
	b.GiveBack(t, refunded, "10.00")

	// What 0078 has made of the function, which the migration writes once more.
	var newer string

	require.NoError(t, conn.QueryRowContext(t.Context(), "SELECT pg_get_functiondef('guard_refund_way'::regproc)").Scan(&newer))

	b.Exec(t, `ALTER TABLE payment_transactions DROP COLUMN paid_by CASCADE`)
	b.Exec(t, "CREATE OR REPLACE TRIGGER refunds_made BEFORE INSERT ON refunds FOR EACH ROW EXECUTE FUNCTION guard_refund_channel()")
	b.Exec(t, "DROP FUNCTION refuse_paid_by_change")

	for range 2 {
		b.Exec(t, "DELETE FROM bun_migrations WHERE name = '0049'")

		applied, err := s.DB.Migrate(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"0049_paid_by"}, applied)

		for id, want := range map[uuid.UUID]string{sadad.ID: "bill_payment", asChosen.ID: "", odd.ID: "", refunded.ID: ""} {
			require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM payment_transactions WHERE id = $1 AND COALESCE(paid_by, '') = $2", id, want))
		}
	}

	b.Exec(t, newer)
	require.Equal(t, models.RefundByHand, b.Reserve(t, b.Ask(sadad, "10.00")).Channel, "the database lets it be a manual payout")
}
