package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/incidents"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// SecondDebit is a payment that took money for a checkout which another one had settled, as the gateway tells it.
type SecondDebit struct {
	GatewayPaymentID string
	Amount           models.Money
	Currency         string
	PaidBy           models.PaymentMethod // empty: the gateway does not say
	TakenAt          *time.Time           // nil: the gateway does not say
}

// NoteSecondDebits books what a gateway took for a payment beside what settled it (rules: late.second-debit): each debit is a FAILED
// transaction of its own, owed to the customer, with an incident. A debit that is known already changes nothing, so that only new ones are
// returned; one for a payment that is not settled waits until that is. Error: NOT_FOUND.
func (s *Store) NoteSecondDebits(ctx context.Context, payment uuid.UUID, said []SecondDebit) (added []uuid.UUID, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		added = nil

		t, err := ledger.LockTransaction(ctx, tx, payment)
		if err != nil {
			return err
		}

		if t.Kind != models.KindPayment || t.TakenAt() == nil || t.Reference == nil || inSuspenseTogether(&t, said) {
			return nil
		}

		var now time.Time
		if err := tx.NewRaw("SELECT now()").Scan(ctx, &now); err != nil {
			return fmt.Errorf("read the time: %w", err)
		}

		for i := range said {
			d, fresh, err := noteSecondDebit(ctx, tx, &t, &said[i], now)
			if err != nil {
				return err
			}

			if fresh {
				added = append(added, d.ID)
			}
		}

		return nil
	})

	return added, err
}

// inSuspenseTogether reports a payment whose debits are in suspense as one sum: earlier drivers told them so.
func inSuspenseTogether(t *models.PaymentTransaction, said []SecondDebit) bool {
	if t.SuspenseAt == nil {
		return false
	}

	var sum models.Money
	for i := range said {
		sum = sum.Add(said[i].Amount)
	}

	return t.CapturedAmount.Cmp(sum.Add(t.Amount)) >= 0
}

// noteSecondDebit writes one of them, and reports whether it was news. Money of another currency than SAR is in suspense: no gateway is
// asked to give it back.
func noteSecondDebit(
	ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, said *SecondDebit, now time.Time,
) (d models.PaymentTransaction, fresh bool, err error) {
	settledBy := t.GatewayPaymentID != nil && *t.GatewayPaymentID == said.GatewayPaymentID
	if settledBy || said.GatewayPaymentID == "" || !said.Amount.IsPositive() {
		return d, false, nil
	}

	at := now
	if said.TakenAt != nil {
		at = said.TakenAt.Truncate(time.Microsecond)
	}

	d = secondDebit(t, said, &models.WebhookEvent{OccurredAt: at, ReceivedAt: now})

	res, err := tx.NewInsert().Model(&d).On("CONFLICT DO NOTHING").Exec(ctx)
	if err != nil {
		return d, false, fmt.Errorf("insert second payment: %w", err)
	}

	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return d, false, err
	}

	e, err := proveSecondDebit(ctx, tx, &d, at, now)
	if err != nil {
		return d, false, err
	}

	transfer, kind := models.LateCaptureTransfer(&d), models.IncidentLatePayment
	if d.SuspenseAt != nil {
		transfer, kind = models.SuspenseTransfer(&d), models.IncidentCurrencyMismatch
	}

	if err := ledger.PostTransfers(ctx, tx, []models.LedgerTransfer{transfer}); err != nil {
		return d, false, err
	}

	details := e.Facts()
	details["gateway_payment_id"], details["settled_payment_transaction_id"] = said.GatewayPaymentID, t.ID
	details["settled_gateway_payment_id"] = t.GatewayPaymentID

	return d, true, incidents.Open(ctx, tx, models.Incident{
		ID:                   models.IncidentID(kind, d.ID.String()),
		Kind:                 kind,
		PaymentTransactionID: &d.ID,
		BookingID:            d.BookingID,
		AdCampaignID:         d.AdCampaignID,
		IncidentText:         secondDebitText(t, &d),
		WorkflowID:           incidents.WorkflowOr(ctx, models.PaymentWorkflowID(t.ID)),
	}, details)
}

// secondDebit is the transaction of a debit that came once more for t. There is no VAT in it: it has paid for nothing.
func secondDebit(t *models.PaymentTransaction, said *SecondDebit, e *models.WebhookEvent) models.PaymentTransaction {
	taken, why := e.TakenAt(t), models.FailurePaidTwice
	d := models.PaymentTransaction{
		ID: models.SecondDebitID(t.ID, said.GatewayPaymentID), Kind: models.KindSecondDebit, ParentID: &t.ID, Attempt: t.Attempt,
		Reference: t.Reference, UserID: t.UserID, ProviderID: t.ProviderID, BookingID: t.BookingID, AdCampaignID: t.AdCampaignID,
		Amount: said.Amount, Currency: models.Currency, VATRate: t.VATRate, CommissionRate: t.CommissionRate,
		PaymentMethod: t.PaymentMethod, Gateway: t.Gateway, Channel: t.Channel, OpenedAt: t.OpenedAt, ExpiresAt: t.ExpiresAt,
		Status: models.TransactionFailed, CapturedAt: &taken, CreatedAt: t.CreatedAt, GatewayPaymentID: &said.GatewayPaymentID,
	}

	if currency := models.CurrencyCode(said.Currency); currency != models.Currency {
		d.CapturedAt, d.SuspenseAt, d.CapturedAmount, d.CapturedCurrency = nil, &taken, &said.Amount, &currency
		d.Amount, why = t.Amount, models.FailureCurrencyMismatch
	}

	d.FailureCode = &why
	d.NotePaidBy(said.PaidBy)

	return d
}

// proveSecondDebit keeps what the gateway answered, as an event that is settled already.
func proveSecondDebit(ctx context.Context, tx bun.Tx, d *models.PaymentTransaction, at, now time.Time) (*models.WebhookEvent, error) {
	amount, currency := d.Taken()
	e := models.WebhookEvent{
		ID: models.NewID(), Channel: d.Channel, WebhookID: models.PolledPrefix + "second:" + d.ID.String(), Type: models.EventPaymentSucceeded,
		TransactionID: &d.ID, CheckoutID: *d.Reference, MerchantReference: d.ParentID.String(), Amount: &amount, Currency: currency,
		PaymentMethod: d.Method(), OccurredAt: at, ReceivedAt: now, ProcessedAt: &now, Outcome: models.OutcomeApplied,
	}

	if d.SuspenseAt != nil {
		e.Outcome = models.OutcomeIncident
	}

	_, err := InsertEvent(ctx, tx, &e)

	return &e, err
}

// secondDebitText says in the incident what was taken, for what, and what becomes of it.
func secondDebitText(t, d *models.PaymentTransaction) models.IncidentText {
	amount, code := d.Taken()
	settled, in := t.Taken()
	currency := models.InCurrency(code)

	then := models.TextOf("incident.second_refunded", "amount", amount, "currency", currency)

	switch {
	case d.SuspenseAt != nil:
		then = models.TextOf("incident.second_in_suspense")
	case d.RefundChannel() == models.RefundByHand:
		then = models.TextOf("incident.second_by_hand", "amount", amount, "currency", currency)
	}

	return models.IncidentSays("incident.paid_twice", "amount", amount, "currency", currency,
		"settled", settled, "settled_currency", models.InCurrency(in), "payment", t.ID, "then", then)
}
