package e2e_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

const bulkPath = adminRecords + "/mark-transferred"

// bulkTransfers pays several entries out together, or none of them.
func bulkTransfers(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)

	ids := make([]uuid.UUID, 4)
	for i := range ids {
		ids[i] = entriesOf(t, s, customer.BookPaid(1).ID)[0].ID
	}

	body := func(ids ...uuid.UUID) map[string]any {
		return map[string]any{"ids": ids, "payout_reference": "BULK-1", "payout_date": models.DateIn(time.Now()).String()}
	}

	// A mark that is not allowed changes nothing.
	paidBack := customer.BookPaid(1)
	back := entriesOf(t, s, paidBack.ID)[0].ID
	decoded[refund](t, http.StatusCreated, finance.Post(refundPath(paidBack.ID), fully()))

	never := uuid.New()
	a := finance.Post(bulkPath, body(ids[0], never, ids[1]))
	refused(t, a, http.StatusNotFound, models.CodeNotFound)
	require.Equal(t, map[string][]string{"ids": {never.String()}}, errorDetails(t, a))

	a = finance.Post(bulkPath, body(ids[0], back))
	refused(t, a, http.StatusConflict, models.CodeRecordNotTransferable)
	require.Equal(t, map[string][]string{"ids": {back.String()}}, errorDetails(t, a))

	for _, wrong := range []any{
		body(), body(ids[0], ids[0]), body(slices.Repeat(ids, 200)...),
		map[string]any{"ids": "all"},
		map[string]any{"ids": []string{"42"}},
		map[string]any{},
		map[string]any{"ids": ids, "payout_date": "yesterday"},
		map[string]any{"ids": ids, "note": "x"},
	} {
		refused(t, finance.Post(bulkPath, wrong), http.StatusUnprocessableEntity, models.CodeValidation)
	}

	require.Len(t, recordsOf(t, s, "&balance_status=IN_CURRENT_BALANCE"), len(ids))

	// The same request again is answered with what was kept, the same call under another key with what is there.
	key := uuid.NewString()
	first, again := post(finance, bulkPath, body(ids...), key), post(finance, bulkPath, body(ids...), key)
	got := decoded[[]record](t, http.StatusOK, first)
	require.Equal(t, string(first.Body), string(again.Body))
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	refused(t, post(finance, bulkPath, body(ids[0]), key), http.StatusUnprocessableEntity, models.CodeIdempotencyKeyReused)

	for i, r := range got {
		require.Equal(t, ids[i], r.ID)
		require.Equal(t, models.BalanceTransferred, r.Balance)
		require.Equal(t, "BULK-1", *r.PayoutReference)
	}

	for _, a := range atOnce(4, func(int) harness.Answer { return post(finance, bulkPath, body(ids...), uuid.NewString()) }) {
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	}

	require.Equal(t, len(ids), s.Count("SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT' AND credit_account = $1",
		models.PaidOutAccount(s.World.Provider.ID)))

	// Each entry has its entry in the audit log, with before and after.
	for _, id := range ids {
		entries := decoded[[]auditEntry](t, http.StatusOK, s.As(models.RoleAdmin).Get(auditLogs+"?entity=financial_record&entity_id="+id.String()))
		require.Len(t, entries, 1)
		require.Equal(t, "FINANCIAL_RECORD_TRANSFERRED", entries[0].Action)
		require.Equal(t, "IN_CURRENT_BALANCE", entries[0].Details["before"].(map[string]any)["balance_status"])
		require.Equal(t, "BULK-1", entries[0].Details["after"].(map[string]any)["payout_reference"])
	}

	admin := s.As(models.RoleAdmin)
	require.Empty(t, decoded[[]auditEntry](t, http.StatusOK, admin.Get(auditLogs+"?entity=booking&entity_id="+ids[0].String())))
	refused(t, admin.Get(auditLogs+"?entity=Booking"), http.StatusUnprocessableEntity, models.CodeValidation)
	refused(t, admin.Get(auditLogs+"?entity_id=42"), http.StatusUnprocessableEntity, models.CodeValidation)
}

// balance is where a provider stands.
type balance struct {
	ProviderID uuid.UUID    `json:"provider_id"`
	Payable    models.Money `json:"payable_amount"`
	PaidOut    models.Money `json:"paid_out_amount"`
	Earned     models.Money `json:"earned_amount"`
	LastPayout *time.Time   `json:"last_payout_at"`
	AsOf       time.Time    `json:"as_of"`
}

