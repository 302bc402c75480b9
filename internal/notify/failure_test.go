package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKindOf: what a log says of a failure is its kind, and none of the server's words.
func TestKindOf(t *testing.T) {
	t.Parallel()

	for want, err := range map[string]error{
		"dial":                          &net.OpError{Op: "dial", Err: errors.New("connection refused")},
		"timeout":                       context.DeadlineExceeded,
		"TLS":                           &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
		"authentication, SMTP code 535": &textproto.Error{Code: 535, Msg: "bad password of sara@example.com"},
		"authentication":                errors.New("server does not support SMTP AUTH"),
		"SMTP code 421":                 fmt.Errorf("hello: %w", &textproto.Error{Code: 421, Msg: "too many from sara@example.com"}),
		"connection lost":               &net.OpError{Op: "read", Err: errors.New("reset by peer")},
	} {
		kind := KindOf(failedTo(connectFault(err), fmt.Errorf("notify: %w", err)))
		require.Equal(t, want, kind)
		require.NotContains(t, kind, "example.com")
	}

	require.Equal(t, "TLS", connectFault(errors.New("STARTTLS mode set to: \"TLSMandatory\", but target host does not support STARTTLS")))
	require.Empty(t, KindOf(errors.New("other")))
}
