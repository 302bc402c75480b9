package config

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"rihla/models"
)

// Identity is how people prove more than a password (rules: identity.second-factor).
type Identity struct {
	// TOTPRoles must have a second factor; unset: FINANCE_ADMIN, ADMIN and SUPER_ADMIN in production, else none. The word none is none.
	TOTPRoles []models.Role `env:"TOTP_ROLES"`
	// TOTPKeys encrypt the secrets of second factors in the database, newest first, each base64 of 32 bytes; unset: by keys that are
	// derived from JWT_SIGNING_KEYS.
	TOTPKeys Secrets `env:"TOTP_KEYS" secret:"text"`
	// StepUpAbove is the amount, in SAR, above which a refund needs a code that was typed lately; 0: none does.
	StepUpAbove models.Money `env:"STEP_UP_ABOVE" envDefault:"1000.00"`
	// AccountURL is where mails about accounts lead to; unset: PUBLIC_URL/console.
	AccountURL string `env:"ACCOUNT_URL"`
	OIDC       OIDC   `envPrefix:"OIDC_"`
}

// OIDC is the identity provider of the platform's own people (OpenID Connect); without an issuer there is none.
type OIDC struct {
	Issuer       string        `env:"ISSUER"`
	ClientID     string        `env:"CLIENT_ID"`
	ClientSecret Secret        `env:"CLIENT_SECRET" secret:"text"`
	Roles        []models.Role `env:"ROLES" envDefault:"SUPPORT_AGENT,FINANCE_ADMIN,ADMIN,SUPER_ADMIN"`
}

// noRole is the word for no roles at all.
const noRole models.Role = "none"

// StrictRoles are those that must have a second factor.
func (c Config) StrictRoles() []models.Role {
	switch roles := c.Identity.TOTPRoles; {
	case slices.Equal(roles, []models.Role{noRole}):
		return nil
	case len(roles) == 0 && c.App.Env == Production:
		return []models.Role{models.RoleFinanceAdmin, models.RoleAdmin, models.RoleSuperAdmin}
	default:
		return roles
	}
}

// AccountPages is where mails about accounts lead to, without a trailing slash.
func (c Config) AccountPages() string {
	if c.Identity.AccountURL != "" {
		return strings.TrimRight(c.Identity.AccountURL, "/")
	}

	return strings.TrimRight(c.App.PublicURL, "/") + "/console"
}

const sealKeyBytes = 32

func (c Config) validateIdentity(p *problems) {
	id := c.Identity

	for name, roles := range map[string][]models.Role{"TOTP_ROLES": id.TOTPRoles, "OIDC_ROLES": id.OIDC.Roles} {
		for _, role := range roles {
			none := name == "TOTP_ROLES" && role == noRole && len(roles) == 1
			if !none && !slices.Contains(models.Roles(), role) {
				p.addf("%s has %q, which is no role", name, role)
			}
		}
	}

	for _, key := range id.TOTPKeys {
		if b, err := base64.StdEncoding.DecodeString(key.Reveal()); err != nil || len(b) != sealKeyBytes || isMonotonous(b) {
			p.addf("TOTP_KEYS must be the base64 of %d random bytes each", sealKeyBytes)
		}
	}

	if id.StepUpAbove.IsNegative() {
		p.addf("STEP_UP_ABOVE must not be negative (0: no refund needs a code)")
	}

	if id.AccountURL != "" && !isWebAddress(id.AccountURL) {
		p.addf("ACCOUNT_URL must be an http:// or https:// address")
	}

	c.checkHTTPS(p, "ACCOUNT_URL", id.AccountURL)
	c.validateOIDC(p)
}

func (c Config) validateOIDC(p *problems) {
	o := c.Identity.OIDC
	if o.Issuer == "" {
		if o.ClientID != "" || o.ClientSecret.IsSet() {
			p.addf("OIDC_ISSUER is missing")
		}

		return
	}

	if !isWebAddress(o.Issuer) {
		p.addf("OIDC_ISSUER must be an http:// or https:// address")
	}

	c.checkHTTPS(p, "OIDC_ISSUER", o.Issuer)

	if o.ClientID == "" || !o.ClientSecret.IsSet() {
		p.addf("OIDC_CLIENT_ID and OIDC_CLIENT_SECRET are needed with OIDC_ISSUER")
	}
}

func isWebAddress(text string) bool {
	u, err := url.Parse(text)

	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}
