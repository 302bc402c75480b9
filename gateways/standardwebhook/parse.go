package standardwebhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"rihla/gateways"
	"rihla/internal/jsonlimit"
	"rihla/models"
)

const (
	// fieldID is the header as error details name it.
	fieldID = "webhook-id"
	// maxID is the longest webhook-id that is kept; it is part of a unique index.
	maxID = 255
	// maxCode is the longest identifier or code in a body.
	maxCode = 255
	// amountDecimals is how many decimals an amount in SAR has.
	amountDecimals = 2
)

var currencyCode = regexp.MustCompile(`^[A-Za-z]{3}$`)

// parse reads a body whose signature is good.
func parse(id string, body []byte) (gateways.Event, error) {
	if !utf8.Valid(body) || !json.Valid(body) {
		return gateways.Event{}, models.NewError(models.CodeMalformedRequest, "webhook.not_json")
	}

	p := &parser{problems: map[string][]models.Text{}}

	if err := jsonlimit.Check(body, maxDepth); errors.Is(err, jsonlimit.ErrTooDeep) {
		p.add("body", "webhook.too_deep")

		return gateways.Event{}, p.err()
	} else if err != nil {
		return gateways.Event{}, err
	}

	p.headerID(id)
	p.storable(body)

	var root map[string]json.RawMessage
	if json.Unmarshal(body, &root) != nil || root == nil {
		p.add("body", "field.object")

		return gateways.Event{}, p.err()
	}

	event := gateways.Event{ID: id}
	// The type decides whether the rest must be there, so it is read first and on its own terms.
	event.Type = models.EventType(p.text(root, "type", "type", required))
	known := slices.Contains(eventTypes(), event.Type)

	fields := p
	if !known {
		fields = &parser{problems: map[string][]models.Text{}} // what does not parse is left empty
	}

	fields.event(&event, root)

	if err := p.err(); err != nil {
		return gateways.Event{}, err
	}

	return event, nil
}

func eventTypes() []models.EventType {
	return []models.EventType{
		models.EventPaymentSucceeded, models.EventPaymentFailed, models.EventPaymentExpired,
		models.EventRefundSucceeded, models.EventRefundFailed,
	}
}

// presence is what a text field's absence means.
type presence int

const (
	required   presence = iota // present and not empty
	mayBeEmpty                 // present, perhaps empty
	optional                   // absent, null or text
)

// parser collects what is wrong, so that the sender sees all of it at once.
type parser struct {
	problems map[string][]models.Text
	// reported counts the messages in problems.
	reported int
}

func (p *parser) add(field string, key models.Key, args ...any) {
	if p.reported >= maxReports {
		return
	}

	p.reported++
	p.problems[field] = append(p.problems[field], models.TextOf(key, args...))
}

func (p *parser) err() error {
	if len(p.problems) == 0 {
		return nil
	}

	return models.InvalidFields("webhook.invalid_fields", p.problems)
}

func (p *parser) headerID(id string) {
	if utf8.RuneCountInString(id) > maxID {
		p.add(fieldID, "field.max_length", "n", maxID)
	}

	if !utf8.ValidString(id) {
		p.add(fieldID, "webhook.utf8")
	}
}

// event reads everything but the type.
func (p *parser) event(event *gateways.Event, root map[string]json.RawMessage) {
	if text := p.text(root, "timestamp", "timestamp", required); text != "" {
		at, err := time.Parse(time.RFC3339, text)

		switch year := at.UTC().Year(); {
		case err != nil:
			p.add("timestamp", "webhook.timestamp")
		case year < 1 || year > 9999: // which can neither be stored nor shown
			p.add("timestamp", "webhook.year")
		default:
			event.Timestamp = at
		}
	}

	var data map[string]json.RawMessage
	if raw, ok := root["data"]; !ok {
		p.add("data", "field.required")

		return
	} else if json.Unmarshal(raw, &data) != nil || data == nil {
		p.add("data", "field.object")

		return
	}

	event.CheckoutID = p.text(data, "checkout_id", "data.checkout_id", required)
	event.MerchantReference = p.uuid(data, "merchant_reference", "data.merchant_reference")
	event.Amount = p.amount(data)
	event.Currency = p.currency(data)
	event.Method = p.method(data)
	event.ResultCode = p.text(data, "result_code", "data.result_code", mayBeEmpty)
	event.FailureReason = p.words(data, "failure_reason", "data.failure_reason")
	event.RefundID = p.text(data, "refund_id", "data.refund_id", optional)
	event.PaymentID = p.text(data, "payment_id", "data.payment_id", optional)
}

