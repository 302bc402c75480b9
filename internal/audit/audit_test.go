package audit

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/testkit"
)

func TestBooksThatAgree(t *testing.T) {
	t.Parallel()

	w := newWorld(t)

	var all []Difference

	sum, err := Run(t.Context(), w.db, func(d Difference) error {
		all = append(all, d)

		return nil
	})
	require.NoError(t, err)
	require.Empty(t, all)
	require.Zero(t, sum.Differences)
	require.Empty(t, sum.Unseen)
	require.Len(t, sum.Rules, len(Rules()))
}

func TestEveryRuleHasANameAndASentence(t *testing.T) {
	t.Parallel()

	seen := map[string]bool{}

	for _, r := range Rules() {
		require.Regexp(t, `^[a-z]+(-[a-z]+)*$`, r.Name)
		require.Regexp(t, `^[A-Z].*\.$`, r.Says)
		require.False(t, seen[r.Name], r.Name)

		seen[r.Name] = true
	}

	tampered := map[string]bool{}
	for _, c := range tamperings(&world{}) {
		tampered[c.rule] = true
	}

	for _, c := range guardTamperings() {
		tampered[c.rule] = true
	}

	require.Equal(t, seen, tampered, "every rule has a test that breaks it")
}

func TestAnErrorOfTheCallerEndsTheAudit(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	_, err := w.db.ExecContext(t.Context(), "UPDATE trips SET seats_taken = 0")
	require.NoError(t, err)

	enough := errors.New("enough")
	_, err = Run(t.Context(), w.db, func(Difference) error { return enough })
	require.ErrorIs(t, err, enough)
}

