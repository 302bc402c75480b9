package payments_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/payments"
	"rihla/models"
)

// took has the gateway take something else than was asked for.
func (b *books) took(t *testing.T, tx models.PaymentTransaction, amount, currency string) models.PaymentTransaction {
	t.Helper()

	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) {
		m := models.MustMoney(amount)
		e.Amount, e.Currency = &m, currency
	}))
	require.Equal(t, models.TransactionFailed, b.Settle(t, tx, time.Now()).Status)

	return b.Transaction(t, tx.ID)
}

// account is the balance of an account.
func (b *books) account(t *testing.T, name string) string {
	t.Helper()

	var balance string

	require.NoError(t, b.DB.QueryRowContext(t.Context(), `SELECT (coalesce(sum(amount) FILTER (WHERE credit_account = $1), 0)
		- coalesce(sum(amount) FILTER (WHERE debit_account = $1), 0))::numeric(14, 2)::text FROM ledger_transfers`, name).Scan(&balance))

	return balance
}

// askBack asks for money in suspense, as the operation does.
func (b *books) askBack(tx models.PaymentTransaction) models.RefundRequest {
	r := models.RefundRequest{
		ID: models.NewID(), TransactionID: tx.ID, Type: models.RefundFull, RequestedBy: &b.Finance.UserID, Role: b.Finance.Role,
	}
	if tx.BookingID != nil {
		r.BookingID = *tx.BookingID
	}

	return r
}

func (b *books) notOrdered(t *testing.T, r models.RefundRequest) error {
	t.Helper()

	_, err := b.Store.Refunds.OrderRefund(t.Context(), r, time.Now())

	return err
}

