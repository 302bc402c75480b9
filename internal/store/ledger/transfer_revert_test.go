package ledger_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// reverter is another user than the one who marks payouts.
func (b *books) reverter() db.Actor {
	return db.Actor{UserID: b.Users[models.RoleAdmin].ID, Role: models.RoleAdmin}
}

func (b *books) mark(t *testing.T, id uuid.UUID) models.FinancialRecord {
	t.Helper()

	r, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, id, ledger.MarkTransfer{})
	require.NoError(t, err)

	return r
}

func (b *books) revert(t *testing.T, id uuid.UUID) models.FinancialRecord {
	t.Helper()

	r, err := b.Store.Ledger.RevertTransferred(t.Context(), b.reverter(), id, ledger.RevertTransfer{Reason: "The bank returned it."})
	require.NoError(t, err)
	require.Equal(t, models.BalanceInCurrent, r.BalanceStatus)
	require.Nil(t, r.TransferredAt)
	require.Nil(t, r.PayoutReference)
	require.Nil(t, r.PayoutDate)

	return r
}

// onlyEntry is the entry of a payment of which the condition holds.
func (b *books) onlyEntry(t *testing.T, tx models.PaymentTransaction, holds func(models.FinancialRecord) bool) models.FinancialRecord {
	t.Helper()

	var found []models.FinancialRecord

	for _, r := range b.Records(t, tx) {
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

	got, err := b.Store.Ledger.ProviderBalance(t.Context(), b.Provider.ID, nil)
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
		_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, r.ID, ledger.MarkTransfer{Date: &day})
		bookstest.RequireInvalid(t, err, "payout_date", name)

		_, err = b.Store.Ledger.MarkAllTransferred(t.Context(), b.Finance, ledger.MarkTransfers{IDs: []uuid.UUID{r.ID}, Date: &day})
		bookstest.RequireInvalid(t, err, "payout_date", name)
	}

	require.Zero(t, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT'"))

	_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, r.ID, ledger.MarkTransfer{Date: &today})
	require.NoError(t, err)
}

