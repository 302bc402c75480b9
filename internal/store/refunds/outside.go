package refunds

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/incidents"
	"rihla/internal/store/ledger"
	"rihla/internal/store/payments"
	"rihla/models"
)

// GatewaySums are what a gateway says of a payment that it has taken.
type GatewaySums struct {
	Refunded models.Money // all that it has given back, pending refunds included
	Currency string
	Lag      time.Duration // for how long its answers may not show what was made
}

// Compared is what a comparison with the gateway's sums has found.
type Compared struct {
	// Changed: a refund of the payment went on while the gateway was asked. Nothing was compared: it has to be asked again.
	Changed bool
	// Outside is what the gateway has given back without an order of ours.
	Outside models.Money
	// Over is by how much that and what we have given back and reserved exceed what was taken.
	Over models.Money
}

// outsideSumsSQL sums up, under the payment's lock, what the gateway must and may have given back by refunds of ours, and what was
// known to have gone back otherwise. A refund that was paid out manually never went through the gateway; one that came back is there
// again.
const outsideSumsSQL = `
SELECT coalesce(sum(amount) FILTER (WHERE channel = 'GATEWAY' AND status = 'SUCCEEDED' AND returned_at IS NULL), 0) AS done,
       coalesce(sum(amount) FILTER (WHERE channel = 'GATEWAY' AND status = 'PENDING' AND sends > 0), 0) AS sent,
       coalesce(max(updated_at) FILTER (WHERE channel = 'GATEWAY'), '-infinity') <= now() - ?1 * interval '1 microsecond' AS shown,
       (SELECT total FROM outside_refunds WHERE payment_transaction_id = ?0 ORDER BY n DESC LIMIT 1) AS known,
       (SELECT coalesce(max(n), 0) FROM outside_refunds WHERE payment_transaction_id = ?0) AS n
FROM refunds WHERE payment_transaction_id = ?0`

// refundsMarkSQL tells two states of a payment's refunds apart: what a gateway answers in between fits to neither.
const refundsMarkSQL = `
SELECT coalesce(md5(string_agg(concat_ws(':', id, status, channel, sends, returned_at IS NOT NULL), ',' ORDER BY id)), '')
FROM refunds WHERE payment_transaction_id = ?`

// BeginComparison is what CompareRefunded needs to know of the moment before the gateway is asked.
func (s *Store) BeginComparison(ctx context.Context, payment uuid.UUID) (mark string, err error) {
	if err := s.db.NewRaw(refundsMarkSQL, payment).Scan(ctx, &mark); err != nil {
		return "", fmt.Errorf("read the refunds of a payment: %w", err)
	}

	return mark, nil
}

// CompareRefunded holds what a gateway says that it has given back of a payment against the refunds of ours. What it has given back
// besides leaves its account in the books, counts against what is left of the payment, and is named in an incident; less than before
// is booked the other way round. The same answer again changes nothing. mark is that of BeginComparison, before the gateway was asked;
// due the RecheckAt of the question, which is answered. Error: NOT_FOUND.
func (s *Store) CompareRefunded(
	ctx context.Context, payment uuid.UUID, mark string, due *time.Time, said GatewaySums,
) (out Compared, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		out = Compared{}

		t, err := ledger.LockTransaction(ctx, tx, payment)
		if err != nil {
			return err
		}

		var now string
		if err := tx.NewRaw(refundsMarkSQL, payment).Scan(ctx, &now); err != nil {
			return fmt.Errorf("read the refunds of a payment: %w", err)
		}

		if out.Changed = now != mark; out.Changed || t.TakenAt() == nil {
			return nil
		}

		if models.SameCurrency(said.Currency, t.TakenCurrency()) {
			if err := compareUnderLock(ctx, tx, &t, said, &out); err != nil {
				return err
			}
		}

		return payments.NoteCompared(ctx, tx, payment, due, said.Lag)
	})

	return out, err
}

func compareUnderLock(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, said GatewaySums, out *Compared) error {
	var sums struct {
		Done  models.Money  `bun:"done"`
		Sent  models.Money  `bun:"sent"`
		Shown bool          `bun:"shown"`
		Known *models.Money `bun:"known"`
		N     int           `bun:"n"`
	}

	if err := tx.NewRaw(outsideSumsSQL, t.ID, said.Lag.Microseconds()).Scan(ctx, &sums); err != nil {
		return fmt.Errorf("sum up the refunds of a payment: %w", err)
	}

	var known models.Money
	if sums.Known != nil {
		known = *sums.Known
	}

	out.Outside = models.RefundedOutside(said.Refunded, sums.Done, sums.Sent, known, sums.Shown)

	if !out.Outside.Equal(known) {
		row := outsideRefund{
			PaymentID: t.ID, N: sums.N + 1, Before: known, Total: out.Outside, GatewayRefunded: said.Refunded,
		}
		if err := noteOutside(ctx, tx, t, row); err != nil {
			return err
		}
	}

	if err := holdOutside(ctx, tx, t, out.Outside); err != nil {
		return err
	}

	out.Over = out.Outside.Sub(t.OutsideRefundedAmount)

	return nil
}

