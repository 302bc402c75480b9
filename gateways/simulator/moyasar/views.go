package moyasar

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"rihla/gateways/simulator/engine"
	"rihla/models"
)

// What is kept of an invoice beside what the engine has.
const (
	dataSuccessURL = "success_url"
	dataMetadata   = "metadata" // as JSON
)

// invoiceView is an invoice as the account sees it (docs.moyasar.com/api/invoices/01-create-invoice).
type invoiceView struct {
	ID           string          `json:"id"`
	Status       string          `json:"status"`
	Amount       int64           `json:"amount"`
	Currency     string          `json:"currency"`
	Description  string          `json:"description"`
	LogoURL      *string         `json:"logo_url"`
	AmountFormat string          `json:"amount_format"`
	URL          string          `json:"url"`
	CallbackURL  *string         `json:"callback_url"`
	ExpiredAt    *string         `json:"expired_at"`
	CreatedAt    string          `json:"created_at"`
	UpdatedAt    string          `json:"updated_at"`
	BackURL      *string         `json:"back_url"`
	SuccessURL   *string         `json:"success_url"`
	Metadata     json.RawMessage `json:"metadata"`
	Payments     *[]paymentView  `json:"payments,omitempty"`
}

// paymentView is a payment as the account sees it (docs.moyasar.com/payment-object).
type paymentView struct {
	ID             string          `json:"id"`
	Status         string          `json:"status"`
	Amount         int64           `json:"amount"`
	Fee            int64           `json:"fee"`
	Currency       string          `json:"currency"`
	Refunded       int64           `json:"refunded"`
	RefundedAt     *string         `json:"refunded_at"`
	Captured       int64           `json:"captured"`
	CapturedAt     *string         `json:"captured_at"`
	VoidedAt       *string         `json:"voided_at"`
	Description    string          `json:"description"`
	AmountFormat   string          `json:"amount_format"`
	RefundedFormat string          `json:"refunded_format"`
	InvoiceID      string          `json:"invoice_id"`
	IP             *string         `json:"ip"`
	CallbackURL    *string         `json:"callback_url"`
	CreatedAt      string          `json:"created_at"`
	UpdatedAt      string          `json:"updated_at"`
	Metadata       json.RawMessage `json:"metadata"`
	Source         sourceView      `json:"source"`
}

type sourceView struct {
	Type         string `json:"type"`
	Company      string `json:"company,omitempty"`
	Number       string `json:"number,omitempty"`
	SadadNumber  string `json:"sadad_number,omitempty"`
	GatewayID    string `json:"gateway_id"`
	Message      string `json:"message"`
	ResponseCode string `json:"response_code,omitempty"`
}

// statuses are the engine's states in the company's words; a payment makes an invoice paid or refunded.
var statuses = map[string]string{
	engine.StatusOpen: "initiated", engine.StatusPaid: "paid", engine.StatusFailed: "failed",
	engine.StatusExpired: "expired", engine.StatusCanceled: "canceled",
}

func (c calls) invoiceOf(r *http.Request, row *engine.Checkout, f *engine.Fault) invoiceView {
	amount, currency := f.Wrong(row.Amount, row.Currency)

	v := invoiceView{
		ID: row.ID, Status: statuses[row.Status], Amount: amount.Halalas(), Currency: currency, Description: row.Description,
		AmountFormat: amount.String() + " " + currency, URL: c.PayURL(r, row.ID), ExpiredAt: textOf(stamp(row.ExpiresAt)),
		CreatedAt: stamp(row.CreatedAt), UpdatedAt: stamp(row.CreatedAt), BackURL: textOf(row.ReturnURL),
		SuccessURL: textOf(row.Data[dataSuccessURL]), Metadata: json.RawMessage(row.Data[dataMetadata]),
	}

	payments := []paymentView{}
	for i := range row.Attempts {
		payments = append(payments, c.settings.attemptOf(row, &row.Attempts[i]))
	}

	if row.Status == engine.StatusPaid {
		paid := c.settings.paymentOf(row, f)
		v.Status, v.UpdatedAt, payments = paid.Status, paid.UpdatedAt, append(payments, paid)
	}

	for i := range row.SecondDebits {
		payments = append(payments, c.settings.secondOf(row, &row.SecondDebits[i]))
	}

	v.Payments = &payments

	return v
}

