package gateways

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// ErrorKind says what may have happened at the gateway. The zero value is KindUnknown: a driver that does
// not know must ask.
type ErrorKind int

// The kinds of errors (rules: gateways.outcomes).
const (
	KindUnknown      ErrorKind = iota // 5xx, timeout, lost connection, unreadable answer: perhaps done, perhaps not
	KindRejected                      // 4xx: final, nothing happened
	KindNotFound                      // the gateway has no such thing
	KindRateLimited                   // 429: nothing happened, try again after RetryAfter
	KindNotSent                       // our own Guard did not let the call out: nothing happened, try again after RetryAfter
	KindInProgress                    // 409, 425: an earlier request for the same thing may be under way; its effect may come later
	KindUnreachable                   // no connection was made, so nothing was sent: nothing happened, and the gateway is away
	KindUnauthorized                  // the account's key was refused: nothing happened, and nothing will until an operator mends it
)

// String is the kind's name for logs.
func (k ErrorKind) String() string {
	switch k {
	case KindRejected:
		return "rejected"
	case KindNotFound:
		return "not_found"
	case KindRateLimited:
		return "rate_limited"
	case KindNotSent:
		return "not_sent"
	case KindInProgress:
		return "in_progress"
	case KindUnreachable:
		return "unreachable"
	case KindUnauthorized:
		return "unauthorized"
	default:
		return "unknown"
	}
}

// HadNoEffect reports an error after which nothing has happened at the gateway, and nothing will of this request.
func (k ErrorKind) HadNoEffect() bool {
	switch k {
	case KindRejected, KindNotFound, KindRateLimited, KindNotSent, KindUnreachable, KindUnauthorized:
		return true
	default:
		return false
	}
}

// IsAway reports an error that says that the gateway cannot be used now, and that nothing has happened there.
func (k ErrorKind) IsAway() bool {
	return k == KindRateLimited || k == KindNotSent || k == KindUnreachable || k == KindUnauthorized
}

// Error is what every Gateway method fails with.
type Error struct {
	Kind       ErrorKind
	Code       string        // the gateway's machine code, or one of ours ("timeout", "connection", "bad_answer")
	Message    string        // the gateway's words; no personal data, no keys
	RetryAfter time.Duration // only with KindRateLimited, 0 when the gateway named none, and with KindNotSent
	Err        error         // what caused it, nil when the gateway answered
}

// Error implements error.
func (e *Error) Error() string {
	s := fmt.Sprintf("gateway %s (%s)", e.Kind, e.Code)
	if e.Message != "" {
		s += ": " + e.Message
	}

	if e.Err != nil {
		s += ": " + e.Err.Error()
	}

	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of err. An error that no driver made is KindUnknown, since nothing is known of its effect.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}

	return KindUnknown
}

// IsFromGateway reports an error that a gateway or its guard has made, whatever is known of its effect.
func IsFromGateway(err error) bool {
	_, ok := errors.AsType[*Error](err)

	return ok
}

// CodeRefundedMeanwhile is the code of a driver that tells refunds by their sum, when that is not what it was said to be: nothing was
// sent. It may be this very refund, sent by a call whose answer was lost.
const CodeRefundedMeanwhile = "refunded_meanwhile"

// TakesNone reports an error after which nothing has happened, and which every call to this account would have now: it is better to
// turn to another account. That our own limits of rate and concurrency are reached is none.
func TakesNone(err error) bool {
	e, ok := errors.AsType[*Error](err)

	return ok && e.Kind.IsAway() && e.Code != notSentBusy && e.Code != notSentRate && e.Code != notSentCanceled
}

// IsUnreachable reports an error of an HTTP client that says that no connection was made: nothing of the request was sent.
// An address that cannot be resolved, a refused connection and one that was not accepted in time are such errors; all that
// comes later may have been heard.
func IsUnreachable(err error) bool {
	dial, ok := errors.AsType[*net.OpError](err)

	return ok && dial.Op == "dial"
}