// outsideRefund is a row of outside_refunds.
type outsideRefund struct {
	bun.BaseModel `bun:"table:outside_refunds"`

	PaymentID       uuid.UUID    `bun:"payment_transaction_id,pk"`
	N               int          `bun:"n,pk"`
	Before          models.Money `bun:"total_before"`
	Total           models.Money `bun:"total"`
	GatewayRefunded models.Money `bun:"gateway_refunded"`
}

// noteOutside keeps a sum that is news, books it, and opens its incident.
func noteOutside(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, row outsideRefund) error {
	if _, err := tx.NewInsert().Model(&row).Exec(ctx); err != nil {
		return fmt.Errorf("note what a gateway gave back: %w", err)
	}

	transfer := models.OutsideRefundTransfer(t, row.N, row.Before, row.Total)
	if err := ledger.PostTransfers(ctx, tx, []models.LedgerTransfer{transfer}); err != nil {
		return err
	}

	return incidents.Open(ctx, tx, models.Incident{
		ID:                   models.IncidentID(models.IncidentOutsideRefund, t.ID.String()),
		Kind:                 models.IncidentOutsideRefund,
		PaymentTransactionID: &t.ID,
		BookingID:            t.BookingID,
		AdCampaignID:         t.AdCampaignID,
		IncidentText:         outsideText(t, &row),
		WorkflowID:           incidents.WorkflowOr(ctx, models.PaymentWorkflowID(t.ID)),
	}, map[string]any{
		"webhook_id": fmt.Sprintf("outside-refund:%d", row.N), "amount": row.Total, "amount_before": row.Before,
		"currency": t.TakenCurrency(), "gateway_refunded_amount": row.GatewayRefunded,
	})
}

// outsideText says in the incident what went back, what is left, and what to do about it.
func outsideText(t *models.PaymentTransaction, row *outsideRefund) models.IncidentText {
	taken, code := t.Taken()
	ours := t.RefundedAmount.Add(t.RefundReservedAmount)
	currency := models.InCurrency(code)

	if !row.Total.IsPositive() {
		return models.IncidentSays("incident.outside_back", "amount", row.Before, "currency", currency)
	}

	if over := row.Total.Add(ours).Sub(taken); over.IsPositive() {
		return models.IncidentSays("incident.outside_double",
			"amount", row.Total, "currency", currency, "taken", taken, "ours", ours, "over", over)
	}

	return models.IncidentSays("incident.outside_left",
		"amount", row.Total, "currency", currency, "taken", taken, "ours", ours, "left", taken.Sub(ours).Sub(row.Total))
}

// holdOutside writes how much of what a gateway gave back without an order counts against what is left of the payment t, which is
// locked: all of it that fits beside what we have given back and reserved. It is called again whenever these become less.
func holdOutside(ctx context.Context, tx bun.IDB, t *models.PaymentTransaction, total models.Money) error {
	taken, _ := t.Taken()
	held := total

	if room := taken.Sub(t.RefundedAmount).Sub(t.RefundReservedAmount); held.Cmp(room) > 0 {
		held = room
	}

	if held.Equal(t.OutsideRefundedAmount) {
		return nil
	}

	t.OutsideRefundedAmount = held

	_, err := tx.NewUpdate().Model((*models.PaymentTransaction)(nil)).Set("outside_refunded_amount = ?", held).
		Set("updated_at = now()").Where("id = ?", t.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("hold what a gateway gave back: %w", err)
	}

	return nil
}

// outsideTotal is what a gateway has given back of a payment without an order, by its last word.
func outsideTotal(ctx context.Context, db bun.IDB, payment uuid.UUID) (total models.Money, err error) {
	err = db.NewSelect().Model((*outsideRefund)(nil)).Column("total").Where("payment_transaction_id = ?", payment).
		OrderExpr("n DESC").Limit(1).Scan(ctx, &total)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return total, fmt.Errorf("read what a gateway gave back: %w", err)
	}

	return total, nil
}
