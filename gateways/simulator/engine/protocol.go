package engine

import (
	"net/http"
	"slices"
	"time"

	"rihla/models"
)

// Protocol is how one company is spoken to, and what it does in its own way. A simulator of that company is its Protocol.
type Protocol interface {
	// Traits are what the company does otherwise than others.
	Traits() Traits
	// Routes are the company's API, by the pattern of the path. The page, the levers and /healthz are the simulator's own.
	Routes(s *Server) map[string]Methods
	// Key is the API key that a request brings; empty when it brings none.
	Key(r *http.Request) string
	// Failure is an error as the company words it.
	Failure(f Failure) Answer
	// Signer signs an account's webhooks; its error says what is wrong with the secret.
	Signer(secret string) (Signer, error)
	// ReturnURL is where the page sends the customer; empty when the checkout has no such address.
	ReturnURL(c *Checkout) string
}

// Signer makes the webhooks of one secret, or of several while secrets are rotated.
type Signer interface {
	// Message is what the company sends about an event, signed at a moment; ok is false where it sends nothing. The id stays
	// the same on every attempt.
	Message(e Event, id string, at time.Time) (m Message, ok bool, err error)
}

// Message is a webhook as it is sent.
type Message struct {
	Header http.Header
	Body   []byte
}

// Traits are what companies do differently.
type Traits struct {
	Name        string // for people: on the address / of the simulator
	EventPrefix string // of the ids of webhooks
	// RefundPrefix begins the ids of refunds that are made in the dashboard; 32 hexadecimal digits follow.
	RefundPrefix string
	// OneReference: a reference of the merchant names one checkout and one refund, and another one of it is refused.
	OneReference bool
	// Retryable: a declined card, or a customer who leaves the page, leaves the checkout open for another try.
	Retryable bool
	// Keys: requests carry an Idempotency-Key, and a second one under way is refused.
	Keys bool
	// Revises: a refund that succeeded can fail later, and the account has its money again.
	Revises bool
	// PaysAgain: a checkout can take its money twice, by a page that was open twice.
	PaysAgain bool
	// Lacks are the modes of faults that mean nothing at this company.
	Lacks []Mode
}

// Failure is an error of the company before it is worded.
type Failure struct {
	Status  int
	Code    string // one of the codes below, of the protocol's own, or of a fault
	Message string
	Param   string // the field that is wrong, if it is one
}

// Codes of failures that the simulator itself has. A Protocol may word them in its own way.
const (
	CodeUnauthorized = "unauthorized"
	CodeNotFound     = "not_found"
	CodeInvalid      = "invalid_request"
	CodeMalformed    = "malformed_request"
	CodeTooLarge     = "payload_too_large"
	CodeInProgress   = "request_in_progress"
	CodeKeyMissing   = "idempotency_key_required"
	CodeKeyReused    = "idempotency_key_reused"
	CodeInternal     = "internal_error"
	CodeFault        = "fault_injected"
)

// Event is what a webhook is about, as it was when it happened.
type Event struct {
	Type     models.EventType `json:"type"`
	At       time.Time        `json:"at"`
	Checkout Checkout         `json:"checkout"`
	Refund   *Refund          `json:"refund,omitempty"`  // of refund.* only
	Attempt  *Attempt         `json:"attempt,omitempty"` // a declined one, where the checkout stays open
	Second   *SecondDebit     `json:"second,omitempty"`  // of payment.succeeded, where it is a further one
	Outcome  string           `json:"outcome,omitempty"` // of a dispute that is closed
}

// Attempt is one try to pay a checkout.
type Attempt struct {
	ID         string    `json:"id"`
	At         time.Time `json:"at"`
	ResultCode string    `json:"result_code"`
	Reason     string    `json:"reason"`
}

// Has reports whether a mode of faults means something at this company.
func (t Traits) Has(mode Mode) bool { return !slices.Contains(t.Lacks, mode) }

// notFound is the company's answer about something that it does not know.
func (s *Server) notFound(what string) Answer {
	return s.protocol.Failure(Failure{Status: http.StatusNotFound, Code: CodeNotFound, Message: "There is no such " + what + "."})
}
