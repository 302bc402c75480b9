package db_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/internal/store/storetest"
	"rihla/internal/testkit"
	"rihla/models"
)

// Append-only rows cannot be changed with the service's credentials.
func TestTheServicesRoleCannotChangeWhatOnlyGrows(t *testing.T) {
	t.Parallel()
	database := storetest.Database(t)
	s, conn := storetest.OpenAt(t, database, models.DefaultPolicies())
	b := bundle(t, s, conn)
	tx := b.Paid(t, 1)
	url := testkit.AsService(t, database)

	require.NoError(t, b.Store.DB.GrantTo(t.Context(), testkit.ServiceRole))
	require.NoError(t, b.Store.DB.GrantTo(t.Context(), testkit.ServiceRole), "after every migration")

	service, err := sql.Open("pgx", url)
	require.NoError(t, err)

	defer service.Close()

	for _, query := range []string{
		"UPDATE ledger_transfers SET amount = amount", "DELETE FROM ledger_transfers", "TRUNCATE ledger_transfers",
		"ALTER TABLE ledger_transfers DISABLE TRIGGER USER", "DROP TRIGGER transfers_append_only ON ledger_transfers",
		"SET session_replication_role = replica", "UPDATE audit_log SET action = action", "DELETE FROM audit_log",
		"UPDATE transaction_state_changes SET to_status = to_status", "DELETE FROM transaction_state_changes",
		"DELETE FROM payment_transactions", "DELETE FROM financial_records", "TRUNCATE financial_records CASCADE",
		"DELETE FROM webhook_events", "UPDATE webhook_events SET body = body", "UPDATE webhook_events SET amount = amount",
		"UPDATE webhook_events SET received_at = received_at", "TRUNCATE webhook_events", "DELETE FROM bun_migrations", "CREATE TABLE mine (id int)",
		"UPDATE booking_notes SET note = note", "DELETE FROM booking_notes", "UPDATE passenger_renames SET n = n", "DELETE FROM passenger_renames",
		"UPDATE message_sendings SET booking_id = booking_id", "DELETE FROM message_sendings",
		"UPDATE checkout_sendings SET booking_id = booking_id", "DELETE FROM checkout_sendings",
		"UPDATE report_days_folded SET gross_amount = 0", "DELETE FROM report_texts_folded", "DELETE FROM report_deltas",
		"INSERT INTO report_deltas SELECT * FROM report_deltas", "UPDATE report_states_folded SET gross_amount = 0",
		"INSERT INTO report_state_deltas SELECT * FROM report_state_deltas", "UPDATE report_deltas SET gross_amount = 0",
		// What keeps the sums runs as its owner, and must not do so for rows of the role's own.
		`DO $$ BEGIN
			CREATE TEMP TABLE forged AS SELECT * FROM financial_records;
			CREATE TRIGGER forge AFTER INSERT ON forged REFERENCING NEW TABLE AS lines FOR EACH STATEMENT EXECUTE FUNCTION report_lines('1');
		END $$`,
	} {
		_, err := service.ExecContext(t.Context(), query)
		require.ErrorContains(t, err, "SQLSTATE 42501", query) // insufficient privilege
	}

	// What it is there for it can do.
	own, err := store.Open(t.Context(), url, models.DefaultPolicies(), db.Options{MaxConns: 4})
	require.NoError(t, err)

	defer own.Close()

	owns, err := own.DB.OwnsLedger(t.Context())
	require.NoError(t, err)
	require.False(t, owns)

	owns, err = b.Store.DB.OwnsLedger(t.Context())
	require.NoError(t, err)
	require.True(t, owns)

	owner := b.Store
	b.Store = own
	require.NoError(t, b.RefundNow(t, tx, "15.00"))
	require.NotEmpty(t, b.Paid(t, 2).ID)

	open := b.Open(t, b.Book(t, b.Trip, 1), 1)
	for i := range 2 {
		_, err = own.Payments.SendCheckout(t.Context(), b.Finance, payments.SendCheckout{BookingID: *open.BookingID},
			time.Now().Add(time.Duration(i)*models.CheckoutSendingPause))
		require.NoError(t, err)
	}

	folded, err := own.Ledger.FoldReports(t.Context())
	require.NoError(t, err)
	require.Positive(t, folded)

	b.Store = owner
	bookstest.RequireCode(t, models.CodeValidation, b.Store.DB.GrantTo(t.Context(), b.owner(t)))
	require.Error(t, b.Store.DB.GrantTo(t.Context(), "nobody-of-that-name"))
}

func (b *books) owner(t *testing.T) (name string) {
	t.Helper()

	require.NoError(t, b.DB.QueryRowContext(t.Context(), "SELECT tableowner FROM pg_tables WHERE tablename = 'ledger_transfers'").Scan(&name))

	return name
}
