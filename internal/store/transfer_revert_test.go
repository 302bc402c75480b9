package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

// reverter is somebody else than who marks payouts.
func (b *testBundle) reverter() store.Actor {
	return store.Actor{UserID: b.Users[models.RoleAdmin].ID, Role: models.RoleAdmin}
}

func (b *books) mark(t *testing.T, id uuid.UUID) models.FinancialRecord {
	t.Helper()

	r, err := b.s.MarkTransferred(t.Context(), id, store.MarkTransfer{}, b.finance)
	require.NoError(t, err)

	return r
}

func (b *books) revert(t *testing.T, id uuid.UUID) models.FinancialRecord {
	t.Helper()

	r, err := b.s.RevertTransferred(t.Context(), b.reverter(), id, store.RevertTransfer{Reason: "The bank returned it."})
	require.NoError(t, err)
	require.Equal(t, models.BalanceInCurrent, r.BalanceStatus)
	require.Nil(t, r.TransferredAt)
	require.Nil(t, r.PayoutReference)
	require.Nil(t, r.PayoutDate)

	return r
}

// onlyLine is the line of a payment of which the condition holds.
func (b *books) onlyLine(t *testing.T, tx models.PaymentTransaction, holds func(models.FinancialRecord) bool) models.FinancialRecord {
	t.Helper()

	var found []models.FinancialRecord

	for _, r := range b.records(t, tx) {
		if holds(r) {
			found = append(found, r)
		}
	}

	require.Len(t, found, 1)

	return found[0]
}

func isClawback(r models.FinancialRecord) bool { return r.Kind == models.RecordClawback }

func isLive(r models.FinancialRecord) bool {
	return r.Kind != models.RecordClawback && r.BalanceStatus != models.BalanceRefunded
}

func (b *books) balanceOf(t *testing.T) (payable, paidOut string) {
	t.Helper()

	got, err := b.s.ProviderBalance(t.Context(), b.Provider.ID, nil)
	require.NoError(t, err)

	return got.Payable.String(), got.PaidOut.String()
}

func TestAPayoutOnAnImpossibleDay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.sale(t, 1)
	today := models.DateIn(time.Now())

	for name, day := range map[string]models.Date{
		"must not be in the future": today.AddDays(1),
		"must not be before the date of record " + r.TransactionNumber + ", " + r.RecordDate.String(): r.RecordDate.AddDays(-1),
	} {
		_, err := b.s.MarkTransferred(t.Context(), r.ID, store.MarkTransfer{Date: &day}, b.finance)
		requireInvalid(t, err, "payout_date", name)

		_, err = b.s.MarkAllTransferred(t.Context(), store.MarkTransfers{IDs: []uuid.UUID{r.ID}, Date: &day}, b.finance)
		requireInvalid(t, err, "payout_date", name)
	}

	require.Zero(t, b.count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT'"))

	_, err := b.s.MarkTransferred(t.Context(), r.ID, store.MarkTransfer{Date: &today}, b.finance)
	require.NoError(t, err)
}

func requireInvalid(t *testing.T, err error, field, says string) {
	t.Helper()
	requireCode(t, models.CodeValidation, err)

	var e *models.Error

	require.ErrorAs(t, err, &e)
	require.Equal(t, map[string][]string{field: {says}}, e.Details)
}

