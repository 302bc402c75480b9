package moyasar

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/gateways/httpcall"
	"rihla/models"
)

// Answers are checked before they are believed: what does not say what is documented, or does not add up, is as good as no
// answer, and therefore KindUnknown.

// maxWords bounds the company's words about a failed payment, in characters.
const maxWords = 255

// invoice is the company's hosted page for one purchase (docs.moyasar.com/fetch-invoice).
type invoice struct {
	ID        string                     `json:"id"`
	Status    string                     `json:"status"`
	Amount    *int64                     `json:"amount"`
	Currency  string                     `json:"currency"`
	URL       string                     `json:"url"`
	ExpiredAt string                     `json:"expired_at"`
	CreatedAt string                     `json:"created_at"`
	PaidAt    string                     `json:"paid_at"` // only lists show it, and not every version of the API
	Metadata  map[string]json.RawMessage `json:"metadata"`
	Payments  *[]payment                 `json:"payments"` // nil: the answer leaves them out
}

// payment is one attempt to pay (docs.moyasar.com/payment-object).
type payment struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	Amount     *int64 `json:"amount"`
	Currency   string `json:"currency"`
	Refunded   int64  `json:"refunded"` // the sum of all refunds
	Captured   int64  `json:"captured"` // 0 of what was paid at once
	InvoiceID  string `json:"invoice_id"`
	CreatedAt  string `json:"created_at"`
	UpdatedAt  string `json:"updated_at"`
	CapturedAt string `json:"captured_at"`
	Source     source `json:"source"`
}

// source is how a payment is made, and what became of it.
type source struct {
	Type         string          `json:"type"`
	Company      string          `json:"company"` // of cards: mada, visa, master, amex, unionpay
	Message      string          `json:"message"`
	ResponseCode json.RawMessage `json:"response_code"` // text, where the bank gave one
}

// reading is an invoice in the service's terms, with the payments that took money.
type reading struct {
	gateways.Checkout

	payments []paid // the first is the one that the reading is about
	voided   bool   // a payment was voided
}

// paid is a payment that took money.
type paid struct {
	payment

	amount   models.Money // that was taken
	refunded models.Money
	paidOn   string // the invoice's paid_at, of its first payment
}

// reference is our transaction id; Nil when the invoice is not one of ours.
func (v invoice) reference() uuid.UUID {
	var text string
	if json.Unmarshal(v.Metadata[metaReference], &text) != nil || len(text) != len(uuid.Nil.String()) {
		return uuid.Nil
	}

	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil
	}

	return id
}

// read checks the invoice and says how it stands.
func (v invoice) read() (reading, error) {
	reference := v.reference()
	status, known := invoiceStatuses[v.Status]

	if v.ID == "" || reference == uuid.Nil || v.Amount == nil || v.Payments == nil || !known {
		return reading{}, httpcall.BadAnswer("the invoice is incomplete, not ours, or has an unknown status")
	}

	amount, err := fromMinor(*v.Amount, v.Currency)
	if err != nil || !amount.IsPositive() {
		return reading{}, httpcall.BadAnswer("the invoice has no usable amount")
	}

	if u, err := url.Parse(v.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return reading{}, httpcall.BadAnswer("the invoice has no usable url")
	}

	r := reading{Checkout: gateways.Checkout{
		ID: v.ID, MerchantReference: reference, Status: status, Amount: amount, Currency: v.Currency, URL: v.URL,
		ExpiresAt: moment(v.ExpiredAt),
	}}

	if err := r.addPayments(*v.Payments); err != nil {
		return reading{}, err
	}

	switch {
	case len(r.payments) > 0:
		slices.SortStableFunc(r.payments, func(a, b paid) int { return moment(a.CreatedAt).Compare(moment(b.CreatedAt)) })
		r.payments[0].paidOn = v.PaidAt
		r.settle()
	case needsMoney[v.Status] && !r.voided:
		return reading{}, httpcall.BadAnswer("the invoice counts as paid and has no payment that took money")
	case status != gateways.CheckoutOpen:
		r.explain(v)
	}

	return r, nil
}

// addPayments collects what took money.
func (r *reading) addPayments(all []payment) error {
	for _, p := range all {
		state, known := paymentStatuses[p.Status]
		if !known || p.ID == "" || p.InvoiceID != "" && p.InvoiceID != r.ID {
			return httpcall.BadAnswer("a payment has no id, an unknown status or another invoice")
		}

		r.voided = r.voided || state == reversed

		if state != taken {
			continue
		}

		took, err := p.money()
		if err != nil {
			return err
		}

		r.payments = append(r.payments, took)
	}

	return nil
}

