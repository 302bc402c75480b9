package inbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"rihla/models"
)

// storeOpenSQL stores events about attempts that are open on their channel, by the checkout that the attempt has. These are stored
// unprocessed and handed to the attempt's workflow, whatever they say: one statement sees one snapshot, so that nothing else has to be
// decided. The state is written as db.Still has it. In the order of the index, so that batches of several processes never wait for each
// other in a circle.
const storeOpenSQL = `
WITH open AS (
    SELECT e.id, e.channel, e.webhook_id, e.type, e.checkout_id, e.merchant_reference, e.amount, e.currency, e.payment_method,
        e.result_code, e.failure_reason, e.gateway_refund_id, e.occurred_at, e.body, e.signature, e.revises,
        pt.id AS transaction_id, pt.booking_id
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
            $11::text[], $12::text[], $13::timestamptz[], $14::text[], $15::text[], $16::boolean[], $17::text[])
        AS e(id, channel, webhook_id, type, checkout_id, merchant_reference, amount, currency, payment_method, result_code,
            failure_reason, gateway_refund_id, occurred_at, body, signature, revises, payment_id)
    JOIN payment_transactions AS pt ON pt.id = e.merchant_reference::uuid
    WHERE pt.kind = 'PAYMENT' AND pt.status IS NOT DISTINCT FROM 'PENDING' AND pt.channel = e.channel AND pt.reference = e.checkout_id
        AND (e.payment_id = '' OR pt.gateway_payment_id IS NOT NULL)
), stored AS (
    INSERT INTO webhook_events (id, channel, webhook_id, type, transaction_id, checkout_id, merchant_reference, amount, currency,
        payment_method, result_code, failure_reason, gateway_refund_id, occurred_at, body, signature, revises)
    SELECT id, channel, webhook_id, type, transaction_id, checkout_id, merchant_reference, amount::numeric, currency,
        payment_method, result_code, failure_reason, gateway_refund_id, occurred_at, body, signature, revises
    FROM open ORDER BY channel, webhook_id
    ON CONFLICT (channel, webhook_id) DO NOTHING
    RETURNING id
)
SELECT id, transaction_id, COALESCE(booking_id, '00000000-0000-0000-0000-000000000000') FROM stored JOIN open USING (id)`

// StoreOpenEvents stores those of the events that are about an open attempt which knows its checkout, as nearly all are, in one statement
// and one commit, and returns them by their ids. It does nothing with the others: StoreEvent decides about each of them, as it would have
// about all. All events have to be such that MayBeOpen.
//
// An attempt that ends between the statement's snapshot and its commit has its event unprocessed, as one that ends right after the commit
// has: its workflow, or LatePayment, applies it to the state of then, under the row lock.
func (s *Store) StoreOpenEvents(ctx context.Context, events []models.WebhookEvent) (map[uuid.UUID]Stored, error) {
	rows, err := s.db.Raw.QueryContext(ctx, storeOpenSQL, columnsOf(events)...)
	if err != nil {
		return nil, fmt.Errorf("store events of open attempts: %w", err)
	}
	defer rows.Close()

	channels := make(map[uuid.UUID]models.Channel, len(events))
	for i := range events {
		channels[events[i].ID] = events[i].Channel
	}

	out := make(map[uuid.UUID]Stored, len(events))

	for rows.Next() {
		stored := Stored{Known: true, Deliver: true}
		if err := rows.Scan(&stored.EventID, &stored.TransactionID, &stored.BookingID); err != nil {
			return nil, fmt.Errorf("store events of open attempts: %w", err)
		}

		stored.Channel = channels[stored.EventID]
		out[stored.EventID] = stored
	}

	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store events of open attempts: %w", err)
	}

	return out, nil
}

// columnsOf are the arguments of storeOpenSQL: a list for each column. It is prepared, however many events there are.
func columnsOf(events []models.WebhookEvent) []any {
	n := len(events)
	ids, times, revises := make([]uuid.UUID, n), make([]time.Time, n), make([]bool, n)
	amounts, bodies, signatures := make([]*string, n), make([]*string, n), make([]*string, n)

	texts := func(of func(e *models.WebhookEvent) string) []string {
		column := make([]string, n)
		for i := range events {
			column[i] = of(&events[i])
		}

		return column
	}

	for i := range events {
		e := &events[i]
		ids[i], times[i], revises[i], bodies[i], signatures[i] = e.ID, e.OccurredAt, e.Revises, e.Body, e.Signature

		if e.Amount != nil {
			amount := e.Amount.String()
			amounts[i] = &amount
		}
	}

	return []any{
		pgx.QueryExecModeCacheStatement, ids,
		texts(func(e *models.WebhookEvent) string { return string(e.Channel) }),
		texts(func(e *models.WebhookEvent) string { return e.WebhookID }),
		texts(func(e *models.WebhookEvent) string { return string(e.Type) }),
		texts(func(e *models.WebhookEvent) string { return e.CheckoutID }),
		texts(func(e *models.WebhookEvent) string { return e.MerchantReference }),
		amounts,
		texts(func(e *models.WebhookEvent) string { return e.Currency }),
		texts(func(e *models.WebhookEvent) string { return string(e.PaymentMethod) }),
		texts(func(e *models.WebhookEvent) string { return e.ResultCode }),
		texts(func(e *models.WebhookEvent) string { return e.FailureReason }),
		texts(func(e *models.WebhookEvent) string { return e.GatewayRefundID }),
		times, bodies, signatures, revises,
		texts(func(e *models.WebhookEvent) string { return e.GatewayPaymentID }),
	}
}
