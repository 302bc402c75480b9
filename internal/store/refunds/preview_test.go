package refunds_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// line is what a preview shows of a ledger entry, and what is kept of it afterwards.
type line struct {
	Kind                              models.RecordKind
	State                             models.BalanceStatus
	Gross, Commission, Net, VAT, Back string
}

func lineOf(r *models.FinancialRecord) line {
	return line{
		r.Kind, r.BalanceStatus, r.GrossAmount.String(), r.PlatformCommissionAmount.String(), r.NetAmount.String(), r.VATAmount.String(),
		r.RefundedAmount.String(),
	}
}

type moved struct {
	Kind          models.TransferKind
	Debit, Credit models.Account
	Amount        string
}

// transfersOf are those of a refund, by their ids.
func (b *books) transfersOf(t *testing.T, refund uuid.UUID) []moved {
	t.Helper()

	rows, err := b.DB.QueryContext(t.Context(), "SELECT kind, debit_account, credit_account, amount FROM ledger_transfers WHERE refund_id = $1", refund)
	require.NoError(t, err)

	defer rows.Close()

	var all []moved

	for rows.Next() {
		var m moved
		require.NoError(t, rows.Scan(&m.Kind, &m.Debit, &m.Credit, &m.Amount))
		all = append(all, m)
	}

	require.NoError(t, rows.Err())

	return all
}

func paidFor(seats int) func(*testing.T, *books) models.PaymentTransaction {
	return func(t *testing.T, b *books) models.PaymentTransaction {
		t.Helper()

		return b.Paid(t, seats)
	}
}

// A preview writes nothing, and says what the refund then does.
func TestPreviewIsWhatTheRefundDoes(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name   string
		paid   func(t *testing.T, b *books) models.PaymentTransaction
		amount string // empty: all
		policy bool
		lines  int
		freed  int
	}{
		{"a part", paidFor(1), "38.33", false, 2, 0},
		{"all", paidFor(2), "", false, 1, 2},
		{"by the policy", paidFor(1), "", true, 1, 1},
		{
			"the last of it", func(t *testing.T, b *books) models.PaymentTransaction {
				t.Helper()

				tx := b.Paid(t, 1)
				b.GiveBack(t, tx, "0.01")

				return tx
			}, "114.99", false, 1, 1,
		},
		{
			"after the payout", func(t *testing.T, b *books) models.PaymentTransaction {
				t.Helper()

				tx := b.Paid(t, 1)
				_, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, b.Records(t, tx)[0].ID, ledger.MarkTransfer{})
				require.NoError(t, err)

				return tx
			}, "50", false, 3, 0,
		},
		{
			"late money", func(t *testing.T, b *books) models.PaymentTransaction {
				t.Helper()

				tx := b.Lapsed(t, b.InsertTrip(t, 1, nil), 1)
				b.Exec(t, "UPDATE trips SET status = 'CANCELLED'")
				b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
				b.Settle(t, tx, time.Now())

				return tx
			}, "", false, 0, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			tx := c.paid(t, b)

			r := b.Ask(tx, c.amount)
			if c.policy {
				r = b.ByPolicy(tx)
			}

			before, was := b.Fingerprint(t), b.BookingNow(t, *tx.BookingID).Status

			p, err := b.Store.Refunds.PreviewRefund(t.Context(), r, time.Now())
			require.NoError(t, err)
			require.Equal(t, before, b.Fingerprint(t), "nothing is written")
			require.Equal(t, was, p.Booking)
			require.Equal(t, c.freed, p.SeatsFreed)

			var want []line

			if p.Line != nil {
				for _, l := range []*models.FinancialRecord{&p.Split.Refunded, p.Split.Rest, p.Split.Clawback} {
					if l != nil {
						want = append(want, lineOf(l))
					}
				}
			}

			require.Len(t, want, c.lines)

			transfers := make([]moved, 0, len(p.Split.Transfers))
			for _, m := range p.Split.Transfers {
				transfers = append(transfers, moved{m.Kind, m.DebitAccount, m.CreditAccount, m.Amount.String()})
			}

			known := map[uuid.UUID]bool{}
			for _, l := range b.Records(t, tx) {
				known[l.ID] = l.BalanceStatus == models.BalanceRefunded // is not touched again
			}

			reserved := b.Reserve(t, r)
			require.Equal(t, reserved.Amount, p.Amount)
			require.Equal(t, reserved.Channel, p.Channel)
			require.Equal(t, reserved.PolicyPercent, p.PolicyPercent)
			require.Equal(t, reserved.ApprovalPending, p.NeedsApproval)
			now := b.Transaction(t, tx.ID)
			require.Equal(t, now.Remaining().String(), p.Remaining.String())

			b.SettleRefund(t, r, bookstest.Granted(r))

			var got []line

			for _, l := range b.Records(t, tx) {
				if !known[l.ID] {
					got = append(got, lineOf(&l))
				}
			}

			require.ElementsMatch(t, want, got)
			require.ElementsMatch(t, transfers, b.transfersOf(t, r.ID))
			require.Equal(t, p.BookingAfter, b.BookingNow(t, *tx.BookingID).Status)
		})
	}
}

