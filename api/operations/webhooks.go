package operations

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/gateways"
	"rihla/internal/inbox"
	"rihla/models"
)

// ReceiveGatewayAWebhook takes the events of cards.
func (o *Operations) ReceiveGatewayAWebhook(
	ctx context.Context, _ gen.ReceiveGatewayAWebhookRequestObject,
) (gen.ReceiveGatewayAWebhookResponseObject, error) {
	answer, err := o.receive(ctx)

	return gen.ReceiveGatewayAWebhook200JSONResponse(answer), err
}

// ReceiveWalletAWebhook takes the events of wallet_a.
func (o *Operations) ReceiveWalletAWebhook(
	ctx context.Context, _ gen.ReceiveWalletAWebhookRequestObject,
) (gen.ReceiveWalletAWebhookResponseObject, error) {
	answer, err := o.receive(ctx)

	return gen.ReceiveWalletAWebhook200JSONResponse(answer), err
}

// ReceiveWalletBWebhook takes the events of wallet_b.
func (o *Operations) ReceiveWalletBWebhook(
	ctx context.Context, _ gen.ReceiveWalletBWebhookRequestObject,
) (gen.ReceiveWalletBWebhookResponseObject, error) {
	answer, err := o.receive(ctx)

	return gen.ReceiveWalletBWebhook200JSONResponse(answer), err
}

// ReceiveBillPaymentWebhook takes the events of bill_payment.
func (o *Operations) ReceiveBillPaymentWebhook(
	ctx context.Context, _ gen.ReceiveBillPaymentWebhookRequestObject,
) (gen.ReceiveBillPaymentWebhookResponseObject, error) {
	answer, err := o.receive(ctx)

	return gen.ReceiveBillPaymentWebhook200JSONResponse(answer), err
}

// ReceiveGatewayABackupWebhook takes the events of gateway_a's backup account.
func (o *Operations) ReceiveGatewayABackupWebhook(
	ctx context.Context, _ gen.ReceiveGatewayABackupWebhookRequestObject,
) (gen.ReceiveGatewayABackupWebhookResponseObject, error) {
	answer, err := o.receive(ctx)

	return gen.ReceiveGatewayABackupWebhook200JSONResponse(answer), err
}

// ReceiveWalletBBackupWebhook takes the events of wallet_b's backup account.
func (o *Operations) ReceiveWalletBBackupWebhook(
	ctx context.Context, _ gen.ReceiveWalletBBackupWebhookRequestObject,
) (gen.ReceiveWalletBBackupWebhookResponseObject, error) {
	answer, err := o.receive(ctx)

	return gen.ReceiveWalletBBackupWebhook200JSONResponse(answer), err
}

// Webhooks verify the deliveries at each path, by the operation that takes them.
func (o *Operations) Webhooks() map[string]middleware.WebhookPath {
	return map[string]middleware.WebhookPath{
		"ReceiveGatewayAWebhook":    o.verifier(models.ChannelGatewayA),
		"ReceiveWalletAWebhook":     o.verifier(models.ChannelWalletA),
		"ReceiveWalletBWebhook":     o.verifier(models.ChannelWalletB),
		"ReceiveBillPaymentWebhook": o.verifier(models.ChannelBillPayment),

		"ReceiveGatewayABackupWebhook": o.verifier(models.ChannelGatewayABackup),
		"ReceiveWalletBBackupWebhook":  o.verifier(models.ChannelWalletBBackup),
	}
}

// verifier keeps what is wrong with a signed body for the handler: only a wrong signature is answered ahead of the limit. A channel
// that no account uses is not there. What is taken at a path belongs to the channel of Routes.TakenAt, its secrets and ids of
// messages included: one message at two paths is one (rules: webhooks.paths).
func (o *Operations) verifier(path models.Channel) middleware.WebhookPath {
	channel := o.Store.Policies().Routes.TakenAt(path)

	by, open := o.Verifiers[channel]
	if !open {
		return middleware.WebhookPath{Verify: func(http.Header, []byte) (middleware.Webhook, error) {
			return middleware.Webhook{}, models.NotFound()
		}}
	}

	return middleware.WebhookPath{Headers: by.Headers(), Verify: func(h http.Header, body []byte) (middleware.Webhook, error) {
		event, err := by.Verify(h, body, o.Now())
		if models.CodeOf(err) == models.CodeInvalidSignature {
			o.Metrics.Webhook(channel, string(models.CodeInvalidSignature))

			return middleware.Webhook{}, err
		}

		return middleware.Webhook{Channel: channel, Event: event, Err: err}, nil
	}}
}

