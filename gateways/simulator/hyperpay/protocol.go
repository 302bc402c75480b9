// Package hyperpay is the simulator of HyperPay: Copy & Pay as its public documents describe it, without real money. README.md of
// package hyperpay says what it was made from.
package hyperpay

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"rihla/gateways/simulator/engine"
	"rihla/models"
)

// Settings are what accounts differ in, and what the documents leave open.
type Settings struct {
	// Lag is for how long the report does not show a transaction.
	Lag time.Duration
	// Throttled: a checkout is asked about nine times a minute at most, and everything in the report twice.
	Throttled bool
	// Wrapped: webhooks are JSON around the hexadecimal digits.
	Wrapped bool
}

// New opens the simulator with the settings of a plain account. Secrets of channels have 64 hexadecimal digits.
func New(cfg engine.Config) (*engine.Server, error) { return Open(cfg, Settings{}) }

// Open opens the simulator.
func Open(cfg engine.Config, settings Settings) (*engine.Server, error) {
	return engine.New(&protocol{settings: settings, asked: map[string][]time.Time{}}, cfg)
}

// Entity is the id of the entity that an account has for a payment method.
func Entity(merchant string, method models.PaymentMethod) string {
	return hex32(merchant + "\x00" + string(method))
}

func hex32(text string) string {
	sum := sha256.Sum256([]byte(text))

	return hex.EncodeToString(sum[:16])
}

// Result codes that the simulator gives.
const (
	codeCreated      = "000.200.100"
	codePending      = "000.200.000"
	codeReported     = "000.000.100"
	codeApproved     = "000.100.110"
	codeDeclined     = "800.100.152"
	codeInvalid      = "200.300.404"
	codeUnauthorized = "800.900.300"
	codeNoEntity     = "800.900.303"
	codeNotFound     = "700.400.580"
	codeNotPaid      = "700.400.530"
	codeExceeds      = "700.400.200"
	codeCurrency     = "700.100.500"
	codeThrottled    = "800.120.100"
	codeMessage      = "200.100.101"
	codeSystem       = "999.999.999"
)

// words are the descriptions of the codes.
var words = map[string]string{
	codeCreated: "successfully created checkout", codePending: "transaction pending", codeReported: "successful request",
	codeApproved:     "Request successfully processed in 'Merchant in Integrator Test Mode'",
	codeDeclined:     "transaction declined by authorization system",
	codeUnauthorized: "invalid authentication information", codeNoEntity: "no access", codeNotFound: "cannot find transaction",
	codeNotPaid: "the referenced transaction was not successful", codeExceeds: "cannot refund (refund volume exceeded)",
	codeCurrency: "the currency differs from that of the referenced transaction", codeThrottled: "Rejected by Throttling.",
	codeMessage: "invalid request", codeSystem: "UNDEFINED CONNECTOR/ACQUIRER ERROR", codeInvalid: "invalid or missing parameter",
}

// protocol is HyperPay's.
type protocol struct {
	settings Settings

	mu    sync.Mutex
	asked map[string][]time.Time // by what was asked about, of the last minute
}

// Traits implements engine.Protocol.
func (*protocol) Traits() engine.Traits {
	return engine.Traits{Name: "HyperPay simulator", Retryable: true, PaysAgain: true, Lacks: []engine.Mode{engine.ModeConflict}}
}

// Routes implements engine.Protocol.
func (p *protocol) Routes(s *engine.Server) map[string]engine.Methods {
	c := calls{Server: s, protocol: p}

	return map[string]engine.Methods{
		"/v1/checkouts":              {http.MethodPost: s.AsMerchant(c.createCheckout)},
		"/v1/checkouts/{id}/payment": {http.MethodGet: s.AsMerchant(c.status)},
		"/v1/payments/{id}":          {http.MethodPost: s.AsMerchant(c.refund)},
		"/v1/query":                  {http.MethodGet: s.AsMerchant(c.find)},
		"/v1/query/{id}":             {http.MethodGet: s.AsMerchant(c.transaction)},
		"/v1/paymentWidgets.js":      {http.MethodGet: serveWidget},
	}
}

