package shapes_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	sdk "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-mock/embedded"
	"github.com/stripe/stripe-mock/server"
	"github.com/stripe/stripe-mock/spec"

	"rihla/gateways"
	stripesim "rihla/gateways/simulator/stripe"
	"rihla/gateways/stripe"
	"rihla/models"
)

const webhookSecret = "whsec_4eC39HqLyjWDarjtT1zdp7dc"

// TestCompanysOwnObjects: events around the objects that the company gives as examples in its specification, whole, with nothing changed but
// what makes them ours, are read to what docs.stripe.com/api/events/types says that they mean. All that a person may have registered
// about payments is there.
func TestCompanysOwnObjects(t *testing.T) {
	t.Parallel()

	fixtures, err := server.LoadFixtures(embedded.OpenAPIFixtures, "")
	require.NoError(t, err)

	reference := uuid.New()
	ours := map[string]any{"metadata": map[string]any{"merchant_reference": reference.String()}}
	paid := map[string]any{
		"client_reference_id": reference.String(), "amount_total": 115055, "currency": "sar", "payment_status": "paid", "payment_intent": "pi_1",
	}

	with := func(base map[string]any, key string, value any) map[string]any {
		changed := maps.Clone(base)
		changed[key] = value

		return changed
	}

	for _, tt := range []struct {
		object  spec.ResourceID
		changed map[string]any
		want    models.EventType
		kinds   []sdk.EventType
	}{
		{"checkout.session", nil, models.EventNotice, []sdk.EventType{ // another system's: it has no reference
			"checkout.session.completed", "checkout.session.async_payment_succeeded", "checkout.session.async_payment_failed", "checkout.session.expired",
		}},
		{"checkout.session", paid, models.EventPaymentSucceeded, []sdk.EventType{
			"checkout.session.completed", "checkout.session.async_payment_succeeded",
		}},
		{"checkout.session", with(paid, "payment_status", "unpaid"), models.EventPaymentFailed, []sdk.EventType{"checkout.session.async_payment_failed"}},
		{"checkout.session", with(paid, "payment_status", "unpaid"), models.EventPaymentExpired, []sdk.EventType{"checkout.session.expired"}},
		{"checkout.session", with(paid, "payment_status", "unpaid"), models.EventNotice, []sdk.EventType{"checkout.session.completed"}},
		{"refund", nil, models.EventNotice, []sdk.EventType{"refund.created", "refund.updated", "refund.failed", "charge.refund.updated"}},
		{"refund", ours, models.EventRefundSucceeded, []sdk.EventType{"refund.created", "refund.updated", "charge.refund.updated"}},
		{"refund", with(ours, "status", "failed"), models.EventRefundFailed, []sdk.EventType{"refund.updated", "refund.failed", "charge.refund.updated"}},
		{"refund", with(ours, "status", "pending"), models.EventNotice, []sdk.EventType{"refund.created", "refund.updated"}},
		{"dispute", nil, models.EventPaymentDisputed, []sdk.EventType{"charge.dispute.created"}},
		{"dispute", nil, models.EventPaymentDisputed, []sdk.EventType{
			"charge.dispute.updated", "charge.dispute.closed", "charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated",
		}},
		{"charge", ours, models.EventNotice, []sdk.EventType{
			"charge.captured", "charge.expired", "charge.failed", "charge.pending", "charge.refunded", "charge.succeeded", "charge.updated",
		}},
		{"payment_intent", ours, models.EventNotice, []sdk.EventType{
			"payment_intent.amount_capturable_updated", "payment_intent.canceled", "payment_intent.created", "payment_intent.partially_funded",
			"payment_intent.payment_failed", "payment_intent.processing", "payment_intent.requires_action", "payment_intent.succeeded",
		}},
		{"balance", nil, models.EventNotice, []sdk.EventType{"balance.available"}},
		{"payout", nil, models.EventNotice, []sdk.EventType{"payout.created", "payout.failed", "payout.paid"}},
		{"review", nil, models.EventNotice, []sdk.EventType{"review.opened", "review.closed"}},
	} {
		for _, kind := range tt.kinds {
			event := read(t, kind, exampleOf(t, fixtures, tt.object, tt.changed))
			require.Equal(t, tt.want, event.Type, "%s %v", kind, tt.changed)

			switch {
			case tt.changed == nil:
				require.Equal(t, uuid.Nil, event.MerchantReference, kind)
			case tt.want != models.EventNotice || tt.object == "charge" || tt.object == "payment_intent":
				require.Equal(t, reference, event.MerchantReference, kind)
			}
		}
	}
}

// exampleOf is the company's example of an object.
func exampleOf(t *testing.T, fixtures *spec.Fixtures, object spec.ResourceID, changed map[string]any) map[string]any {
	t.Helper()

	example, ok := fixtures.Resources[object].(map[string]any)
	require.True(t, ok, object)

	whole := maps.Clone(example)
	maps.Copy(whole, changed)

	return whole
}

// read signs an event and reads it.
func read(t *testing.T, kind sdk.EventType, object map[string]any) gateways.Event {
	t.Helper()

	now := time.Now()
	body, err := json.Marshal(map[string]any{
		"id": "evt_1Pgc76B7WZ01zgkWwyRHS12y", "object": "event", "api_version": sdk.APIVersion, "created": now.Unix(), "livemode": false,
		"pending_webhooks": 1, "request": map[string]any{"id": nil, "idempotency_key": nil}, "type": kind, "data": map[string]any{"object": object},
	})
	require.NoError(t, err)

	v, err := stripe.NewVerifier([]string{webhookSecret}, gateways.ModeTest)
	require.NoError(t, err)

	event, err := v.Verify(http.Header{stripe.HeaderSignature: {stripesim.Sign(body, now, webhookSecret)}}, body, now)
	require.NoError(t, err, kind)

	return event
}
