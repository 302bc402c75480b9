package moyasar

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rihla/gateways/simulator/engine"
	"rihla/models"
)

const (
	minAmount = 100 // docs.moyasar.com/api/invoices/01-create-invoice
	pageSize  = 40  // docs.moyasar.com/api/pagination

	// Bounds of metadata (docs.moyasar.com/api/metadata), in characters but for the first.
	maxKeys  = 30
	maxKey   = 40
	maxValue = 500

	// unnamed is the reference under which invoices without ours are kept.
	unnamed       = "-"
	metaReference = "merchant_reference"
	metaMethod    = "method"
)

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// calls are the operations of the API.
type calls struct {
	*engine.Server

	settings Settings
}

// invoiceRequest is the body of POST /v1/invoices.
type invoiceRequest struct {
	Amount      *int64            `json:"amount"`
	Currency    string            `json:"currency"`
	Description string            `json:"description"`
	SuccessURL  string            `json:"success_url"`
	BackURL     string            `json:"back_url"`
	CallbackURL string            `json:"callback_url"`
	ExpiredAt   *string           `json:"expired_at"`
	Metadata    map[string]string `json:"metadata"`
}

// forever is until when an invoice without expired_at can be paid.
const forever = 10 * 365 * 24 * time.Hour

func (c calls) createInvoice(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	var in invoiceRequest
	if refusal, ok := c.ReadJSON(w, r, &in); !ok {
		refusal.Write(w)

		return
	}

	row, field, problem := in.check(m, c.Now())
	if problem != "" {
		c.Invalid(field, problem).Write(w)

		return
	}

	c.Asked(w, r, engine.OpCreateCheckout, m, func(*engine.Fault) engine.Answer {
		id, err := engine.NewID("")
		if err != nil {
			return c.Internal(err)
		}

		var given engine.Answer

		err = c.Commit(func(t *engine.Tx) error { // every request makes an invoice: there is no idempotency
			fresh := *row
			fresh.ID = id

			why, err := c.Open(t, &fresh)

			given = engine.Success(http.StatusCreated, c.invoiceOf(r, &fresh, &engine.Fault{}))
			if why != engine.RefusedNothing {
				given = c.Invalid("expired_at", "The value must be greater than or equal to now.")
			}

			return err
		})
		if err != nil {
			return c.Internal(err)
		}

		return given
	})
}

// check makes a row of the request, or says which field is wrong.
func (in *invoiceRequest) check(m *engine.Account, now time.Time) (row *engine.Checkout, field, problem string) {
	switch {
	case in.Amount == nil || *in.Amount < minAmount:
		return nil, "amount", "The value must be greater than or equal to 100."
	case !currencyCode.MatchString(in.Currency):
		return nil, "currency", "The value is not a currency."
	case in.Description == "":
		return nil, "description", "The value is required."
	case len(in.Metadata) > maxKeys:
		return nil, "metadata", "There are too many keys."
	case len(m.Methods()) == 0:
		return nil, "amount", "The account has no payment method."
	}

	for name, text := range map[string]string{"success_url": in.SuccessURL, "back_url": in.BackURL, "callback_url": in.CallbackURL} {
		if text != "" && !webAddress(text) {
			return nil, name, "The value is not a URL."
		}
	}

	for key, value := range in.Metadata {
		if !engine.PlainText(key, maxKey) || !engine.PlainText(value, maxValue) {
			return nil, "metadata", "A key or a value is too long."
		}
	}

	expires := now.Add(forever)

	if in.ExpiredAt != nil {
		at, err := time.Parse(time.RFC3339, *in.ExpiredAt)
		if err != nil {
			if at, err = time.Parse(time.DateOnly, *in.ExpiredAt); err != nil {
				return nil, "expired_at", "The value is not a date."
			}
		}

		expires = at.UTC()
	}

	metadata, err := json.Marshal(in.Metadata) // null without any
	if err != nil {
		return nil, "metadata", "The value is not usable."
	}

	reference := in.Metadata[metaReference]
	if reference == "" {
		reference = unnamed
	}

	// The company's page lets the customer choose. The simulator pays with what the metadata names, or else with the first method
	// of the account.
	method := models.PaymentMethod(in.Metadata[metaMethod])
	if !m.Has(method) {
		method = m.Methods()[0]
	}

	return &engine.Checkout{
		Merchant: m.Name, MerchantReference: reference, Amount: models.Halalas(*in.Amount), Currency: in.Currency,
		PaymentMethod: method, Description: in.Description, ReturnURL: in.BackURL, ExpiresAt: expires,
		Data: map[string]string{dataSuccessURL: in.SuccessURL, dataMetadata: string(metadata)},
	}, "", ""
}

