package stripe

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	sdk "github.com/stripe/stripe-go/v85"

	"rihla/gateways"
	"rihla/gateways/httpcall"
	"rihla/internal/jsonlimit"
	"rihla/models"
)

const (
	maxID    = 255 // of an event; it is part of a unique index
	maxDepth = 64  // of nesting, so that no reader runs out of stack
)

// Events about sessions, and what they mean (docs.stripe.com/api/events/types). A completed session says nothing of the money.
var sessionEvents = map[sdk.EventType]models.EventType{
	sdk.EventTypeCheckoutSessionCompleted:             models.EventPaymentSucceeded, // only when it is paid
	sdk.EventTypeCheckoutSessionAsyncPaymentSucceeded: models.EventPaymentSucceeded,
	sdk.EventTypeCheckoutSessionAsyncPaymentFailed:    models.EventPaymentFailed,
	sdk.EventTypeCheckoutSessionExpired:               models.EventPaymentExpired,
}

// refundEvents are those with a refund in them, whose status decides.
var refundEvents = map[sdk.EventType]bool{
	sdk.EventTypeRefundCreated: true, sdk.EventTypeRefundUpdated: true, sdk.EventTypeRefundFailed: true,
	sdk.EventTypeChargeRefundUpdated: true,
}

// families are events that a person may have registered besides, and that say nothing which the others do not.
var families = []string{
	"account.", "balance.", "charge.", "checkout.session.", "customer.", "payment_intent.", "payment_method.", "payout.", "price.", "product.",
	"radar.", "refund.", "reporting.", "review.", "setup_intent.", "topup.",
}

// message is an event (docs.stripe.com/api/events/object).
type message struct {
	ID         string        `json:"id"`
	Object     string        `json:"object"`
	APIVersion string        `json:"api_version"`
	Created    int64         `json:"created"`
	Livemode   bool          `json:"livemode"`
	Type       sdk.EventType `json:"type"`
	Data       struct {
		Object json.RawMessage `json:"object"`
	} `json:"data"`
}

// parse reads a signed body.
func parse(body []byte, live bool) (gateways.Event, error) {
	var m message
	if err := readable(body); err != nil {
		return gateways.Event{}, err
	}

	if json.Unmarshal(body, &m) != nil {
		return gateways.Event{}, invalid("body", "must be an event")
	}

	switch _, train, _ := strings.Cut(m.APIVersion, "."); {
	case m.Object != "event":
		return gateways.Event{}, invalid("object", "must be event: messages without content (thin ones) are not taken")
	case m.ID == "" || len(m.ID) > maxID || !isID(m.ID, "evt_"):
		return gateways.Event{}, invalid("id", "must be the id of an event")
	case m.Type == "" || len(m.Type) > maxID:
		return gateways.Event{}, invalid("type", "is missing")
	case m.Livemode != live:
		return gateways.Event{}, invalid("livemode", "is that of the other mode than the account's key")
	case train != sdk.APIMajorVersion:
		return gateways.Event{}, invalid("api_version", "must be "+sdk.APIVersion+": register the webhook with that version")
	case m.Created <= 0 || m.Created > maxTime:
		return gateways.Event{}, invalid("created", "must be a time")
	}

	event := gateways.Event{ID: m.ID, Type: models.EventNotice, Timestamp: time.Unix(m.Created, 0).UTC()}

	switch kind, about := sessionEvents[m.Type]; {
	case about:
		return session(event, kind, m.Data.Object)
	case refundEvents[m.Type]:
		return refund(event, m.Data.Object)
	case m.Type == sdk.EventTypeChargeDisputeCreated:
		return dispute(event, m.Data.Object)
	case isFamiliar(string(m.Type)):
		event.MerchantReference = named(m.Data.Object)
		// Of the charge's own refunds, too: what went back besides them is found by the sum.
		event.Hint = m.Type == sdk.EventTypeChargeRefunded && event.MerchantReference != uuid.Nil

		return event, nil
	default:
		event.Type = models.EventType(httpcall.Plain("stripe."+string(m.Type), maxID)) // never one of the service's own types

		return event, nil
	}
}

// maxTime is the last moment of the year 9999, in Unix seconds.
const maxTime = 253402300799

// readable is what PostgreSQL keeps and compares: JSON of text without NUL and half characters, neither deep nor full of members.
func readable(body []byte) error {
	if !utf8.Valid(body) || !json.Valid(body) {
		return models.Errorf(models.CodeMalformedRequest, "The webhook's content is not JSON.")
	}

	if err := jsonlimit.Check(body, maxDepth); errors.Is(err, jsonlimit.ErrTooDeep) {
		return invalid("body", "is nested too deeply")
	} else if err != nil {
		return err
	}

	if bytes.Contains(body, []byte(`\u0000`)) || jsonlimit.LoneSurrogate(body) {
		return invalid("body", "has characters that are not text")
	}

	return nil
}

func isFamiliar(kind string) bool {
	for _, family := range families {
		if strings.HasPrefix(kind, family) {
			return true
		}
	}

	return false
}

