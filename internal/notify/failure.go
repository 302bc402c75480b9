package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strings"
)

// failure is an error with its kind, which names no address.
type failure struct {
	kind string
	err  error
}

// Error implements error.
func (f *failure) Error() string { return f.err.Error() }

// Unwrap returns the error.
func (f *failure) Unwrap() error { return f.err }

func failedTo(kind string, err error) error { return &failure{kind: kind, err: err} }

// KindOf is what has failed when a message was not handed over: dial, TLS, authentication, an SMTP code. It may stand in a log: the error
// itself may quote the address. Empty: it is not known.
func KindOf(err error) string {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.kind
	}

	return ""
}

// connectFault is the kind of a failure before there is a session with the mail server. What the library does not type it says in words.
func connectFault(err error) string {
	var timeout net.Error

	if said, ok := errors.AsType[*textproto.Error](err); ok {
		const authFrom, authTo = 530, 539
		if said.Code >= authFrom && said.Code < authTo {
			return fmt.Sprintf("authentication, SMTP code %d", said.Code)
		}

		return fmt.Sprintf("SMTP code %d", said.Code)
	}

	if isTLS(err) {
		return "TLS"
	}

	if strings.Contains(err.Error(), "AUTH") {
		return "authentication"
	}

	op, isOp := errors.AsType[*net.OpError](err)

	switch {
	case isOp && op.Op == "dial":
		return "dial"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	default:
		return "connection lost"
	}
}

func isTLS(err error) bool {
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, host := errors.AsType[x509.HostnameError](err)

	return record || alert || certificate || authority || host || strings.Contains(err.Error(), "STARTTLS") ||
		strings.Contains(err.Error(), "tls: ")
}
