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

// disputeEvents are those with a dispute in them, whose status decides.
var disputeEvents = map[sdk.EventType]bool{
	sdk.EventTypeChargeDisputeCreated: true, sdk.EventTypeChargeDisputeUpdated: true, sdk.EventTypeChargeDisputeClosed: true,
	sdk.EventTypeChargeDisputeFundsWithdrawn: true, sdk.EventTypeChargeDisputeFundsReinstated: true,
}

// disputeStates are the states of disputes (docs.stripe.com/api/disputes/object). A warning is an inquiry: no money has moved.
var disputeStates = map[sdk.DisputeStatus]models.DisputeNotice{
	sdk.DisputeStatusWarningNeedsResponse: {Kind: models.DisputeInquiry, State: models.DisputeOpen},
	sdk.DisputeStatusWarningUnderReview:   {Kind: models.DisputeInquiry, State: models.DisputeOpen},
	sdk.DisputeStatusWarningClosed:        {Kind: models.DisputeInquiry, State: models.DisputeClosed},
	sdk.DisputeStatusPrevented:            {Kind: models.DisputeInquiry, State: models.DisputeClosed},
	sdk.DisputeStatusNeedsResponse:        {Kind: models.DisputeChargeback, State: models.DisputeOpen},
	sdk.DisputeStatusUnderReview:          {Kind: models.DisputeChargeback, State: models.DisputeOpen},
	sdk.DisputeStatusWon:                  {Kind: models.DisputeChargeback, State: models.DisputeWon},
	sdk.DisputeStatusLost:                 {Kind: models.DisputeChargeback, State: models.DisputeLost},
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
	Created    seconds       `json:"created"`
	Livemode   bool          `json:"livemode"`
	Type       sdk.EventType `json:"type"`
	Data       struct {
		Object json.RawMessage `json:"object"`
	} `json:"data"`
}

// seconds is a time as snapshots write it; that of thin events, which is text, is read as none.
type seconds int64

// UnmarshalJSON implements json.Unmarshaler.
func (s *seconds) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return nil
	}

	return json.Unmarshal(raw, (*int64)(s))
}

