package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// guardChecks look at what the database itself has to refuse and to write. A trigger of the right name that does something
// else guards nothing: the text of each of them is given here, and changes with a migration that changes it.
func guardChecks() []check {
	return []check{{
		rules: []Rule{
			{"append-only", "The database refuses to change, delete or truncate transfers and what gateways said, and does nothing else " +
				"to them."},
			{"triggers", "The triggers that keep sums, texts, trails and rates, hold refunds to their way, and announce money, are there, " +
				"switched on, and do what they were made for."},
		},
		reach: besides,
		sql:   guardsSQL(),
	}}
}

// transfersTable is the table of which nothing may ever change; events is that of which nothing may change that was received. Entries of
// logTable do not change, either.
const (
	transfersTable = "ledger_transfers"
	events         = "webhook_events"
	logTable       = "audit_log"
)

// guard is a trigger, or a function that triggers or people run.
type guard struct {
	since string // the migration that made it; a database may still wait for that
	table string // empty for a function
	name  string
	does  string // what follows the trigger's name; of a function the MD5 of its body, spaces and line ends being one space each
}

// guards are all of them, by migration.
func guards() []guard {
	return slices.Concat(bookGuards(), refundGuards(), approvalGuards(), reversalGuards(), evidenceGuards(), bookingGuards(), digestGuards(),
		notedGuards(), logGuards(), outsideGuards(), wordGuards())
}

// notedGuards hold what the owner has noted of archived months and of audits.
func notedGuards() []guard {
	return []guard{
		{"0035", "", "refuse_archive_change", "36c3d3b20a26e09851cbc0a95147b839"},
		{
			"0035", archive, "archived_append_only", "BEFORE DELETE OR UPDATE ON archived_months FOR EACH ROW " +
				"EXECUTE FUNCTION refuse_archive_change()",
		},
		{
			"0035", archive, "archived_no_truncate", "BEFORE TRUNCATE ON archived_months FOR EACH STATEMENT " +
				"EXECUTE FUNCTION refuse_archive_change()",
		},
		{"0036", "", "refuse_snapshot_change", "058c5f3e18d6bb0d8234c6d3881c16a7"},
		{
			"0036", snapshots, "snapshots_append_only", "BEFORE DELETE OR UPDATE ON balance_snapshots FOR EACH ROW " +
				"EXECUTE FUNCTION refuse_snapshot_change()",
		},
		{
			"0036", snapshots, "snapshots_no_truncate", "BEFORE TRUNCATE ON balance_snapshots FOR EACH STATEMENT " +
				"EXECUTE FUNCTION refuse_snapshot_change()",
		},
	}
}

// logGuards hold the audit log and its seals.
func logGuards() []guard {
	return []guard{
		{"0040", "", "note_audit_entries", "642476a66c041f93a72c0939520ba011"},
		{"0040", "", "refuse_audit_change", "79fe2a4d07184359e54e1d669f55fbb2"},
		{"0040", "", "refuse_seal_change", "99454873589d32c78986d96fb0d8819a"},
		{"0040", "", "add_audit_seal", "cd1d9043b82afef936b1394e5cf7a32d"},
		{"0040", "", "seal_audit_log", "edba0ab43a80aa92f8834619dece6e6c"},
		{
			"0040", logTable, "audit_log_noted", "AFTER INSERT ON audit_log REFERENCING NEW TABLE AS entries FOR EACH STATEMENT " +
				"EXECUTE FUNCTION note_audit_entries()",
		},
		{"0040", logTable, "audit_log_append_only", "BEFORE DELETE OR UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()"},
		{"0040", logTable, "audit_log_no_truncate", "BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()"},
		{"0040", logSeals, "seals_append_only", "BEFORE DELETE OR UPDATE ON audit_seals FOR EACH ROW EXECUTE FUNCTION refuse_seal_change()"},
		{"0040", logSeals, "seals_no_truncate", "BEFORE TRUNCATE ON audit_seals FOR EACH STATEMENT EXECUTE FUNCTION refuse_seal_change()"},
	}
}