// receive stores a verified webhook, and answers; its effect comes after. Errors: MALFORMED_REQUEST, VALIDATION_ERROR;
// NOT_FOUND for an event about nothing we know, which is kept; WEBHOOK_ID_REUSED for another message under the id of one that
// was received.
func (o *Operations) receive(ctx context.Context) (gen.WebhookAnswer, error) {
	var answer gen.WebhookAnswer

	w := middleware.WebhookOf(ctx)
	if w.Err != nil {
		o.Metrics.Webhook(w.Channel, string(models.CodeOf(w.Err)))

		return answer, w.Err
	}

	stored, err := o.Inbox.Put(ctx, webhookEvent(w.Channel, &w.Event), o.Now())
	if errors.Is(err, inbox.ErrFull) {
		o.Metrics.Webhook(w.Channel, "queue_full")

		return answer, middleware.RetryAfter(inbox.ErrFull, time.Second)
	}

	if err != nil {
		return answer, err
	}

	middleware.LogPayment(ctx, stored.TransactionID)

	if stored.Deliver {
		o.Deliver(stored.Delivery)
	}

	if stored.Ask {
		o.askAfterHint(ctx, w.Channel)
	}

	answer.Data = gen.WebhookReceipt{Received: true, Duplicate: stored.Duplicate}

	switch {
	case stored.Reused:
		o.Metrics.Webhook(w.Channel, string(models.CodeWebhookIDReused))

		return answer, models.NewError(models.CodeWebhookIDReused, "webhook.id_reused")
	case !stored.Known:
		o.Metrics.Webhook(w.Channel, "unknown")

		return answer, models.NewError(models.CodeNotFound, "webhook.no_transaction")
	case w.Event.Type == models.EventUnreadable:
		o.Metrics.Webhook(w.Channel, "unreadable")
	case stored.Duplicate:
		o.Metrics.Webhook(w.Channel, "duplicate")
	default:
		o.Metrics.Webhook(w.Channel, "stored")
	}

	return answer, nil
}

// askAfterHint has the channel's attempts that are due asked about. The company's message is stored and the attempt noted: when the
// orchestrator is away, the sweep has it asked later.
func (o *Operations) askAfterHint(ctx context.Context, channel models.Channel) {
	limited, cancel := context.WithTimeout(ctx, askAtMost)
	defer cancel()

	if err := o.Workflows.PollStatus(limited, channel); err != nil {
		o.Log.DebugContext(ctx, "status poll after a hint not started; the sweep retries", "channel", channel, "error", err)
	}
}

func webhookEvent(channel models.Channel, e *gateways.Event) models.WebhookEvent {
	reference := ""
	if e.MerchantReference != uuid.Nil {
		reference = e.MerchantReference.String()
	}

	return models.WebhookEvent{
		ID: models.NewID(), Channel: channel, WebhookID: e.ID, Type: e.Type, CheckoutID: e.CheckoutID,
		MerchantReference: reference, Hint: e.Hint, Sealed: e.Sealed, Revises: e.Revises, GatewayPaymentID: e.PaymentID,
		Dispute: e.Dispute, Unreadable: e.Unreadable,
		Amount: &e.Amount, Currency: e.Currency, PaymentMethod: e.Method,
		ResultCode: e.ResultCode, FailureReason: e.FailureReason, GatewayRefundID: e.RefundID, OccurredAt: e.Timestamp,
		Body: &e.Body, Signature: &e.Signature,
	}
}
