package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"rihla/internal/config"
)

const (
	smsTimeout = 5 * time.Second
	// maxIdleSMS is how many connections are kept for the next messages: HTTP/1.1 has one message at a time on each.
	maxIdleSMS = 256
	// maxSMSAnswer is what is read of an answer so that the connection can be used again.
	maxSMSAnswer = 64 << 10
)

// SMSGateway is a Sender that posts `{"id", "to", "text"}` as JSON to an SMS company, with a bearer key and the id as
// Idempotency-Key. Any 2xx is success. It is safe for concurrent use.
type SMSGateway struct {
	url      string
	key      config.Secret
	renderer *Renderer
	client   *http.Client
}

// NewSMSGateway posts to address.
func NewSMSGateway(address string, key config.Secret, renderer *Renderer) *SMSGateway {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 0, maxIdleSMS

	return &SMSGateway{url: address, key: key, renderer: renderer, client: &http.Client{
		Timeout: smsTimeout, Transport: transport,
		// A redirect would carry the key to somewhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Send implements Sender.
func (g *SMSGateway) Send(ctx context.Context, m Message) error {
	number, err := phone(m.To)
	if err != nil {
		return err
	}

	text, err := g.renderer.Render(m)
	if err != nil {
		return err
	}

	body, err := json.Marshal(map[string]string{"id": m.ID.String(), "to": number, "text": text.Text})
	if err != nil {
		return permanentf("encode SMS: %w", err)
	}

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("notify: SMS_URL is not an address")
	}

	req.Header.Set("Authorization", "Bearer "+g.key.Reveal())
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("Idempotency-Key", m.ID.String())

	resp, err := g.client.Do(req)
	if err != nil {
		return fmt.Errorf("notify: SMS gateway: %w", err)
	}
	defer resp.Body.Close()

	_, _ = io.CopyN(io.Discard, resp.Body, maxSMSAnswer)

	return smsError(resp.StatusCode)
}

// smsError tells apart what is wrong with this message from what is wrong with us or the gateway.
func smsError(status int) error {
	switch {
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity, status == http.StatusGone,
		status == http.StatusRequestEntityTooLarge:
		return permanentf("the SMS gateway refused the message (status %d)", status)
	default:
		return fmt.Errorf("notify: the SMS gateway did not take the message (status %d)", status)
	}
}
