package models

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// ReturnPath is where gateways send customers after the page on which they pay; the attempt's ReturnID follows.
const ReturnPath = "/api/v1/payments/returns/"

// PayPath is where our pages are on which customers pay; the id of the page follows, which opens it.
const PayPath = "/pay/"

// TicketPath is where the links in mails open a ticket; the booking's id follows, and a signature as the query.
const TicketPath = "/api/v1/tickets/"

// ReturnRules say to which addresses customers may be sent after they have paid.
type ReturnRules struct {
	// Hosts are the hosts of https addresses: app.example.com, app.example.com:8443, or *.example.com for all below it. None: any.
	Hosts []string
	// Schemes are those of apps: rihla for rihla://done.
	Schemes []string
	// Loopback allows http on this machine while no hosts are named.
	Loopback bool
}

// Check is a VALIDATION_ERROR about `return_url` when customers may not be sent to the address; an empty one is none.
func (r ReturnRules) Check(address string) error {
	if address == "" {
		return nil
	}

	const field = "return_url"

	u, err := url.Parse(address)
	if err != nil || u.Host == "" && u.Path == "" && u.Opaque == "" || u.Opaque != "" || !isVisibleASCII(address) {
		return Invalid(field, "field.url")
	}

	switch {
	case u.User != nil:
		return Invalid(field, "return_url.user_name")
	case slices.Contains(r.Schemes, u.Scheme):
		return nil
	case u.Scheme == "http" && r.Loopback && len(r.Hosts) == 0 && isLoopbackHost(u.Hostname()):
		return nil
	case u.Scheme != "https" || u.Hostname() == "":
		return Invalid(field, "return_url.scheme")
	case !r.allowsHost(strings.ToLower(u.Host)):
		return Invalid(field, "return_url.host")
	default:
		return nil
	}
}

// plainHost is a host that browsers read as it is written: in lower case, with a port or without.
var plainHost = regexp.MustCompile(`^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?$`)

// allowsHost reports whether host, with the port if the address has one, is among the hosts.
func (r ReturnRules) allowsHost(host string) bool {
	if len(r.Hosts) > 0 && !plainHost.MatchString(host) {
		return false // what a browser might read as another host than we do
	}

	host = strings.TrimSuffix(host, ":443")

	return len(r.Hosts) == 0 || slices.ContainsFunc(r.Hosts, func(allowed string) bool {
		below, wildcard := strings.CutPrefix(allowed, "*")

		return host == allowed || wildcard && strings.HasSuffix(host, below) && len(host) > len(below)
	})
}

// isVisibleASCII reports a text that a header can carry and that no browser reads otherwise: browsers take \ for /, and drop
// spaces and control characters.
func isVisibleASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' })
}

func isLoopbackHost(host string) bool {
	ip := net.ParseIP(host)

	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ReturnAddress is what the gateway is given: an address of the service, or nothing when the app has named no return_url. It
// stays the same for the life of the attempt, because a gateway refuses one key with another request.
func (t *PaymentTransaction) ReturnAddress() string {
	if t.ReturnURL == "" || t.ReturnID == nil {
		return t.ReturnURL // of an attempt that an older version has opened
	}

	return t.ReturnBase + ReturnPath + t.ReturnID.String()
}

// ReturnTarget is where the app wants its customer back, with what it needs to go on: booking_id or ad_campaign_id,
// transaction_id and status. The app's own parameters stay as they are; those of the same names are replaced.
func (t *PaymentTransaction) ReturnTarget() string {
	about, id := "booking_id", t.BookingID
	if id == nil {
		about, id = "ad_campaign_id", t.AdCampaignID
	}

	return withQuery(t.ReturnURL, [][2]string{
		{about, valueOrNil(id).String()}, {"transaction_id", t.ID.String()}, {"status", string(t.Status)},
	})
}

func valueOrNil(id *uuid.UUID) uuid.UUID {
	if id == nil {
		return uuid.Nil
	}

	return *id
}

// withQuery puts parameters at the end of the address's query and takes others of their names out.
func withQuery(address string, parameters [][2]string) string {
	address, fragment, hasFragment := strings.Cut(address, "#")
	address, query, _ := strings.Cut(address, "?")

	var kept []string

	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}

		if part != "" && !slices.ContainsFunc(parameters, func(p [2]string) bool { return p[0] == name }) {
			kept = append(kept, part)
		}
	}

	for _, p := range parameters {
		kept = append(kept, p[0]+"="+url.QueryEscape(p[1]))
	}

	address += "?" + strings.Join(kept, "&")
	if hasFragment {
		address += "#" + fragment
	}

	return address
}
