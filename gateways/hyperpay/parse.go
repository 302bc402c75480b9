package hyperpay

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
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
	// maxID is the longest id of an event that is kept; it is part of a unique index.
	maxID = 255
	// maxDepth bounds nesting, so that no reader runs out of stack.
	maxDepth = 64
)

// notice are the types of messages that say nothing of a payment (hyperpay.docs.oppwa.com/node/127), and that of the test which makes
// a webhook active (HyperPay's Magento plugin, Hook.php).
var notice = []string{"REGISTRATION", "SCHEDULE", "RISK", "TEST"}

// meanings is the table of events by the type of the transaction and the outcome of its result code; what is not in it is a notice.
// A declined payment is one, because the checkout goes on; so is what the merchant's staff does in the back office (RV, CP, …).
var meanings = map[string]map[outcome]models.EventType{
	"DB": {
		success: models.EventPaymentSucceeded, review: models.EventPaymentSucceeded, chargedBack: models.EventPaymentDisputed,
	},
	"RF": {
		success: models.EventRefundSucceeded, review: models.EventRefundSucceeded,
		rejected: models.EventRefundFailed, broken: models.EventRefundFailed,
	},
	"CB": {
		success: models.EventPaymentDisputed, review: models.EventPaymentDisputed, chargedBack: models.EventPaymentDisputed,
	},
}

// message is the content of a webhook.
type message struct {
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// parse reads an opened body. now is when it happened where the message does not say it.
func parse(content []byte, live bool, now time.Time) (gateways.Event, error) {
	if !utf8.Valid(content) || !json.Valid(content) {
		return gateways.Event{}, models.NewError(models.CodeMalformedRequest, "webhook.not_json")
	}

	if err := jsonlimit.Check(content, maxDepth); errors.Is(err, jsonlimit.ErrTooDeep) {
		return gateways.Event{}, invalid("body", "webhook.too_deep")
	} else if err != nil {
		return gateways.Event{}, err
	}

	var m message
	if json.Unmarshal(content, &m) != nil {
		return gateways.Event{}, invalid("body", "webhook.object_with_type")
	}

	sum := sha256.Sum256(content)
	event := gateways.Event{ID: hex.EncodeToString(sum[:]), Type: models.EventNotice, Timestamp: now.UTC()}

	switch kind := strings.ToUpper(m.Type); {
	case kind == "PAYMENT":
		return payment(event, m.Payload, live)
	case kind == "", slices.Contains(notice, kind):
		return event, nil
	default:
		event.Type = models.EventType(storable("hyperpay." + m.Type)) // never one of the service's own types

		return event, nil
	}
}

// payment reads the payload of a transaction, which is what a status call would answer.
func payment(event gateways.Event, payload json.RawMessage, live bool) (gateways.Event, error) {
	var e entry
	if len(payload) > 0 && json.Unmarshal(payload, &e) != nil {
		return gateways.Event{}, invalid("payload", "webhook.transaction")
	}

	if e.ID == "" || !resultCode.MatchString(e.Result.Code) {
		return event, nil // an example, as the test of a webhook may have one, and the published vector has
	}

	event.ID = eventID(e.ID, e.Result.Code)
	event.ResultCode, event.CheckoutID, event.Method = e.Result.Code, e.checkoutID(), e.paidBy()

	if at, ok := e.at(); ok {
		event.Timestamp = at
	}

	reference, err := uuid.Parse(e.Reference)
	ours := err == nil && e.Reference == reference.String()

	event.Type = meaning(&e)
	if back := e.PaymentType == "RF" || e.PaymentType == "RV"; back && paymentForm.MatchString(e.ReferencedID) &&
		(!ours || e.PaymentType == "RV") {
		// Of the back office: a reason to ask about the payment, of which a reversal may repeat the reference.
		event.Type, event.Hint, event.CheckoutID = models.EventNotice, true, e.ReferencedID

		return event, nil
	}

	if !ours && event.Type != models.EventPaymentDisputed { // a person has to answer a dispute, whatever it names
		event.Type = models.EventNotice

		return event, nil
	}

	if ours {
		event.MerchantReference = reference
	}

	switch event.Type {
	case models.EventPaymentSucceeded: // a chargeback names it, and perhaps nothing else
		event.PaymentID = storable(e.ID)
	case models.EventPaymentDisputed:
		event.Dispute = &models.DisputeNotice{ID: storable(e.ID), Kind: models.DisputeChargeback, State: models.DisputeOpen}

		if !ours { // it names the payment, or is the payment itself with the code of a chargeback
			event.CheckoutID = storable(cmp.Or(e.ReferencedID, e.ID))
		}
	default: // nothing of its own
	}

	// Of a notice only a declined try has a reason: the customer may try another card, and reads it.
	if declined := e.PaymentType == "DB" && e.outcome() == rejected; declined || event.Type == models.EventRefundFailed {
		event.FailureReason = storable(e.Result.words())
	}

	return money(event, &e, live)
}

// meaning looks the transaction up in the table.
func meaning(e *entry) models.EventType {
	if kind, ok := meanings[e.PaymentType][e.outcome()]; ok {
		return kind
	}

	return models.EventNotice
}

// money reads what moved. What is declined may have no amount, and of what moves nothing it does not matter.
func money(event gateways.Event, e *entry, live bool) (gateways.Event, error) {
	if e.PaymentType == "RF" {
		event.RefundID = storable(e.ID)
	}

	if e.PaymentType == "DB" && event.Type == models.EventPaymentSucceeded {
		event.PaymentID = storable(e.ID)
	}

	moved := event.Type == models.EventPaymentSucceeded || event.Type == models.EventRefundSucceeded

	if moved && live && testCode.MatchString(e.Result.Code) {
		return gateways.Event{
			ID: event.ID, Type: models.EventUnreadable, Timestamp: event.Timestamp, ResultCode: event.ResultCode,
			Unreadable: "they are successes of a test system, and the account is live",
		}, nil
	}

	amount, currency, err := e.money()
	if err != nil && moved {
		return gateways.Event{}, invalid("payload.amount", "webhook.amount")
	}

	if err == nil {
		event.Amount, event.Currency = amount, currency
	}

	return event, nil
}

// eventID is the same on every delivery: a transaction keeps its id from pending to final, and each state is sent once.
func eventID(id, code string) string {
	if whole := id + ":" + code; len(whole) <= maxID && whole == storable(whole) {
		return whole
	}

	sum := sha256.Sum256([]byte(id))

	return hex.EncodeToString(sum[:]) + ":" + code
}

// storable is a text that PostgreSQL keeps: no NUL, one line, not too long.
func storable(text string) string { return httpcall.Plain(text, maxID) }

func invalid(field string, problem models.Key) error {
	return models.InvalidFields("webhook.invalid_fields", map[string][]models.Text{field: {models.TextOf(problem)}})
}