func TestMoneyOfAnotherAmountIsInSuspense(t *testing.T) {
	t.Parallel()

	for name, taken := range map[string]string{"less": "100.00", "more": "200.00"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			booking := b.Book(t, b.Trip, 1)
			tx := b.took(t, b.Open(t, booking, 1), taken, "SAR")

			require.Nil(t, tx.CapturedAt, "nothing was sold")
			require.True(t, tx.InSuspense())
			require.Equal(t, taken, tx.CapturedAmount.String())
			require.Equal(t, "SAR", *tx.CapturedCurrency)
			require.Equal(t, taken, b.account(t, "suspense:gateway_a"))
			require.Equal(t, "-"+taken, b.account(t, "gateway:gateway_a"))
			require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM incidents WHERE kind = 'AMOUNT_MISMATCH' AND status = 'OPEN'
				AND message LIKE $1`, "Expected 115.00 SAR, the gateway took "+taken+" SAR.%"))
			require.Equal(t, "Expected 115.00 SAR, the gateway took "+taken+" SAR.", b.Settle(t, tx, time.Now()).Mismatch)

			// Nothing more is paid for the booking until that is decided.
			p, err := b.Store.Payments.PayableBooking(t.Context(), booking.ID, time.Now())
			require.NoError(t, err)
			bookstest.RequireCode(t, models.CodePaymentInSuspense, p.Err)
			_, _, err = b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booking, 2, models.MethodCreditCard), time.Now)
			bookstest.RequireCode(t, models.CodePaymentInSuspense, err)

			r := b.askBack(tx)
			require.Equal(t, taken, b.Reserve(t, r).Amount.String())
			require.Equal(t, models.RefundByGateway, b.RefundOf(t, r).Channel)
			b.SettleRefund(t, r, bookstest.Granted(r))

			require.Equal(t, "0.00", b.account(t, "suspense:gateway_a"))
			require.Equal(t, "0.00", b.account(t, "gateway:gateway_a"))
			require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'AMOUNT_MISMATCH' AND refund_id = $1", r.ID))
			require.Zero(t, b.Count(t, "SELECT count(*) FROM financial_records"))

			b.Open(t, booking, 2)
			require.Equal(t, models.BookingPendingPayment, b.BookingNow(t, booking.ID).Status)
		})
	}
}

// No gateway is asked for another currency: finance staff pay it out, and the books keep it apart.
func TestMoneyOfAnotherCurrencyGoesBackByHand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.took(t, b.Open(t, b.Book(t, b.Trip, 1), 1), "115.00", "usd")

	require.Equal(t, models.FailureCurrencyMismatch, *tx.FailureCode)
	require.Equal(t, "USD", *tx.CapturedCurrency)
	require.Equal(t, "115.00", b.account(t, "suspense:gateway_a:USD"))
	require.Equal(t, "0.00", b.account(t, "gateway:gateway_a"), "an account holds one currency")

	r := b.askBack(tx)
	b.Reserve(t, r)

	refund := b.RefundOf(t, r)
	require.Equal(t, models.RefundByHand, refund.Channel)
	require.Equal(t, "USD", refund.Currency)

	b.Decide(t, bookstest.PaidOut(r.ID, "TRF-1"), models.RoleAdmin)
	b.SettleRefund(t, r, models.RefundResult{})

	require.Equal(t, "0.00", b.account(t, "suspense:gateway_a:USD"))
	require.Equal(t, "115.00", b.account(t, "platform:bank:USD"))
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'REFUND_SUCCEEDED' AND data->>'currency' = 'USD'"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM payment_transactions WHERE kind = 'REFUND' AND currency = 'USD' AND vat_amount = 0"))
}

// A refusal of the gateway leaves the money where it is, and asks a person again.
func TestMoneyInSuspenseThatCannotGoBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	tx := b.took(t, b.Open(t, booking, 1), "100.00", "SAR")

	r := b.askBack(tx)
	b.Reserve(t, r)
	b.SettleRefund(t, r, models.RefundResult{Status: models.RefundFailed, FailureReason: "no"})
	require.Equal(t, "100.00", b.account(t, "suspense:gateway_a"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'REFUND_FAILED' AND message LIKE 'The refund of money in suspense failed.%'"))

	part := b.askBack(tx)
	part.Type, part.Amount = models.RefundPartial, bookstest.Amount("1.00")
	bookstest.RequireCode(t, models.CodeBookingNotRefundable, b.notOrdered(t, part))
	require.Equal(t, "100.00", b.Reserve(t, b.askBack(tx)).Amount.String(), "asked for again")
	bookstest.RequireCode(t, models.CodeRefundExceedsRemaining, b.notOrdered(t, b.askBack(tx)))
}

// Money in suspense of a campaign, and of an attempt that had ended: the same.
func TestMoneyInSuspenseOfOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())
	campaign := b.Campaign(t, today, today)
	b.took(t, b.OpenCampaign(t, campaign, 1), "1.00", "SAR")

	p, err := b.Store.Payments.PayableCampaign(t.Context(), campaign, time.Now())
	require.NoError(t, err)
	bookstest.RequireCode(t, models.CodePaymentInSuspense, p.Err)

	require.Equal(t, "1.00", b.account(t, "suspense:wallet_b"))

	late := b.Open(t, b.Book(t, b.Trip, 1), 1)
	b.Report(t, late, models.EventPaymentFailed)
	late = b.took(t, late, "1.00", "SAR")
	require.Equal(t, models.FailureAmountMismatch, *late.FailureCode)
	require.True(t, late.InSuspense())
	require.Equal(t, "1.00", b.account(t, "suspense:gateway_a"))

	// A success about nothing has taken nothing, but what comes after it has.
	nothing := b.took(t, b.Open(t, b.Book(t, b.Trip, 1), 1), "0.00", "SAR")
	require.False(t, nothing.InSuspense(), "nothing was taken")
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM incidents WHERE payment_transaction_id = $1
		AND message LIKE 'Expected 115.00 SAR, the gateway reported 0.00 SAR. %'`, nothing.ID))
	require.Equal(t, "1.00", b.account(t, "suspense:gateway_a"))
	nothing = b.took(t, nothing, "5.00", "SAR")
	require.True(t, nothing.InSuspense())
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM incidents WHERE payment_transaction_id = $1
		AND message LIKE 'Expected 115.00 SAR, the gateway took 5.00 SAR. %'`, nothing.ID), "the incident says what is so now")
	require.Equal(t, "6.00", b.account(t, "suspense:gateway_a"))
	require.Equal(t, "5.00", b.took(t, nothing, "6.00", "SAR").CapturedAmount.String(), "the first counts; the others are in the incident")
	require.Equal(t, "6.00", b.account(t, "suspense:gateway_a"))
}

// Nothing else is paid meanwhile: an attempt that is open beside the money in suspense is closed.
func TestOpenAttemptBesideMoneyInSuspense(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	first := b.Open(t, booking, 1)
	b.Report(t, first, models.EventPaymentFailed)
	second := b.Open(t, booking, 2)

	b.Deliver(t, bookstest.Event(first, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.Amount = bookstest.Amount("1.00") }))

	settled := b.Settle(t, first, time.Now())
	require.Equal(t, second.ID, settled.Sibling)
	require.True(t, settled.NeedsReview)
	require.False(t, settled.RefundOwed, "people decide about it")

	p, err := b.Store.Payments.PayableBooking(t.Context(), booking.ID, time.Now())
	require.NoError(t, err)
	bookstest.RequireCode(t, models.CodePaymentInSuspense, p.Err)

	// What the customer has paid there all the same, in full, is the payment.
	b.Report(t, second, models.EventPaymentSucceeded)
	require.Equal(t, models.BookingConfirmed, b.BookingNow(t, booking.ID).Status)

	bookstest.RequireCode(t, models.CodeInvalidState, b.orderLate(t, first))
	owed, err := b.Store.Refunds.OwedLateMoney(t.Context(), 0, 10, time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, owed)

	r := b.askBack(first)
	b.Reserve(t, r)
	b.SettleRefund(t, r, bookstest.Granted(r))
	require.Equal(t, models.BookingConfirmed, b.BookingNow(t, booking.ID).Status)
}

// An attempt that is being opened when the money comes is not overlooked.
func TestAttemptThatIsOpenedBesideMoneyInSuspense(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	first := b.Open(t, booking, 1)
	b.Report(t, first, models.EventPaymentFailed)
	b.Deliver(t, bookstest.Event(first, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.Amount = bookstest.Amount("1.00") }))

	stall, err := b.DB.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	defer func() { _ = stall.Rollback() }()

	_, err = stall.ExecContext(t.Context(), "SELECT 1 FROM bookings WHERE id = $1 FOR NO KEY UPDATE", booking.ID)
	require.NoError(t, err)

	opened, settled := make(chan error, 1), make(chan models.Settled, 1)

	go func() {
		_, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booking, 2, models.MethodCreditCard), time.Now)
		opened <- err
	}()

	b.awaitLocks(t, 1)

	go func() {
		s, _ := b.Store.Payments.SettlePayment(t.Context(), first.ID, time.Now())
		settled <- s
	}()

	b.awaitLocks(t, 2)
	require.NoError(t, stall.Rollback())
	require.NoError(t, <-opened, "it was there first")

	s := <-settled
	require.NotEmpty(t, s.Mismatch)
	require.NotZero(t, s.Sibling, "and is closed")
}

func (b *books) orderLate(t *testing.T, tx models.PaymentTransaction) error {
	t.Helper()

	_, err := b.Store.Refunds.OrderLateRefund(t.Context(), tx.ID, time.Now())

	return err
}

// Who has paid cannot have it given back to themselves, and what was taken cannot be rewritten.
func TestMoneyInSuspenseIsGuarded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.took(t, b.Open(t, b.Book(t, b.Trip, 1), 1), "100.00", "SAR")

	own := b.askBack(tx)
	own.RequestedBy = &tx.UserID
	bookstest.RequireCode(t, models.CodeForbidden, b.notOrdered(t, own))

	for _, change := range []string{
		"captured_amount = 99", "captured_currency = 'USD'", "suspense_at = now()",
		"captured_amount = NULL, captured_currency = NULL, suspense_at = NULL",
	} {
		_, err := b.DB.ExecContext(t.Context(), "UPDATE payment_transactions SET "+change+" WHERE id = $1", tx.ID)
		require.ErrorContains(t, err, "what a gateway took never changes")
	}

	all, err := b.Store.Payments.Timeline(t.Context(), tx.ID)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(all, func(e payments.TimelineEntry) bool {
		return e.Kind == payments.TimelineLedger &&
			e.Summary == "100.00 was booked into suspense:gateway_a: the gateway took another amount or currency than was asked for"
	}))
}
