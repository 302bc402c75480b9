package payments_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/payments"
	"rihla/internal/store/refunds"
	"rihla/models"
)

const settledBy, paidAgainBy = "8ac7a49f000000000000000000000001", "8ac7a49f000000000000000000000002"

// settledWith is a payment of 575.00 that the gateway's payment settledBy has settled.
func (b *books) settledWith(t *testing.T) models.PaymentTransaction {
	t.Helper()

	tx := b.Open(t, b.Book(t, b.InsertTrip(t, 9, nil), 5), 1)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.GatewayPaymentID = settledBy }))
	require.Equal(t, models.TransactionPaid, b.Settle(t, tx, time.Now()).Status)

	return b.Transaction(t, tx.ID)
}

// again is what the gateway says of the second payment.
func again(amount, currency string) []payments.SecondDebit {
	at := time.Now()

	return []payments.SecondDebit{{GatewayPaymentID: paidAgainBy, Amount: models.MustMoney(amount), Currency: currency, TakenAt: &at}}
}

func (b *books) noted(t *testing.T, payment uuid.UUID, said []payments.SecondDebit) []uuid.UUID {
	t.Helper()

	added, err := b.Store.Payments.NoteSecondDebits(t.Context(), payment, said)
	require.NoError(t, err)

	return added
}