// Key implements engine.Protocol: a Bearer token.
func (*protocol) Key(r *http.Request) string {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}

	return key
}

// Failure implements engine.Protocol.
func (*protocol) Failure(f engine.Failure) engine.Answer {
	code, said := codeMessage, f.Message

	switch {
	case f.Code == engine.CodeUnauthorized:
		code, said = codeUnauthorized, words[codeUnauthorized]
	case f.Code == engine.CodeNotFound:
		code, said = codeNotFound, words[codeNotFound]
	case f.Status == http.StatusTooManyRequests:
		code, said = codeThrottled, words[codeThrottled]
	case f.Status >= http.StatusInternalServerError:
		code, said = codeSystem, words[codeSystem]
	case f.Code == engine.CodeInvalid:
		code = codeInvalid
	case words[f.Code] != "":
		code, said = f.Code, words[f.Code]
	}

	return engine.Success(f.Status, envelope{Result: resultView{Code: code, Description: said}})
}

// ReturnURL implements engine.Protocol: the widget knows it, and the company does not.
func (*protocol) ReturnURL(*engine.Checkout) string { return "" }

// Signer implements engine.Protocol.
func (p *protocol) Signer(secret string) (engine.Signer, error) {
	first, _, _ := strings.Cut(secret, ",")

	key, err := hex.DecodeString(first)
	if err != nil || len(key) != 32 {
		return nil, errors.New("a webhook key must have 64 hexadecimal digits")
	}

	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}

	gcm, err := cipher.NewGCM(block)

	return signer{key: gcm, wrapped: p.settings.Wrapped}, err
}

type signer struct {
	key     cipher.AEAD
	wrapped bool
}

// Message implements engine.Signer. Of a checkout that was not paid in time the company says nothing.
func (s signer) Message(e engine.Event, _ string, _ time.Time) (engine.Message, bool, error) {
	payload, ok := payloadOf(e)
	if !ok {
		return engine.Message{}, false, nil
	}

	content, err := json.Marshal(map[string]any{"type": "PAYMENT", "payload": payload})
	if err != nil {
		return engine.Message{}, false, err
	}

	return s.Close(content), true, nil
}

// Close encrypts a content.
func (s signer) Close(content []byte) engine.Message {
	vector := make([]byte, s.key.NonceSize())
	_, _ = rand.Read(vector) // it never fails

	closed := s.key.Seal(nil, vector, content, nil)
	tag := len(closed) - s.key.Overhead()
	header := http.Header{}
	header.Set("X-Initialization-Vector", strings.ToUpper(hex.EncodeToString(vector)))
	header.Set("X-Authentication-Tag", strings.ToUpper(hex.EncodeToString(closed[tag:])))
	header.Set("Content-Type", "text/plain")

	body := strings.ToUpper(hex.EncodeToString(closed[:tag]))
	if s.wrapped {
		header.Set("Content-Type", "application/json")

		body = fmt.Sprintf(`{"encryptedBody": %q}`, body)
	}

	return engine.Message{Header: header, Body: []byte(body)}
}

// payloadOf is the transaction that an event is about.
func payloadOf(e engine.Event) (transaction, bool) {
	switch {
	case e.Refund != nil:
		return refundOf(e.Refund, &e.Checkout), true
	case e.Attempt != nil:
		return attemptOf(e.Attempt, &e.Checkout), true
	case e.Second != nil:
		return secondOf(e.Second, &e.Checkout), true
	case e.Type == models.EventPaymentSucceeded:
		return paymentOf(&e.Checkout, &engine.Fault{}), true
	default:
		return transaction{}, false
	}
}

// throttle reports whether something was asked about too often within a minute.
func (p *protocol) throttle(what string, limit int, now time.Time) bool {
	if !p.settings.Throttled {
		return false
	}

	p.mu.Lock()
	defer p.mu.Unlock()

	var lately []time.Time

	for _, at := range p.asked[what] {
		if now.Sub(at) < time.Minute {
			lately = append(lately, at)
		}
	}

	if len(lately) >= limit {
		return true
	}

	p.asked[what] = append(lately, now)

	return false
}
