package ratelimit

import "net/netip"

const (
	// ipv6Network is what one IPv6 customer usually has, ipv6Site what is handed out at most to one: 65,536 networks.
	ipv6Network = 64
	ipv6Site    = 48
	ipv4Network = 24
	// siteShare is how many times the allowance of a network all networks of a site have together. Providers that give
	// every customer one network put thousands of customers into a site.
	siteShare = 16
)

// countedAddress is the address as the rate limit counts it: an IPv6 customer has 2^64 addresses, so the network counts.
func countedAddress(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil || addr.Is4() {
		return ip
	}

	return masked(addr, ipv6Network)
}

// countedSite is the site of an IPv6 address; empty for any other.
func countedSite(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil || addr.Is4() {
		return ""
	}

	return masked(addr, ipv6Site)
}

// countedNetwork is the site of an IPv6 address, and of IPv4 the /24, as accounts know networks.
func countedNetwork(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err == nil && addr.Is4() {
		return masked(addr, ipv4Network)
	}

	return countedSite(ip)
}

func masked(addr netip.Addr, bits int) string {
	network, err := addr.Prefix(bits)
	if err != nil {
		return addr.String()
	}

	return network.Addr().String()
}