// bookGuards hold the ledger, the trails and the sums.
func bookGuards() []guard {
	const (
		payments = "payment_transactions"
		records  = "financial_records"
	)

	return []guard{
		{"0003", "", "record_transaction_state", "64fd9f20f2fcbd20e0be842b46b7a036"},
		{
			"0003", payments, "transactions_inserted", "AFTER INSERT ON payment_transactions FOR EACH ROW " +
				"EXECUTE FUNCTION record_transaction_state()",
		},
		{
			"0003", payments, "transactions_moved", "AFTER UPDATE OF status ON payment_transactions FOR EACH ROW " +
				"WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION record_transaction_state()",
		},
		{"0004", "", "refuse_ledger_change", "82542c0e133291b6d283fe41b0501f90"},
		{
			"0004", transfersTable, "transfers_append_only", "BEFORE DELETE OR UPDATE ON ledger_transfers FOR EACH ROW " +
				"EXECUTE FUNCTION refuse_ledger_change()",
		},
		{
			"0004", transfersTable, "transfers_no_truncate", "BEFORE TRUNCATE ON ledger_transfers FOR EACH STATEMENT " +
				"EXECUTE FUNCTION refuse_ledger_change()",
		},
		{"0008", "", "record_text_id", "7899618ce7364977782bad380621f99e"},
		{"0008", "", "set_record_text", "6a845038fcc8745f5734d8c691f4a31f"},
		{"0073", "", "refuse_unpaid", "fe6fb4da540d669a6dc625c2db8043d9"},
		{"0052", "", "refuse_stranger", "c2ad94e3f8db60538c801c8b62cbaea7"},
		{"0052", "", "forget_stranger_seats", "03c49512422ca7876e78ae96463f0e34"},
		{
			"0052", "bookings", "bookings_no_stranger", "AFTER UPDATE OF status ON bookings FOR EACH ROW WHEN (OLD.status = 'PENDING_PAYMENT' " +
				"AND NEW.status <> 'PENDING_PAYMENT') EXECUTE FUNCTION forget_stranger_seats()",
		},
		{
			"0052", "users", "users_no_stranger", "AFTER UPDATE OF email_verified_at ON users FOR EACH ROW WHEN " +
				"(OLD.email_verified_at IS NULL AND NEW.email_verified_at IS NOT NULL) EXECUTE FUNCTION forget_stranger_seats()",
		},
		{"0037", "", "lock_bill_seats", "9d75826c1660947e94313c2f3b1422aa"},
		{"0070", "", "report_lines", "0b336430abde54ea0394bb7a817a8016"},
		{"0070", "", "report_nothing", "9264ad128d2f632badf44d98c9890524"},
		{"0070", "", "fold_reports", "f210cbbc1e1a0dbcfa8b33d20defeb40"},
		{"0070", "", "rebuild_reports", "497a32466eaad92c2d7fc897f9e67c03"},
		{"0034", "", "clean_search_lists", "f31643e9891bea3180fca455c00b753a"},
		{"0035", "", "make_months", "4421cb6810380a90c2fea1d7851c340d"},
		{
			"0008", records, "records_text_set", "BEFORE INSERT ON financial_records FOR EACH ROW WHEN (NEW.text_id IS NULL) " +
				"EXECUTE FUNCTION set_record_text()",
		},
		{
			"0008", records, "records_text_changed", "BEFORE UPDATE OF kind, trip_title, details ON financial_records FOR EACH ROW " +
				"EXECUTE FUNCTION set_record_text()",
		},
		{
			"0008", records, "records_reported", "AFTER INSERT ON financial_records REFERENCING NEW TABLE AS lines FOR EACH STATEMENT " +
				"EXECUTE FUNCTION report_lines('1')",
		},
		{
			"0008", records, "records_unreported", "AFTER DELETE ON financial_records REFERENCING OLD TABLE AS lines FOR EACH STATEMENT " +
				"EXECUTE FUNCTION report_lines('-1')",
		},
		{
			"0008", records, "records_changed_from", "AFTER UPDATE ON financial_records REFERENCING OLD TABLE AS lines " +
				"FOR EACH STATEMENT EXECUTE FUNCTION report_lines('-1')",
		},
		{
			"0008", records, "records_changed_to", "AFTER UPDATE ON financial_records REFERENCING NEW TABLE AS lines " +
				"FOR EACH STATEMENT EXECUTE FUNCTION report_lines('1')",
		},
		{"0008", records, "records_emptied", "AFTER TRUNCATE ON financial_records FOR EACH STATEMENT EXECUTE FUNCTION report_nothing()"},
	}
}

