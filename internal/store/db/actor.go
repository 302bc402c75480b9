package db

import (
	"strings"

	"github.com/google/uuid"

	"rihla/models"
)

// Actor is who does something: what scopes and audit entries need to know of the caller.
type Actor struct {
	UserID     uuid.UUID
	Role       models.Role
	ProviderID uuid.UUID // of provider roles only
	RequestID  string
	// Address and UserAgent are where the request came from, for the audit log alone, which cuts and cleans them.
	Address, UserAgent string
	// Network is that of the address, as accounts know networks; empty for none.
	Network string
	// Operator is the system user of a command, who is no user of the service.
	Operator string
}

// ProviderScope is the provider to which a reading of provider data is narrowed: their own for provider roles,
// whatever they ask for; what is asked for, with uuid.Nil for all, for the platform's roles (rules: scope.company, scope.admins).
// Error: FORBIDDEN for everybody else.
func (a Actor) ProviderScope(asked uuid.UUID) (uuid.UUID, error) {
	switch {
	case a.Role.IsProvider() && a.ProviderID != uuid.Nil:
		return a.ProviderID, nil
	case a.Role.ReadsAnyBooking():
		return asked, nil
	default:
		return uuid.Nil, models.NewError(models.CodeForbidden, "access.provider_read")
	}
}

// ProviderForNew is the provider that what the actor creates belongs to: their own for provider roles, the named
// one for ADMIN and SUPER_ADMIN (rules: scope.admins). Errors: VALIDATION_ERROR on provider_id, FORBIDDEN.
func (a Actor) ProviderForNew(named uuid.UUID) (uuid.UUID, error) {
	switch {
	case a.Role.IsProvider() && a.ProviderID != uuid.Nil:
		return a.ProviderID, nil
	case !a.Role.IsAdmin():
		return uuid.Nil, models.NewError(models.CodeForbidden, "access.provider_write")
	case named == uuid.Nil:
		return uuid.Nil, models.Invalid("provider_id", "field.required")
	default:
		return named, nil
	}
}

// Owns reports whether the actor may act on what belongs to the provider. Callers answer false with NOT_FOUND.
func (a Actor) Owns(provider uuid.UUID) bool {
	return a.Role.IsAdmin() || a.Role.IsProvider() && a.ProviderID != uuid.Nil && a.ProviderID == provider
}

const (
	maxAddress = 64
	// maxAgent bounds what a client says of itself in the audit log.
	maxAgent = 200
)

// CleanAddress is an address for the audit log.
func CleanAddress(address string) string { return cleanText(address, maxAddress) }

// CleanAgent is what a client says of itself, for the audit log.
func CleanAgent(agent string) string { return cleanText(agent, maxAgent) }

// cleanText cuts a text of a client and takes its control characters: PostgreSQL takes no NUL.
func cleanText(text string, size int) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}

		return r
	}, strings.ToValidUTF8(text, ""))

	if len(text) > size {
		text = strings.ToValidUTF8(text[:size], "")
	}

	return text
}

// StrangerMailsRefused is the subject of stranger_counts under which the mails are counted that were not sent since strangers had caused
// those of the hour.
const StrangerMailsRefused = "mails refused"