// What cannot be ordered cannot be previewed.
func TestPreviewRefusesWhatTheRefundWould(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)

	refused := func(want models.Code, r models.RefundRequest) {
		t.Helper()

		_, err := b.Store.Refunds.PreviewRefund(t.Context(), r, time.Now())
		bookstest.RequireCode(t, want, err)
	}

	refused(models.CodeRefundExceedsRemaining, b.Ask(tx, "115.01"))
	refused(models.CodeValidation, b.Ask(tx, "0.00"))

	own := b.Ask(tx, "")
	own.RequestedBy = &tx.UserID
	refused(models.CodeForbidden, own)

	gone := b.Ask(tx, "")
	gone.BookingID = uuid.New()
	refused(models.CodeNotFound, gone)

	other := b.Ask(tx, "")
	other.TransactionID = b.Paid(t, 1).ID
	refused(models.CodeValidation, other)

	unpaid := b.Ask(tx, "")
	unpaid.BookingID = b.Book(t, b.Trip, 1).ID
	refused(models.CodeBookingNotRefundable, unpaid)

	b.Reserve(t, b.Ask(tx, "100"))
	refused(models.CodeRefundExceedsRemaining, b.Ask(tx, "15.01"))

	b.GiveBack(t, tx, "15")

	late := b.ByPolicy(tx)
	_, err := b.Store.Refunds.PreviewRefund(t.Context(), late, b.Trip.DepartureAt)
	bookstest.RequireCode(t, models.CodeBookingNotRefundable, err)
}

// The preview says that a second person will be asked, by the same sum as the order.
func TestPreviewSaysWhatNeedsApproval(t *testing.T) {
	t.Parallel()

	own := models.DefaultPolicies()
	own.Approval.Above = models.MustMoney("100.00")
	b := setup(t, own)
	tx := b.Paid(t, 1)

	for _, c := range []struct {
		amount string
		needs  bool
	}{{"60", false}, {"40.01", true}, {"40", false}, {"0.01", true}} {
		r := b.Ask(tx, c.amount)
		p, err := b.Store.Refunds.PreviewRefund(t.Context(), r, time.Now())
		require.NoError(t, err)
		require.Equal(t, c.needs, p.NeedsApproval, c.amount)

		if !c.needs {
			require.False(t, b.Reserve(t, r).ApprovalPending)
		}
	}
}

// What was previewed is what is ordered, or nothing is: the amount may be another one by then, of the policy or of what is left.
func TestRefundOfAnotherAmountThanExpected(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	early, late := b.Trip.DepartureAt.Add(-72*time.Hour), b.Trip.DepartureAt.Add(-71*time.Hour)

	r := b.ByPolicy(tx)
	p, err := b.Store.Refunds.PreviewRefund(t.Context(), r, early)
	require.NoError(t, err)
	require.Equal(t, "115.00", p.Amount.String())

	r.Expected, r.TransactionID = &p.Amount, p.TransactionID
	before := b.Fingerprint(t)

	_, err = b.Store.Refunds.OrderRefund(t.Context(), r, late)
	bookstest.RequireCode(t, models.CodeRefundAmountChanged, err)
	require.Equal(t, map[string][]string{"expected_amount": {"would be 57.50 now"}}, models.RefundAmountChanged(models.MustMoney("57.50")).EnglishDetails())
	require.ErrorContains(t, err, "another amount")
	require.Equal(t, before, b.Fingerprint(t), "nothing is ordered")

	full := b.Ask(tx, "")
	full.Expected = new(models.MustMoney("114.99"))
	_, err = b.Store.Refunds.OrderRefund(t.Context(), full, late)
	bookstest.RequireCode(t, models.CodeRefundAmountChanged, err)

	ordered, err := b.Store.Refunds.OrderRefund(t.Context(), r, early)
	require.NoError(t, err)
	require.Equal(t, "115.00", ordered.Amount.String())
	require.True(t, ordered.JustOrdered)

	// The same request again is that order, whatever it would come to now.
	again, err := b.Store.Refunds.OrderRefund(t.Context(), r, late)
	require.NoError(t, err)
	require.False(t, again.JustOrdered)

	ordered.JustOrdered = false
	require.Equal(t, ordered, again)
}
