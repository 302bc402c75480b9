package middleware

import (
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// probePaths are asked from inside the network, past the proxy that speaks TLS.
var probePaths = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// redirectPlain sends plain HTTP to the public https address (spec 8.5.1) and reports whether it did. 308 keeps the
// method. Without a public https address, as in development, nothing is redirected.
func (c *Chain) redirectPlain(f *fiber.Ctx) bool {
	if c.publicURL == "" || f.Context().IsTLS() || probePaths[f.Path()] {
		return false
	}

	peer, _ := netip.AddrFromSlice(f.Context().RemoteIP())
	if c.proxies.contain(peer.Unmap()) && strings.EqualFold(f.Get(fiber.HeaderXForwardedProto), "https") {
		return false
	}

	f.Set(fiber.HeaderLocation, c.publicURL+string(f.Request().RequestURI()))
	f.Status(fiber.StatusPermanentRedirect)

	return true
}
