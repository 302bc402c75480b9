package middleware

import (
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"
)

const (
	// PagesPath is where pages are on which customers pay.
	PagesPath = "/pay/"
	// ApplePayPath is where Apple looks for the proof of who owns the host of a page with its button.
	ApplePayPath = "/.well-known/apple-developer-merchantid-domain-association"
)

// pageHost is the host of the pages on which customers pay, where the scripts of payment companies run.
type pageHost struct {
	name string // as Host makes it; empty: the pages are on the host of everything else
	url  string // with its scheme
}

func pagesOf(payURL, publicURL string) pageHost {
	name := Host(payURL)
	if name == "" || name == Host(publicURL) {
		return pageHost{}
	}

	return pageHost{name: name, url: strings.TrimRight(payURL, "/")}
}

// asked reports whether a request is for the host of the pages.
func (h pageHost) asked(f *fiber.Ctx) bool {
	return h.name != "" && hostName(string(f.Request().Header.Host())) == h.name
}

// serves reports whether the path belongs to the host that was asked (rules: gateways.pages). It goes by the Host header alone, which
// no script of a page can change. Every other name than that of the pages is one of the API: load balancers and containers ask by
// addresses of their own.
func (h pageHost) serves(f *fiber.Ctx) bool {
	if h.name == "" || probePaths[f.Path()] {
		return true
	}

	isPage := strings.HasPrefix(f.Path(), PagesPath) || f.Path() == ApplePayPath

	return isPage == h.asked(f)
}

// Host is the host of an address in one spelling: small letters, without a port that goes without saying. Of what is no address
// it is empty.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}

	return hostName(u.Host)
}

func hostName(host string) string {
	host = strings.ToLower(host)

	for _, port := range []string{":80", ":443"} {
		if name, ok := strings.CutSuffix(host, port); ok {
			host = name
		}
	}

	return strings.TrimSuffix(host, ".")
}
