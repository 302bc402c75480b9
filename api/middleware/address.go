package middleware

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// proxies are the networks whose X-Forwarded-For is believed.
type proxies []netip.Prefix

// parseProxies reads addresses and CIDR blocks.
func parseProxies(list []string) (proxies, error) {
	var out proxies

	for _, s := range list {
		prefix, err := netip.ParsePrefix(s)
		if err != nil {
			addr, addrErr := netip.ParseAddr(s)
			if addrErr != nil {
				return nil, fmt.Errorf("trusted proxy %q is neither an address nor a CIDR block", s)
			}

			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}

		out = append(out, prefix.Masked())
	}

	return out, nil
}

func (p proxies) contain(a netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(a) {
			return true
		}
	}

	return false
}

// clientAddr is the peer, or, when that is a trusted proxy, the nearest address in X-Forwarded-For that is not one:
// the header is read from the right, because what stands further left is the client's own claim.
func (p proxies) clientAddr(f *fiber.Ctx) netip.Addr {
	addr, _ := netip.AddrFromSlice(f.Context().RemoteIP())
	addr = addr.Unmap()

	if len(p) == 0 || !p.contain(addr) {
		return addr
	}

	var hops []string
	for _, line := range f.Request().Header.PeekAll(fiber.HeaderXForwardedFor) {
		hops = append(hops, strings.Split(string(line), ",")...)
	}

	for _, text := range slices.Backward(hops) {
		hop, ok := parseHop(text)
		if !ok {
			break
		}

		addr = hop
		if !p.contain(addr) {
			break
		}
	}

	return addr
}

// parseHop reads an entry of X-Forwarded-For: an address, which some proxies put in brackets or give a port.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	bare := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")

	addr, err := netip.ParseAddr(bare)
	if err != nil {
		var withPort netip.AddrPort

		withPort, err = netip.ParseAddrPort(text)
		addr = withPort.Addr()
	}

	return addr.Unmap().WithZone(""), err == nil
}

// The prefix lengths of the networks that an account logs in from: that of a household or an office, whose addresses change.
const (
	ipv4Login = 24
	ipv6Login = 48
)

// Network is the client's network as accounts know it: of IPv4 the /24, of IPv6 the /48.
func Network(ctx context.Context) string {
	addr, err := netip.ParseAddr(Address(ctx))
	if err != nil {
		return ""
	}

	bits := ipv6Login
	if addr.Is4() {
		bits = ipv4Login
	}

	network, err := addr.Prefix(bits)
	if err != nil {
		return ""
	}

	return network.String()
}