// named is our reference in the metadata of an object about which we know no more: a payment intent and its charge have that of the
// session, so that the attempts of a customer are found with the payment.
func named(object json.RawMessage) uuid.UUID {
	var about struct {
		Metadata map[string]string `json:"metadata"`
	}
	if json.Unmarshal(object, &about) != nil {
		return uuid.Nil
	}

	reference, ours := ownReference(about.Metadata[metaReference])
	if !ours {
		return uuid.Nil
	}

	return reference
}

// session is an event about a session. One that is complete and not paid waits for a bank.
func session(event gateways.Event, kind models.EventType, object json.RawMessage) (gateways.Event, error) {
	var s struct {
		ID            string `json:"id"`
		Object        string `json:"object"`
		Reference     string `json:"client_reference_id"`
		AmountTotal   int64  `json:"amount_total"`
		Currency      string `json:"currency"`
		PaymentStatus string `json:"payment_status"`
		Intent        any    `json:"payment_intent"` // its id; messages expand nothing
	}
	if json.Unmarshal(object, &s) != nil || s.Object != "checkout.session" || !isID(s.ID, "") {
		return event, invalid("data.object", "must be a checkout session")
	}

	reference, ours := ownReference(s.Reference)
	paid := s.PaymentStatus == string(sdk.CheckoutSessionPaymentStatusPaid)

	if !ours || kind == models.EventPaymentSucceeded && !paid {
		return event, nil
	}

	if s.AmountTotal < 0 || s.Currency == "" || len(s.Currency) != 3 {
		return event, invalid("data.object.amount_total", "the amount or the currency is missing or cannot be read")
	}

	event.Type, event.CheckoutID, event.MerchantReference, event.ResultCode = kind, s.ID, reference, s.PaymentStatus
	event.Amount, event.Currency = fromMinor(s.AmountTotal, s.Currency)
	event.Method = models.MethodCreditCard

	if intent, ok := s.Intent.(string); ok && kind == models.EventPaymentSucceeded && isID(intent, "pi_") {
		event.PaymentID = intent
	}

	return event, nil
}

// refund is an event about a refund. Those that were made in the company's dashboard have no reference of ours: they are a reason to ask
// about their payment.
func refund(event gateways.Event, object json.RawMessage) (gateways.Event, error) {
	var r struct {
		ID            string            `json:"id"`
		Object        string            `json:"object"`
		Amount        int64             `json:"amount"`
		Currency      string            `json:"currency"`
		Status        sdk.RefundStatus  `json:"status"`
		FailureReason string            `json:"failure_reason"`
		Intent        any               `json:"payment_intent"` // its id; messages expand nothing
		Metadata      map[string]string `json:"metadata"`
	}
	if json.Unmarshal(object, &r) != nil || r.Object != "refund" || r.ID == "" || len(r.ID) > maxID {
		return event, invalid("data.object", "must be a refund")
	}

	reference, ours := ownReference(r.Metadata[metaReference])
	status, known := refundStates[r.Status]

	if !ours {
		event.CheckoutID, _ = r.Intent.(string)
		event.Hint = isID(event.CheckoutID, "pi_")

		if !event.Hint {
			event.CheckoutID = ""
		}
	}

	if !ours || !known || status == gateways.RefundPending {
		return event, nil
	}

	if r.Amount <= 0 || len(r.Currency) != 3 {
		return event, invalid("data.object.amount", "the amount or the currency is missing or cannot be read")
	}

	event.Type, event.MerchantReference, event.RefundID = models.EventRefundSucceeded, reference, r.ID
	event.ResultCode = string(r.Status)
	event.Amount, event.Currency = fromMinor(r.Amount, r.Currency)

	if status == gateways.RefundFailed {
		event.Type, event.Revises, event.FailureReason = models.EventRefundFailed, true, httpcall.Plain(r.FailureReason, maxWords)
	}

	return event, nil
}

// dispute is an event about a dispute, which names the payment intent and nothing of ours: that is kept with the attempt (Event.PaymentID).
func dispute(event gateways.Event, object json.RawMessage) (gateways.Event, error) {
	var d struct {
		Object   string `json:"object"`
		Amount   int64  `json:"amount"`
		Currency string `json:"currency"`
		Intent   string `json:"payment_intent"`
		Reason   string `json:"reason"`
	}
	if json.Unmarshal(object, &d) != nil || d.Object != "dispute" || d.Amount < 0 || len(d.Currency) != 3 || len(d.Intent) > maxID {
		return event, invalid("data.object", "must be a dispute")
	}

	event.Type, event.CheckoutID, event.FailureReason = models.EventPaymentDisputed, d.Intent, httpcall.Plain(d.Reason, maxWords)
	event.Amount, event.Currency = fromMinor(d.Amount, d.Currency)

	return event, nil
}

// ownReference is one of ours in the form in which we write it.
func ownReference(text string) (uuid.UUID, bool) {
	id, err := uuid.Parse(text)

	return id, err == nil && id.String() == text
}

func invalid(field, problem string) error {
	return &models.Error{
		Code: models.CodeValidation, Message: "The webhook has invalid fields.", Details: map[string][]string{field: {problem}},
	}
}
