package bookstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// Contact gives the company a contact person who gets the messages; none: all.
func (b *Books) Contact(t *testing.T, email string, messages ...models.CompanyMessage) {
	t.Helper()

	if len(messages) == 0 {
		messages = models.CompanyMessages()
	}

	_, err := b.Store.Catalogue.UpdateCompany(t.Context(), As(b.World, models.RoleProviderAdmin), func(c *models.Company) error {
		c.Contacts = append(c.Contacts, models.ProviderContact{Name: "Booking desk", Email: email, Messages: messages})

		return nil
	})
	require.NoError(t, err)
}

// Told counts the mails of a kind to a contact person of the company.
func (b *Books) Told(t *testing.T, email string, m models.CompanyMessage) int {
	t.Helper()

	return b.Count(t, "SELECT count(*) FROM notifications WHERE recipient = $1 AND kind = $2 AND channel = 'EMAIL'", email, m.Kind())
}
