package hyperpay

import (
	"strings"
	"time"

	"rihla/gateways/simulator/engine"
)

// resultView is the company's word.
type resultView struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

// envelope is what every answer has.
type envelope struct {
	Result    resultView `json:"result"`
	Build     string     `json:"buildNumber,omitempty"`
	Timestamp string     `json:"timestamp,omitempty"`
	NDC       string     `json:"ndc,omitempty"`
}

// transaction is a payment, a declined try, or a refund.
type transaction struct {
	ID           string     `json:"id"`
	PaymentType  string     `json:"paymentType"`
	Brand        string     `json:"paymentBrand,omitempty"`
	Amount       string     `json:"amount,omitempty"`
	Currency     string     `json:"currency,omitempty"`
	Reference    string     `json:"merchantTransactionId,omitempty"`
	ReferencedID string     `json:"referencedId,omitempty"`
	Result       resultView `json:"result"`
	Timestamp    string     `json:"timestamp"`
	NDC          string     `json:"ndc,omitempty"`
}

// node is the end of every checkout's id.
const node = ".uat01-vm-tx01"

// paymentID is that of the payment of a checkout: the same digits, so that the one is found by the other.
func paymentID(checkout string) string { return strings.ToLower(strings.TrimSuffix(checkout, node)) }

func checkoutID(payment string) string { return strings.ToUpper(payment) + node }

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05.000-0700") }

func said(code string) resultView { return resultView{Code: code, Description: words[code]} }

// paymentOf is the payment of a paid checkout.
func paymentOf(c *engine.Checkout, f *engine.Fault) transaction {
	amount, currency := f.Wrong(c.Amount, c.Currency)

	t := transaction{
		ID: paymentID(c.ID), PaymentType: "DB", Brand: brandOf(c.Method()), Amount: amount.String(), Currency: currency,
		Reference: c.MerchantReference, Result: said(codeApproved), NDC: c.ID,
	}

	if c.PaidAt != nil {
		t.Timestamp = stamp(*c.PaidAt)
	}

	return t
}

// secondOf is a further payment of a checkout that was paid twice.
func secondOf(d *engine.SecondDebit, c *engine.Checkout) transaction {
	t := paymentOf(c, &engine.Fault{})
	t.ID, t.Amount, t.Timestamp = d.ID, d.Amount.String(), stamp(d.PaidAt)

	return t
}

// attemptOf is a declined try, which has no amount.
func attemptOf(a *engine.Attempt, c *engine.Checkout) transaction {
	return transaction{
		ID: hex32(a.ID), PaymentType: "DB", Brand: brandOf(c.Method()), Reference: c.MerchantReference, Result: said(codeDeclined),
		Timestamp: stamp(a.At), NDC: c.ID,
	}
}

// refundOf is a refund, whose ndc is that of its call.
func refundOf(r *engine.Refund, c *engine.Checkout) transaction {
	t := transaction{
		ID: r.ID, PaymentType: "RF", Brand: brandOf(c.Method()), Amount: r.Amount.String(), Currency: r.Currency,
		Reference: r.MerchantReference, ReferencedID: paymentID(c.ID), Result: said(codeApproved), Timestamp: stamp(r.CreatedAt),
		NDC: c.Data["entity"] + "_" + hex32(r.ID),
	}

	if r.PaymentID != "" {
		t.ReferencedID = r.PaymentID
	}

	switch r.Status {
	case engine.RefundPending:
		t.Result = said(codePending)
	case engine.RefundFailed:
		t.Result, t.Amount = said(codeDeclined), ""
	}

	return t
}
