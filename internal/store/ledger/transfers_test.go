package ledger_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// sales makes n paid bookings of one seat, and returns the ids of their ledger entries.
func (b *books) sales(t *testing.T, n int) []uuid.UUID {
	t.Helper()

	ids := make([]uuid.UUID, n)

	for i := range ids {
		ids[i] = b.sale(t, 1).ID
	}

	return ids
}

func detailsOf(t *testing.T, err error) []string {
	t.Helper()

	var domain *models.Error

	require.ErrorAs(t, err, &domain)

	return domain.EnglishDetails()["ids"]
}

func TestMarkAllTransferred(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.sales(t, 5)
	reference, day := "BANK-7", models.DateIn(time.Now())
	m := ledger.MarkTransfers{IDs: ids, Reference: &reference, Date: &day}

	got, err := b.Store.Ledger.MarkAllTransferred(t.Context(), b.Finance, m)
	require.NoError(t, err)
	require.Len(t, got, len(ids))

	for i, r := range got {
		require.Equal(t, ids[i], r.ID, "in the order of the ids")
		require.Equal(t, models.BalanceTransferred, r.BalanceStatus)
		require.Equal(t, reference, *r.PayoutReference)
		require.Equal(t, day, *r.PayoutDate)
		require.Equal(t, "Test Tours", r.ProviderName)
		require.WithinDuration(t, time.Now(), *r.TransferredAt, time.Minute)
	}

	slices.Reverse(m.IDs)

	again, err := b.Store.Ledger.MarkAllTransferred(t.Context(), b.Finance, m)
	require.NoError(t, err, "the same call again")
	require.True(t, got[0].TransferredAt.Equal(*again[0].TransferredAt))

	// What was marked together is one payout: one more entry is another call, and no sum of its answer may hold the others.
	further := b.sale(t, 1).ID
	_, err = b.Store.Ledger.MarkAllTransferred(t.Context(), b.Finance, ledger.MarkTransfers{IDs: append(m.IDs, further), Reference: m.Reference, Date: m.Date})
	bookstest.RequireCode(t, models.CodeRecordNotTransferable, err)
	require.Equal(t, textsOf(m.IDs), detailsOf(t, err))

	_, err = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, further, ledger.MarkTransfer{Reference: m.Reference, Date: m.Date})
	require.NoError(t, err)
	_, err = b.Store.Ledger.MarkAllTransferred(t.Context(), b.Finance, ledger.MarkTransfers{IDs: append(m.IDs, further), Reference: m.Reference, Date: m.Date})
	bookstest.RequireCode(t, models.CodeRecordNotTransferable, err)

	require.Equal(t, 6, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT'"))
	require.Equal(t, 6, b.Count(t, "SELECT count(DISTINCT entity_id) FROM audit_log WHERE action = 'FINANCIAL_RECORD_TRANSFERRED'"))
	require.Equal(t, 6, b.Count(t, "SELECT count(*) FROM audit_log"))
	require.Equal(t, 6, b.Count(t, `SELECT count(*) FROM audit_log WHERE details -> 'before' ->> 'balance_status' = 'IN_CURRENT_BALANCE'
		AND details -> 'after' ->> 'payout_reference' = 'BANK-7' AND request_id = 'req-1'`))
	require.Equal(t, "0.00", b.balance(t).Payable.String())
	require.Equal(t, "621.00", b.balance(t).PaidOut.String())
}

func textsOf(ids []uuid.UUID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}

	return texts
}

