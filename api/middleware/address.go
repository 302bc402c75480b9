package middleware

import (
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
		hop, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			break
		}

		addr = hop.Unmap().WithZone("")
		if !p.contain(addr) {
			break
		}
	}

	return addr
}

// ipv6Network is what one IPv6 customer usually has.
const ipv6Network = 64

// limitAddr is the address as the rate limit counts it: an IPv6 customer has 2^64 addresses, so the network counts.
func limitAddr(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil || addr.Is4() {
		return ip
	}

	network, err := addr.Prefix(ipv6Network)
	if err != nil {
		return ip
	}

	return network.Addr().String()
}