// A mark is taken back, made again and taken back again: each leaves its transfer, and the balance is what it was.
func TestRevertTransfer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	line := b.Records(t, tx)[0]

	for n := range 2 {
		marked := b.mark(t, line.ID)

		_, err := b.Store.Ledger.RevertTransferred(t.Context(), b.Finance, line.ID, ledger.RevertTransfer{Reason: "My own mistake."})
		bookstest.RequireCode(t, models.CodeForbidden, err)

		b.revert(t, line.ID)
		payable, paidOut := b.balanceOf(t)
		require.Equal(t, []string{"103.50", "0.00"}, []string{payable, paidOut})
		require.Equal(t, n+1, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT_REVERSAL' AND record_id = $1", line.ID))
		require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM payout_reversals WHERE record_id = $1 AND n = $2 AND transferred_at = $3
			AND transferred_by = $4 AND reverted_by = $5 AND reason = 'The bank returned it.'`,
			line.ID, n+1, marked.TransferredAt, b.Finance.UserID, b.reverter().UserID))
	}

	balance, err := b.Store.Ledger.ProviderBalance(t.Context(), b.Provider.ID, nil)
	require.NoError(t, err)
	require.Nil(t, balance.LastPayout, "a payout that was taken back never was")

	_, err = b.Store.Ledger.RevertTransferred(t.Context(), b.reverter(), line.ID, ledger.RevertTransfer{Reason: "Once more."})
	bookstest.RequireCode(t, models.CodeInvalidState, err)
	_, err = b.Store.Ledger.RevertTransferred(t.Context(), b.reverter(), models.NewID(), ledger.RevertTransfer{Reason: "Unknown."})
	bookstest.RequireCode(t, models.CodeNotFound, err)

	entries, err := b.Store.Payments.Timeline(t.Context(), tx.ID)
	require.NoError(t, err)

	told := map[string]int{}
	for _, e := range entries {
		told[e.Summary]++
	}

	require.Equal(t, 2, told["Ledger entry "+line.TransactionNumber+" was paid out to the provider"])
	require.Equal(t, 2, told["The payout mark of ledger entry "+line.TransactionNumber+" was taken back"])
}

// The database itself keeps a mark that nothing reverses, and what was reversed.
func TestTheDatabaseKeepsMarks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	line := b.Records(t, b.Paid(t, 1))[0]
	b.mark(t, line.ID)

	refused := func(statement string) {
		t.Helper()

		_, err := b.DB.ExecContext(t.Context(), statement)
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
	b := setup(t)
	tx := b.Paid(t, 1)
	whole := b.mark(t, b.Records(t, tx)[0].ID)
	b.GiveBack(t, tx, "38.33")

	rest, clawback := b.onlyEntry(t, tx, isLive), b.onlyEntry(t, tx, isClawback)

	_, err := b.Store.Ledger.RevertTransferred(t.Context(), b.reverter(), whole.ID, ledger.RevertTransfer{Reason: "The wrong line."})
	bookstest.RequireCode(t, models.CodeInvalidState, err)
	_, err = b.Store.Ledger.RevertTransferred(t.Context(), b.Finance, rest.ID, ledger.RevertTransfer{Reason: "My own mistake."})
	bookstest.RequireCode(t, models.CodeForbidden, err)

	b.revert(t, rest.ID)

	netted := b.onlyEntry(t, tx, isClawback)
	require.Equal(t, models.BalanceTransferred, netted.BalanceStatus)
	require.Equal(t, rest.TransactionNumber, *netted.PayoutReference)
	require.Equal(t, rest.ID, *netted.NettedAgainst)

	payable, paidOut := b.balanceOf(t)
	require.Equal(t, []string{"69.00", "0.00"}, []string{payable, paidOut})
	b.RequireBooks(t)

	_, err = b.Store.Ledger.RevertTransferred(t.Context(), b.Finance, clawback.ID, ledger.RevertTransfer{Reason: "No."})
	bookstest.RequireCode(t, models.CodeInvalidState, err)

	b.mark(t, rest.ID)
	b.GiveBack(t, tx, "20.00")
	b.revert(t, b.onlyEntry(t, tx, isLive).ID)
	b.RequireBooks(t)

	payable, paidOut = b.balanceOf(t)
	require.Equal(t, []string{"51.00", "0.00"}, []string{payable, paidOut})
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM financial_records WHERE netted_against IS NOT NULL"))
}

// A claw-back that was part of another payout has to be taken out of that first.
func TestRevertTransferAfterItsClawbackWasSettled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	b.mark(t, b.Records(t, tx)[0].ID)
	b.GiveBack(t, tx, "38.33")

	rest, clawback := b.onlyEntry(t, tx, isLive), b.mark(t, b.onlyEntry(t, tx, isClawback).ID)

	_, err := b.Store.Ledger.RevertTransferred(t.Context(), b.reverter(), rest.ID, ledger.RevertTransfer{Reason: "Returned."})
	bookstest.RequireCode(t, models.CodeInvalidState, err)

	var e *models.Error

	require.ErrorAs(t, err, &e)
	require.Equal(t, []string{clawback.ID.String()}, e.EnglishDetails()["ids"])

	b.revert(t, clawback.ID)
	b.revert(t, rest.ID)
	b.RequireBooks(t)

	payable, paidOut := b.balanceOf(t)
	require.Equal(t, []string{"69.00", "0.00"}, []string{payable, paidOut})
}

// Marks, their reversals and refunds of one payment at once: nothing deadlocks, and the books hold at the end.
func TestRevertTransferRacesRefundsAndMarks(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 5 {
		tx := b.Paid(t, 2)
		b.mark(t, b.Records(t, tx)[0].ID)

		errs := make([]error, 18)

		bookstest.Parallel(len(errs), func(i int) {
			switch i % 3 {
			case 0:
				r := b.Ask(tx, "15.00")
				if _, errs[i] = b.Store.Refunds.OrderRefund(t.Context(), r, time.Now()); errs[i] == nil {
					_, errs[i] = b.Store.Refunds.SettleRefund(t.Context(), r.ID, bookstest.Granted(r), time.Now())
				}
			default:
				lines, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{BookingID: *tx.BookingID})
				errs[i] = err

				for _, line := range lines.Items {
					if i%3 == 1 {
						_, errs[i] = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, line.ID, ledger.MarkTransfer{})
					} else {
						_, errs[i] = b.Store.Ledger.RevertTransferred(t.Context(), b.reverter(), line.ID, ledger.RevertTransfer{Reason: "By mistake."})
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
	}
}
