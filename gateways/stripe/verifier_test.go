package stripe_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/stripe"
	"rihla/models"
)

func TestSecretsAreChecked(t *testing.T) {
	t.Parallel()

	for _, secrets := range [][]string{nil, {""}, {"whsec_short"}, {"sk_test_4eC39HqLyjWDarjtT1zdp7dc"}, {secret, "whsec_with a space in it, 4eC39Hq"}} {
		_, err := stripe.NewVerifier(secrets, gateways.ModeTest)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "4eC39Hq")
	}

	_, err := stripe.NewVerifier([]string{secret}, gateways.ModeUnknown)
	require.Error(t, err)
}

// TestEvents is the table of README.md.
func TestEvents(t *testing.T) {
	t.Parallel()

	reference := uuid.New()
	session := map[string]any{
		"id": "cs_test_1", "object": "checkout.session", "client_reference_id": reference.String(), "amount_total": 115055, "currency": "sar",
		"payment_status": "paid", "status": "complete",
	}
	refund := map[string]any{
		"id": "re_1", "object": "refund", "amount": 1000, "currency": "sar", "status": "succeeded", "payment_intent": "pi_1",
		"metadata": map[string]string{"merchant_reference": reference.String()},
	}
	with := func(object map[string]any, key string, value any) map[string]any {
		changed := maps.Clone(object)
		changed[key] = value

		return changed
	}

	for _, tt := range []struct {
		kind   string
		object map[string]any
		want   models.EventType
	}{
		{"checkout.session.completed", session, models.EventPaymentSucceeded},
		{"checkout.session.completed", with(session, "payment_status", "unpaid"), models.EventNotice},
		{"checkout.session.completed", with(session, "payment_status", "no_payment_required"), models.EventNotice},
		{"checkout.session.completed", with(session, "client_reference_id", nil), models.EventNotice},
		{"checkout.session.completed", with(session, "client_reference_id", strings.ToUpper(reference.String())), models.EventNotice},
		{"checkout.session.async_payment_succeeded", session, models.EventPaymentSucceeded},
		{"checkout.session.async_payment_failed", with(session, "payment_status", "unpaid"), models.EventPaymentFailed},
		{"checkout.session.expired", with(session, "payment_status", "unpaid"), models.EventPaymentExpired},
		{"refund.created", refund, models.EventRefundSucceeded},
		{"refund.updated", refund, models.EventRefundSucceeded},
		{"charge.refund.updated", with(refund, "status", "canceled"), models.EventRefundFailed},
		{"refund.failed", with(refund, "status", "failed"), models.EventRefundFailed},
		{"refund.updated", with(refund, "status", "pending"), models.EventNotice},
		{"refund.updated", with(refund, "status", "requires_action"), models.EventNotice},
		{"refund.updated", with(refund, "metadata", map[string]string{}), models.EventNotice},
		{"charge.refunded", map[string]any{"object": "charge"}, models.EventNotice},
		{"payment_intent.payment_failed", map[string]any{"object": "payment_intent"}, models.EventNotice},
		{"charge.dispute.created", map[string]any{
			"object": "dispute", "amount": 115055, "currency": "sar", "payment_intent": "pi_1", "reason": "fraudulent",
		}, models.EventPaymentDisputed},
		{"charge.dispute.closed", map[string]any{"object": "dispute"}, models.EventNotice},
		{"moonlight.shone", map[string]any{"object": "moon"}, "stripe.moonlight.shone"},
	} {
		now := time.Now()
		body := message(t, tt.kind, now, tt.object)

		e, err := verifier(t, secret).Verify(signed(body, now, secret), body, now)
		require.NoError(t, err, tt.kind)
		require.Equal(t, tt.want, e.Type, "%s %v", tt.kind, tt.object)

		switch tt.want {
		case models.EventPaymentSucceeded, models.EventPaymentFailed, models.EventPaymentExpired:
			require.Equal(t, "cs_test_1", e.CheckoutID)
			require.Equal(t, reference, e.MerchantReference)
			require.Equal(t, "1150.55 SAR", e.Amount.String()+" "+e.Currency)
		case models.EventRefundSucceeded, models.EventRefundFailed:
			require.Equal(t, reference, e.MerchantReference)
			require.Equal(t, "re_1", e.RefundID)
			require.Empty(t, e.CheckoutID)
			require.Equal(t, "10.00 SAR", e.Amount.String()+" "+e.Currency)
		case models.EventPaymentDisputed:
			require.Equal(t, "1150.55 SAR", e.Amount.String()+" "+e.Currency)
		default:
			require.True(t, e.Amount.IsZero(), "it moves nothing")
		}
	}

	// A refund that was made in the dashboard is a reason to ask about its payment.
	now := time.Now()
	body := message(t, "refund.updated", now, with(refund, "metadata", map[string]string{}))
	e, err := verifier(t, secret).Verify(signed(body, now, secret), body, now)
	require.NoError(t, err)
	require.True(t, e.Hint)
	require.Equal(t, "pi_1", e.CheckoutID)
}

