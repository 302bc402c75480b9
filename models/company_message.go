package models

import (
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// CompanyMessage is something that contact persons of a company are mailed (rules: notifications.company).
type CompanyMessage string

// The messages to companies.
const (
	CompanyBooked    CompanyMessage = "BOOKED"
	CompanyCancelled CompanyMessage = "CANCELLED"
	CompanyRefunded  CompanyMessage = "REFUNDED"
	CompanyClawback  CompanyMessage = "CLAWBACK"
	CompanyPayout    CompanyMessage = "PAYOUT"
	CompanyDispute   CompanyMessage = "DISPUTE"
)

// CompanyMessages are all of them.
func CompanyMessages() []CompanyMessage {
	return []CompanyMessage{CompanyBooked, CompanyCancelled, CompanyRefunded, CompanyClawback, CompanyPayout, CompanyDispute}
}

// Kind is the kind of the mail.
func (m CompanyMessage) Kind() NotificationKind { return NotificationKind("COMPANY_" + string(m)) }

// ProviderContact is a person of a company who gets messages about its bookings and money.
type ProviderContact struct {
	bun.BaseModel `bun:"table:provider_contacts,alias:pc"`

	ProviderID uuid.UUID        `bun:"provider_id,pk"`
	Position   int              `bun:"position,pk"` // from 1
	Name       string           `bun:"name"`
	Email      string           `bun:"email"`
	Phone      string           `bun:"phone"`
	Messages   []CompanyMessage `bun:"messages,array"` // that are sent
}

// Company is a provider with its contact persons.
type Company struct {
	Provider

	Contacts []ProviderContact
}

// CheckContacts numbers the contact persons. Error: VALIDATION_ERROR on contact_persons when two have one address.
func (c *Company) CheckContacts() error {
	var seen []string

	for i := range c.Contacts {
		p := &c.Contacts[i]
		p.ProviderID, p.Position = c.ID, i+1

		email := strings.ToLower(p.Email)
		if slices.Contains(seen, email) {
			return Invalid("contact_persons", "provider.contact_twice")
		}

		seen = append(seen, email)
	}

	return nil
}
