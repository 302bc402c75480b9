package operations

import (
	"context"
	"io"
	"net/http"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/gateways"
	"rihla/gateways/standardwebhook"
	"rihla/models"
)

// ReceiveGatewayAWebhook takes the events of cards.
func (o *Operations) ReceiveGatewayAWebhook(
	ctx context.Context, r gen.ReceiveGatewayAWebhookRequestObject,
) (gen.ReceiveGatewayAWebhookResponseObject, error) {
	h := signature(r.Params.WebhookID, r.Params.WebhookTimestamp, r.Params.WebhookSignature)
	answer, err := o.receive(ctx, models.ChannelGatewayA, h, r.Body)

	return gen.ReceiveGatewayAWebhook200JSONResponse(answer), err
}

// ReceiveWalletAWebhook takes the events of wallet_a.
func (o *Operations) ReceiveWalletAWebhook(
	ctx context.Context, r gen.ReceiveWalletAWebhookRequestObject,
) (gen.ReceiveWalletAWebhookResponseObject, error) {
	h := signature(r.Params.WebhookID, r.Params.WebhookTimestamp, r.Params.WebhookSignature)
	answer, err := o.receive(ctx, models.ChannelWalletA, h, r.Body)

	return gen.ReceiveWalletAWebhook200JSONResponse(answer), err
}

// ReceiveWalletBWebhook takes the events of wallet_b.
func (o *Operations) ReceiveWalletBWebhook(
	ctx context.Context, r gen.ReceiveWalletBWebhookRequestObject,
) (gen.ReceiveWalletBWebhookResponseObject, error) {
	h := signature(r.Params.WebhookID, r.Params.WebhookTimestamp, r.Params.WebhookSignature)
	answer, err := o.receive(ctx, models.ChannelWalletB, h, r.Body)

	return gen.ReceiveWalletBWebhook200JSONResponse(answer), err
}

// ReceiveBillPaymentWebhook takes the events of bill_payment.
func (o *Operations) ReceiveBillPaymentWebhook(
	ctx context.Context, r gen.ReceiveBillPaymentWebhookRequestObject,
) (gen.ReceiveBillPaymentWebhookResponseObject, error) {
	h := signature(r.Params.WebhookID, r.Params.WebhookTimestamp, r.Params.WebhookSignature)
	answer, err := o.receive(ctx, models.ChannelBillPayment, h, r.Body)

	return gen.ReceiveBillPaymentWebhook200JSONResponse(answer), err
}

// Signed says whether what came in at a webhook's route is signed for its channel, and nothing about what it says; the
// handler verifies again what it reads. Error: INVALID_SIGNATURE.
func (o *Operations) Signed(route string, h http.Header, body []byte) error {
	for _, channel := range models.Channels() {
		if route != "/api/v1/payments/"+channel.Path() {
			continue
		}

		_, err := o.Verifiers[channel].Verify(h, body, o.Now())
		if models.CodeOf(err) != models.CodeInvalidSignature {
			return nil
		}

		o.Metrics.Webhook(channel, string(models.CodeInvalidSignature))

		return err
	}

	return models.Errorf(models.CodeInvalidSignature, "The route is no channel's.")
}

func signature(id, timestamp, signatures string) http.Header {
	h := http.Header{}
	h.Set(standardwebhook.HeaderID, id)
	h.Set(standardwebhook.HeaderTimestamp, timestamp)
	h.Set(standardwebhook.HeaderSignature, signatures)

	return h
}

// receive verifies a webhook, stores it, and answers; its effect comes after. Errors: INVALID_SIGNATURE, MALFORMED_REQUEST,
// VALIDATION_ERROR; NOT_FOUND for an event about nothing we know, which is kept; WEBHOOK_ID_REUSED for another message under the
// id of one that was received.
func (o *Operations) receive(ctx context.Context, channel models.Channel, h http.Header, body io.Reader) (gen.WebhookAnswer, error) {
	var answer gen.WebhookAnswer

	raw, err := io.ReadAll(body)
	if err != nil {
		return answer, models.Errorf(models.CodeMalformedRequest, "The body cannot be read.")
	}

	event, err := o.Verifiers[channel].Verify(h, raw, o.Now())
	if err != nil {
		o.Metrics.Webhook(channel, string(models.CodeOf(err)))

		return answer, err
	}

	stored, err := o.Store.Payments.StoreEvent(ctx, webhookEvent(channel, &event), o.Now())
	if err != nil {
		return answer, err
	}

	middleware.LogPayment(ctx, stored.TransactionID)

	if stored.Deliver {
		o.Deliver(stored.Delivery)
	}

	answer.Data = gen.WebhookReceipt{Received: true, Duplicate: stored.Duplicate}

	switch {
	case stored.Reused:
		o.Metrics.Webhook(channel, string(models.CodeWebhookIDReused))

		return answer, models.Errorf(models.CodeWebhookIDReused, "Another message was received under this webhook-id.")
	case !stored.Known:
		o.Metrics.Webhook(channel, "unknown")

		return answer, models.Errorf(models.CodeNotFound, "The event is kept, but names no transaction of this channel.")
	case stored.Duplicate:
		o.Metrics.Webhook(channel, "duplicate")
	default:
		o.Metrics.Webhook(channel, "stored")
	}

	return answer, nil
}

func webhookEvent(channel models.Channel, e *gateways.Event) models.WebhookEvent {
	return models.WebhookEvent{
		ID: models.NewID(), Channel: channel, WebhookID: e.ID, Type: e.Type, CheckoutID: e.CheckoutID,
		MerchantReference: e.MerchantReference.String(), Amount: &e.Amount, Currency: e.Currency, PaymentMethod: e.Method,
		ResultCode: e.ResultCode, FailureReason: e.FailureReason, GatewayRefundID: e.RefundID, OccurredAt: e.Timestamp,
		Body: &e.Body, Signature: &e.Signature,
	}
}
