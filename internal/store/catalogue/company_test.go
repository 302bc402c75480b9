package catalogue_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// TestCompanyContactsAtOnce: of many changes at the same moment none loses another's person.
func TestCompanyContactsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin := bookstest.As(b.World, models.RoleProviderAdmin)

	bookstest.Parallel(6, func(i int) {
		_, err := b.Store.Catalogue.UpdateCompany(t.Context(), admin, func(c *models.Company) error {
			c.Contacts = append(c.Contacts, models.ProviderContact{
				Name: "Person", Email: fmt.Sprintf("person-%d@tours.test", i), Messages: models.CompanyMessages(),
			})

			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})

	c, err := b.Store.Catalogue.Company(t.Context(), admin)
	require.NoError(t, err)
	require.Len(t, c.Contacts, 6)
	require.Equal(t, 6, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'PROVIDER_UPDATED'"))

	_, err = b.Store.Catalogue.UpdateCompany(t.Context(), admin, func(*models.Company) error { return nil })
	require.NoError(t, err)
	require.Equal(t, 6, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'PROVIDER_UPDATED'"), "nothing was changed")
}

// TestWhoHasACompany: those who act for one.
func TestWhoHasACompany(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for _, role := range []models.Role{models.RoleEndUser, models.RoleSupportAgent, models.RoleFinanceAdmin, models.RoleAdmin, models.RoleSuperAdmin} {
		_, err := b.Store.Catalogue.Company(t.Context(), bookstest.As(b.World, role))
		bookstest.RequireCode(t, models.CodeForbidden, err)
		_, err = b.Store.Catalogue.UpdateCompany(t.Context(), bookstest.As(b.World, role), func(*models.Company) error { return nil })
		bookstest.RequireCode(t, models.CodeForbidden, err)
	}
}
