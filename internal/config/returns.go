package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"rihla/models"
)

var (
	// returnHost is a host name with an optional port, or *. and a domain of at least two labels.
	returnHost   = regexp.MustCompile(`^(\*\.[a-z0-9-]+(\.[a-z0-9-]+)+|[a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(:[0-9]{1,5})?$`)
	returnScheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)
)

// browserSchemes are what browsers and phones do something of their own with: none is an app's.
var browserSchemes = []string{
	"http", "https", "javascript", "data", "vbscript", "file", "filesystem", "blob", "about", "view-source", "intent", "ftp", "ws", "wss",
	"mailto", "tel", "sms",
}

// ReturnRules say to which addresses customers may be sent after they have paid. Where hosts are named, that of PUBLIC_URL is one of them:
// the console is there, and companies that pay for a campaign come back to it.
func (c Config) ReturnRules() models.ReturnRules {
	hosts := lowerEach(c.Returns.Hosts)

	if own, err := url.Parse(c.App.PublicURL); err == nil && len(hosts) > 0 && own.Scheme == "https" && own.Host != "" {
		hosts = append(hosts, lowerEach([]string{own.Host})...)
	}

	return models.ReturnRules{
		Hosts: hosts, Schemes: lowerEach(c.Returns.Schemes), Loopback: c.App.Env == Development,
	}
}

func lowerEach(list []string) []string {
	var out []string

	for _, item := range list {
		if item = strings.ToLower(strings.TrimSpace(item)); item != "" {
			out = append(out, strings.TrimSuffix(item, ":443"))
		}
	}

	return out
}

func (c Config) validateReturns(p *problems) {
	rules := c.ReturnRules()

	for _, host := range rules.Hosts {
		if !returnHost.MatchString(host) {
			p.addf("RETURN_URL_HOSTS has %q, which is no host such as app.example.com, app.example.com:8443 or *.example.com", host)
		}
	}

	for _, scheme := range rules.Schemes {
		if !returnScheme.MatchString(scheme) || slices.Contains(browserSchemes, scheme) {
			p.addf("RETURN_URL_SCHEMES has %q, which is no scheme of an app's own, such as rihla", scheme)
		}
	}
}
