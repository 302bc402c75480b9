package config

import (
	"time"

	"rihla/models"
)

// RateLimits are requests per minute; 0 switches a limit off (rules: input.rates).
type RateLimits struct {
	Anonymous     int `env:"RATE_LIMIT_ANONYMOUS" envDefault:"60"`
	EndUser       int `env:"RATE_LIMIT_END_USER" envDefault:"120"`
	ProviderStaff int `env:"RATE_LIMIT_PROVIDER_STAFF" envDefault:"600"`
	ProviderAdmin int `env:"RATE_LIMIT_PROVIDER_ADMIN" envDefault:"600"`
	SupportAgent  int `env:"RATE_LIMIT_SUPPORT_AGENT" envDefault:"600"`
	FinanceAdmin  int `env:"RATE_LIMIT_FINANCE_ADMIN" envDefault:"1200"`
	Admin         int `env:"RATE_LIMIT_ADMIN" envDefault:"1200"`
	SuperAdmin    int `env:"RATE_LIMIT_SUPER_ADMIN" envDefault:"1200"`
	// Webhook is per channel, of deliveries with a good signature; without one they count against their address.
	Webhook int `env:"RATE_LIMIT_WEBHOOK" envDefault:"0"`
	// Login is failures per account and network, LoginIP per address.
	Login   int `env:"RATE_LIMIT_LOGIN" envDefault:"10"`
	LoginIP int `env:"RATE_LIMIT_LOGIN_IP" envDefault:"60"`
	// Media is per address, for opening photos, of which a page of a list shows many, and for coming back from paying.
	Media int `env:"RATE_LIMIT_MEDIA" envDefault:"1200"`
}

// Logins bound how often passwords of one account are guessed, over all networks together; 0 switches a bound off.
type Logins struct {
	// PauseMax is the longest pause between two tries.
	PauseMax time.Duration `env:"LOGIN_PAUSE_MAX" envDefault:"15m"`
	// LockAfter is how many failures within 24 hours lock an account.
	LockAfter int `env:"LOGIN_LOCK_AFTER" envDefault:"100"`
}

// Strangers bound what callers without an account cause within an hour; 0 switches a bound off (rules: identity.strangers).
type Strangers struct {
	// MailsPerHour is how many mails they cause in all, RegistrationsPerNetwork how often one network registers.
	MailsPerHour            int `env:"STRANGER_MAILS_PER_HOUR" envDefault:"1000"`
	RegistrationsPerNetwork int `env:"REGISTRATIONS_PER_NETWORK" envDefault:"30"`
}

// AtOnce is how many requests of a kind one account, and one company, may have running in one API process; 0: no limit.
type AtOnce struct {
	Uploads   int `env:"UPLOADS_AT_ONCE" envDefault:"4"`
	Exports   int `env:"EXPORTS_AT_ONCE" envDefault:"2"`
	LongPolls int `env:"LONG_POLLS_AT_ONCE" envDefault:"20"`
}

// Admission bounds how many payments one API process has on their way to a checkout, for each gateway (rules: payments.admission).
type Admission struct {
	// Target is what the service's own parts may take for nine in ten of them; 0: no bound.
	Target time.Duration `env:"ADMISSION_TARGET" envDefault:"1s"`
	// Min and Max are what the limit stays between.
	Min int `env:"ADMISSION_MIN" envDefault:"8"`
	Max int `env:"ADMISSION_MAX" envDefault:"200"`
}

// ForRole is the limit of a signed-in role; an unknown role gets the anonymous one.
func (l RateLimits) ForRole(role models.Role) int {
	switch role {
	case models.RoleEndUser:
		return l.EndUser
	case models.RoleProviderStaff:
		return l.ProviderStaff
	case models.RoleProviderAdmin:
		return l.ProviderAdmin
	case models.RoleSupportAgent:
		return l.SupportAgent
	case models.RoleFinanceAdmin:
		return l.FinanceAdmin
	case models.RoleAdmin:
		return l.Admin
	case models.RoleSuperAdmin:
		return l.SuperAdmin
	default:
		return l.Anonymous
	}
}
