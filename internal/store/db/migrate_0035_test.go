package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What was in the trail and in the audit log is in their first partitions, untouched, and what comes goes on behind it.
func TestMigrationKeepsWhatIsNowThePast(t *testing.T) {
	t.Parallel()
	db, last := before(t, "0035")

	const sums = `SELECT (SELECT count(*) || md5(string_agg(c::text, '|' ORDER BY id)) FROM transaction_state_changes AS c WHERE id <= 3000)
		|| (SELECT count(*) || md5(string_agg(a::text, '|' ORDER BY id)) FROM audit_log AS a WHERE action = 'HOTEL_CREATED')`

	execute(t, db, `DO $$ DECLARE c record; BEGIN -- a payment of nothing
		FOR c IN SELECT conname FROM pg_constraint WHERE conrelid = 'payment_transactions'::regclass AND contype IN ('f', 'c') LOOP
			EXECUTE format('ALTER TABLE payment_transactions DROP CONSTRAINT %I', c.conname);
		END LOOP;
	END $$`)
	execute(t, db, `INSERT INTO payment_transactions (id, kind, user_id, provider_id, gateway, channel, payment_method, amount, attempt, status,
			commission_rate, expires_at, vat_rate, vat_amount)
		SELECT one.id, 'PAYMENT', one.id, id, 'gateway_a', channel, 'credit_card', 1, 1, 'PENDING',
			0.1, now(), 0, 0 FROM (SELECT gen_random_uuid() AS id, 'gateway_a' AS channel) AS one`)
	execute(t, db, `INSERT INTO transaction_state_changes (transaction_id, to_status, changed_at)
		SELECT t.id, 'PENDING', now() - n * interval '5 hours' FROM payment_transactions AS t, generate_series(1, 2999) AS n`)
	execute(t, db, `INSERT INTO audit_log (id, action, entity, created_at)
		SELECT gen_random_uuid(), 'HOTEL_CREATED', 'hotel', now() - n * interval '5 hours' FROM generate_series(-400, 3000) AS n`)

	var was, is, partitions string
	require.NoError(t, db.QueryRowContext(t.Context(), sums).Scan(&was))
	execute(t, db, last)
	require.NoError(t, db.QueryRowContext(t.Context(), sums).Scan(&is))
	require.Equal(t, was, is)

	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT string_agg(DISTINCT p, ' ' ORDER BY p) FROM (
		SELECT tableoid::regclass::text AS p FROM transaction_state_changes UNION ALL SELECT tableoid::regclass::text FROM audit_log) AS r`).
		Scan(&partitions))
	require.Equal(t, "audit_log_past transaction_state_changes_past", partitions, "the future that is there already as well")

	var id int64
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT nextval('transaction_state_changes_id_seq')").Scan(&id))
	require.EqualValues(t, 3001, id, "one that nobody has")
}