// paymentOf is the payment that an invoice was paid with.
func (s Settings) paymentOf(row *engine.Checkout, f *engine.Fault) paymentView {
	amount, currency := f.Wrong(row.Amount, row.Currency)
	v := paymentView{
		ID: PaymentID(row.ID), Status: "paid", Amount: amount.Halalas(), Currency: currency, Refunded: row.RefundedAmount.Halalas(),
		Description: row.Description, AmountFormat: amount.String() + " " + currency,
		RefundedFormat: row.RefundedAmount.String() + " " + currency, InvoiceID: row.ID, CreatedAt: stamp(row.CreatedAt),
		UpdatedAt: stamp(row.CreatedAt), Metadata: s.metadataOf(row), Source: sourceOf(row),
	}

	if row.PaidAt != nil {
		v.CreatedAt, v.UpdatedAt = stamp(*row.PaidAt), stamp(*row.PaidAt)
	}

	part := row.RefundedAmount.Cmp(amount) < 0
	if row.RefundedAmount.IsPositive() && (!part || !s.PaidAfterPart) {
		v.Status = "refunded"
	}

	return v
}

// secondOf is a further payment of an invoice that was paid twice.
func (s Settings) secondOf(row *engine.Checkout, d *engine.SecondDebit) paymentView {
	again := *row
	again.Amount, again.RefundedAmount, again.PaidAt = d.Amount, d.RefundedAmount, &d.PaidAt

	v := s.paymentOf(&again, &engine.Fault{})
	v.ID = uuid.MustParse(d.ID).String()

	return v
}

// attemptOf is a payment that failed.
func (s Settings) attemptOf(row *engine.Checkout, a *engine.Attempt) paymentView {
	v := s.paymentOf(row, &engine.Fault{})
	v.ID, v.Status, v.Refunded, v.RefundedFormat = a.ID, "failed", 0, "0.00 "+row.Currency
	v.CreatedAt, v.UpdatedAt = stamp(a.At), stamp(a.At)
	v.Source.Message, v.Source.ResponseCode = "DECLINED", "05" // docs.moyasar.com/guides/card-payments/test-cards

	return v
}

func (s Settings) metadataOf(row *engine.Checkout) json.RawMessage {
	if s.CopiedMetadata {
		return json.RawMessage(row.Data[dataMetadata])
	}

	return json.RawMessage("null")
}

// sourceOf is how an invoice of a method is paid.
func sourceOf(row *engine.Checkout) sourceView {
	v := sourceView{Type: "creditcard", Company: "visa", Number: "XXXX-XXXX-XXXX-1111", Message: "APPROVED", ResponseCode: "00"}

	switch row.Method() {
	case models.MethodDebitNetwork:
		v.Company, v.Number = "mada", "XXXX-XXXX-XXXX-1010"
	case models.MethodWalletA:
		v.Type = "applepay"
	case models.MethodWalletB:
		v = sourceView{Type: "stcpay", Message: "Paid"}
	case models.MethodCreditCard:
	case models.MethodBillPayment:
		v = sourceView{Type: "sadadbill", SadadNumber: strings.ReplaceAll(row.ID, "-", "")[:13]}
	}

	v.GatewayID = "moyasar_simulator_" + row.ID

	return v
}

// PaymentID is that of the payment of an invoice: the same but for its last digit, so that either is found by the other.
func PaymentID(invoice string) string {
	const digits = "0123456789abcdef"

	at := strings.IndexByte(digits, invoice[len(invoice)-1])
	if at < 0 {
		return invoice + "?"
	}

	return invoice[:len(invoice)-1] + string(digits[at^1])
}

func textOf(s string) *string {
	if s == "" {
		return nil
	}

	return &s
}