// What is wrong with one line leaves all of them as they are.
func TestMarkAllTransferredIsAllOrNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	good := b.sales(t, 3)
	paidOut := b.sale(t, 1).ID
	_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, paidOut, ledger.MarkTransfer{})
	require.NoError(t, err)

	tx := b.Paid(t, 1)
	back := b.entryOf(t, tx).ID
	b.Refund(t, tx, nil)

	reference, never := "BANK-8", []uuid.UUID{uuid.New(), uuid.New()}

	mark := func(ids ...uuid.UUID) error {
		_, err := b.Store.Ledger.MarkAllTransferred(t.Context(), b.Finance, ledger.MarkTransfers{IDs: ids, Reference: &reference})

		return err
	}

	err = mark(good[0], never[0], good[1], never[1])
	bookstest.RequireCode(t, models.CodeNotFound, err)
	require.Equal(t, []string{never[0].String(), never[1].String()}, detailsOf(t, err))

	err = mark(good[0], back, good[1], paidOut, good[2])
	bookstest.RequireCode(t, models.CodeRecordNotTransferable, err)
	require.Equal(t, []string{back.String(), paidOut.String()}, detailsOf(t, err))

	err = mark(back, never[0])
	bookstest.RequireCode(t, models.CodeNotFound, err)

	bookstest.RequireCode(t, models.CodeValidation, mark())
	bookstest.RequireCode(t, models.CodeValidation, mark(good[0], good[1], good[0]))
	bookstest.RequireCode(t, models.CodeValidation, mark(slices.Repeat(good, 200)...))

	require.Equal(t, 3, b.Count(t, "SELECT count(*) FROM financial_records WHERE balance_status = 'IN_CURRENT_BALANCE'"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT'"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'FINANCIAL_RECORD_TRANSFERRED'"))
}

func TestMarkAllTransferredTakesMaxTransfers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "its entries are inserted manually")
	tx := b.Paid(t, 1)

	// A payment has one live entry; claw-backs are as many as wanted.
	b.Exec(t, `
		WITH r AS (
			INSERT INTO refunds (id, payment_transaction_id, booking_id, refund_type, amount, currency, status, failure_code, completed_at)
			SELECT gen_random_uuid(), $1, $2, 'PARTIAL', 0.01, 'SAR', 'FAILED', 'GATEWAY_REJECTED', now() FROM generate_series(1, $3) RETURNING id)
		INSERT INTO financial_records (id, transaction_number, kind, payment_transaction_id, provider_id, booking_id, refund_id, gross_amount,
			platform_commission_amount, net_amount, vat_amount, record_date, balance_status, commission_rate)
		SELECT gen_random_uuid(), 'T-' || id, 'CLAWBACK', $1, $4, $2, id, -0.01, 0, -0.01, 0, current_date, 'IN_CURRENT_BALANCE', 0 FROM r`,
		tx.ID, tx.BookingID, ledger.MaxTransfers, b.Provider.ID)

	all, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{Page: db.Page{PerPage: ledger.MaxTransfers + 1}})
	require.NoError(t, err)
	require.Len(t, all.Items, ledger.MaxTransfers+1)

	ids := make([]uuid.UUID, len(all.Items))
	for i := range ids {
		ids[i] = all.Items[i].ID
	}

	_, err = b.Store.Ledger.MarkAllTransferred(t.Context(), b.Finance, ledger.MarkTransfers{IDs: ids})
	bookstest.RequireCode(t, models.CodeValidation, err)

	got, err := b.Store.Ledger.MarkAllTransferred(t.Context(), b.Finance, ledger.MarkTransfers{IDs: ids[:ledger.MaxTransfers]})
	require.NoError(t, err)
	require.Len(t, got, ledger.MaxTransfers)
	require.Equal(t, ledger.MaxTransfers, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT'"))
}

