package stripe

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/stripe/stripe-go/v85"

	"rihla/gateways/simulator/engine"
	"rihla/models"
)

// knownOfRefunds are the parameters of a new refund that the simulator understands.
var knownOfRefunds = regexp.MustCompile(`^(payment_intent|amount|reason|metadata\[\w+\]|expand\[\d+\])$`)

func (c calls) createRefund(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	form, ok := c.form(w, r, knownOfRefunds)
	if !ok {
		return
	}

	amount, err := strconv.ParseInt(form.Get("amount"), 10, 64)
	if err != nil || amount <= 0 {
		c.Invalid("amount", "Invalid positive integer").Write(w)

		return
	}

	c.Faulty(w, r, engine.OpRefund, m, func(f *engine.Fault) engine.Answer {
		id, err := newID("re_")
		if err != nil {
			return c.Internal(err)
		}

		return c.Once(r, m, engine.OpRefund, form, nil, func(t *engine.Tx) (engine.Answer, error) {
			if f.Mode == engine.ModeReject {
				return c.Refuse(f), nil
			}

			row, err := t.Checkout(sessionOfIntent(form.Get("payment_intent")))

			switch {
			case err != nil:
				return engine.Answer{}, err
			case row == nil || row.Merchant != m.Name || row.Status != engine.StatusPaid:
				return missing("payment_intent", form.Get("payment_intent")), nil
			}

			made := &engine.Refund{
				ID: id, Merchant: m.Name, CheckoutID: row.ID, MerchantReference: form.Get("metadata[" + metaReference + "]"), Currency: row.Currency,
			}
			made.Amount, _ = f.Wrong(models.Halalas(amount), row.Currency)

			why, err := c.PayBack(t, made, f)

			switch {
			case err != nil:
				return engine.Answer{}, err
			case why != engine.RefusedNothing && row.RefundedAmount.Equal(row.Amount):
				return failure(http.StatusBadRequest, errorView{
					Type: "invalid_request_error", Code: "charge_already_refunded", Message: "Charge has already been refunded.",
				}), nil
			case why != engine.RefusedNothing: // without a code
				return failure(http.StatusBadRequest, errorView{
					Type: "invalid_request_error", Param: "amount", Message: "Refund amount is greater than unrefunded amount on charge",
				}), nil
			default:
				return engine.Success(http.StatusOK, refundOf(made)), nil
			}
		})
	})
}

func (c calls) readRefund(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	c.Asked(w, r, engine.OpStatus, m, func(*engine.Fault) engine.Answer {
		row, err := c.Refund(m, r.PathValue("id"))

		switch {
		case err != nil:
			return c.Internal(err)
		case row == nil:
			return missing("refund", r.PathValue("id"))
		default:
			return engine.Success(http.StatusOK, refundOf(row))
		}
	})
}

// listRefunds is that of one payment intent, or of all that were made since a time, the newest first.
func (c calls) listRefunds(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	query := r.URL.Query()
	if !query.Has("payment_intent") {
		c.listAllRefunds(w, r, m)

		return
	}

	c.Asked(w, r, engine.OpStatus, m, func(*engine.Fault) engine.Answer {
		var rows []*engine.Refund

		err := c.View(func(t *engine.Tx) error {
			rows = nil

			checkout, err := t.Checkout(sessionOfIntent(query.Get("payment_intent")))
			if err != nil || checkout == nil || checkout.Merchant != m.Name {
				return err
			}

			for _, id := range slices.Backward(checkout.RefundIDs) {
				row, err := t.Refund(id)
				if err != nil {
					return err
				}

				rows = append(rows, row)
			}

			return nil
		})
		if err != nil {
			return c.Internal(err)
		}

		page, more := pageOf(rows, query, func(row *engine.Refund) string { return row.ID })

		var data []any
		for _, row := range page {
			data = append(data, refundOf(row))
		}

		return listOf(r.URL.Path, data, more)
	})
}

func (c calls) listAllRefunds(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	query := r.URL.Query()
	from, _ := strconv.ParseInt(query.Get("created[gte]"), 10, 64)

	c.Asked(w, r, engine.OpStatus, m, func(f *engine.Fault) engine.Answer {
		rows, err := c.AllRefunds(m, f)
		if err != nil {
			return c.Internal(err)
		}

		rows = slices.DeleteFunc(rows, func(row *engine.Refund) bool { return row.CreatedAt.Unix() < from })
		page, more := pageOf(rows, query, func(row *engine.Refund) string { return row.ID })

		var data []any
		for _, row := range page {
			data = append(data, refundOf(row))
		}

		return listOf(r.URL.Path, data, more)
	})
}

// listWebhooks shows where the account's messages go, without their secrets (docs.stripe.com/api/webhook_endpoints/object).
func (c calls) listWebhooks(w http.ResponseWriter, r *http.Request, m *engine.Account) {
	c.Asked(w, r, engine.OpStatus, m, func(*engine.Fault) engine.Answer {
		data := make([]any, 0, len(m.WebhookURLs()))
		for i, address := range m.WebhookURLs() {
			data = append(data, map[string]any{
				"id": "we_" + strings.Repeat("0", 10) + strconv.Itoa(i), "object": "webhook_endpoint", "api_version": sdk.APIVersion,
				"enabled_events": []string{"*"}, "livemode": c.protocol.live[m.Name], "status": "enabled", "url": address,
			})
		}

		return listOf(r.URL.Path, data, false)
	})
}