// text reads an identifier or a code.
func (p *parser) text(from map[string]json.RawMessage, key, field string, need presence) string {
	raw, ok := from[key]
	if !ok || isNull(raw) {
		if need != optional {
			p.add(field, "field.required")
		}

		return ""
	}

	var s string
	if json.Unmarshal(raw, &s) != nil {
		p.add(field, "field.text")

		return ""
	}

	if s == "" && need == required {
		p.add(field, "field.empty")
	}

	if utf8.RuneCountInString(s) > maxCode {
		p.add(field, "field.max_length", "n", maxCode)

		return ""
	}

	return s
}

// words reads an optional sentence of any length.
func (p *parser) words(from map[string]json.RawMessage, key, field string) string {
	raw, ok := from[key]
	if !ok || isNull(raw) {
		return ""
	}

	var s string
	if json.Unmarshal(raw, &s) != nil {
		p.add(field, "field.text")
	}

	return s
}

func (p *parser) uuid(data map[string]json.RawMessage, key, field string) uuid.UUID {
	text := p.text(data, key, field, required)
	if text == "" {
		return uuid.Nil
	}

	id, err := uuid.Parse(text)
	// uuid.Parse also takes braces, urn: and no dashes; ids have one form here.
	if err != nil || len(text) != len(uuid.Nil.String()) {
		p.add(field, "field.uuid")

		return uuid.Nil
	}

	return id
}

func (p *parser) amount(data map[string]json.RawMessage) models.Money {
	const field = "data.amount"

	raw, ok := data["amount"]
	if !ok || isNull(raw) {
		p.add(field, "field.required")

		return models.Money{}
	}

	amount, err := parseAmount(string(bytes.TrimSpace(raw)))
	if err != nil {
		p.add(field, "field.decimals", "n", amountDecimals)

		return models.Money{}
	}

	if amount.IsNegative() {
		p.add(field, "webhook.negative")
	}

	return amount
}

// parseAmount reads a JSON number however it is spelt: 1150, 1150.000 and 1.15e3 are one amount. Error:
// models.ErrMoneyFormat for what is no number, has more than two decimals or more digits than an amount.
func parseAmount(number string) (models.Money, error) {
	if number == "" || !strings.ContainsRune("-0123456789", rune(number[0])) || !jsonlimit.IsModest(number) {
		return models.Money{}, models.ErrMoneyFormat
	}

	d, err := decimal.NewFromString(number)
	if err != nil || !d.Equal(d.Truncate(amountDecimals)) {
		return models.Money{}, models.ErrMoneyFormat
	}

	return models.ParseMoney(d.StringFixed(amountDecimals))
}

// currency takes any three letters: whether it is the right one is decided against the transaction.
func (p *parser) currency(data map[string]json.RawMessage) string {
	const field = "data.currency"

	text := p.text(data, "currency", field, required)
	if text == "" {
		return ""
	}

	if !currencyCode.MatchString(text) {
		p.add(field, "webhook.currency")

		return ""
	}

	return strings.ToUpper(text)
}

func (p *parser) method(data map[string]json.RawMessage) models.PaymentMethod {
	const field = "data.payment_method"

	method := models.PaymentMethod(p.text(data, "payment_method", field, required))

	switch method {
	case models.MethodCreditCard, models.MethodDebitNetwork, models.MethodWalletA, models.MethodWalletB,
		models.MethodBillPayment, "":
		return method
	default:
		p.add(field, "webhook.method")

		return ""
	}
}

func isNull(raw json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(raw), []byte("null")) }
