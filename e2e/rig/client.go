package rig

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/models"
)

// Answer is what the API answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Into decodes the whole body.
func (a Answer) Into(v any) error { return json.Unmarshal(a.Body, v) }

// Data decodes the `data` of an envelope.
func (a Answer) Data(v any) error {
	var e struct {
		Data json.RawMessage `json:"data"`
	}
	if err := a.Into(&e); err != nil {
		return err
	}

	return json.Unmarshal(e.Data, v)
}

// Error is what an error answer says.
type Error struct {
	Code    models.Code         `json:"code"`
	Details map[string][]string `json:"details"`
}

// Error is the error in an answer, its zero value when there is none.
func (a Answer) Error() Error {
	var e struct {
		Error Error `json:"error"`
	}
	_ = json.Unmarshal(a.Body, &e)

	return e.Error
}

// Code is the machine code of an error answer, "" of any other.
func (a Answer) Code() models.Code { return a.Error().Code }

// Client is a client of the API, with or without a user's token. It is safe for concurrent use.
type Client struct {
	URL   string
	Token string // of access; "" for none
}

// answerTime is longer than the service may take for any answer.
const answerTime = 60 * time.Second

// connections are shared; kills of the API leave broken ones that must not be used again, hence the short idle time.
var connections = &http.Client{
	Timeout:       answerTime,
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 2 * time.Second},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Request is one request with the client's token. body may be nil, []byte as it is, or anything that JSON can hold.
func (c Client) Request(ctx context.Context, method, path string, body any, header map[string]string) (*http.Request, error) {
	raw, ok := body.([]byte)
	if !ok && body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}

	r, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}

	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}

	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}

	for name, value := range header {
		r.Header.Set(name, value)
	}

	return r, nil
}

// Do sends one request. The error is one of the network's, never of the answer.
func (c Client) Do(ctx context.Context, method, path string, body any, header map[string]string) (Answer, error) {
	r, err := c.Request(ctx, method, path, body, header)
	if err != nil {
		return Answer{}, err
	}

	return Send(r)
}

// Get reads the `data` of a successful answer.
func (c Client) Get(ctx context.Context, path string, into any) error {
	return c.data(ctx, http.MethodGet, path, nil, into)
}

// Post writes with a fresh Idempotency-Key and reads the `data` of a successful answer.
func (c Client) Post(ctx context.Context, path string, body, into any) error {
	return c.data(ctx, http.MethodPost, path, body, into)
}

func (c Client) data(ctx context.Context, method, path string, body, into any) error {
	header := map[string]string{}
	if method != http.MethodGet {
		header["Idempotency-Key"] = uuid.NewString()
	}

	a, err := c.Do(ctx, method, path, body, header)
	if err != nil {
		return err
	}

	if a.Status >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %d %s", method, path, a.Status, a.Body)
	}

	if into == nil {
		return nil
	}

	return a.Data(into)
}

// LogIn is the client with a token of the account's.
func (c Client) LogIn(ctx context.Context, email, password string) (Client, error) {
	var tokens gen.Tokens

	err := c.Post(ctx, "/api/v1/auth/login", gen.LoginRequest{Email: email, Password: password}, &tokens)
	c.Token = tokens.AccessToken

	return c, err
}

// Send sends a request of the caller's own making.
func Send(r *http.Request) (Answer, error) {
	answer, err := connections.Do(r) //nolint:gosec // to the service, on this machine
	if err != nil {
		return Answer{}, err
	}
	defer answer.Body.Close()

	text, err := Available(answer, bufio.NewReader(answer.Body)) // a stream is closed after its first event

	return Answer{Status: answer.StatusCode, Header: answer.Header, Body: text}, err
}

// Available is what can be read of an answer without waiting for the end of a stream: the first of events, and all of
// everything else.
func Available(answer *http.Response, body *bufio.Reader) ([]byte, error) {
	if answer.Header.Get("Content-Type") != "text/event-stream" {
		return io.ReadAll(body)
	}

	var first []byte

	for {
		line, err := body.ReadBytes('\n')
		first = append(first, line...)

		switch {
		case errors.Is(err, io.EOF):
			return first, nil
		case err != nil:
			return first, err
		case len(bytes.TrimSpace(line)) == 0 && bytes.Contains(first, []byte("data:")): // a blank line ends an event
			return first, nil
		}
	}
}

// Answers reports whether an address answers 200.
func Answers(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}

	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}

	_ = a.Body.Close()

	return a.StatusCode == http.StatusOK
}