// Bulks that share entries in every order, single marks and refunds, all at once: no deadlock reaches a caller, every
// line is transferred at most once, and the books add up.
func TestTransfersRaceRefunds(t *testing.T) {
	t.Parallel()
	b := setup(t)

	const lines, rounds = 12, 3

	for range rounds {
		payments, ids := make([]models.PaymentTransaction, 0, lines), make([]uuid.UUID, 0, lines)
		trip := b.InsertTrip(t, 60, nil)

		for range lines {
			tx := b.Open(t, b.Book(t, trip, 1), 1)
			b.Report(t, tx, models.EventPaymentSucceeded)
			payments, ids = append(payments, tx), append(ids, b.entryOf(t, tx).ID)
		}

		var wg sync.WaitGroup

		start, errs := make(chan struct{}), make(chan error, 100)
		run := func(do func() error) { wg.Go(func() { <-start; errs <- do() }) }

		for range 6 {
			mine := slices.Clone(ids)
			rand.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })

			run(func() error {
				return bookstest.ErrorOf(b.Store.Ledger.MarkAllTransferred(t.Context(), b.Finance, ledger.MarkTransfers{IDs: mine[:lines*2/3]}))
			})
		}

		for _, id := range ids[:4] {
			run(func() error {
				return bookstest.ErrorOf(b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, id, ledger.MarkTransfer{}))
			})
		}

		for _, id := range ids[:6] {
			run(func() error {
				_, err := b.Store.Ledger.RevertTransferred(t.Context(), b.reverter(), id, ledger.RevertTransfer{Reason: "By mistake."})
				if models.CodeOf(err) == models.CodeInvalidState { // not marked yet, not any more, or refunded
					return nil
				}

				return err
			})
		}

		for _, tx := range payments[2:8] {
			run(func() error { return b.RefundNow(t, tx, "57.50") })
		}

		close(start)
		wg.Wait()
		close(errs)

		for err := range errs {
			if err != nil { // a refund was there first
				require.Equal(t, models.CodeRecordNotTransferable, models.CodeOf(err), "%v", err)
			}
		}
	}

	require.Zero(t, b.Count(t, `SELECT count(*) FROM (SELECT record_id FROM ledger_transfers WHERE kind IN ('PAYOUT', 'PAYOUT_REVERSAL') GROUP BY 1
		HAVING sum(CASE kind WHEN 'PAYOUT' THEN 1 ELSE -1 END) > 1) AS twice`))
	require.Equal(t, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT_REVERSAL'"),
		b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'FINANCIAL_RECORD_TRANSFER_REVERTED'"))
	require.Equal(t, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT'"),
		b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'FINANCIAL_RECORD_TRANSFERRED'"))
	require.Equal(t, rounds*6, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'REFUND_SUCCEEDED'"))
	b.balance(t)
}

// Of a sale that was paid out the entry has the claw-back, too, and what became of the booking.
func TestARefundAfterThePayoutIsAudited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, b.entryOf(t, tx).ID, ledger.MarkTransfer{})
	require.NoError(t, err)

	r := b.Refund(t, tx, nil)

	entries, err := b.Store.DB.ListAudit(t.Context(), db.AuditFilter{Entity: "refund", EntityID: r.ID, Action: "REFUND_SUCCEEDED"})
	require.NoError(t, err)
	require.Len(t, entries.Items, 1)

	type line struct {
		Kind   models.RecordKind    `json:"kind"`
		Status models.BalanceStatus `json:"balance_status"`
		Net    models.Money         `json:"net_amount"`
	}

	type state struct {
		Booking models.BookingStatus `json:"booking_status"`
		Lines   []line               `json:"financial_records"`
	}

	var got struct {
		Before state `json:"before"`
		After  state `json:"after"`
	}

	require.NoError(t, json.Unmarshal(entries.Items[0].Details, &got))

	net := models.MustMoney("103.50")
	require.Equal(t, state{models.BookingConfirmed, []line{{models.RecordSale, models.BalanceTransferred, net}}}, got.Before)
	require.Equal(t, state{models.BookingCancelled, []line{
		{models.RecordSale, models.BalanceRefunded, net}, {models.RecordClawback, models.BalanceInCurrent, net.Neg()},
	}}, got.After)
}