// refundGuards hold refunds to their way.
func refundGuards() []guard {
	return []guard{
		{"0055", "", "guard_refund_channel", "f37c2adbb01118ca3d7cab8a4400725c"}, // replaced by guard_refund_way; no trigger runs it
		{"0049", "", "guard_refund_way", "7090f4c71b894d0ce7cda8d3bdeb0310"},
		{"0018", "", "refuse_suspense_change", "ec45af29dbd80aa9ab62f72d0b71c7c7"},
		{
			"0018", "payment_transactions", "transactions_suspense_kept", "BEFORE UPDATE OF captured_amount, captured_currency, suspense_at " +
				"ON payment_transactions FOR EACH ROW WHEN (OLD.suspense_at IS NOT NULL AND (OLD.captured_amount IS DISTINCT FROM " +
				"NEW.captured_amount OR OLD.captured_currency IS DISTINCT FROM NEW.captured_currency OR OLD.suspense_at IS DISTINCT FROM " +
				"NEW.suspense_at)) EXECUTE FUNCTION refuse_suspense_change()",
		},
		{"0049", "refunds", "refunds_made", "BEFORE INSERT ON refunds FOR EACH ROW EXECUTE FUNCTION guard_refund_way()"},
		{
			"0049", "refunds", "refunds_moved", "BEFORE UPDATE OF status, channel ON refunds FOR EACH ROW " +
				"EXECUTE FUNCTION guard_refund_way()",
		},
		{"0049", "", "refuse_paid_by_change", "b90d38da93d744b01c2aeea5c9dfa4da"},
		{
			"0049", "payment_transactions", "transactions_paid_by_kept", "BEFORE UPDATE OF paid_by ON payment_transactions FOR EACH ROW " +
				"WHEN (OLD.paid_by IS DISTINCT FROM NEW.paid_by AND (OLD.captured_at IS NOT NULL OR OLD.suspense_at IS NOT NULL)) " +
				"EXECUTE FUNCTION refuse_paid_by_change()",
		},
		{"0025", "", "set_transaction_channel", "12acf1a698c683456d1ac7699e2095c1"},
		{
			"0025", "payment_transactions", "transactions_channel_set", "BEFORE INSERT ON payment_transactions FOR EACH ROW " +
				"WHEN (NEW.channel IS NULL) EXECUTE FUNCTION set_transaction_channel()",
		},
		{"0025", "", "guard_transaction_channel", "da60d81be67d8e08a6c5550d09bf4e4c"},
		{
			"0025", "payment_transactions", "transactions_channel_kept", "BEFORE UPDATE OF channel ON payment_transactions FOR EACH ROW " +
				"EXECUTE FUNCTION guard_transaction_channel()",
		},
		{"0051", "", "guard_payout", "971a0a02148742f272a53bc58f0a693b"},
		{"0027", "", "refuse_return_change", "c5301d1145380a175bd7a0085c77ede7"},
		{
			"0027", "refunds", "refunds_returned_kept", "BEFORE UPDATE OF returned_at ON refunds FOR EACH ROW WHEN " +
				"(OLD.returned_at IS NOT NULL AND OLD.returned_at IS DISTINCT FROM NEW.returned_at) EXECUTE FUNCTION refuse_return_change()",
		},
		{"0010", "refund_payouts", "payouts_decided", "BEFORE INSERT ON refund_payouts FOR EACH ROW EXECUTE FUNCTION guard_payout()"},
	}
}