func balances(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance, staff := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin), s.As(models.RoleProviderStaff)
	admin := "/api/v1/admin/providers/" + s.World.Provider.ID.String() + "/balance"

	both := func(query string) balance {
		own := decoded[balance](t, http.StatusOK, staff.Get("/api/v1/provider/balance"+query))
		theirs := decoded[balance](t, http.StatusOK, finance.Get(admin+query))
		require.Equal(t, s.World.Provider.ID, own.ProviderID)
		require.Equal(t, own.Payable.String(), theirs.Payable.String())
		require.Equal(t, own.PaidOut.String(), theirs.PaidOut.String())
		require.Equal(t, own.LastPayout, theirs.LastPayout)

		return own
	}

	require.Equal(t, "0.00", both("").Payable.String())

	two := customer.BookPaid(2)
	sold := both("")
	require.Equal(t, "207.00", sold.Payable.String())
	require.Nil(t, sold.LastPayout)

	marked := decoded[record](t, http.StatusOK, finance.Post(markPath(entriesOf(t, s, two.ID)[0].ID), nil))
	paid := both("")
	require.Equal(t, "0.00", paid.Payable.String())
	require.Equal(t, "207.00", paid.PaidOut.String())
	require.WithinDuration(t, *marked.TransferredAt, *paid.LastPayout, time.Second)

	decoded[refund](t, http.StatusCreated, finance.Post(refundPath(two.ID), fully()))

	owes := both("")
	require.Equal(t, "-207.00", owes.Payable.String(), "it was paid for what has gone back since")
	require.Equal(t, "207.00", owes.PaidOut.String())
	require.Equal(t, "0.00", owes.Earned.String())

	var net models.Money
	for _, r := range recordsOf(t, s, "&balance_status=IN_CURRENT_BALANCE") {
		net = net.Add(r.Net)
	}

	require.Equal(t, owes.Payable.String(), net.String())

	at := func(when time.Time) string { return "?as_of=" + url.QueryEscape(when.Format(time.RFC3339Nano)) }
	require.Equal(t, "207.00", both(at(sold.AsOf)).Payable.String())
	require.Equal(t, "0.00", both(at(paid.AsOf.In(models.Riyadh))).Payable.String())
	require.Equal(t, "0.00", both(at(time.Now().AddDate(-1, 0, 0))).Earned.String())
	both(at(time.Now().Add(5 * time.Second))) // a clock that is a little ahead

	for _, wrong := range []string{
		at(time.Now().Add(time.Hour)), "?as_of=2026-11-01T08:49:34,5Z", "?as_of=2026-11-01T08:49:34%2B24:00", "?as_of=yesterday", "?as_of=0000-01-01T00:00:00Z", "?as_of=2026-11-01", "?as_of=",
	} {
		refused(t, finance.Get(admin+wrong), http.StatusUnprocessableEntity, models.CodeValidation)
		refused(t, staff.Get("/api/v1/provider/balance"+wrong), http.StatusUnprocessableEntity, models.CodeValidation)
	}

	refused(t, finance.Get("/api/v1/admin/providers/"+uuid.NewString()+"/balance"), http.StatusNotFound, models.CodeNotFound)
}

// transferReverted takes a mark back: not by who made it, once, and the same request again gets the same answer.
func transferReverted(t *testing.T, s *harness.Stack) {
	t.Helper()

	finance, admin := s.As(models.RoleFinanceAdmin), s.As(models.RoleAdmin)
	booking := s.As(models.RoleEndUser).BookPaid(1)
	line := entriesOf(t, s, booking.ID)[0]
	path, why := adminRecords+"/"+line.ID.String()+"/revert-transfer", map[string]string{"reason": "The bank returned it."}

	refused(t, admin.Post(path, why), http.StatusConflict, models.CodeInvalidState)

	for _, day := range []int{1, -1} {
		a := finance.Post(markPath(line.ID), map[string]string{"payout_date": models.DateIn(time.Now()).AddDays(day).String()})
		refused(t, a, http.StatusUnprocessableEntity, models.CodeValidation)
		require.Len(t, errorDetails(t, a)["payout_date"], 1)
	}

	decoded[record](t, http.StatusOK, finance.Post(markPath(line.ID), nil))
	refused(t, finance.Post(path, why), http.StatusForbidden, models.CodeForbidden)
	refused(t, admin.Post(path, map[string]string{"reason": " "}), http.StatusUnprocessableEntity, models.CodeValidation)

	key := uuid.NewString()
	for range 2 {
		got := decoded[record](t, http.StatusOK, post(admin, path, why, key))
		require.Equal(t, models.BalanceInCurrent, got.Balance)
		require.Nil(t, got.TransferredAt)
		require.WithinDuration(t, time.Now(), *got.RevertedAt, time.Minute)
		require.WithinDuration(t, time.Now(), *got.CapturedAt, time.Minute)
		require.Equal(t, got, recordsOf(t, s, "&booking_id="+booking.ID.String())[0])
	}

	refused(t, admin.Post(path, why), http.StatusConflict, models.CodeInvalidState)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM audit_log WHERE entity_id = $1 AND action = 'FINANCIAL_RECORD_TRANSFER_REVERTED'", line.ID))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM ledger_transfers WHERE record_id = $1 AND kind = 'PAYOUT_REVERSAL'", line.ID))
}
