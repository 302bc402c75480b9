package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"rihla/models"
)

// insertOnlyTables are the tables that only ever grow, and deletableTables those from which rows are deleted.
var (
	insertOnlyTables = []string{
		"ledger_transfers", "transaction_state_changes", "audit_log", "record_texts", "refund_payouts", "refund_approvals",
		"payout_reversals", "trip_moves", "incident_notes", "cancelled_passengers", "check_ins", "passenger_renames", "booking_notes",
	}
	// updatableColumns are tables of whose rows only the named columns, what became of them, are ever written again.
	updatableColumns = map[string]string{
		"webhook_events": "transaction_id, refund_id, processed_at, outcome", "checkout_sendings": "sent, sent_at",
		"message_sendings": "sent, sent_at",
		"cancellations":    "status, done_at",
	}
	// derivedTables are the sums of reports, the words of lists and the lists of search indexes and the seals of the audit log, which
	// functions of their owner keep, and what the owner has noted of archived months and of audits.
	derivedTables = []string{
		"report_days_folded", "report_texts_folded", "report_deltas", "report_states_folded", "report_state_deltas", "search_lists",
		"archived_months", "balance_snapshots",
		"audit_seals", "audit_unsealed", "audit_seal_start", "subject_texts",
	}
	// auditColumns are those of an entry that its writer gives.
	auditColumns    = "id, actor_id, actor_role, action, entity, entity_id, details, request_id, operator, address, user_agent"
	deletableTables = []string{
		"bookings", "bus_photos", "idempotency_keys", "refresh_tokens", "trip_rest_stops", "sessions", "login_challenges", "account_tokens",
		"second_factors", "recovery_codes", "stranger_counts", "login_throttles", "stranger_seats",
		"people_reads", "provider_contacts",
	}
)

// GrantTo gives a database role what API and worker need, and takes everything else away: it cannot change or delete a
// transfer, a state in a payment's trail, what a gateway said or an entry of the audit log, delete a payment or a ledger entry, write the
// sums of reports past the triggers that keep them, or alter a table, by which it could switch off the triggers that guard them. To be
// called by the owner of the tables after every migration. Error: VALIDATION_ERROR when the role owns tables itself, so that nothing can be
// taken away from it.
func (s *DB) GrantTo(ctx context.Context, role string) error {
	return s.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		var owns bool

		err := tx.NewRaw(`SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public' AND pg_has_role(?, tableowner, 'MEMBER'))`, role).
			Scan(ctx, &owns)
		if err != nil {
			return fmt.Errorf("look up role %s: %w", role, err)
		}

		if owns {
			return models.NewError(models.CodeValidation, "operator.role_owns", "role", role)
		}

		var partitions []string
		if err := tx.NewRaw("SELECT oid::regclass::text FROM pg_class WHERE relispartition AND relkind IN ('r', 'p') AND relnamespace = "+
			"'public'::regnamespace").Scan(ctx, &partitions); err != nil {
			return fmt.Errorf("list partitions: %w", err)
		}

		for _, statement := range grants(pgx.Identifier{role}.Sanitize(), partitions) {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("grant to %s: %w", role, err)
			}
		}

		return nil
	})
}

// MakeRole makes a role that can log in, or gives it another password if it is there. The store's own role must be allowed
// to make roles.
func (s *DB) MakeRole(ctx context.Context, role, password string) error {
	return s.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		var there bool
		if err := tx.NewRaw("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = ?)", role).Scan(ctx, &there); err != nil {
			return fmt.Errorf("look up role %s: %w", role, err)
		}

		verb := "CREATE"
		if there {
			verb = "ALTER"
		}

		_, err := tx.ExecContext(ctx, "? ROLE ? LOGIN PASSWORD ?", bun.Safe(verb), bun.Ident(role), password)
		if err != nil {
			return fmt.Errorf("make role %s: %w", role, err)
		}

		return nil
	})
}

// OwnsLedger reports whether the store's role may alter the tables of the ledger, and so switch off what guards them.
func (s *DB) OwnsLedger(ctx context.Context) (owns bool, err error) {
	err = s.NewRaw(`SELECT coalesce(bool_or(pg_has_role(tableowner, 'MEMBER')), false) FROM pg_tables
		WHERE schemaname = 'public' AND tablename IN ('ledger_transfers', 'financial_records')`).Scan(ctx, &owns)

	return owns, err
}

// grants are the statements. Partitions are reached through their tables alone, whose rights are all that is asked for then.
func grants(role string, partitions []string) []string {
	all := make([]string, 0, 6+len(insertOnlyTables)+len(derivedTables)+2*len(updatableColumns)+len(deletableTables)+len(partitions))
	all = append(all,
		"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM "+role,
		"GRANT USAGE ON SCHEMA public TO "+role,
		"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO "+role,
		"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO "+role,
		"REVOKE INSERT, UPDATE ON bun_migrations, bun_migration_locks FROM "+role,
	)

	for _, table := range insertOnlyTables {
		all = append(all, "REVOKE UPDATE ON "+table+" FROM "+role)
	}

	for _, table := range partitions {
		all = append(all, "REVOKE ALL ON "+table+" FROM "+role)
	}

	// They run as their owner: on a temporary table of the role's own they would write any sums, and note entries that are none. Their
	// triggers fire all the same.
	all = append(all, "REVOKE EXECUTE ON FUNCTION report_lines(), note_audit_entries() FROM PUBLIC, "+role)

	// The database says when an entry was written: one with a time of the past cannot be made.
	all = append(all, "REVOKE INSERT ON audit_log FROM "+role, "GRANT INSERT ("+auditColumns+") ON audit_log TO "+role)

	for _, table := range derivedTables {
		all = append(all, "REVOKE INSERT, UPDATE ON "+table+" FROM "+role)
	}

	for table, columns := range updatableColumns {
		all = append(all, "REVOKE UPDATE ON "+table+" FROM "+role, "GRANT UPDATE ("+columns+") ON "+table+" TO "+role)
	}

	for _, table := range deletableTables {
		all = append(all, "GRANT DELETE ON "+table+" TO "+role)
	}

	return all
}
