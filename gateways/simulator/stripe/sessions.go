package stripe

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rihla/gateways"
	"rihla/gateways/simulator/engine"
	"rihla/models"
)

const (
	// Bounds (docs.stripe.com/payments/checkout/managing-limited-inventory, …/currencies, …/api/checkout/sessions/create).
	minLife      = 30 * time.Minute
	maxLife      = 24 * time.Hour
	minAmount    = 200
	maxAmount    = 99_999_999
	maxReference = 200
	maxPage      = 100
)

// calls are the operations of the API.
type calls struct {
	*engine.Server

	protocol protocol
}

// described is the product's name with its description, as the page of payment companies shows both.
func described(form url.Values, price string) string {
	return strings.Join(slices.DeleteFunc([]string{
		form.Get(price + "[product_data][name]"), form.Get(price + "[product_data][description]"),
	}, func(part string) bool { return part == "" }), gateways.DetailSeparator)
}

// known are the parameters of a new session that the simulator understands; another one is refused, as the company does.
var known = regexp.MustCompile(`^(mode|payment_method_types\[\d+\]|client_reference_id|success_url|cancel_url|expires_at|locale|` +
	`adaptive_pricing\[enabled\]|metadata\[\w+\]|payment_intent_data\[metadata\]\[\w+\]|line_items\[0\]\[quantity\]|` +
	`line_items\[0\]\[price_data\]\[(currency|unit_amount|product_data\]\[(?:name|description))\]|expand\[\d+\])$`)

// form reads the parameters of a POST; every one must be known.
func (c calls) form(w http.ResponseWriter, r *http.Request, known *regexp.Regexp) (url.Values, bool) {
	body, refusal, ok := c.ReadBody(w, r)
	if !ok {
		refusal.Write(w)

		return nil, false
	}

	form, err := url.ParseQuery(string(body))
	if err != nil {
		c.Invalid("", "The form cannot be read.").Write(w)

		return nil, false
	}

	for name := range form {
		if !known.MatchString(name) {
			failure(http.StatusBadRequest, errorView{
				Type: "invalid_request_error", Code: "parameter_unknown", Message: "Received unknown parameter: " + name, Param: name,
			}).Write(w)

			return nil, false
		}
	}

	return form, true
}

func (c calls) createSession(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	form, ok := c.form(w, r, known)
	if !ok {
		return
	}

	row, param, problem := sessionRow(form, m)
	if problem != "" {
		c.Invalid(param, problem).Write(w)

		return
	}

	c.Faulty(w, r, engine.OpCreateCheckout, m, func(f *engine.Fault) engine.Answer {
		id, err := newID(sessionPrefix)
		if err != nil {
			return c.Internal(err)
		}

		return c.Once(r, m, engine.OpCreateCheckout, form, nil, func(t *engine.Tx) (engine.Answer, error) {
			if f.Mode == engine.ModeReject {
				return c.Refuse(f), nil
			}

			// Against the company's own clock, and only for a key's first request.
			if life := row.ExpiresAt.Sub(c.Now()); life < minLife-time.Second || life > maxLife {
				return c.Invalid("expires_at", "The expires_at timestamp must be between 30 minutes and 24 hours from now."), nil
			}

			fresh := *row
			fresh.ID = id

			if _, err := c.Open(t, &fresh); err != nil {
				return engine.Answer{}, err
			}

			return engine.Success(http.StatusOK, sessionOf(&fresh, &engine.Fault{}, c.PayURL(r, fresh.ID), c.protocol.live[m.Name])), nil
		})
	})
}

// newID is an id of the company's look.
func newID(prefix string) (string, error) {
	id, err := engine.NewID(prefix)

	return strings.ReplaceAll(id, "-", ""), err
}

