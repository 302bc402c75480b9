package payments

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// suspend notes on the attempt what the gateway has taken instead of what was asked for; move writes it. A success about nothing
// has taken nothing.
func (st *settlement) suspend(e *models.WebhookEvent) {
	if e.Amount == nil || !e.Amount.IsPositive() {
		return
	}

	taken, currency := e.TakenAt(&st.t), models.CurrencyCode(e.Currency)
	st.t.CapturedAmount, st.t.CapturedCurrency, st.t.SuspenseAt = e.Amount, &currency, &taken

	if st.t.Reference == nil && e.CheckoutID != "" {
		st.t.Reference = &e.CheckoutID // by which it is given back
	}
}

// suspendLater is suspend for an attempt that has ended already.
func (st *settlement) suspendLater(ctx context.Context, e *models.WebhookEvent) error {
	st.suspend(e)

	if st.t.SuspenseAt == nil {
		return nil
	}

	if err := st.transition(ctx, models.TransactionFailed, *st.t.FailureCode, st.t.FailureReason, nil); err != nil {
		return err
	}

	return st.postSuspense(ctx)
}

// postSuspense writes the money that suspend has noted into the books.
func (st *settlement) postSuspense(ctx context.Context) error {
	if st.t.SuspenseAt == nil {
		return nil
	}

	if err := st.lockSubject(ctx); err != nil {
		return err
	}

	return st.insertTransfers(ctx, []models.LedgerTransfer{models.SuspenseTransfer(&st.t)})
}

// lockSubject makes an attempt that is being opened beside this one either wait and be refused (refuseSuspense), or be seen by
// findOtherOpenAttempt.
func (st *settlement) lockSubject(ctx context.Context) error {
	q := st.tx.NewSelect().Model((*models.Booking)(nil)).Where("id = ?", st.t.BookingID)
	if st.t.AdCampaignID != nil {
		q = st.tx.NewSelect().Model((*models.AdCampaign)(nil)).Where("id = ?", st.t.AdCampaignID)
	}

	var id uuid.UUID
	if err := q.Column("id").For("NO KEY UPDATE").Scan(ctx, &id); err != nil {
		return fmt.Errorf("lock what is paid for: %w", err)
	}

	return nil
}

// mismatchMessage says in the incident what was expected, what came, and what to do about it.
func mismatchMessage(t *models.PaymentTransaction, e *models.WebhookEvent) string {
	if t.SuspenseAt != nil {
		return expectedAndTaken(t) + " The payment is not confirmed, and the money is in suspense. Give it back by POST " +
			"/api/v1/admin/payment-transactions/" + t.ID.String() + "/refund; nothing else can be paid for the same purchase before."
	}

	reported := "no amount"
	if e.Amount != nil {
		reported = e.Amount.String() + " " + models.CurrencyCode(e.Currency)
	}

	message := fmt.Sprintf("Expected %s %s, the gateway reported %s.", t.Amount, t.Currency, reported)
	if t.CapturedAt != nil {
		return message + " That contradicts the payment that it had reported before; nothing has changed. Compare with the gateway's statement."
	}

	return message + " The payment is not confirmed, and no money is known to have been taken. Compare with the gateway's statement."
}

// expectedAndTaken is a mismatch in words for operators.
func expectedAndTaken(t *models.PaymentTransaction) string {
	taken, currency := t.Taken()

	return fmt.Sprintf("Expected %s %s, the gateway took %s %s.", t.Amount, t.Currency, taken, currency)
}

// inSuspense is PaymentTransaction.InSuspense.
const inSuspense = "suspense_at IS NOT NULL AND refunded_amount < captured_amount"

// suspended refuses to open an attempt while money of another attempt of the same booking or campaign is in suspense: it might be
// what the customer wanted to pay with. Error: PAYMENT_IN_SUSPENSE.
func rejectWhileInSuspense(ctx context.Context, tx bun.Tx, column string, subject uuid.UUID) error {
	undecided, err := tx.NewSelect().Model((*models.PaymentTransaction)(nil)).Where("? = ?", bun.Ident(column), subject).
		Where(inSuspense).Exists(ctx)
	if err != nil {
		return fmt.Errorf("look for money in suspense: %w", err)
	}

	if undecided {
		return errInSuspense()
	}

	return nil
}

func errInSuspense() error {
	return models.Errorf(models.CodePaymentInSuspense,
		"The gateway took another amount or currency than was asked for. Nothing more can be paid until that money has been given back.")
}