// approvalGuards hold refunds back that a second person has not approved.
func approvalGuards() []guard {
	return []guard{
		{"0039", "", "refuse_approval_change", "528d77c8cd63d85a88d45e0fa8606458"},
		{
			"0039", approvalsTable, "approvals_append_only", "BEFORE DELETE OR UPDATE ON refund_approvals FOR EACH ROW " +
				"EXECUTE FUNCTION refuse_approval_change()",
		},
		{
			"0039", approvalsTable, "approvals_no_truncate", "BEFORE TRUNCATE ON refund_approvals FOR EACH STATEMENT " +
				"EXECUTE FUNCTION refuse_approval_change()",
		},
		{"0051", "", "mailbox_of", "6397eb663576da80879859d88bf325f0"},
		{"0051", "", "subscriber_of", "42439294dbc7155bbdbdcb4bc9d1ae47"},
		{"0051", "", "second_person_refused", "648e15adae5df7fcdff226a35c60bf3f"},
		{"0051", "", "is_gone", "f3db7e624d601c76914d3cd3fb8cb15f"},
		{"0051", "", "guard_approval", "ee1154eb8724f84d8ced587385cc0733"},
		{"0039", approvalsTable, "approvals_decided", "BEFORE INSERT ON refund_approvals FOR EACH ROW EXECUTE FUNCTION guard_approval()"},
		{"0050", "", "guard_refund_approval", "1653922f320b2bd99809c9e8b1f2e345"},
		{
			"0050", "refunds", "refunds_approval_ordered", "BEFORE INSERT ON refunds FOR EACH ROW WHEN (NEW.approval_above IS NOT NULL " +
				"OR NEW.alone_above IS NOT NULL OR NEW.approval_pending) EXECUTE FUNCTION guard_refund_approval()",
		},
		{
			"0050", "refunds", "refunds_approval_kept", "BEFORE UPDATE ON refunds FOR EACH ROW WHEN (OLD.approval_until IS NOT NULL " +
				"OR NEW.approval_until IS NOT NULL OR OLD.approval_above IS DISTINCT FROM NEW.approval_above " +
				"OR OLD.alone_above IS DISTINCT FROM NEW.alone_above OR NEW.approval_pending " +
				"OR OLD.amount IS DISTINCT FROM NEW.amount OR OLD.requested_by IS DISTINCT FROM NEW.requested_by " +
				"OR OLD.payment_transaction_id IS DISTINCT FROM NEW.payment_transaction_id) " +
				"EXECUTE FUNCTION guard_refund_approval()",
		},
	}
}

// reversalGuards hold marks of payouts to their reversals, and number bookings and keep them findable.
func reversalGuards() []guard {
	return []guard{
		{"0017", "", "refuse_reversal_change", "197fb020a6d785c0399857365a24a940"},
		{
			"0017", "payout_reversals", "reversals_append_only", "BEFORE DELETE OR UPDATE ON payout_reversals FOR EACH ROW " +
				"EXECUTE FUNCTION refuse_reversal_change()",
		},
		{
			"0017", "payout_reversals", "reversals_no_truncate", "BEFORE TRUNCATE ON payout_reversals FOR EACH STATEMENT " +
				"EXECUTE FUNCTION refuse_reversal_change()",
		},
		{"0051", "", "guard_reversal", "22592f97cefd51a7fd127e5ac27c4add"},
		{"0051", "payout_reversals", "reversals_decided", "BEFORE INSERT ON payout_reversals FOR EACH ROW EXECUTE FUNCTION guard_reversal()"},
		{"0017", "", "guard_transfer_mark", "e9fe63806cb38eaacfabc512fcc5cba7"},
		{
			"0017", "financial_records", "records_mark_kept", "BEFORE UPDATE OF balance_status ON financial_records FOR EACH ROW " +
				"WHEN (OLD.balance_status = 'TRANSFERRED' AND NEW.balance_status = 'IN_CURRENT_BALANCE') EXECUTE FUNCTION guard_transfer_mark()",
		},
		{"0017", "", "new_booking_number", "71c85611cea392ba9dd7880344488cc6"},
		{"0017", "", "booking_check_character", "9a3be8aad4ae39ff3a70b0fa18bf55af"},
		{"0017", "", "write_booking_words", "596ebfed6f533aff746e0729ebc6bafd"},
		{
			"0017", "bookings", "bookings_worded", "AFTER INSERT OR UPDATE OF booking_number, contact_name, contact_email, contact_phone, " +
				"passengers ON bookings FOR EACH ROW EXECUTE FUNCTION write_booking_words()",
		},
	}
}