// A mark is taken back, made again and taken back again: each leaves its transfer, and the balance is what it was.
func TestRevertTransfer(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paid(t, 1)
	line := b.records(t, tx)[0]

	for n := range 2 {
		marked := b.mark(t, line.ID)

		_, err := b.s.RevertTransferred(t.Context(), b.finance, line.ID, store.RevertTransfer{Reason: "My own mistake."})
		requireCode(t, models.CodeForbidden, err)

		b.revert(t, line.ID)
		payable, paidOut := b.balanceOf(t)
		require.Equal(t, []string{"103.50", "0.00"}, []string{payable, paidOut})
		require.Equal(t, n+1, b.count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT_REVERSAL' AND record_id = $1", line.ID))
		require.Equal(t, 1, b.count(t, `SELECT count(*) FROM payout_reversals WHERE record_id = $1 AND n = $2 AND transferred_at = $3
			AND transferred_by = $4 AND reverted_by = $5 AND reason = 'The bank returned it.'`,
			line.ID, n+1, marked.TransferredAt, b.finance.UserID, b.reverter().UserID))
		b.requireIdentities(t)
	}

	balance, err := b.s.ProviderBalance(t.Context(), b.Provider.ID, nil)
	require.NoError(t, err)
	require.Nil(t, balance.LastPayout, "a payout that was taken back never was")

	_, err = b.s.RevertTransferred(t.Context(), b.reverter(), line.ID, store.RevertTransfer{Reason: "Once more."})
	requireCode(t, models.CodeInvalidState, err)
	_, err = b.s.RevertTransferred(t.Context(), b.reverter(), models.NewID(), store.RevertTransfer{Reason: "Unknown."})
	requireCode(t, models.CodeNotFound, err)

	entries, err := b.s.Timeline(t.Context(), tx.ID)
	require.NoError(t, err)

	told := map[string]int{}
	for _, e := range entries {
		told[e.Summary]++
	}

	require.Equal(t, 2, told["Ledger line "+line.TransactionNumber+" was paid out to the provider"])
	require.Equal(t, 2, told["The payout mark of ledger line "+line.TransactionNumber+" was taken back"])
}

// The database itself keeps a mark that nothing reverses, and what was reversed.
func TestTheDatabaseKeepsMarks(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	line := b.records(t, b.paid(t, 1))[0]
	b.mark(t, line.ID)

	refused := func(statement string) {
		t.Helper()

		_, err := b.db.ExecContext(t.Context(), statement)
		require.Error(t, err, statement)
	}

	refused("UPDATE financial_records SET balance_status = 'IN_CURRENT_BALANCE', transferred_at = NULL")
	b.revert(t, line.ID)
	refused("UPDATE payout_reversals SET reason = 'x'")
	refused("DELETE FROM payout_reversals")
	refused("TRUNCATE payout_reversals")
}

// A part that was refunded under the mark was never paid out either: its claw-back is owed no more.
func TestRevertTransferAfterARefund(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paid(t, 1)
	whole := b.mark(t, b.records(t, tx)[0].ID)
	b.giveBack(t, tx, "38.33")

	rest, clawback := b.onlyLine(t, tx, isLive), b.onlyLine(t, tx, isClawback)

	_, err := b.s.RevertTransferred(t.Context(), b.reverter(), whole.ID, store.RevertTransfer{Reason: "The wrong line."})
	requireCode(t, models.CodeInvalidState, err)
	_, err = b.s.RevertTransferred(t.Context(), b.finance, rest.ID, store.RevertTransfer{Reason: "My own mistake."})
	requireCode(t, models.CodeForbidden, err)

	b.revert(t, rest.ID)

	netted := b.onlyLine(t, tx, isClawback)
	require.Equal(t, models.BalanceTransferred, netted.BalanceStatus)
	require.Equal(t, rest.TransactionNumber, *netted.PayoutReference)
	require.Equal(t, rest.ID, *netted.NettedAgainst)

	payable, paidOut := b.balanceOf(t)
	require.Equal(t, []string{"69.00", "0.00"}, []string{payable, paidOut})
	b.requireIdentities(t)

	_, err = b.s.RevertTransferred(t.Context(), b.finance, clawback.ID, store.RevertTransfer{Reason: "No."})
	requireCode(t, models.CodeInvalidState, err)

	b.mark(t, rest.ID)
	b.giveBack(t, tx, "20.00")
	b.revert(t, b.onlyLine(t, tx, isLive).ID)
	b.requireIdentities(t)

	payable, paidOut = b.balanceOf(t)
	require.Equal(t, []string{"51.00", "0.00"}, []string{payable, paidOut})
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM financial_records WHERE netted_against IS NOT NULL"))
}

// A claw-back that was part of another payout has to be taken out of that first.
func TestRevertTransferAfterItsClawbackWasSettled(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paid(t, 1)
	b.mark(t, b.records(t, tx)[0].ID)
	b.giveBack(t, tx, "38.33")

	rest, clawback := b.onlyLine(t, tx, isLive), b.mark(t, b.onlyLine(t, tx, isClawback).ID)

	_, err := b.s.RevertTransferred(t.Context(), b.reverter(), rest.ID, store.RevertTransfer{Reason: "Returned."})
	requireCode(t, models.CodeInvalidState, err)

	var e *models.Error

	require.ErrorAs(t, err, &e)
	require.Equal(t, []string{clawback.ID.String()}, e.Details["ids"])

	b.revert(t, clawback.ID)
	b.revert(t, rest.ID)
	b.requireIdentities(t)

	payable, paidOut := b.balanceOf(t)
	require.Equal(t, []string{"69.00", "0.00"}, []string{payable, paidOut})
}

// Marks, their reversals and refunds of one payment at once: nothing deadlocks, and the books hold at the end.
func TestRevertTransferRacesRefundsAndMarks(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	for range 5 {
		tx := b.paid(t, 2)
		b.mark(t, b.records(t, tx)[0].ID)

		errs := make([]error, 18)

		parallel(len(errs), func(i int) {
			switch i % 3 {
			case 0:
				r := b.ask(tx, "15.00")
				if _, errs[i] = b.s.OrderRefund(t.Context(), r, time.Now()); errs[i] == nil {
					_, errs[i] = b.s.SettleRefund(t.Context(), r.ID, granted(r), time.Now())
				}
			default:
				lines, err := b.s.ListRecords(t.Context(), store.RecordFilter{BookingID: *tx.BookingID})
				errs[i] = err

				for _, line := range lines.Items {
					if i%3 == 1 {
						_, errs[i] = b.s.MarkTransferred(t.Context(), line.ID, store.MarkTransfer{}, b.finance)
					} else {
						_, errs[i] = b.s.RevertTransferred(t.Context(), b.reverter(), line.ID, store.RevertTransfer{Reason: "By mistake."})
					}

					unlucky := []models.Code{models.CodeInvalidState, models.CodeRecordNotTransferable, models.CodeForbidden}
					if slices.Contains(unlucky, models.CodeOf(errs[i])) {
						errs[i] = nil
					}
				}
			}
		})

		for _, err := range errs {
			require.NoError(t, err)
		}

		b.requireIdentities(t)
	}
}
