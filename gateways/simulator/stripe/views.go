package stripe

import (
	"slices"
	"strings"
	"time"

	"rihla/gateways/simulator/engine"
	"rihla/models"
)

const (
	metaReference = "merchant_reference"

	// What is kept of a session beside what the engine has.
	dataSuccessURL = "success_url"
	dataName       = "name"

	sessionPrefix = "cs_test_"
)

// intentOf and chargeOf are the ids of a session's payment: the same digits, so that the one is found by the other.
func intentOf(session string) string { return "pi_" + strings.TrimPrefix(session, sessionPrefix) }
func chargeOf(session string) string { return "ch_" + strings.TrimPrefix(session, sessionPrefix) }
func sessionOfIntent(intent string) string {
	return sessionPrefix + strings.TrimPrefix(intent, "pi_")
}

// sessionOf is a session as the account sees it (docs.stripe.com/api/checkout/sessions/object). url is empty once it is not open.
func sessionOf(row *engine.Checkout, f *engine.Fault, url string, live bool, expand ...string) map[string]any {
	amount, currency := f.Wrong(row.Amount, row.Currency)
	status, paid := "open", "unpaid"

	var page, intent any

	switch row.Status {
	case engine.StatusOpen:
		page = url
	case engine.StatusPaid:
		status, paid, intent = "complete", "paid", intentOf(row.ID)
		if slices.Contains(expand, "payment_intent.latest_charge") {
			intent = expandedIntent(row, f)
		}
	default:
		status = "expired"
	}

	return map[string]any{
		"id": row.ID, "object": "checkout.session", "amount_subtotal": amount.Halalas(), "amount_total": amount.Halalas(),
		"cancel_url": row.ReturnURL, "client_reference_id": row.MerchantReference, "created": row.CreatedAt.Unix(),
		"currency": strings.ToLower(currency), "customer_details": nil, "expires_at": row.ExpiresAt.Unix(), "livemode": live,
		"metadata": map[string]string{metaReference: row.MerchantReference}, "mode": "payment", "payment_intent": intent,
		"payment_method_types": []string{"card"}, "payment_status": paid, "status": status, "success_url": row.Data[dataSuccessURL],
		"ui_mode": "hosted_page", "url": page,
	}
}

func expandedIntent(row *engine.Checkout, f *engine.Fault) map[string]any {
	amount, currency := f.Wrong(row.Amount, row.Currency)

	var at time.Time
	if row.PaidAt != nil {
		at = *row.PaidAt
	}

	return map[string]any{
		"id": intentOf(row.ID), "object": "payment_intent", "status": "succeeded", "amount": amount.Halalas(),
		"amount_received": amount.Halalas(), "currency": strings.ToLower(currency),
		"metadata": map[string]string{metaReference: row.MerchantReference},
		"latest_charge": map[string]any{
			"id": chargeOf(row.ID), "object": "charge", "status": "succeeded", "created": at.Unix(), "amount": amount.Halalas(),
			"amount_captured": amount.Halalas(), "amount_refunded": row.RefundedAmount.Halalas(), "currency": strings.ToLower(currency),
			"captured": true, "paid": true, "refunded": row.RefundedAmount.Equal(row.Amount), "payment_intent": intentOf(row.ID),
			"payment_method_details": map[string]any{"type": "card", "card": cardOf(row)},
		},
	}
}

// cardOf is what a charge was paid by: a wallet shows the card behind it.
func cardOf(row *engine.Checkout) map[string]any {
	card := map[string]any{"brand": "visa", "last4": "4242", "wallet": nil}
	if row.Method() == models.MethodWalletA {
		card["wallet"] = map[string]any{"type": "apple_pay", "apple_pay": map[string]any{}}
	}

	return card
}

// refundOf is a refund as the account sees it (docs.stripe.com/api/refunds/object).
func refundOf(row *engine.Refund) map[string]any {
	v := map[string]any{
		"id": row.ID, "object": "refund", "amount": row.Amount.Halalas(), "charge": chargeOf(row.CheckoutID), "created": row.CreatedAt.Unix(),
		"currency": strings.ToLower(row.Currency), "metadata": map[string]string{metaReference: row.MerchantReference},
		"payment_intent": intentOf(row.CheckoutID), "reason": nil, "receipt_number": nil, "status": row.Status,
	}
	if row.Status == engine.RefundFailed {
		v["failure_reason"] = "expired_or_canceled_card"
	}

	return v
}

// listOf is a page of a list.
func listOf(path string, data []any, more bool) engine.Answer {
	if data == nil {
		data = []any{}
	}

	return engine.Success(200, map[string]any{"object": "list", "url": path, "has_more": more, "data": data})
}
