package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"time"

	"rihla/gateways/simulator/engine"
	"rihla/models"
)

const (
	defaultLifetime = 30 * time.Minute
	maxReference    = 64
	maxDescription  = 500
	maxReason       = 1000
	maxURL          = 2048
)

// browserSchemes are those a browser runs or reads locally; no scheme at all is a relative address.
var browserSchemes = []string{"", "javascript", "data", "vbscript", "file", "blob", "about"}

// plainHost keeps what is special in a Content-Security-Policy out of it: the host becomes part of the page's.
var plainHost = regexp.MustCompile(`^[A-Za-z0-9.:\[\]-]+$`)

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// calls are the operations of the protocol.
type calls struct{ *Server }

// checkoutRequest is the body of POST /v1/checkouts.
type checkoutRequest struct {
	MerchantReference string               `json:"merchant_reference"`
	Amount            json.RawMessage      `json:"amount"`
	Currency          string               `json:"currency"`
	PaymentMethod     models.PaymentMethod `json:"payment_method"`
	Description       string               `json:"description"`
	ReturnURL         string               `json:"return_url"`
	ExpiresAt         *time.Time           `json:"expires_at"`
}

// checkoutView is a checkout as the merchant sees it.
type checkoutView struct {
	ID                string               `json:"id"`
	MerchantReference string               `json:"merchant_reference"`
	Status            string               `json:"status"`
	Amount            models.Money         `json:"amount"`
	Currency          string               `json:"currency"`
	RefundedAmount    models.Money         `json:"refunded_amount"`
	PaymentMethod     models.PaymentMethod `json:"payment_method"`
	CheckoutURL       string               `json:"checkout_url"`
	ExpiresAt         time.Time            `json:"expires_at"`
	PaidAt            *time.Time           `json:"paid_at"`
	ResultCode        *string              `json:"result_code"`
	FailureReason     *string              `json:"failure_reason"`
	// Payments are all that took money, where there are several. The first has the id of the checkout, and the sums above.
	Payments []paymentView `json:"payments,omitempty"`
}

type paymentView struct {
	ID             string       `json:"id"`
	Amount         models.Money `json:"amount"`
	RefundedAmount models.Money `json:"refunded_amount"`
	PaidAt         *time.Time   `json:"paid_at"`
}

func (c calls) viewOf(r *http.Request, row *engine.Checkout, f *engine.Fault) checkoutView {
	amount, currency := f.Wrong(row.Amount, row.Currency)

	v := checkoutView{
		ID: row.ID, MerchantReference: row.MerchantReference, Status: row.Status, Amount: amount, Currency: currency,
		RefundedAmount: row.RefundedAmount, PaymentMethod: row.Method(), CheckoutURL: c.PayURL(r, row.ID),
		ExpiresAt: row.ExpiresAt, PaidAt: row.PaidAt, ResultCode: orNull(row.ResultCode), FailureReason: orNull(row.FailureReason),
	}

	if len(row.SecondDebits) > 0 {
		v.Payments = append(v.Payments, paymentView{row.ID, amount, row.RefundedAmount, row.PaidAt})
	}

	for _, d := range row.SecondDebits {
		v.Payments = append(v.Payments, paymentView{d.ID, d.Amount, d.RefundedAmount, &d.PaidAt})
	}

	return v
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}

	return &s
}

func failure(status int, code, message string) engine.Answer {
	return protocol{}.Failure(engine.Failure{Status: status, Code: code, Message: message})
}

// refused words a refusal; about is what is missing when it is unknown.
func refused(why engine.Refusal, status, currency string) engine.Answer {
	const code = http.StatusUnprocessableEntity

	switch why {
	case engine.RefusedUnknown:
		return failure(http.StatusNotFound, "not_found", "There is no such checkout.")
	case engine.RefusedDuplicate:
		return failure(code, "duplicate_reference", "The merchant_reference was used already.")
	case engine.RefusedPast:
		return failure(code, "expires_at_past", "expires_at is in the past.")
	case engine.RefusedNotOpen:
		return failure(code, "checkout_not_open", "The checkout is "+status+".")
	case engine.RefusedNotPaid:
		return failure(code, "checkout_not_paid", "The checkout is not paid.")
	case engine.RefusedCurrency:
		return failure(code, "currency_mismatch", "The checkout was not paid in "+currency+".")
	default:
		return failure(code, "refund_exceeds_paid", "The refund is more than what is left of the payment.")
	}
}

