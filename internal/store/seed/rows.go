package seed

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"rihla/models"
)

// seedRows are the rows of one batch, by table.
type seedRows struct {
	tables      map[string][][]any
	lines       []models.FinancialRecord
	texts       []int64     // of the entries
	clawedEntry map[int]int // of a claw-back, by index: the entry that it takes back
}

func newSeedRows() *seedRows {
	return &seedRows{tables: map[string][][]any{}, clawedEntry: map[int]int{}}
}

func (r *seedRows) add(table string, row ...any) { r.tables[table] = append(r.tables[table], row) }

// seedTables are in the order in which foreign keys can be checked.
var seedTables = []struct {
	name    string
	columns []string
}{
	{"providers", []string{"id", "name", "email", "phone", "city", "commission_rate", "created_at", "updated_at"}},
	{"users", []string{"id", "name", "email", "phone", "password_hash", "role", "provider_id", "locale", "created_at", "updated_at"}},
	{"buses", []string{"id", "provider_id", "plate_number", "model", "capacity", "driver_name", "status", "created_at"}},
	{"hotels", []string{"id", "provider_id", "name", "city", "stars", "status", "created_at"}},
	{"trips", []string{
		"id", "provider_id", "type", "title", "origin", "destination", "departure_at", "return_at", "hotel_id", "bus_id",
		"price_per_seat", "capacity", "seats_taken", "status", "created_at",
	}},
	{"bookings", []string{
		"id", "trip_id", "provider_id", "user_id", "status", "seats", "seats_held", "hold_until", "amount", "vat_rate", "vat_amount",
		"passengers", "contact_name", "contact_email", "contact_phone", "locale", "created_at", "updated_at", "booked_departure_at",
		"booked_schedule",
	}},
	{"ad_campaigns", []string{
		"id", "provider_id", "trip_id", "created_by", "title", "starts_on", "ends_on", "price", "status", "created_at", "updated_at",
	}},
	{"payment_transactions", []string{
		"id", "kind", "parent_id", "attempt", "reference", "user_id", "provider_id", "booking_id", "ad_campaign_id", "amount", "vat_rate",
		"vat_amount", "commission_rate", "payment_method", "gateway", "channel", "status", "failure_code", "expires_at", "captured_at",
		"refunded_amount",
		"created_at", "updated_at",
	}},
	{"transaction_state_changes", []string{"transaction_id", "from_status", "to_status", "failure_code", "changed_at"}},
	{"refunds", []string{
		"id", "payment_transaction_id", "refund_transaction_id", "booking_id", "refund_type", "amount", "status", "gateway_refund_id",
		"reason", "requested_by", "created_at", "updated_at", "completed_at", "vat_of_amount",
	}},
	{"webhook_events", []string{
		"id", "channel", "webhook_id", "type", "transaction_id", "refund_id", "checkout_id", "merchant_reference", "amount", "currency",
		"payment_method", "result_code", "occurred_at", "received_at", "processed_at", "outcome", "body", "signature",
	}},
	{"financial_records", []string{
		"id", "transaction_number", "kind", "payment_transaction_id", "provider_id", "booking_id", "ad_campaign_id", "refund_id",
		"split_from", "gross_amount", "platform_commission_amount", "net_amount", "commission_rate", "vat_amount", "refunded_amount",
		"trip_title", "details", "record_date", "balance_status", "payout_reference", "payout_date", "transferred_at", "created_at", "text_id",
		"updated_at",
	}},
	{"ledger_transfers", []string{
		"id", "debit_account", "credit_account", "amount", "kind", "transaction_id", "refund_id", "record_id", "created_at",
	}},
	{"notifications", []string{
		"id", "transaction_id", "kind", "channel", "locale", "recipient", "data", "status", "attempts", "created_at", "sent_at",
	}},
	{"audit_log", []string{"id", "actor_id", "actor_role", "action", "entity", "entity_id", "details", "created_at"}},
}

// copy writes the batch. Entries come last into their table's rows: they are numbered and changed until then.
func (r *seedRows) copy(ctx context.Context, tx pgx.Tx) error {
	for i := range r.lines {
		r.addEntry(&r.lines[i], r.texts[i])
	}

	for _, t := range seedTables {
		rows := r.tables[t.name]
		if len(rows) == 0 {
			continue
		}

		if _, err := tx.CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, pgx.CopyFromRows(rows)); err != nil {
			return fmt.Errorf("copy %s: %w", t.name, err)
		}
	}

	return nil
}

func (r *seedRows) addEntry(l *models.FinancialRecord, text int64) {
	changed := l.CreatedAt
	if l.TransferredAt != nil && l.TransferredAt.After(changed) {
		changed = *l.TransferredAt
	}

	var paidOn any
	if l.PayoutDate != nil {
		paidOn = l.PayoutDate.Time()
	}

	r.add("financial_records", l.ID, l.TransactionNumber, string(l.Kind), l.PaymentTransactionID, l.ProviderID, l.BookingID, l.AdCampaignID,
		l.RefundID, l.SplitFrom, numeric(l.GrossAmount), numeric(l.PlatformCommissionAmount), numeric(l.NetAmount), rate(l.CommissionRate),
		numeric(l.VATAmount), numeric(l.RefundedAmount), l.TripTitle, l.Details, l.RecordDate.Time(), string(l.BalanceStatus),
		l.PayoutReference, paidOn, l.TransferredAt, l.CreatedAt, text, changed)
}

func (r *seedRows) addTransfers(all []models.LedgerTransfer, at time.Time) {
	for _, t := range all {
		r.add("ledger_transfers", t.ID, string(t.DebitAccount), string(t.CreditAccount), numeric(t.Amount), string(t.Kind),
			t.TransactionID, t.RefundID, t.RecordID, at)
	}
}

func (r *seedRows) addTransaction(t *models.PaymentTransaction) {
	var failure any
	if t.FailureCode != nil {
		failure = string(*t.FailureCode)
	}

	r.add("payment_transactions", t.ID, string(t.Kind), t.ParentID, t.Attempt, t.Reference, t.UserID, t.ProviderID, t.BookingID,
		t.AdCampaignID, numeric(t.Amount), rate(t.VATRate), numeric(t.VATAmount), rate(t.CommissionRate), string(t.PaymentMethod),
		string(t.Gateway), string(t.PaymentMethod.Channel()), string(t.Status), failure, t.ExpiresAt,
		t.CapturedAt, numeric(t.RefundedAmount), t.CreatedAt, t.UpdatedAt)

	if t.Kind == models.KindRefund {
		r.add("transaction_state_changes", t.ID, nil, string(t.Status), nil, t.CreatedAt)

		return
	}

	pending := string(models.TransactionPending)
	r.add("transaction_state_changes", t.ID, nil, pending, nil, t.CreatedAt)
	r.add("transaction_state_changes", t.ID, pending, string(t.Status), failure, t.UpdatedAt)
}

// numeric is an amount in the form of COPY's binary protocol.
func numeric(m models.Money) pgtype.Numeric {
	return pgtype.Numeric{Int: big.NewInt(m.Halalas()), Exp: -2, Valid: true}
}

func rate(r models.Rate) pgtype.Numeric {
	const scale = 4 // of numeric(5,4)

	return pgtype.Numeric{Int: big.NewInt(r.Decimal().Shift(scale).IntPart()), Exp: -scale, Valid: true}
}
