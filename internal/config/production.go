package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Insecure names a connection that production may make without TLS, through a network that is trusted.
type Insecure string

// The connections of ALLOW_INSECURE.
const (
	InsecureDatabase Insecure = "database"
	InsecureRedis    Insecure = "redis"
	InsecureTemporal Insecure = "temporal"
	InsecureMail     Insecure = "mail"
)

// UnmarshalText accepts the names of the connections.
func (i *Insecure) UnmarshalText(b []byte) error {
	return oneOf(i, []byte(strings.TrimSpace(string(b))), InsecureDatabase, InsecureRedis, InsecureTemporal, InsecureMail)
}

// Demands reports whether the connection has to be a secure one: in production, unless ALLOW_INSECURE names it.
func (c Config) Demands(connection Insecure) bool {
	return c.App.Env == Production && !slices.Contains(c.App.AllowInsecure, connection)
}

// publishedMarks are in the secrets that are published with the source: those of `dev`, of docker-compose.yml and of the
// examples in .env.example and the documentation.
var publishedMarks = []string{devMark, "compose", "change-me", "example"}

// isPublished reports whether a secret, or the text that it is the base64 of, is one that is published with the source.
func isPublished(secret string) bool {
	return slices.ContainsFunc(decodings(secret), func(text string) bool {
		return slices.ContainsFunc(publishedMarks, func(mark string) bool { return strings.Contains(strings.ToLower(text), mark) })
	})
}

// checkDatabaseSafety is what production demands of DATABASE_URL.
func (c Config) checkDatabaseSafety(p *problems, to *pgconn.Config) {
	if c.App.Env != Production {
		return
	}

	if password := to.Password; password != "" && (isPublished(password) || password == to.User || password == "password") {
		p.addf("DATABASE_URL has a password that is published with the source, or the user's name, which production refuses")
	}

	plain := !isSocket(to.Host) && to.TLSConfig == nil
	for _, fallback := range to.Fallbacks {
		plain = plain || !isSocket(fallback.Host) && fallback.TLSConfig == nil
	}

	if plain && c.Demands(InsecureDatabase) {
		p.addf("DATABASE_URL must demand TLS in production: sslmode=verify-full, or at least require " +
			"(for a trusted network: ALLOW_INSECURE=database)")
	}
}

func isSocket(host string) bool { return strings.HasPrefix(host, "/") }

// checkRedisSafety is what production demands of REDIS_URL.
func (c Config) checkRedisSafety(p *problems) {
	if !c.Redis.URL.IsSet() || c.App.Env != Production {
		return
	}

	u, err := url.Parse(c.Redis.URL.Reveal())
	if err != nil {
		return // refused when it was read
	}

	if u.Scheme != "rediss" && c.Demands(InsecureRedis) {
		p.addf("REDIS_URL must begin with rediss:// in production (for a trusted network: ALLOW_INSECURE=redis)")
	}
}

// checkMail is what production demands of SMTP_URL: without it mail would be written to files.
func (c Config) checkMail(p *problems) {
	switch {
	case c.App.Env != Production:
	case !c.Notify.SMTPURL.IsSet():
		p.addf("SMTP_URL is missing in production (without it mail is written to files in DATA_DIR)")
	case !demandsTLS(c.Notify.SMTPURL.Reveal()) && c.Demands(InsecureMail):
		p.addf("SMTP_URL must be smtps://…, or smtp:// with a user and a password (which demand STARTTLS), in production " +
			"(for a trusted network: ALLOW_INSECURE=mail)")
	}
}

// demandsTLS reports whether nothing is sent to the mail server of the address without TLS: from the start, or by STARTTLS, which a
// user with a password demands unless the server is this machine.
func demandsTLS(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}

	if u.Scheme == "smtps" {
		return true
	}

	password, _ := u.User.Password()
	ip, err := netip.ParseAddr(u.Hostname())

	return password != "" && u.User.Username() != "" && u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback())
}

// checkHTTPS refuses plain http where payments and telephone numbers are sent.
func (c Config) checkHTTPS(p *problems, name, address string) {
	if c.App.Env == Production && address != "" && !strings.HasPrefix(address, "https://") {
		p.addf("%s must be an https:// address in production", name)
	}
}

// The shortest networks of proxies: larger ones have more than one owner.
const (
	minProxyBits4 = 8
	minProxyBits6 = 7 // fc00::/7, the private addresses
)

// checkProxies refuses a setting that trusts every sender.
func (c Config) checkProxies(p *problems) {
	for _, text := range c.HTTP.TrustedProxies {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			continue
		}

		if bits := network.Bits(); network.Addr().Is4() && bits < minProxyBits4 || network.Addr().Is6() && bits < minProxyBits6 {
			p.addf("TRUSTED_PROXIES must name the proxies in production, and %s is too large: any client in it could choose its address", network)
		}
	}
}