// evidenceGuards keep what gateways said, and the rates that commissions and VAT were taken at.
func evidenceGuards() []guard {
	const kept = "BEFORE UPDATE OF commission_rate ON %s FOR EACH ROW WHEN (OLD.commission_rate IS DISTINCT FROM NEW.commission_rate) " +
		"EXECUTE FUNCTION refuse_rate_change()"
	const keptVAT = "BEFORE UPDATE OF vat_rate ON %s FOR EACH ROW WHEN (OLD.vat_rate IS DISTINCT FROM NEW.vat_rate) " +
		"EXECUTE FUNCTION refuse_vat_rate_change()"

	return []guard{
		{"0015", "", "refuse_rate_change", "b5e0a65247d427da7cba25cfd3d0af03"},
		{"0015", "payment_transactions", "transactions_rate_kept", fmt.Sprintf(kept, "payment_transactions")},
		{"0015", "financial_records", "records_rate_kept", fmt.Sprintf(kept, "financial_records")},
		{"0024", "", "refuse_vat_rate_change", "378dd0d7f52012ee7ce3bee516503d91"},
		{"0024", "payment_transactions", "transactions_vat_rate_kept", fmt.Sprintf(keptVAT, "payment_transactions")},
		{"0024", "bookings", "bookings_vat_rate_kept", fmt.Sprintf(keptVAT, "bookings")},
		{"0015", "", "refuse_event_change", "0c4dcae2a192867f17c7609a2a9c3860"},
		{
			"0015", events, "events_append_only", "BEFORE DELETE OR UPDATE OF id, channel, webhook_id, type, checkout_id, " +
				"merchant_reference, amount, currency, payment_method, result_code, failure_reason, gateway_refund_id, occurred_at, " +
				"received_at, body, signature ON webhook_events FOR EACH ROW EXECUTE FUNCTION refuse_event_change()",
		},
		{
			"0027", events, "events_revision_kept", "BEFORE UPDATE OF revises ON webhook_events FOR EACH ROW " +
				"EXECUTE FUNCTION refuse_event_change()",
		},
		{
			"0015", events, "events_no_truncate", "BEFORE TRUNCATE ON webhook_events FOR EACH STATEMENT " +
				"EXECUTE FUNCTION refuse_event_change()",
		},
	}
}

// bookingGuards keep what a customer bought.
func bookingGuards() []guard {
	return []guard{
		{"0016", "", "refuse_move_change", "7985da3ba87c135b9b23e861ef040cfd"},
		{
			"0016", "trip_moves", "trip_moves_append_only", "BEFORE DELETE OR UPDATE ON trip_moves FOR EACH ROW " +
				"EXECUTE FUNCTION refuse_move_change()",
		},
		{"0016", "", "set_booked_departure", "8fcfe90de53a5d82fd040fa04249b7a3"},
		{
			"0016", "bookings", "bookings_departure_set", "BEFORE INSERT ON bookings FOR EACH ROW WHEN (NEW.booked_departure_at IS NULL) " +
				"EXECUTE FUNCTION set_booked_departure()",
		},
		{"0016", "", "refuse_terms_change", "a6900a1777e3a34a01d2a3a7194e410e"},
		{
			"0016", "bookings", "bookings_terms_kept", "BEFORE UPDATE OF booked_departure_at, booked_schedule, rescheduled_by ON bookings " +
				"FOR EACH ROW WHEN (NEW.booked_departure_at IS DISTINCT FROM OLD.booked_departure_at " +
				"OR NEW.booked_schedule IS DISTINCT FROM OLD.booked_schedule OR OLD.rescheduled_by IS NOT NULL " +
				"AND NEW.rescheduled_by IS DISTINCT FROM OLD.rescheduled_by) EXECUTE FUNCTION refuse_terms_change()",
		},
	}
}

