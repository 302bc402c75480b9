package hyperpay

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"rihla/gateways/simulator/engine"
	"rihla/models"
)

const (
	// sessionLife is how long a checkout is known, paid or not.
	sessionLife  = 30 * time.Minute
	maxReference = 255

	statusLimit = 9
	reportLimit = 2
)

var amountForm = regexp.MustCompile(`^[0-9]{1,10}(\.[0-9]{2})?$`)

// calls are the operations of the company.
type calls struct {
	*engine.Server

	protocol *protocol
}

func failure(status int, code string) engine.Answer {
	return engine.Success(status, envelope{Result: said(code)})
}

// noSession is the answer about a checkout whose time is over, and about one that never was.
func noSession() engine.Answer {
	return engine.Success(http.StatusBadRequest, envelope{Result: resultView{
		Code:        codeInvalid,
		Description: "No payment session found for the requested id - are you mixing test/live servers or have you paid more than 30min ago?",
	}})
}

// method is that of the entity that a call names.
func method(m *engine.Account, entity string) (models.PaymentMethod, bool) {
	for _, method := range m.Methods() {
		if Entity(m.Name, method) == entity {
			return method, true
		}
	}

	return "", false
}

// form reads the form of a POST and the entity in it.
func (c calls) form(w http.ResponseWriter, r *http.Request, m *engine.Account) (url.Values, models.PaymentMethod, bool) {
	body, refusal, ok := c.ReadBody(w, r)
	if !ok {
		refusal.Write(w)

		return nil, "", false
	}

	form, err := url.ParseQuery(string(body))
	if err != nil || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		failure(http.StatusBadRequest, codeMessage).Write(w)

		return nil, "", false
	}

	kind, ok := method(m, form.Get("entityId"))
	if !ok {
		failure(http.StatusForbidden, codeNoEntity).Write(w)

		return nil, "", false
	}

	return form, kind, true
}

func (c calls) createCheckout(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	form, kind, ok := c.form(w, r, m)
	if !ok {
		return
	}

	amount, err := models.ParseMoney(form.Get("amount"))

	switch {
	case err != nil, !amountForm.MatchString(form.Get("amount")), !amount.IsPositive(), form.Get("paymentType") != "DB",
		len(form.Get("currency")) != 3, len(form.Get("merchantTransactionId")) > maxReference:
		failure(http.StatusBadRequest, codeInvalid).Write(w)

		return
	}

	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails

	c.Asked(w, r, engine.OpCreateCheckout, m, func(*engine.Fault) engine.Answer {
		row := &engine.Checkout{
			ID: strings.ToUpper(hex.EncodeToString(id)) + node, Merchant: m.Name, MerchantReference: form.Get("merchantTransactionId"),
			Amount: amount, Currency: form.Get("currency"), PaymentMethod: kind, ExpiresAt: c.Now().Add(sessionLife),
			Description: form.Get("customParameters[SHOPPER_title]"),
			Data:        map[string]string{"entity": form.Get("entityId")},
		}

		err := c.Commit(func(t *engine.Tx) error {
			fresh := *row
			_, err := c.Open(t, &fresh)

			return err
		})
		if err != nil {
			return c.Internal(err)
		}

		answer := struct {
			envelope

			ID        string `json:"id"`
			Integrity string `json:"integrity,omitempty"`
		}{envelope: envelope{Result: said(codeCreated), Timestamp: stamp(c.Now()), NDC: row.ID}, ID: row.ID}

		if form.Get("integrity") == "true" {
			answer.Integrity = integrity
		}

		return engine.Success(http.StatusOK, answer)
	})
}

func brandOf(kind models.PaymentMethod) string {
	switch kind {
	case models.MethodDebitNetwork:
		return "MADA"
	case models.MethodWalletA, models.MethodWalletB:
		return "APPLEPAY"
	default:
		return "VISA"
	}
}

// status is GET /v1/checkouts/{id}/payment.
func (c calls) status(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	id := r.PathValue("id")

	c.ask(w, r, m, "checkout "+id, statusLimit, func(kind models.PaymentMethod, f *engine.Fault) engine.Answer {
		row, err := c.Checkout(id)

		switch {
		case err != nil:
			return c.Internal(err)
		case row == nil || row.Merchant != m.Name || row.PaymentMethod != kind || !c.Now().Before(row.CreatedAt.Add(sessionLife)):
			return noSession()
		}

		if err := c.Claim(row, f); err != nil {
			return c.Internal(err)
		}

		switch {
		case row.Status == engine.StatusPaid:
			return engine.Success(http.StatusOK, paymentOf(row, f))
		case len(row.Attempts) > 0:
			return engine.Success(http.StatusBadRequest, attemptOf(&row.Attempts[len(row.Attempts)-1], row))
		default:
			return engine.Success(http.StatusOK, envelope{Result: said(codePending), Timestamp: stamp(c.Now()), NDC: row.ID})
		}
	})
}

// ask answers a question, which names an entity and is not asked too often.
func (c calls) ask(
	w http.ResponseWriter, r *http.Request, m *engine.Account, about string, limit int,
	answer func(models.PaymentMethod, *engine.Fault) engine.Answer,
) {
	kind, ok := method(m, r.URL.Query().Get("entityId"))
	if !ok {
		failure(http.StatusForbidden, codeNoEntity).Write(w)

		return
	}

	if c.protocol.throttle(m.Name+" "+about, limit, c.Now()) {
		failure(http.StatusTooManyRequests, codeThrottled).Write(w)

		return
	}

	c.Asked(w, r, engine.OpStatus, m, func(f *engine.Fault) engine.Answer {
		return answer(kind, f)
	})
}