func TestRefundsAreAudited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	line := b.entryOf(t, tx)
	r := b.Refund(t, tx, bookstest.Amount("15.00"))

	entries, err := b.Store.DB.ListAudit(t.Context(), db.AuditFilter{Entity: "refund", EntityID: r.ID})
	require.NoError(t, err)
	require.Len(t, entries.Items, 2)

	done, asked := entries.Items[0], entries.Items[1]
	require.Equal(t, models.AuditRefundRequested, asked.Action)
	require.Equal(t, b.Finance.UserID, *asked.ActorID)
	require.JSONEq(t, `{"booking_id": "`+tx.BookingID.String()+`", "payment_transaction_id": "`+tx.ID.String()+`", "refund_type": "PARTIAL",
		"channel": "GATEWAY", "amount": 15.00, "currency": "SAR", "needs_approval": false, "reason_sha256": "`+fmt.Sprintf("%x", sha256.Sum256([]byte(r.Reason)))+`",
		"before": {"refunded_amount": 0.00, "reserved_amount": 0.00},
		"after": {"refunded_amount": 0.00, "reserved_amount": 15.00}}`, string(asked.Details))

	require.Equal(t, models.AuditRefundSucceeded, done.Action)
	require.Nil(t, done.ActorID, "the service has settled it")
	require.Equal(t, "req-refund", done.RequestID)
	rest := b.entryOf(t, tx)
	require.JSONEq(t, `{"booking_id": "`+tx.BookingID.String()+`", "payment_transaction_id": "`+tx.ID.String()+`",
		"refund_transaction_id": "`+r.RefundTransactionID.String()+`", "amount": 15.00, "currency": "SAR",
		"requested_by": "`+b.Finance.UserID.String()+`", "financial_record_id": "`+line.ID.String()+`",
		"transaction_number": "`+line.TransactionNumber+`", "ordered_at": "`+micros(r.CreatedAt)+`",
		"before": {"status": "PENDING", "refunded_amount": 0.00, "reserved_amount": 15.00, "booking_status": "CONFIRMED",
			"financial_records": [{"id": "`+line.ID.String()+`", "transaction_number": "`+line.TransactionNumber+`", "kind": "SALE",
				"balance_status": "IN_CURRENT_BALANCE", "gross_amount": 115.00, "platform_commission_amount": 11.50, "net_amount": 103.50,
				"vat_amount": 15.00, "refunded_amount": 0.00}]},
		"after": {"status": "SUCCEEDED", "refunded_amount": 15.00, "reserved_amount": 0.00, "booking_status": "CONFIRMED",
			"completed_at": "`+micros(*r.CompletedAt)+`", "gateway_refund_id": "`+*r.GatewayRefundID+`",
			"financial_records": [{"id": "`+line.ID.String()+`", "transaction_number": "`+line.TransactionNumber+`", "kind": "SALE",
				"balance_status": "REFUNDED", "gross_amount": 15.00, "platform_commission_amount": 1.50, "net_amount": 13.50,
				"vat_amount": 1.96, "refunded_amount": 15.00},
				{"id": "`+rest.ID.String()+`", "transaction_number": "`+rest.TransactionNumber+`", "kind": "SALE",
				"balance_status": "IN_CURRENT_BALANCE", "gross_amount": 100.00, "platform_commission_amount": 10.00, "net_amount": 90.00,
				"vat_amount": 13.04, "refunded_amount": 0.00}]}}`, string(done.Details))

	refused := models.RefundRequest{ID: models.NewID(), BookingID: *tx.BookingID, Type: models.RefundFull, RequestedBy: &b.Finance.UserID}
	_, err = b.Store.Refunds.OrderRefund(t.Context(), refused, time.Now())
	require.NoError(t, err)
	_, err = b.Store.Refunds.SettleRefund(t.Context(), refused.ID, models.RefundResult{Status: models.RefundFailed, FailureReason: "no"}, time.Now())
	require.NoError(t, err)
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM audit_log WHERE action = 'REFUND_FAILED' AND entity_id = $1
		AND details -> 'before' ->> 'reserved_amount' = '100.00' AND details -> 'after' ->> 'refunded_amount' = '15.00'`, refused.ID))
}

// micros is a moment as details of the audit log have it that are compared with the database's own.
func micros(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000Z") }

func TestActivationsAndStaffChangesAreAudited(t *testing.T) {
	t.Parallel()
	b := setup(t)

	_, err := b.Store.Catalogue.SetProviderStatus(t.Context(), b.Finance, b.Provider.ID, false)
	require.NoError(t, err)

	u, err := b.Store.Accounts.CreateStaff(t.Context(), b.Finance, models.User{
		Name: "New", Email: "new@rihla.test", PasswordHash: "x", Role: models.RoleProviderStaff, ProviderID: &b.Provider.ID,
	})
	require.NoError(t, err)
	require.NoError(t, b.Store.Accounts.RemoveStaff(t.Context(), b.Finance, b.Provider.ID, u.ID))

	account := `{"role": "PROVIDER_STAFF", "provider_id": "` + b.Provider.ID.String() + `"}`

	for action, want := range map[string]string{
		"PROVIDER_DEACTIVATED": `{"before": {"status": "ACTIVE"}, "after": {"status": "INACTIVE"}}`,
		"STAFF_CREATED":        `{"role": "PROVIDER_STAFF", "provider_id": "` + b.Provider.ID.String() + `", "before": null, "after": ` + account + `}`,
		"STAFF_REMOVED":        `{"role": "PROVIDER_STAFF", "provider_id": "` + b.Provider.ID.String() + `", "before": ` + account + `, "after": null}`,
	} {
		got, err := b.Store.DB.ListAudit(t.Context(), db.AuditFilter{Action: action})
		require.NoError(t, err)
		require.Len(t, got.Items, 1, action)
		require.JSONEq(t, want, string(got.Items[0].Details), action)
	}
}