// parse reads a signed body.
func parse(body []byte, live bool) (gateways.Event, error) {
	var m message
	if err := readable(body); err != nil {
		return gateways.Event{}, err
	}

	if json.Unmarshal(body, &m) != nil {
		return gateways.Event{}, invalid("body", "webhook.event")
	}

	if m.ID == "" || len(m.ID) > maxID || !isID(m.ID, "evt_") {
		return gateways.Event{}, invalid("id", "webhook.event_id")
	}

	if cause := unreadable(&m, live); cause != "" {
		return gateways.Event{ID: m.ID, Type: models.EventUnreadable, Timestamp: moment(int64(m.Created)), Unreadable: cause}, nil
	}

	switch {
	case m.Type == "" || len(m.Type) > maxID:
		return gateways.Event{}, invalid("type", "webhook.missing")
	case m.Created <= 0 || m.Created > maxTime:
		return gateways.Event{}, invalid("created", "webhook.time")
	}

	event := gateways.Event{ID: m.ID, Type: models.EventNotice, Timestamp: moment(int64(m.Created))}

	switch kind, about := sessionEvents[m.Type]; {
	case about:
		return session(event, kind, m.Data.Object)
	case refundEvents[m.Type]:
		return refund(event, m.Data.Object)
	case disputeEvents[m.Type]:
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

// unreadable is why a message cannot be read that may well be the company's: the webhook is registered otherwise than the driver expects.
// The company's word may be about a payment of ours, so that it is kept and people are told.
func unreadable(m *message, live bool) string {
	switch _, train, _ := strings.Cut(m.APIVersion, "."); {
	case m.Object != "event":
		return "they have no content (thin events, object " + httpcall.Plain(m.Object, maxCause) + "); the webhook must send snapshots"
	case m.Livemode && !live:
		return "they are of the live mode, and the account's key is a test key"
	case !m.Livemode && live:
		return "they are of the test mode, and the account's key is a live key"
	case train != sdk.APIMajorVersion:
		return "they have API version " + httpcall.Plain(m.APIVersion, maxCause) + ", and the driver reads " + sdk.APIVersion
	default:
		return ""
	}
}

// maxCause is the longest piece of a message that a cause names.
const maxCause = 64

// moment is a time of the company; zero where it is none.
func moment(seconds int64) time.Time {
	if seconds <= 0 || seconds > maxTime {
		return time.Time{}
	}

	return time.Unix(seconds, 0).UTC()
}

// maxTime is the last moment of the year 9999, in Unix seconds.
const maxTime = 253402300799

// readable is what PostgreSQL keeps and compares: JSON of text without NUL and half characters, neither deep nor full of members.
func readable(body []byte) error {
	if !utf8.Valid(body) || !json.Valid(body) {
		return models.NewError(models.CodeMalformedRequest, "webhook.not_json")
	}

	if err := jsonlimit.Check(body, maxDepth); errors.Is(err, jsonlimit.ErrTooDeep) {
		return invalid("body", "webhook.too_deep")
	} else if err != nil {
		return err
	}

	if bytes.Contains(body, []byte(`\u0000`)) || jsonlimit.LoneSurrogate(body) {
		return invalid("body", "webhook.not_text")
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
		return event, invalid("data.object", "webhook.checkout_session")
	}

	reference, ours := ownReference(s.Reference)
	paid := s.PaymentStatus == string(sdk.CheckoutSessionPaymentStatusPaid)

	if !ours || kind == models.EventPaymentSucceeded && !paid {
		return event, nil
	}

	if s.AmountTotal < 0 || s.Currency == "" || len(s.Currency) != 3 {
		return event, invalid("data.object.amount_total", "webhook.amount")
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
		return event, invalid("data.object", "webhook.refund")
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
		return event, invalid("data.object.amount", "webhook.amount")
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
		ID       string            `json:"id"`
		Object   string            `json:"object"`
		Amount   int64             `json:"amount"`
		Currency string            `json:"currency"`
		Intent   string            `json:"payment_intent"`
		Reason   string            `json:"reason"`
		Status   sdk.DisputeStatus `json:"status"`
		Evidence struct {
			DueBy int64 `json:"due_by"`
		} `json:"evidence_details"`
	}
	if json.Unmarshal(object, &d) != nil || d.Object != "dispute" || d.Amount < 0 || len(d.Currency) != 3 || len(d.Intent) > maxID ||
		len(d.ID) > maxID {
		return event, invalid("data.object", "webhook.dispute")
	}

	notice, known := disputeStates[d.Status]
	if !known { // a status that is not documented yet: the worst is assumed
		notice = models.DisputeNotice{Kind: models.DisputeChargeback, State: models.DisputeOpen}
	}

	notice.ID = httpcall.Plain(d.ID, maxID)

	if d.Evidence.DueBy > 0 && d.Evidence.DueBy <= maxTime {
		notice.DueAt = new(time.Unix(d.Evidence.DueBy, 0).UTC())
	}

	event.Dispute = &notice

	event.Type, event.CheckoutID, event.FailureReason = models.EventPaymentDisputed, d.Intent, httpcall.Plain(d.Reason, maxWords)
	event.Amount, event.Currency = fromMinor(d.Amount, d.Currency)

	if notice.State != models.DisputeOpen {
		event.Type, event.ResultCode = models.EventDisputeClosed, string(d.Status)
	}

	return event, nil
}

// ownReference is one of ours in the form in which we write it.
func ownReference(text string) (uuid.UUID, bool) {
	id, err := uuid.Parse(text)

	return id, err == nil && id.String() == text
}

func invalid(field string, problem models.Key) error {
	return models.InvalidFields("webhook.invalid_fields", map[string][]models.Text{field: {models.TextOf(problem)}})
}