// TestPaidTwice: 575.00 are taken once more for a checkout that was settled. They are owed, and go back; what was paid first stays as it
// is, for everyone who looks at it.
func TestPaidTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.settledWith(t)
	require.Equal(t, "575.00", tx.Amount.String())

	stored := b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.GatewayPaymentID = paidAgainBy }))
	require.True(t, stored.Duplicate)
	require.True(t, stored.Ask, "the gateway is asked")
	require.NotNil(t, b.Transaction(t, tx.ID).RecheckAt)
	require.Equal(t, settledBy, *b.Transaction(t, tx.ID).GatewayPaymentID)

	added := b.noted(t, tx.ID, again("575.00", "sar"))
	require.Equal(t, []uuid.UUID{models.SecondDebitID(tx.ID, paidAgainBy)}, added)
	b.RequireBooks(t)

	d := b.Transaction(t, added[0])
	require.Equal(t, models.KindSecondDebit, d.Kind)
	require.Equal(t, models.TransactionFailed, d.Status)
	require.Equal(t, models.FailurePaidTwice, *d.FailureCode)
	require.True(t, d.CameTooLate())
	require.Equal(t, "575.00", d.Remaining().String())
	require.Equal(t, "0.00", d.VATAmount.String(), "it has paid for nothing")
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM ledger_transfers WHERE transaction_id = $1 AND kind = 'LATE_CAPTURE'
		AND debit_account = 'gateway:gateway_a' AND credit_account = 'customer:refunds' AND amount = 575`, d.ID))

	incidents := b.Incidents(t)
	require.Len(t, incidents, 1)
	require.Equal(t, models.IncidentLatePayment, incidents[0].Kind)
	require.Contains(t, incidents[0].Message, "Paid twice: the gateway took 575.00 SAR again")
	require.Equal(t, d.ID, *incidents[0].PaymentTransactionID)

	due, err := b.Store.Refunds.OrderLateRefund(t.Context(), d.ID, time.Now())
	require.NoError(t, err)
	require.Equal(t, "575.00", due.Amount.String())
	require.Equal(t, models.RefundByGateway, due.Channel)

	given := models.RefundRequest{ID: due.ID, TransactionID: d.ID, Type: models.RefundFull}
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, given, bookstest.Granted(given)).Status)
	require.Equal(t, "575.00", b.Transaction(t, d.ID).RefundedAmount.String())
	b.RequireBooks(t)

	require.Equal(t, models.BookingConfirmed, b.BookingNow(t, *tx.BookingID).Status)
	require.Equal(t, "0.00", b.Transaction(t, tx.ID).RefundedAmount.String())
	require.Len(t, b.Records(t, tx), 1)

	status, err := b.PaymentStatus(t, *tx.BookingID, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.TransactionPaid, status.PaymentStatus)
	require.Equal(t, tx.ID, *status.TransactionID)

	payable, err := b.Store.Payments.PayableBooking(t.Context(), *tx.BookingID, time.Now())
	require.NoError(t, err)
	require.Equal(t, 2, payable.Next, "a debit is no attempt")

	quote, err := b.Store.Refunds.RefundQuote(t.Context(), b.Finance.UserID, *tx.BookingID, time.Now())
	require.NoError(t, err)
	require.Equal(t, "575.00", quote.Remaining.String(), "of what was paid first")
}

// TestPaidTwiceIsBookedOnce, however often and by however many at once the gateway is heard to say it.
func TestPaidTwiceIsBookedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.settledWith(t)

	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		added []uuid.UUID
	)

	for range 8 {
		wait.Go(func() {
			ids, err := b.Store.Payments.NoteSecondDebits(t.Context(), tx.ID, again("575.00", "SAR"))
			if err == nil {
				for _, id := range ids {
					_, err = b.Store.Refunds.OrderLateRefund(t.Context(), id, time.Now())
				}
			}

			mu.Lock()
			defer mu.Unlock()

			require.NoError(t, err)

			added = append(added, ids...)
		})
	}

	wait.Wait()
	require.Len(t, added, 1)
	require.Empty(t, b.noted(t, tx.ID, again("575.00", "SAR")))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM payment_transactions WHERE kind = 'SECOND_DEBIT'"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM refunds"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents"))

	// What settled the payment is none, however the gateway names it.
	settled := again("575.00", "SAR")
	settled[0].GatewayPaymentID = settledBy
	require.Empty(t, b.noted(t, tx.ID, settled))
}

// TestPaidTwiceIsOwedAfterACrash: the process is killed between the debit and the order of its refund. The sweep finds it.
func TestPaidTwiceIsOwedAfterACrash(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.settledWith(t)
	debit := b.noted(t, tx.ID, again("575.00", "SAR"))[0]

	owed, err := b.Store.Refunds.OwedLateMoney(t.Context(), time.Minute, 10, time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{debit}, owed)

	_, err = b.Store.Refunds.OrderLateRefund(t.Context(), debit, time.Now())
	require.NoError(t, err)

	owed, err = b.Store.Refunds.OwedLateMoney(t.Context(), time.Minute, 10, time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, owed)
	require.Equal(t, refunds.LateRefundID(debit), b.RefundOf(t, models.RefundRequest{ID: refunds.LateRefundID(debit)}).ID)
}

// TestPaidTwiceBeforeItSettles: the second message may come while the first is not settled. Nothing is booked then, and the gateway is
// asked as soon as it is.
func TestPaidTwiceBeforeItSettles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.InsertTrip(t, 9, nil), 5), 1)

	require.Empty(t, b.noted(t, tx.ID, again("575.00", "SAR")), "of an attempt that is open nothing is known")

	for _, id := range []string{settledBy, paidAgainBy} {
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.GatewayPaymentID = id }))
	}

	require.Equal(t, models.TransactionPaid, b.Settle(t, tx, time.Now()).Status)
	require.NotNil(t, b.Transaction(t, tx.ID).RecheckAt)
	require.Len(t, b.noted(t, tx.ID, again("575.00", "SAR")), 1)

	// Companies without ids of payments say the same words again; the gateway knows whether it means the same money.
	plain := b.Open(t, b.Book(t, b.InsertTrip(t, 9, nil), 5), 1)
	for range 2 {
		b.Deliver(t, bookstest.Event(plain, models.EventPaymentSucceeded, nil))
	}

	require.Equal(t, models.TransactionPaid, b.Settle(t, plain, time.Now()).Status)
	require.NotNil(t, b.Transaction(t, plain.ID).RecheckAt)
}

// TestPaidTwiceInAnotherCurrency: no gateway is asked to give it back. It is in suspense until a person does.
func TestPaidTwiceInAnotherCurrency(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.settledWith(t)
	d := b.Transaction(t, b.noted(t, tx.ID, again("150.00", "USD"))[0])
	require.True(t, d.InSuspense())
	require.Equal(t, models.RefundByHand, d.RefundChannel())

	incidents := b.Incidents(t)
	require.Len(t, incidents, 1)
	require.Equal(t, models.IncidentCurrencyMismatch, incidents[0].Kind)
	require.Contains(t, incidents[0].Message, "150.00 USD")
	require.Equal(t, models.BookingConfirmed, b.BookingNow(t, *tx.BookingID).Status)
}

// TestCampaignPaidTwice: a campaign stays what it is, and its attempts are counted as before.
func TestCampaignPaidTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())
	campaign := b.Campaign(t, today, today.AddDays(7))
	tx := b.OpenCampaign(t, campaign, 1)
	b.Report(t, tx, models.EventPaymentSucceeded)

	d := b.Transaction(t, b.noted(t, tx.ID, again(tx.Amount.String(), "SAR"))[0])
	require.Equal(t, campaign, *d.AdCampaignID)
	require.True(t, d.CameTooLate())

	due, err := b.Store.Refunds.OrderLateRefund(t.Context(), d.ID, time.Now())
	require.NoError(t, err)

	given := models.RefundRequest{ID: due.ID, TransactionID: d.ID, Type: models.RefundFull}
	require.Equal(t, models.RefundSucceeded, b.SettleRefund(t, given, bookstest.Granted(given)).Status)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ad_campaigns WHERE id = $1 AND status = 'ACTIVE'", campaign))

	payable, err := b.Store.Payments.PayableCampaign(t.Context(), campaign, time.Now())
	require.NoError(t, err)
	require.Equal(t, 2, payable.Next)
}

// TestPaidTwiceInSuspense: earlier drivers told both payments as one sum, which is in suspense. It is not booked again; what came beside
// other money in suspense is.
func TestPaidTwiceInSuspense(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for took, news := range map[string]int{"1150.00": 0, "576.00": 1} {
		tx := b.Open(t, b.Book(t, b.InsertTrip(t, 9, nil), 5), 1)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) {
			amount := models.MustMoney(took)
			e.Amount = &amount
		}))
		require.Equal(t, models.FailureAmountMismatch, b.Settle(t, tx, time.Now()).Failure)
		require.Len(t, b.noted(t, tx.ID, again("575.00", "SAR")), news, took)
	}
}

// A card's checkout that is paid once more from a bank: the second amount goes back by a manual payout, as it came.
func TestPaidTwiceByAnotherMethod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.settledWith(t)

	said := again("575.00", "SAR")
	said[0].PaidBy = models.MethodBillPayment
	added := b.noted(t, tx.ID, said)
	require.Len(t, added, 1)

	d := b.Transaction(t, added[0])
	require.Equal(t, models.MethodBillPayment, *d.PaidBy)
	require.Nil(t, b.Transaction(t, tx.ID).PaidBy)
	require.Contains(t, b.Incidents(t)[0].Message, "Finance has to pay all of it out manually")

	due, err := b.Store.Refunds.OrderLateRefund(t.Context(), d.ID, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.RefundByHand, due.Channel)
}

// TestStaffRefundsAPartOfWhatWasPaidTwice: staff order a part back before the service has ordered the whole. The rest is found, and
// ordered once; what the gateway rejects is left to people.
func TestStaffRefundsAPartOfWhatWasPaidTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.settledWith(t)
	debit := b.noted(t, tx.ID, again("575.00", "SAR"))[0]
	owed := func() []uuid.UUID {
		ids, err := b.Store.Refunds.OwedLateMoney(t.Context(), time.Minute, 10, time.Now().Add(time.Hour))
		require.NoError(t, err)

		return ids
	}

	b.Reserve(t, b.Ask(tx, "")) // of the payment that settled: the next one is of the second
	part := b.Ask(tx, "200.00")
	require.Equal(t, debit, b.Reserve(t, part).PaymentTransactionID)
	require.Empty(t, owed(), "a refund is under way")

	b.SettleRefund(t, part, bookstest.Granted(part))
	require.Equal(t, []uuid.UUID{debit}, owed())

	refused := b.Ask(tx, "100.00")
	require.Equal(t, debit, b.Reserve(t, refused).PaymentTransactionID)

	rest, err := b.Store.Refunds.OrderLateRefund(t.Context(), debit, time.Now())
	require.NoError(t, err)
	require.Equal(t, "275.00", rest.Amount.String(), "what is neither back nor under way")
	require.Empty(t, owed())

	b.SettleRefund(t, refused, models.RefundResult{Status: models.RefundFailed})
	require.Empty(t, owed(), "an incident is open about it")
}
