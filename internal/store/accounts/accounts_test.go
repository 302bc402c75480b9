package accounts_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/storetest"
	"rihla/models"
)

func TestCreateUser(t *testing.T) {
	t.Parallel()
	b := setup(t)

	u, err := b.Store.Accounts.CreateUser(t.Context(), models.User{
		Name: "Test User", Email: "  Some.One@Rihla.test ", PasswordHash: "hash", Role: models.RoleEndUser,
	})
	require.NoError(t, err)
	require.Equal(t, "Some.One@Rihla.test", u.Email)
	require.Equal(t, models.LocaleArabic, u.Locale)
	require.False(t, u.CreatedAt.IsZero())

	found, err := b.Store.Accounts.UserByEmail(t.Context(), " sOME.one@rihla.TEST")
	require.NoError(t, err)
	require.Equal(t, u.ID, found.ID)
	require.Equal(t, "hash", found.PasswordHash)

	taken := models.User{Name: "Test User", Email: "some.one@rihla.test", PasswordHash: "hash", Role: models.RoleEndUser}
	_, err = b.Store.Accounts.CreateUser(t.Context(), taken)
	bookstest.RequireCode(t, models.CodeEmailAlreadyExists, err)

	// A deleted account cannot be found, and frees its email.
	b.Exec(t, "UPDATE users SET deleted_at = now() WHERE id = $1", u.ID)

	_, err = b.Store.Accounts.UserByEmail(t.Context(), u.Email)
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Accounts.UserByID(t.Context(), u.ID)
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Accounts.CreateUser(t.Context(), taken)
	require.NoError(t, err)
}

func TestUserRolesAndProviders(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for _, u := range b.Users {
		read, err := b.Store.Accounts.UserByID(t.Context(), u.ID)
		require.NoError(t, err)
		require.Equal(t, u.Role, read.Role)
		require.Equal(t, u.ProviderID, read.ProviderID)
	}

	_, err := b.Store.Accounts.CreateUser(t.Context(), models.User{
		Name: "Test User", Email: "a@rihla.test", PasswordHash: "hash", Role: models.RoleProviderStaff,
	})
	require.ErrorContains(t, err, "users_provider_scope", "staff without a company")
}

func TestCreateProvider(t *testing.T) {
	t.Parallel()
	b := setup(t)

	p, err := b.Store.Catalogue.CreateProvider(t.Context(), models.Provider{
		Name: "More Tours", Email: "more@rihla.test", Phone: "+966500000000", CommissionRate: models.MustRate("0.125"),
	})
	require.NoError(t, err)

	read, err := b.Store.Catalogue.ProviderByID(t.Context(), p.ID)
	require.NoError(t, err)
	require.Equal(t, models.StatusActive, read.Status)
	require.Equal(t, "0.125", read.CommissionRate.String())

	_, err = b.Store.Catalogue.ProviderByID(t.Context(), models.NewID())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

// BenchmarkStanding is what every request of a signed-in user costs on top (docs/security.md).
func BenchmarkStanding(b *testing.B) {
	s := storetest.New(b)
	user := storetest.Fixture(b, s).Users[models.RoleEndUser].ID

	b.ReportAllocs()

	for b.Loop() {
		if _, err := s.Accounts.AccountStatus(b.Context(), user, uuid.Nil); err != nil {
			b.Fatal(err)
		}
	}
}