// TestMessagesThatAreRefused: signed, and all the same not for this account or not of this form.
func TestMessagesThatAreRefused(t *testing.T) {
	t.Parallel()

	whole := map[string]any{
		"id": "evt_1", "object": "event", "api_version": "2026-03-25.dahlia", "created": 1_795_000_000, "livemode": false,
		"type": "checkout.session.completed", "data": map[string]any{"object": map[string]any{
			"id": "cs_1", "object": "checkout.session", "client_reference_id": uuid.New(), "amount_total": 100, "currency": "sar", "payment_status": "paid",
		}},
	}

	for name, change := range map[string]func(map[string]any){
		"a live event":         func(m map[string]any) { m["livemode"] = true },
		"an older version":     func(m map[string]any) { m["api_version"] = "2022-11-15" },
		"a later train":        func(m map[string]any) { m["api_version"] = "2027-01-01.elder" },
		"a thin event":         func(m map[string]any) { m["object"] = "v2.core.event" },
		"no id":                func(m map[string]any) { delete(m, "id") },
		"an id that is no id":  func(m map[string]any) { m["id"] = "evt_1\n2" },
		"a year far away":      func(m map[string]any) { m["created"] = int64(1) << 40 },
		"an amount below zero": func(m map[string]any) { objectOf(m)["amount_total"] = -1 },
		"an amount in parts":   func(m map[string]any) { objectOf(m)["amount_total"] = 1.5 },
		"no currency":          func(m map[string]any) { delete(objectOf(m), "currency") },
		"another object":       func(m map[string]any) { objectOf(m)["object"] = "invoice" },
		"text that is none":    func(m map[string]any) { objectOf(m)["note"] = "a\x00b" },
	} {
		var changed map[string]any

		raw, err := json.Marshal(whole)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &changed))
		change(changed)

		body, err := json.Marshal(changed)
		require.NoError(t, err)

		now := time.Now()
		_, err = verifier(t, secret).Verify(signed(body, now, secret), body, now)
		require.Equal(t, models.CodeValidation, models.CodeOf(err), name)
	}
}

func objectOf(m map[string]any) map[string]any {
	return m["data"].(map[string]any)["object"].(map[string]any) //nolint:forcetypeassert // as written above
}

// TestSignatureHeaders: what the SDK alone would let pass.
func TestSignatureHeaders(t *testing.T) {
	t.Parallel()

	now := time.Now()
	body := message(t, "payment_intent.created", now, map[string]any{"object": "payment_intent"})
	v := verifier(t, secret)

	good := signed(body, now, secret).Get(stripe.HeaderSignature)
	_, err := v.Verify(map[string][]string{stripe.HeaderSignature: {good}}, body, now)
	require.NoError(t, err)

	for name, values := range map[string][]string{
		"twice":               {good, good},
		"none":                nil,
		"two times":           {good + ",t=1"},
		"the future":          {signed(body, now.Add(6*time.Minute), secret).Get(stripe.HeaderSignature)},
		"the past":            {signed(body, now.Add(-6*time.Minute), secret).Get(stripe.HeaderSignature)},
		"only the old scheme": {strings.Replace(good, "v1=", "v0=", 1)},
		"a time with a sign":  {strings.Replace(good, "t=", "t=+", 1)},
	} {
		_, err := v.Verify(map[string][]string{stripe.HeaderSignature: values}, body, now)
		require.Equal(t, models.CodeInvalidSignature, models.CodeOf(err), name)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte(`{"id":"evt_1","object":"event","api_version":"2026-03-25.dahlia","created":1,"type":"refund.updated","data":{"object":{"object":"refund","id":"re_1"}}}`))
	f.Add([]byte(`{"object":"event","data":{"object":null}}`))
	f.Add([]byte(`null`))

	v, err := stripe.NewVerifier([]string{secret}, gateways.ModeTest)
	require.NoError(f, err)

	f.Fuzz(func(t *testing.T, body []byte) {
		now := time.Now()

		e, err := v.Verify(signed(body, now, secret), body, now)
		if err != nil {
			require.NotEqual(t, models.CodeInvalidSignature, models.CodeOf(err))
			require.Contains(t, []models.Code{models.CodeMalformedRequest, models.CodeValidation, models.CodeTooManyMembers}, models.CodeOf(err))

			return
		}

		require.True(t, json.Valid(body))
		require.NotEmpty(t, e.ID)
	})
}