// sessionRow makes a row of the request, or says which parameter is wrong.
func sessionRow(form url.Values, m *engine.Account) (row *engine.Checkout, param, problem string) {
	const price = "line_items[0][price_data]"

	amount, errAmount := strconv.ParseInt(form.Get(price+"[unit_amount]"), 10, 64)
	expires, errExpires := strconv.ParseInt(form.Get("expires_at"), 10, 64)
	currency := form.Get(price + "[currency]")

	switch {
	case form.Get("mode") != "payment":
		return nil, "mode", "Invalid mode: must be payment."
	case errAmount != nil || amount < minAmount:
		return nil, price + "[unit_amount]", "The amount is too small."
	case amount > maxAmount:
		return nil, price + "[unit_amount]", "Amount must be no more than 999999.99."
	case currency != strings.ToLower(currency) || len(currency) != 3:
		return nil, price + "[currency]", "Invalid currency."
	case form.Get(price+"[product_data][name]") == "" || form.Get("line_items[0][quantity]") != "1":
		return nil, "line_items[0]", "A name and a quantity of 1 are needed."
	case form.Get("success_url") == "" || !isWebAddress(form.Get("success_url")):
		return nil, "success_url", "Not a valid URL"
	case form.Get("cancel_url") != "" && !isWebAddress(form.Get("cancel_url")):
		return nil, "cancel_url", "Not a valid URL"
	case errExpires != nil:
		return nil, "expires_at", "Invalid timestamp."
	case !engine.PlainText(form.Get("client_reference_id"), maxReference):
		return nil, "client_reference_id", "Invalid string."
	case !m.Has(models.MethodCreditCard) || form.Get("payment_method_types[0]") != "card":
		return nil, "payment_method_types", "The payment method type is not activated for your account."
	}

	return &engine.Checkout{
		Merchant: m.Name, MerchantReference: cmp.Or(form.Get("client_reference_id"), "-"), Amount: models.Halalas(amount),
		Currency: strings.ToUpper(currency), PaymentMethod: models.MethodCreditCard, Description: described(form, price),
		ReturnURL: form.Get("cancel_url"), ExpiresAt: time.Unix(expires, 0).UTC(),
		Data: map[string]string{dataSuccessURL: form.Get("success_url")},
	}, "", ""
}

func isWebAddress(text string) bool {
	u, err := url.Parse(text)

	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && !strings.ContainsAny(text, "\"'<> ;")
}

// expandOf are the objects that the answer has in it.
func expandOf(r *http.Request) (expand []string) {
	for name, values := range r.URL.Query() {
		if strings.HasPrefix(name, "expand[") {
			expand = append(expand, values...)
		}
	}

	return expand
}

func (c calls) readSession(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	c.AnswerStatus(w, r, m, r.PathValue("id"), func(row *engine.Checkout, f *engine.Fault) engine.Answer {
		return engine.Success(http.StatusOK, sessionOf(row, f, c.PayURL(r, row.ID), c.protocol.live[m.Name], expandOf(r)...))
	})
}

func (c calls) expireSession(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	if _, ok := c.form(w, r, regexp.MustCompile(`^expand\[\d+\]$`)); !ok {
		return
	}

	c.Changed(w, r, engine.OpCancel, m, func(t *engine.Tx, _ *engine.Fault) (given engine.Answer, err error) {
		before, err := c.Current(t, r.PathValue("id"))
		if err != nil {
			return given, err
		}

		closed := before != nil && before.Status != engine.StatusOpen

		row, why, err := c.Cancel(t, m, r.PathValue("id"))

		switch {
		case err != nil:
			return given, err
		case why == engine.RefusedUnknown:
			given = missing("checkout.session", r.PathValue("id"))
		case closed || why != engine.RefusedNothing: // without a code
			given = failure(http.StatusBadRequest, errorView{
				Type:    "invalid_request_error",
				Message: `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has another status.`,
			})
		default:
			given = engine.Success(http.StatusOK, sessionOf(row, &engine.Fault{}, "", c.protocol.live[m.Name]))
		}

		return given, nil
	})
}

func missing(what, id string) engine.Answer {
	return failure(http.StatusNotFound, errorView{
		Type: "invalid_request_error", Code: "resource_missing", Message: "No such " + what + ": '" + id + "'", Param: "id",
	})
}

// listSessions is the newest first, page by page behind starting_after.
func (c calls) listSessions(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	query := r.URL.Query()
	from, _ := strconv.ParseInt(query.Get("created[gte]"), 10, 64)
	to, err := strconv.ParseInt(query.Get("created[lte]"), 10, 64)
	if err != nil {
		to = c.Now().Unix()
	}

	c.Asked(w, r, engine.OpStatus, m, func(f *engine.Fault) engine.Answer {
		rows, err := c.All(m, f)
		if err != nil {
			return c.Internal(err)
		}

		rows = slices.DeleteFunc(rows, func(row *engine.Checkout) bool {
			return row.CreatedAt.Unix() < from || row.CreatedAt.Unix() > to
		})

		page, more := pageOf(rows, query, func(row *engine.Checkout) string { return row.ID })

		var data []any
		for _, row := range page {
			data = append(data, sessionOf(row, f, c.PayURL(r, row.ID), c.protocol.live[m.Name]))
		}

		return listOf(r.URL.Path, data, more)
	})
}

// pageOf is what comes behind starting_after, at most limit of it (docs.stripe.com/api/pagination).
func pageOf[T any](rows []T, query url.Values, id func(T) string) (page []T, more bool) {
	if after := query.Get("starting_after"); after != "" {
		rows = rows[slices.IndexFunc(rows, func(row T) bool { return id(row) == after })+1:]
	}

	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit < 1 || limit > maxPage {
		limit = 10
	}

	return rows[:min(limit, len(rows))], len(rows) > limit
}
