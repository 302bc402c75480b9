package middleware

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"rihla/api/contract"
	"rihla/gateways"
	"rihla/models"
)

// Webhook is a delivery whose signature was verified.
type Webhook struct {
	Channel models.Channel
	Event   gateways.Event
	// Err says what is wrong with a signed body that is no event: MALFORMED_REQUEST or VALIDATION_ERROR. Event is then of no use.
	Err error
}

// VerifyWebhook reads a delivery from the headers of its signature and its body. Errors: INVALID_SIGNATURE; NOT_FOUND for a channel
// that is not open.
type VerifyWebhook func(h http.Header, body []byte) (Webhook, error)

// WebhookPath takes the deliveries of one operation.
type WebhookPath struct {
	Headers []string // that prove a delivery: each is there exactly once
	Verify  VerifyWebhook
}

// WebhookOf is the delivery that the request brings; the zero value on an operation without x-raw-body.
func WebhookOf(ctx context.Context) Webhook { return requestOf(ctx).webhook }

// checkWebhooks compares the verifiers with the document: each operation with x-raw-body has one, and no other has.
func checkWebhooks(operations map[string]*contract.Operation, webhooks map[string]WebhookPath) error {
	var errs []error

	signed := map[string]bool{}

	for _, op := range operations {
		if !op.RawBody {
			continue
		}

		signed[op.ID] = true

		if webhooks[op.ID].Verify == nil {
			errs = append(errs, fmt.Errorf("%s has x-raw-body and no verifier", op.ID))
		}
	}

	for id := range webhooks {
		if !signed[id] {
			errs = append(errs, fmt.Errorf("%s has a verifier and no x-raw-body", id))
		}
	}

	return errors.Join(errs...)
}

// verify puts the delivery into the request. Error: INVALID_SIGNATURE, also unless each header of the signature is there
// exactly once.
func (c *Chain) verify(f *fiber.Ctx, op *contract.Operation, r *request, body []byte) error {
	route := c.deps.Webhooks[op.ID]
	h := http.Header{}

	for _, name := range route.Headers {
		values := f.Request().Header.PeekAll(name)
		if len(values) != 1 || len(values[0]) == 0 {
			return models.NewError(models.CodeInvalidSignature, "webhook.signature")
		}

		h.Set(name, string(values[0]))
	}

	var err error
	r.webhook, err = route.Verify(h, body)

	return err
}
