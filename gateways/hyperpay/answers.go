package hyperpay

import (
	"regexp"
	"time"

	"rihla/gateways"
	"rihla/gateways/httpcall"
	"rihla/models"
)

// Answers are checked before they are believed: what does not say what the documents promise is as good as no answer, and therefore
// KindUnknown.

var (
	// entityForm is an entity's id, and paymentForm that of a transaction: 32 hexadecimal digits.
	entityForm  = regexp.MustCompile(`^[0-9a-f]{32}$`)
	paymentForm = entityForm
	// checkoutForm is wide: the company shows ids such as 38CF45B689EEFAA922F39BB7C3C05B7D.uat01-vm-tx04 and promises no form. What
	// it may not have is what would mean something in a URL or in HTML.
	checkoutForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	// callForm is an ndc that names a call, and no checkout: the entity and a number.
	callForm = regexp.MustCompile(`^[0-9a-f]{32}_[0-9a-f]{32}$`)
	// integrityForm is that of Subresource Integrity (www.w3.org/TR/SRI), one hash or several.
	integrityForm = regexp.MustCompile(`^sha(256|384|512)-[A-Za-z0-9+/]{43,88}={0,2}( sha(256|384|512)-[A-Za-z0-9+/]{43,88}={0,2})*$`)
	brandForm     = regexp.MustCompile(`^[A-Z0-9_]{2,32}$`)
)

// result is the company's word about a call or a payment.
type result struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

// words are the company's, bounded.
func (r result) words() string { return httpcall.Plain(r.Description, maxWords) }

// createdAnswer is the answer to POST /v1/checkouts.
type createdAnswer struct {
	Result    result `json:"result"`
	ID        string `json:"id"`
	Integrity string `json:"integrity"`
}

func (a *createdAnswer) result() result { return a.Result }

// entry is a transaction: the answer to a status call and to a refund, an item of a report, and the payload of a message.
type entry struct {
	ID           string `json:"id"`
	Brand        string `json:"paymentBrand"`
	PaymentType  string `json:"paymentType"` // DB: a payment, RF: a refund, RV: a reversal, CB: a chargeback
	Amount       string `json:"amount"`      // absent when it was declined
	Currency     string `json:"currency"`
	Reference    string `json:"merchantTransactionId"`
	ReferencedID string `json:"referencedId"` // of RF, RV and CB: the payment
	Timestamp    string `json:"timestamp"`
	NDC          string `json:"ndc"`
	Result       result `json:"result"`
}

func (e *entry) result() result { return e.Result }

func (e *entry) outcome() outcome { return outcomeOf(e.Result.Code) }

// isTransaction tells a transaction from the company's word about a call.
func (e *entry) isTransaction() bool { return paymentForm.MatchString(e.ID) && e.PaymentType != "" }

// checkoutID is the id of the checkout that a payment was made through, as far as the company tells it.
func (e *entry) checkoutID() string {
	if !checkoutForm.MatchString(e.NDC) || callForm.MatchString(e.NDC) {
		return ""
	}

	return e.NDC
}

// money is the amount and the currency.
func (e *entry) money() (models.Money, string, error) {
	amount, err := parseAmount(e.Amount)
	if err != nil {
		return models.Money{}, "", httpcall.BadAnswer("the amount is missing or cannot be read")
	}

	if !currencyForm.MatchString(e.Currency) {
		return models.Money{}, "", httpcall.BadAnswer("the currency is missing or cannot be read")
	}

	return amount, e.Currency, nil
}

var currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)

// at is when it happened; ok is false where the company does not say it in a form that is known.
func (e *entry) at() (t time.Time, ok bool) {
	for _, layout := range []string{"2006-01-02 15:04:05-0700", "2006-01-02 15:04:05.000-0700", time.RFC3339Nano} {
		if t, err := time.Parse(layout, e.Timestamp); err == nil && t.Year() > 2000 && t.Year() < 10000 {
			return t.UTC(), true
		}
	}

	return time.Time{}, false
}

// reportAnswer is the answer to GET /v1/query, and to GET /v1/query/{id}, which may be the transaction itself.
type reportAnswer struct {
	entry

	Payments *[]entry `json:"payments"`
}

// furthest is the first of the entries with the lowest rank; nil when there are none.
func furthest(entries []entry) *entry {
	rank := map[outcome]int{success: 0, review: 0, chargedBack: 0, waiting: 1, uncertain: 2, pending: 3}

	var (
		best *entry
		low  = len(rank) + 1
	)

	for i := range entries {
		r, known := rank[entries[i].outcome()]
		if !known {
			r = len(rank)
		}

		if r < low {
			best, low = &entries[i], r
		}
	}

	return best
}

// genuine refuses a success that took no money because it is a test system's.
func (d *Driver) genuine(e *entry) error {
	if d.live && testCode.MatchString(e.Result.Code) {
		return &gateways.Error{
			Kind: gateways.KindUnknown, Code: "test_mode", Message: "a live account answers with a success of a test system: " + e.Result.Code,
		}
	}

	return nil
}
