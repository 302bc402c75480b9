package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/gateways/httpcall"
)

// request is one call of the protocol.
type request struct {
	method  string
	path    string
	query   uuid.UUID          // merchant_reference to look for; Nil for none
	list    url.Values         // of a list by time; nil for none
	key     string             // Idempotency-Key; empty on reads
	body    any                // sent as JSON; nil for none
	missing gateways.ErrorKind // what a 404 means; the zero value leaves it KindRejected
}

// call makes the request and decodes a 2xx answer into answer. Its errors are *gateways.Error.
func (d *Driver) call(ctx context.Context, r request, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	req, err := d.newRequest(ctx, r)
	if err != nil {
		// Nothing was sent: an unsendable request is final.
		return &gateways.Error{Kind: gateways.KindRejected, Code: "bad_request", Err: err}
	}

	res, err := httpcall.Do(d.client, req)
	if err != nil {
		return err
	}

	if !res.OK() {
		return rejected(res, r.missing)
	}

	if err := json.Unmarshal(res.Body, answer); err != nil {
		// The cause is left out: it quotes the answer.
		return httpcall.BadAnswer("the answer is not valid JSON")
	}

	return nil
}

func (d *Driver) newRequest(ctx context.Context, r request) (*http.Request, error) {
	target := d.base + r.path
	if r.query != uuid.Nil {
		target += "?merchant_reference=" + r.query.String()
	}

	if r.list != nil {
		target += "?" + r.list.Encode()
	}

	var body io.Reader

	if r.body != nil {
		encoded, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}

		body = bytes.NewReader(encoded)
	}

	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, err
	}

	req.Header.Set("Authorization", "Bearer "+d.key)
	req.Header.Set("Accept", "application/json")

	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}

	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}

	return req, nil
}

// codeInProgress is the protocol's code for a request whose Idempotency-Key another request holds.
const codeInProgress = "request_in_progress"

// rejected reads an answer that is not 2xx. Only a 4xx in the protocol's own format is final: an error page
// of something in between (a proxy, a wrong address) is not the gateway's answer. 409 and 425 are never final: they say that
// something else about the same thing is under way.
func rejected(res httpcall.Answer, missing gateways.ErrorKind) *gateways.Error {
	e := &gateways.Error{Kind: gateways.KindUnknown, Code: "http_" + strconv.Itoa(res.Status)}

	var envelope struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}

	spoken := json.Unmarshal(res.Body, &envelope) == nil && envelope.Error.Code != ""
	if spoken {
		e.Code, e.Message = envelope.Error.Code, envelope.Error.Message
	}

	switch {
	case res.Status == http.StatusTooManyRequests:
		e.Kind, e.RetryAfter = gateways.KindRateLimited, httpcall.RetryAfter(res.Header.Get("Retry-After"))
	case res.Status == http.StatusConflict, res.Status == http.StatusTooEarly, e.Code == codeInProgress:
		e.Kind = gateways.KindInProgress
	case !spoken, res.Status < 400, res.Status > 499, res.Status == http.StatusRequestTimeout:
		return e
	case res.Status == http.StatusUnauthorized:
		e.Kind = gateways.KindUnauthorized
	case res.Status == http.StatusNotFound && missing == gateways.KindNotFound:
		e.Kind = gateways.KindNotFound
	default:
		e.Kind = gateways.KindRejected
	}

	return e
}
