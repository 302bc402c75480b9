package hyperpay

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"rihla/gateways"
	"rihla/gateways/httpcall"
)

const (
	// maxWords bounds what is kept of the company's words, in characters.
	maxWords = 200

	codeUnsendable = "bad_request"
)

// request is one call. Nothing carries an Idempotency-Key: the company has none, and Go's transport would repeat a POST by itself
// with it. A GET it may repeat.
type request struct {
	method string
	path   string
	query  url.Values // of a GET
	form   url.Values // of a POST
}

// answered is an answer with a result, which every one has.
type answered interface{ result() result }

// call makes the request and decodes what the company answers, whatever the HTTP status: the caller looks at the result code. What is
// not the company's answer is an error here. Errors are *gateways.Error.
func (d *Driver) call(ctx context.Context, r request, answer answered) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	req, err := d.newRequest(ctx, r)
	if err != nil {
		return unsendable("the request cannot be made")
	}

	res, err := httpcall.Do(d.client, req)
	if err != nil {
		return err
	}

	return read(res, answer)
}

func (d *Driver) newRequest(ctx context.Context, r request) (*http.Request, error) {
	target := d.base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}

	req, err := http.NewRequestWithContext(ctx, r.method, target, strings.NewReader(r.form.Encode()))
	if err != nil {
		return nil, err
	}

	req.Header.Set("Authorization", "Bearer "+d.key)
	req.Header.Set("Accept", "application/json")

	if r.method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
	}

	return req, nil
}

// read tells answers of the company from everything else. Its codes count with 2xx and 4xx; of a 5xx nothing is believed, since
// it may come from something in between.
func read(res httpcall.Answer, answer answered) error {
	status := res.Status
	spoken := json.Unmarshal(res.Body, answer) == nil && resultCode.MatchString(answer.result().Code)
	e := &gateways.Error{Kind: gateways.KindUnknown, Code: "http_" + strconv.Itoa(status)}

	switch {
	case status == http.StatusTooManyRequests:
		e.Kind, e.RetryAfter = gateways.KindRateLimited, httpcall.RetryAfter(res.Header.Get("Retry-After"))
	case status == http.StatusConflict, status == http.StatusTooEarly:
		e.Kind = gateways.KindInProgress
	case status < 200, status > 499, status > 299 && status < 400, status == http.StatusRequestTimeout:
		return e
	case !spoken && status < 300:
		// The cause is left out: it quotes the answer.
		return httpcall.BadAnswer("the answer is not one of the company's")
	case !spoken:
		return e
	}

	if spoken {
		e.Code, e.Message = answer.result().Code, answer.result().words()
	}

	switch known := outcomeOf(answer.result().Code); {
	case e.Kind != gateways.KindUnknown:
		return e
	case known == throttled:
		e.Kind, e.RetryAfter = gateways.KindRateLimited, httpcall.RetryAfter(res.Header.Get("Retry-After"))
	case known == unauthorized, status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.Kind = gateways.KindUnauthorized
	default:
		return nil
	}

	return e
}

// refusalOf is what a call comes to that did not do what it was for.
func refusalOf(r result) *gateways.Error {
	e := &gateways.Error{Kind: gateways.KindUnknown, Code: r.Code, Message: r.words()}

	switch outcomeOf(r.Code) {
	case busy:
		e.Kind = gateways.KindInProgress
	case rejected, noSession:
		e.Kind = gateways.KindRejected
	case noPayment:
		e.Kind = gateways.KindNotFound
	case success, review, pending, waiting, chargedBack, uncertain, throttled, unauthorized, broken: // it does not say what was done
	}

	return e
}

// unsendable is a request that was not sent, and never can be.
func unsendable(message string) *gateways.Error {
	return &gateways.Error{Kind: gateways.KindRejected, Code: codeUnsendable, Message: message}
}