// A check that cannot be run, here because a column is gone, costs its own rules and no others.
func TestARuleThatCannotBeLookedAt(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	_, err := w.db.ExecContext(t.Context(), `ALTER TABLE trips RENAME seats_taken TO seats_sold;
		UPDATE bookings SET status = 'PENDING_PAYMENT' WHERE id = '`+w.kept.BookingID.String()+`';
		DELETE FROM notifications WHERE transaction_id = '`+w.kept.ID.String()+`'`)
	require.NoError(t, err)

	var ids []string

	sum, err := Run(t.Context(), w.db, func(d Difference) error {
		ids = append(ids, d.Rule+" "+d.ID)

		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{"booking-status " + w.kept.BookingID.String(), "notification " + w.kept.ID.String()}, ids,
		"before and after the one that failed")
	require.Equal(t, 2, sum.Differences)
	require.Len(t, sum.Unseen, 1)
	require.Equal(t, "trip-seats", sum.Unseen[0].Names())
	require.ErrorContains(t, sum.Unseen[0], "the audit could not look at trip-seats: ")
	require.ErrorContains(t, errors.Unwrap(sum.Unseen[0]), "seats_taken")
}

func TestTheEndOfTheContextEndsTheAudit(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	_, err := w.db.ExecContext(t.Context(), "UPDATE trips SET seats_taken = 0")
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	sum, err := Run(ctx, w.db, func(Difference) error {
		cancel()

		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, sum.Differences, "what was found until then")
}

// A lost connection leaves nothing to look with: that is no matter of one rule.
func TestALostConnectionEndsTheAudit(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	_, err := w.db.ExecContext(t.Context(), "UPDATE trips SET seats_taken = 0")
	require.NoError(t, err)

	sum, err := Run(t.Context(), w.db, func(Difference) error {
		_, err := w.db.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`)

		return err
	})
	require.Error(t, err)
	require.Equal(t, 1, sum.Differences)
}

// The details of an audit entry are free text of people, and no difference.
func TestOddDetailsOfTheAuditLog(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	_, err := w.db.ExecContext(t.Context(), `INSERT INTO audit_log (id, actor_id, actor_role, action, entity, entity_id, details)
		SELECT gen_random_uuid(), $1, 'FINANCE_ADMIN', 'FINANCIAL_RECORDS_TRANSFERRED', 'financial_record', r.id, d.details::jsonb
		FROM (SELECT id FROM financial_records LIMIT 1) AS r,
		(VALUES ('{"ids": ["x"]}'), ('{"ids": "x", "after": 1}'), ('{"ids": [{"a": 1}, null, 2]}'), ('[]'), ('"x"')) AS d (details)`, w.finance.UserID)
	require.NoError(t, err)

	sum, err := Run(t.Context(), w.db, func(d Difference) error {
		t.Errorf("%s", d)

		return nil
	})
	require.NoError(t, err)
	require.Empty(t, sum.Unseen)
}

// unguard takes away the constraints by which the database itself would refuse a tampering. Triggers stay: cases go around them.
const unguard = `
DO $$ DECLARE c record; BEGIN
    FOR c IN SELECT conrelid::regclass AS tab, conname FROM pg_constraint
             WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'f') AND conislocal LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.tab, c.conname);
    END LOOP;
END $$;
ALTER TABLE webhook_events ALTER digest DROP NOT NULL;
ALTER TABLE bookings ALTER terms_digest DROP NOT NULL;
DROP INDEX records_live, records_refund, transactions_booking_paid, transactions_campaign_paid`

// newUnguardedWorld is a world whose database refuses no tampering: it has no constraints, and no trigger fires in the sessions of
// silent. Switching triggers off would be found by the audit.
func newUnguardedWorld(t *testing.T) *world {
	t.Helper()

	w := newWorld(t)
	testkit.MaySilenceTriggers(t, w.address)

	_, err := w.db.ExecContext(t.Context(), unguard)
	require.NoError(t, err)

	// The same statements run hundreds of times: they stay planned, which costs more than running them. There are more of them than a
	// connection keeps by default. A change of the role would have all of them planned again.
	address := w.address
	for name, value := range map[string]string{
		"plan_cache_mode": "force_generic_plan", "statement_cache_capacity": "8192", "session_replication_role": "replica",
	} {
		address = withParameter(t, address, name, value)
	}

	w.silent, err = sql.Open("pgx", address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.silent.Close()) })

	return w
}

func withParameter(t *testing.T, address, name, value string) string {
	t.Helper()

	u, err := url.Parse(address)
	require.NoError(t, err)

	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()

	return u.String()
}

// TestTampering breaks each rule by SQL and expects it, and nothing but what cannot hold without it, to name the row.
func TestTampering(t *testing.T) { //nolint:tparallel // every case locks the tables that it tampers with
	t.Parallel()

	w := newUnguardedWorld(t)

	for _, c := range tamperings(w) {
		t.Run(c.rule+"/"+c.name, func(t *testing.T) {
			var id string // looked up before the row is gone, and before its table is locked
			if c.id != nil {
				id = c.id(t).String()
			}

			tx, err := w.silent.BeginTx(t.Context(), nil)
			require.NoError(t, err)

			defer func() { _ = tx.Rollback() }()

			res, err := tx.ExecContext(t.Context(), c.sql, c.args...)
			require.NoError(t, err)

			n, err := res.RowsAffected()
			require.NoError(t, err)
			require.Positive(t, n, "nothing was tampered with")

			// The reports are rebuilt, unless they are what is tampered with: else their rules would find every tampered entry.
			if c.rule != "report-days" && c.rule != "report-states" && c.rule != "report-texts" {
				_, err = tx.ExecContext(t.Context(), "SELECT rebuild_reports()")
				require.NoError(t, err)
			}

			named, ids := map[string]bool{}, map[string][]string{}
			sum, err := inspect(t.Context(), tx, paymentsInAPart, func(d Difference) error {
				named[d.Rule] = true
				ids[d.Rule] = append(ids[d.Rule], d.ID)

				return nil
			})
			require.NoError(t, err)
			require.Empty(t, sum.Unseen)

			want := map[string]bool{c.rule: true}
			for _, also := range c.also {
				want[also] = true
			}

			require.Equal(t, want, named)
			require.True(t, c.id == nil || slices.Contains(ids[c.rule], id), "%v", ids[c.rule])
			requireSameSince(t, tx, want)
			requireSameInParts(t, tx, c, want)
		})
	}
}

// tampering is one UPDATE, DELETE or INSERT that breaks a rule.
type tampering struct {
	rule, name string
	sql        string
	args       []any
	id         func(*testing.T) uuid.UUID // that the rule has to name; nil when it is not a row
	also       []string                   // rules that cannot hold either
}