// digestGuards make the digests of what was received and of what was bought.
func digestGuards() []guard {
	return []guard{
		{"0022", "", "set_event_digest", "b2cc667ee67cf8f781827a05f00dc232"},
		{"0022", events, "events_digest_set", "BEFORE INSERT ON webhook_events FOR EACH ROW EXECUTE FUNCTION set_event_digest()"},
		{
			"0022", events, "events_digest_kept", "BEFORE UPDATE OF digest ON webhook_events FOR EACH ROW " +
				"EXECUTE FUNCTION refuse_event_change()",
		},
		{"0022", "", "set_terms_digest", "eb95218aa4613a112e843844291d2985"},
		{"0022", "bookings", "bookings_terms_digested", "BEFORE INSERT ON bookings FOR EACH ROW EXECUTE FUNCTION set_terms_digest()"},
		{
			"0022", "bookings", "bookings_digest_kept", "BEFORE UPDATE OF terms_digest ON bookings FOR EACH ROW " +
				"EXECUTE FUNCTION refuse_terms_change()",
		},
	}
}

// spelling is what PostgreSQL writes in its own way when it is asked for a definition.
var spelling = regexp.MustCompile(`[\s()"]|public\.|::text`)

// plain is the definition without spelling; the query does the same to the database's.
func (g guard) plain() string {
	if g.table == "" {
		return g.does
	}

	return spelling.ReplaceAllString(strings.ToLower("CREATE TRIGGER "+g.name+" "+g.does), "")
}

func guardsSQL() string {
	all := guards()
	rows := make([]string, len(all))

	for i, g := range all {
		rows[i] = fmt.Sprintf("('%s', '%s', '%s', $guard$%s$guard$)", g.since, g.table, g.name, g.plain())
	}

	return fmt.Sprintf(guardsQuery, strings.Join(rows, ",\n"), transfersTable, events)
}

// guardsQuery expects what the migrations that have been applied make; those of a newer binary may still be to come.
const guardsQuery = `
WITH made (since, place, name, definition) AS (VALUES %[1]s),
expected AS (
    SELECT m.*, CASE WHEN m.place IN ('%[2]s', '%[3]s') OR m.name IN ('refuse_ledger_change', 'refuse_event_change')
        THEN 'append-only' ELSE 'triggers' END AS rule
    FROM made AS m WHERE m.since <= (SELECT max(name) FROM bun_migrations)),
there AS (
    SELECT c.relname AS place, t.tgname AS name, t.tgenabled IN ('O', 'A') AS enabled,
           regexp_replace(lower(pg_get_triggerdef(t.oid)), '[\s()"]|public\.|::text', '', 'g') AS definition
    FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
    WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace),
functions AS (
    SELECT proname AS name, md5(btrim(regexp_replace(prosrc, '\s+', ' ', 'g'))) AS definition
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace),
differences AS (
    SELECT e.rule, 'trigger' AS subject, e.name,
           CASE WHEN t.name IS NULL THEN 'missing' WHEN NOT t.enabled THEN 'switched off'
                ELSE 'does something else: ' || t.definition END AS what
    FROM expected AS e LEFT JOIN there AS t ON t.place = e.place AND t.name = e.name
    WHERE e.place <> '' AND (t.name IS NULL OR NOT t.enabled OR t.definition <> e.definition)
    UNION ALL
    SELECT e.rule, 'function', e.name, coalesce('does something else: ' || f.definition, 'missing')
    FROM expected AS e LEFT JOIN functions AS f ON f.name = e.name
    WHERE e.place = '' AND f.definition IS DISTINCT FROM e.definition
    UNION ALL
    SELECT 'append-only', 'trigger', t.name, 'nobody knows it: ' || t.definition
    FROM there AS t
    WHERE t.place IN ('%[2]s', '%[3]s') AND NOT EXISTS (SELECT FROM made AS m WHERE m.place = t.place AND m.name = t.name)
    UNION ALL
    SELECT CASE WHEN c.relname IN ('%[2]s', '%[3]s') THEN 'append-only' ELSE 'triggers' END, 'rule', w.rulename,
           'rewrites what is done to ' || c.relname
    FROM pg_rewrite AS w JOIN pg_class AS c ON c.oid = w.ev_class
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p'))
SELECT rule, subject, name, what FROM differences ORDER BY rule, name`
