package stripe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	sdk "github.com/stripe/stripe-go/v85"

	"rihla/gateways"
	"rihla/gateways/httpcall"
)

// heard is what an answer was, whatever the SDK makes of it: of an answer without the company's error it keeps neither status nor header.
type heard struct {
	status int
	header http.Header
	object bool // every answer of the company that is no error says which object it is
}

type heardKey struct{}

// listener notes answers, and reads them to their end within bounds. Go's transport repeats by itself what breaks on a used connection
// before an answer, if it is a GET or has an Idempotency-Key: both may be repeated, and a session is expired once however often.
type listener struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l *listener) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()

	body, err := io.ReadAll(io.LimitReader(res.Body, httpcall.MaxAnswer+1))
	if err != nil {
		return nil, err
	}

	if len(body) > httpcall.MaxAnswer {
		return nil, errors.New("the answer is too large")
	}

	if h, ok := r.Context().Value(heardKey{}).(*heard); ok {
		var said struct {
			Object string `json:"object"`
		}

		h.status, h.header = res.StatusCode, res.Header
		h.object = json.Unmarshal(body, &said) == nil && said.Object != ""
	}

	res.Body = io.NopCloser(bytes.NewReader(body))

	return res, nil
}

// call makes one request, or the requests of a list, and says what came of it. missing is what resource_missing means. Its errors are
// *gateways.Error.
func (d *Driver) call(ctx context.Context, missing gateways.ErrorKind, do func(context.Context) error) error {
	var h heard

	err := do(context.WithValue(ctx, heardKey{}, &h))

	switch spoken, ok := errors.AsType[*sdk.Error](err); {
	case h.status == 0 && err != nil:
		return httpcall.LostAnswer(err)
	case h.status != http.StatusOK && (ok && spoken != nil):
		return refusalOf(&h, spoken, missing)
	case h.status == http.StatusTooManyRequests:
		return &gateways.Error{
			Kind: gateways.KindRateLimited, Code: "http_429", RetryAfter: httpcall.RetryAfter(h.header.Get("Retry-After")),
		}
	case h.status != http.StatusOK:
		return &gateways.Error{Kind: gateways.KindUnknown, Code: "http_" + strconv.Itoa(h.status)}
	case err != nil || !h.object:
		// The cause is left out: it may quote the answer.
		return httpcall.BadAnswer("the answer is not one of the company's")
	default:
		return nil
	}
}

// codeReplayed marks a failure that the company repeats because of its key.
const codeReplayed = "replayed"

func isReplayed(err error) bool {
	e, ok := errors.AsType[*gateways.Error](err)

	return ok && e.Kind == gateways.KindUnknown && e.Code == codeReplayed
}

// refusalOf is the table of errors (docs.stripe.com/api/errors, docs.stripe.com/error-codes).
func refusalOf(h *heard, said *sdk.Error, missing gateways.ErrorKind) *gateways.Error {
	e := &gateways.Error{Kind: gateways.KindUnknown, Code: string(said.Code), Message: httpcall.Plain(said.Msg, maxWords)}
	if e.Code == "" {
		e.Code = string(said.Type)
	}

	switch status := h.status; {
	case status == http.StatusTooManyRequests && said.Code == sdk.ErrorCodeLockTimeout, status == http.StatusConflict:
		e.Kind = gateways.KindInProgress
	case status == http.StatusTooManyRequests:
		e.Kind, e.RetryAfter = gateways.KindRateLimited, httpcall.RetryAfter(h.header.Get("Retry-After"))
	case status >= http.StatusInternalServerError && h.header.Get("Idempotent-Replayed") == "true":
		e.Code = codeReplayed
	case status >= http.StatusInternalServerError, status < http.StatusBadRequest, status == http.StatusRequestTimeout:
	case said.Type == "" && said.Code == "": // JSON with an error that is not the company's
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.Kind = gateways.KindUnauthorized
		e.Message = "" // it quotes the end of the key
	case said.Code == sdk.ErrorCodeResourceMissing:
		e.Kind = missing
	default:
		e.Kind = gateways.KindRejected
	}

	return e
}

// maxWords bounds what is kept of the company's words, in characters.
const maxWords = 200

// unsendable is a request that was not sent, and never can be.
func unsendable(message string) *gateways.Error {
	return &gateways.Error{Kind: gateways.KindRejected, Code: "bad_request", Message: message}
}