func (c calls) createCheckout(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	var in checkoutRequest
	if refusal, ok := c.ReadJSON(w, r, &in); !ok {
		refusal.Write(w)

		return
	}

	row, problem := in.check(m)
	if problem != "" {
		c.Invalid("", problem).Write(w)

		return
	}

	c.Faulty(w, r, engine.OpCreateCheckout, m, func(f *engine.Fault) engine.Answer {
		id, err := engine.NewID("co_")
		if err != nil {
			return c.Internal(err)
		}

		return c.Once(r, m, engine.OpCreateCheckout, in, nil, func(t *engine.Tx) (engine.Answer, error) {
			if f.Mode == engine.ModeReject {
				return c.Refuse(f), nil
			}

			fresh := *row
			fresh.ID = id

			if fresh.ExpiresAt.IsZero() {
				fresh.ExpiresAt = c.Now().Add(defaultLifetime)
			}

			why, err := c.Open(t, &fresh)
			if err != nil || why != engine.RefusedNothing {
				return refused(why, fresh.Status, fresh.Currency), err
			}

			return engine.Success(http.StatusCreated, c.viewOf(r, &fresh, &engine.Fault{})), nil
		})
	})
}

// check makes a row of the request, or says what is wrong with it. What depends on the time is left to
// Open: a repeated request must get its stored answer even when its expiry has passed since.
func (in *checkoutRequest) check(m *engine.Account) (*engine.Checkout, string) {
	amount, err := models.ParseMoney(string(in.Amount))

	switch {
	case in.MerchantReference == "" || !engine.PlainText(in.MerchantReference, maxReference):
		return nil, "merchant_reference must have 1 to 64 characters."
	case err != nil:
		return nil, "amount must be a number with at most 2 decimals."
	case !amount.IsPositive():
		return nil, "amount must be more than 0."
	case !currencyCode.MatchString(in.Currency):
		return nil, "currency must be a three-letter code in capitals."
	case !engine.PlainText(in.Description, maxDescription):
		return nil, "description must be at most 500 characters without control characters."
	case in.ReturnURL != "" && !usableURL(in.ReturnURL):
		return nil, "return_url must be an absolute URL."
	case !m.Has(in.PaymentMethod):
		return nil, "payment_method is not available to this merchant."
	}

	row := &engine.Checkout{
		Merchant: m.Name, MerchantReference: in.MerchantReference, Amount: amount,
		Currency: in.Currency, PaymentMethod: in.PaymentMethod, Description: in.Description, ReturnURL: in.ReturnURL,
	}

	if in.ExpiresAt != nil {
		row.ExpiresAt = in.ExpiresAt.UTC()
	}

	return row, ""
}

// usableURL admits web addresses and the links of mobile apps, and nothing that a browser would run.
func usableURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxURL || !engine.PlainText(text, maxURL) {
		return false
	}

	if slices.Contains(browserSchemes, u.Scheme) {
		return false
	}

	switch u.Scheme {
	case "http", "https":
		return plainHost.MatchString(u.Host)
	default:
		return u.Opaque == ""
	}
}

func (c calls) getCheckout(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	c.AnswerStatus(w, r, m, r.PathValue("id"), func(row *engine.Checkout, f *engine.Fault) engine.Answer {
		return engine.Success(http.StatusOK, c.viewOf(r, row, f))
	})
}

func (c calls) findCheckouts(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	find(c, w, r, m, func(reference string, f *engine.Fault) (any, error) {
		rows, err := c.Find(m, reference, f)
		found := make([]checkoutView, 0, len(rows))

		for _, row := range rows {
			found = append(found, c.viewOf(r, row, f))
		}

		return found, err
	})
}

// find answers a search by the merchant's reference.
func find(
	c calls, w http.ResponseWriter, r *http.Request, m *engine.Account, search func(reference string, f *engine.Fault) (any, error),
) {
	reference := r.URL.Query().Get("merchant_reference")
	if reference == "" {
		c.Invalid("merchant_reference", "merchant_reference is needed.").Write(w)

		return
	}

	c.Asked(w, r, engine.OpStatus, m, func(f *engine.Fault) engine.Answer {
		found, err := search(reference, f)
		if err != nil {
			return c.Internal(err)
		}

		return engine.Success(http.StatusOK, map[string]any{"data": found})
	})
}

func (c calls) cancelCheckout(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	if _, refusal, ok := c.ReadBody(w, r); !ok {
		refusal.Write(w)

		return
	}

	c.Changed(w, r, engine.OpCancel, m, func(t *engine.Tx, _ *engine.Fault) (given engine.Answer, err error) {
		// No stored answer is needed to give the same key the same answer: cancelling twice is cancelling once,
		// and every other state is final.
		row, why, err := c.Cancel(t, m, r.PathValue("id"))

		switch {
		case err != nil:
			return given, err
		case why == engine.RefusedNotOpen:
			given = refused(why, row.Status, row.Currency)
		case why != engine.RefusedNothing:
			given = refused(why, "", "")
		default:
			given = engine.Success(http.StatusOK, c.viewOf(r, row, &engine.Fault{}))
		}

		return given, nil
	})
}
