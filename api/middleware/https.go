package middleware

import (
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// probePaths are asked from inside the network, past the proxy that speaks TLS.
var probePaths = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// strictTransport has browsers use https alone for a year (RFC 6797, which wants it on answers over https only).
const strictTransport = "max-age=31536000"

// secure reports whether the client speaks https, to us or to a trusted proxy. Of several proxies the first one's word
// counts, which met the client.
func (c *Chain) secure(f *fiber.Ctx) bool {
	if f.Context().IsTLS() {
		return true
	}

	peer, _ := netip.AddrFromSlice(f.Context().RemoteIP())
	if !c.proxies.contain(peer.Unmap()) {
		return false
	}

	proto, _, _ := strings.Cut(f.Get(fiber.HeaderXForwardedProto), ",")

	return strings.EqualFold(strings.TrimSpace(proto), "https")
}

// redirectPlain sends plain HTTP to the public https address (rules: input.https) and reports whether it did. 308 keeps the
// method. Without a public https address, as in development, nothing is redirected.
func (c *Chain) redirectPlain(f *fiber.Ctx) bool {
	if c.httpsURL == "" || probePaths[f.Path()] || c.secure(f) {
		return false
	}

	base := c.httpsURL
	if c.pages.asked(f) {
		base = c.pages.url
	}

	f.Set(fiber.HeaderLocation, base+localTarget(f))
	f.Status(fiber.StatusPermanentRedirect)

	return true
}

// localTarget is the path and query of the request. The request line may hold anything, such as http://elsewhere/ or
// @elsewhere, which behind our address would lead to another host.
func localTarget(f *fiber.Ctx) string {
	uri := f.Context().URI()

	target := string(uri.PathOriginal())
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}

	if query := uri.QueryString(); len(query) > 0 {
		target += "?" + string(query)
	}

	return target
}
