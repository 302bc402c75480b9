package moyasar

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/gateways/httpcall"
	"rihla/internal/jsonlimit"
	"rihla/models"
)

const (
	// maxID is the longest id or type that is kept, in characters: the event's id is part of a unique index.
	maxID = 255
	// maxDepth bounds nesting, so that no reader of the stored body runs out of stack.
	maxDepth = 64
)

// message is a webhook (docs.moyasar.com/api/other/webhooks/webhook-reference).
type message struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	CreatedAt string          `json:"created_at"`
	Live      *bool           `json:"live"`
	Data      json.RawMessage `json:"data"` // a payment, of payment_…
}

// messageData is what is read of a payment in a webhook. It is not proven: the ids say whom to ask about, and the rest is for people.
type messageData struct {
	ID        string                     `json:"id"`
	Amount    int64                      `json:"amount"`
	Refunded  int64                      `json:"refunded"`
	Currency  string                     `json:"currency"`
	InvoiceID *string                    `json:"invoice_id"`
	Metadata  map[string]json.RawMessage `json:"metadata"`
	Source    source                     `json:"source"`
}

// parse reads a body whose token was good and is cut out.
func parse(body []byte, live bool, secrets []string) (gateways.Event, error) {
	if !utf8.Valid(body) {
		return gateways.Event{}, models.NewError(models.CodeMalformedRequest, "webhook.not_utf8")
	}

	p := problems{}

	if err := jsonlimit.Check(body, maxDepth); errors.Is(err, jsonlimit.ErrTooDeep) {
		p.add("body", "webhook.too_deep")

		return gateways.Event{}, p.err()
	} else if err != nil {
		return gateways.Event{}, err
	}

	p.checkStorable(body, secrets)

	var m message
	if json.Unmarshal(body, &m) != nil {
		p.add("body", "webhook.wrong_type")

		return gateways.Event{}, p.err()
	}

	if m.Live != nil && *m.Live != live && m.ID != "" && len(m.ID) <= maxID && len(p) == 0 {
		cause := "they are of the test mode, and the account's key is a live key"
		if *m.Live {
			cause = "they are of the live mode, and the account's key is a test key"
		}

		return gateways.Event{ID: m.ID, Type: models.EventUnreadable, Timestamp: time.Time{}, Unreadable: cause}, nil
	}

	event := p.event(m)

	return event, p.err()
}

// event reads the message. Of a type that is not known, id and type are all that must be there.
func (p problems) event(m message) gateways.Event {
	p.require("id", m.ID)
	p.require("type", m.Type)

	// The types of the service are no types of the company, and what is unknown must not pass for one of them.
	if slices.Contains(models.EventTypes(), models.EventType(m.Type)) {
		p.add("type", "webhook.type")
	}

	event := gateways.Event{ID: m.ID, Type: models.EventType(m.Type), Timestamp: moment(m.CreatedAt)}

	kind, known := eventTypes[m.Type]
	if known {
		event.Type = kind

		if !storableTime(event.Timestamp) {
			p.add("created_at", "webhook.iso_time")
		}
	}

	if m.Live == nil && known {
		p.add("live", "field.required")
	}

	if !storableTime(event.Timestamp) {
		event.Timestamp = time.Time{}
	}

	if strings.HasPrefix(m.Type, "payment_") {
		fields := p
		if !known {
			fields = problems{} // what does not parse is left empty
		}

		fields.payment(&event, m.Data)
	}

	return event
}

func storableTime(at time.Time) bool {
	return !at.IsZero() && at.Year() >= 1 && at.Year() <= 9999
}

// payment reads what an event is about.
func (p problems) payment(event *gateways.Event, raw json.RawMessage) {
	var data messageData
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &data) != nil {
		p.add("data", "webhook.payment")

		return
	}

	p.require("data.id", data.ID)

	if data.InvoiceID != nil {
		p.require("data.invoice_id", *data.InvoiceID)
		event.CheckoutID = *data.InvoiceID
	}

	// An invoice's metadata need not be its payments', so that it may be empty here.
	reference := invoice{Metadata: data.Metadata}.reference()

	if event.CheckoutID == "" && reference == uuid.Nil && slices.Contains(models.EventTypes(), event.Type) {
		event.Type = models.EventNotice // a payment of another system of the same account
	}

	units := data.Amount

	if event.Type == models.EventRefundSucceeded {
		units = data.Refunded // the sum of all refunds; which of them is ours the company cannot say
	} else {
		event.MerchantReference = reference
	}

	if amount, err := fromMinor(units, data.Currency); err == nil {
		event.Amount, event.Currency = amount, models.CurrencyCode(data.Currency)
	}

	event.Method = methodOf(data.Source.Type, data.Source.Company)
	event.ResultCode = strings.TrimPrefix(data.Source.code(), ":")

	if event.Type == models.EventNotice || event.Type == models.EventPaymentExpired {
		event.FailureReason = httpcall.Plain(data.Source.Message, maxWords)
	}
}
