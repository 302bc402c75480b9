package access_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/internal/ticket"
)

// ticketLink is the link in the mail of a paid booking, signed as development signs.
func (w *world) ticketLink(t *testing.T, c cell) request {
	t.Helper()

	keys, err := ticket.LoadKeys(config.DevTicketKey().Reveal())
	require.NoError(t, err)

	booking := w.bookings[stranger] // not paid: its link opens nothing
	if c.kind == "signed" {
		booking = w.newPaid(t, stranger)
	}

	link, err := url.Parse(keys.LinkTo(booking))
	require.NoError(t, err)

	r := request{ids: kept(c, booking), query: "?" + link.RawQuery}
	if c.kind == "unsigned" {
		r.query = ""
	}

	return r
}