// money is what the payment took and gave back.
func (p payment) money() (paid, error) {
	if p.Amount == nil || p.Captured < 0 || p.Captured > *p.Amount || p.Refunded < 0 {
		return paid{}, httpcall.BadAnswer("a payment has amounts that do not add up")
	}

	units := *p.Amount
	if p.Captured > 0 {
		units = p.Captured // a part of it may be captured, and only that is taken
	}

	amount, err := fromMinor(units, p.Currency)
	if err != nil || !amount.IsPositive() || p.Refunded > units {
		return paid{}, httpcall.BadAnswer("a payment has amounts that do not add up")
	}

	refunded, err := fromMinor(p.Refunded, p.Currency)
	if err != nil {
		return paid{}, httpcall.BadAnswer("a payment has amounts that do not add up")
	}

	return paid{payment: p, amount: amount, refunded: refunded}, nil
}

// settle makes the checkout paid by its first payment. An invoice can be paid twice (README.md): others that took money are told beside
// it, so that a customer who paid twice is noticed, and that the amount is one that was paid.
func (r *reading) settle() {
	first := r.payments[0]

	r.Status, r.Amount, r.Currency, r.RefundedAmount = gateways.CheckoutPaid, first.amount, first.Currency, first.refunded
	r.PaymentID, r.PaidAt, r.Others = first.ID, first.at(), nil
	r.Method = methodOf(first.Source.Type, first.Source.Company)

	// A refund changes the status and not this: the same payment has the same code for good.
	r.ResultCode = "paid" + first.Source.code()

	for _, p := range r.payments[1:] {
		r.Others = append(r.Others, gateways.Debit{
			PaymentID: p.ID, Amount: p.amount, Currency: p.Currency, Method: methodOf(p.Source.Type, p.Source.Company), PaidAt: p.at(),
		})
	}
}

// choose makes the reading one of the payment with the id, where several took money: it is that which is compared and given back. One that
// has not, or not any more, is paid by none of the others.
func (r *reading) choose(id string) {
	at := slices.IndexFunc(r.payments, func(p paid) bool { return p.ID == id })

	switch {
	case id == "" || len(r.payments) == 0 || at == 0:
	case at < 0:
		r.payments, r.Others, r.PaymentID, r.Status = nil, nil, "", gateways.CheckoutCanceled
	default:
		chosen := r.payments[at]
		r.payments = slices.Insert(slices.Delete(r.payments, at, at+1), 0, chosen)
		r.settle()
	}
}

// at is when the money was taken; nil where nothing says it. A payment that was paid at once and given nothing back was changed last when
// it was paid: updated_at is never before that moment, and before any later answer.
func (p paid) at() *time.Time {
	var at time.Time

	switch {
	case p.paidOn != "":
		at = moment(p.paidOn)
	case p.CapturedAt != "":
		at = moment(p.CapturedAt)
	case p.Status == "paid" && p.Refunded == 0:
		at = moment(p.UpdatedAt)
	}

	if at.IsZero() {
		return nil
	}

	return &at
}

// explain says why an invoice is closed without money: by its last failed payment, or by its own status.
func (r *reading) explain(v invoice) {
	r.ResultCode = v.Status

	var last payment

	for _, p := range *v.Payments {
		if paymentStatuses[p.Status] == declined && (last.ID == "" || moment(p.CreatedAt).After(moment(last.CreatedAt))) {
			last = p
		}
	}

	if r.Status != gateways.CheckoutFailed {
		return
	}

	r.FailureReason = "The payment failed."

	if last.ID != "" {
		r.ResultCode = "failed" + last.Source.code()

		if words := httpcall.Plain(last.Source.Message, maxWords); words != "" {
			r.FailureReason = words
		}
	}
}

var codeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// code is how a payment was made and how its bank answered, `:creditcard/mada:00`. It shows what the customer really paid with, since
// the invoice's page lets them choose. Parts that the company does not give are left out.
func (s source) code() string {
	var code strings.Builder

	if codeForm.MatchString(s.Type) {
		code.WriteString(":" + s.Type)

		if codeForm.MatchString(s.Company) {
			code.WriteString("/" + s.Company)
		}
	}

	if response := strings.Trim(string(s.ResponseCode), `"`); codeForm.MatchString(response) && response != "null" {
		code.WriteString(":" + response)
	}

	return code.String()
}

// moment reads a time of the API; zero when it is none.
func moment(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}

	return at.UTC()
}