func (c calls) fetchInvoice(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	c.AnswerStatus(w, r, m, r.PathValue("id"), func(row *engine.Checkout, f *engine.Fault) engine.Answer {
		return engine.Success(http.StatusOK, c.invoiceOf(r, row, f))
	})
}

func (c calls) fetchPayment(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	c.AnswerStatus(w, r, m, PaymentID(r.PathValue("id")), func(row *engine.Checkout, f *engine.Fault) engine.Answer {
		if row.Status != engine.StatusPaid {
			return c.missing()
		}

		return engine.Success(http.StatusOK, c.settings.paymentOf(row, f))
	})
}

func (c calls) missing() engine.Answer {
	return protocol{}.Failure(engine.Failure{Status: http.StatusNotFound, Code: engine.CodeNotFound})
}

func (c calls) cancelInvoice(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	if _, refusal, ok := c.ReadBody(w, r); !ok {
		refusal.Write(w)

		return
	}

	c.Changed(w, r, engine.OpCancel, m, func(t *engine.Tx, _ *engine.Fault) (given engine.Answer, err error) {
		before, err := c.Current(t, r.PathValue("id"))
		if err != nil {
			return given, err
		}

		twice := before != nil && before.Status == engine.StatusCanceled

		row, why, err := c.Cancel(t, m, r.PathValue("id"))

		switch {
		case err != nil:
			return given, err
		case why == engine.RefusedUnknown:
			given = c.missing()
		case why != engine.RefusedNothing || twice:
			given = refused("Cancel failed. The Invoice is already " + statuses[row.Status] + ".")
		default:
			given = engine.Success(http.StatusOK, c.invoiceOf(r, row, &engine.Fault{}))
		}

		return given, nil
	})
}

func refused(message string) engine.Answer {
	return protocol{}.Failure(engine.Failure{Status: http.StatusBadRequest, Message: message})
}

// listWebhooks shows where the account's messages go, without their secrets (docs.moyasar.com/fetch-webhook).
func (c calls) listWebhooks(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	c.Asked(w, r, engine.OpStatus, m, func(*engine.Fault) engine.Answer {
		hooks := make([]map[string]any, 0, len(m.WebhookURLs()))
		for i, address := range m.WebhookURLs() {
			hooks = append(hooks, map[string]any{
				"id": "00000000-0000-4000-8000-" + strings.Repeat("0", 11) + strconv.Itoa(i%10), "http_method": "post", "url": address,
				"created_at": stamp(c.Now()), "events": slices.Clone(available),
			})
		}

		return engine.Success(http.StatusOK, map[string]any{"webhooks": hooks})
	})
}

// available are the events of a webhook (docs.moyasar.com/available-webhooks; payment_expired: guides/sadad-bill/basic-integration).
var available = []string{
	"payment_paid", "payment_failed", "payment_voided", "payment_authorized", "payment_captured", "payment_refunded",
	"payment_abandoned", "payment_verified", "payment_expired", "card_auth_authenticated", "card_auth_failed",
}

func (c calls) listEvents(w http.ResponseWriter, _ *http.Request, _ *engine.Account) {
	engine.Success(http.StatusOK, map[string]any{"events": available}).Write(w)
}
