// Package httpcall is what drivers over HTTP have in common: a client that keeps keys to itself, answers of a bounded size, and what a
// lost answer means.
package httpcall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"rihla/gateways"
)

const (
	// DefaultTimeout is that of a call for which nothing is configured: an activity makes up to three, and has 15 s.
	DefaultTimeout = 4 * time.Second
	// MaxAnswer bounds what is read of an answer: 1 MiB.
	MaxAnswer = 1 << 20

	maxIdleConns = 64
	idleTimeout  = 90 * time.Second
)

// NewClient makes a client for one company. transport may be nil: then it has a pool of its own, with as many idle connections to the
// one host as the pool has; the default of two would open a new connection for nearly every request under load.
func NewClient(transport http.RoundTripper, timeout time.Duration) *http.Client {
	if transport == nil {
		transport = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			MaxIdleConns:          maxIdleConns,
			MaxIdleConnsPerHost:   maxIdleConns,
			IdleConnTimeout:       idleTimeout,
			TLSHandshakeTimeout:   timeout,
			ResponseHeaderTimeout: timeout,
			ForceAttemptHTTP2:     true,
		}
	}

	return &http.Client{
		Transport: honest{transport},
		// A redirect is no answer, and following one would carry the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// honest is a transport whose word covers all of its tries. Go's repeats a request by itself when a connection from the pool was lost
// under it, if it is a GET or has an Idempotency-Key, and tells of the repetition alone: "connection refused", or that the company takes
// no request now, although it may have done what the first try asked for.
type honest struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (h honest) RoundTrip(r *http.Request) (*http.Response, error) {
	var connections atomic.Int32

	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connections.Add(1) },
	})

	res, err := h.RoundTripper.RoundTrip(r.WithContext(ctx))
	tried := connections.Load()

	switch {
	case err != nil && tried > 0 && gateways.IsUnreachable(err):
		// Without the error itself: what no connection was made for would count as not sent.
		return nil, fmt.Errorf("the connection was lost, and then: %v", err) //nolint:errorlint // see above
	case err == nil && tried > 1 && saysNotDone(res.StatusCode):
		_ = res.Body.Close()

		return nil, fmt.Errorf("the connection was lost, and the repetition was answered with %d", res.StatusCode)
	default:
		return res, err
	}
}

// saysNotDone reports an answer that says of its own request that nothing was done.
func saysNotDone(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusTooManyRequests
}

// CloseIdleConnections is what http.Client looks for.
func (h honest) CloseIdleConnections() {
	(&http.Client{Transport: h.RoundTripper}).CloseIdleConnections()
}

// Answer is an HTTP answer that was read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // at most MaxAnswer
}

// OK reports a 2xx.
func (a Answer) OK() bool { return a.Status >= http.StatusOK && a.Status < http.StatusMultipleChoices }

// Do makes the request and reads its answer, whatever its status. Its errors are *gateways.Error.
func Do(client *http.Client, req *http.Request) (Answer, error) {
	res, err := client.Do(req) //nolint:gosec // the address is the operator's
	if err != nil {
		return Answer{}, LostAnswer(err)
	}
	defer res.Body.Close()

	body, err := io.ReadAll(io.LimitReader(res.Body, MaxAnswer+1))
	if err != nil {
		return Answer{}, LostAnswer(err)
	}

	if len(body) > MaxAnswer {
		return Answer{}, BadAnswer("the answer is too large")
	}

	return Answer{Status: res.StatusCode, Header: res.Header, Body: body}, nil
}

// LostAnswer is a request without an answer: perhaps done, perhaps not, unless it found no connection.
func LostAnswer(err error) *gateways.Error {
	// url.Error repeats method and address, which the caller knows.
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}

	e := &gateways.Error{Kind: gateways.KindUnknown, Code: "connection", Err: err}
	if gateways.IsUnreachable(err) {
		e.Kind = gateways.KindUnreachable
	}

	n, ok := errors.AsType[net.Error](err)

	switch {
	case errors.Is(err, context.Canceled):
		e.Code = "canceled"
	case errors.Is(err, context.DeadlineExceeded), ok && n.Timeout():
		e.Code = "timeout"
	}

	return e
}

// BadAnswer is an answer that does not say what it must, or does not add up: as good as none.
func BadAnswer(message string) *gateways.Error {
	return &gateways.Error{Kind: gateways.KindUnknown, Code: "bad_answer", Message: message}
}

// RetryAfter reads both forms of RFC 9110: seconds, or a date. Anything else, or the past, is 0.
func RetryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}

	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}

	return max(time.Until(at), 0)
}

// Plain makes a text one line of at most limit characters, which every company takes. The same text always becomes the same, as
// idempotency needs.
func Plain(text string, limit int) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}

		return r
	}, strings.ToValidUTF8(text, "")))

	if runes := []rune(text); len(runes) > limit {
		return strings.TrimSpace(string(runes[:limit]))
	}

	return text
}
