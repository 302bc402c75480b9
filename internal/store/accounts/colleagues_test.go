package accounts_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

// TestTheLastAdministratorStays: one who was invited and has no password, or is locked, is none who could take over.
func TestTheLastAdministratorStays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, admin := t.Context(), bookstest.As(b.World, models.RoleProviderAdmin)

	second, err := b.Store.Accounts.InviteColleague(ctx, admin, models.User{
		Name: "Second", Email: "second@tours.test", Phone: "+966500000001", Role: models.RoleProviderAdmin,
	})
	require.NoError(t, err)
	bookstest.RequireCode(t, models.CodeInvalidState, b.Store.Accounts.RemoveColleague(ctx, admin, admin.UserID))

	b.Exec(t, "UPDATE users SET password_hash = 'x', locked_at = now() WHERE id = $1", second.ID)
	bookstest.RequireCode(t, models.CodeInvalidState, b.Store.Accounts.RemoveColleague(ctx, admin, admin.UserID))

	b.Exec(t, "UPDATE users SET locked_at = NULL WHERE id = $1", second.ID)
	require.NoError(t, b.Store.Accounts.RemoveColleague(ctx, admin, admin.UserID))
	bookstest.RequireCode(t, models.CodeForbidden, b.Store.Accounts.RemoveColleague(ctx, admin, second.ID))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'STAFF_REMOVED'"))
}

// TestAdministratorsWhoRemoveEachOther: one stays.
func TestAdministratorsWhoRemoveEachOther(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 4 {
		first := newStaff(b.Provider.ID, "First", "first@tours.test", models.RoleProviderAdmin)
		second := newStaff(b.Provider.ID, "Second", "second@tours.test", models.RoleProviderAdmin)
		b.Exec(t, "UPDATE users SET deleted_at = now() WHERE provider_id = $1 AND deleted_at IS NULL", b.Provider.ID)

		one, err := b.Store.Accounts.CreateStaff(t.Context(), bookstest.As(b.World, models.RoleAdmin), first)
		require.NoError(t, err)
		two, err := b.Store.Accounts.CreateStaff(t.Context(), bookstest.As(b.World, models.RoleAdmin), second)
		require.NoError(t, err)

		as := func(u models.User) db.Actor { return db.Actor{UserID: u.ID, Role: u.Role, ProviderID: b.Provider.ID} }

		var removed, refused atomic.Int32

		remove := func(by, who models.User) func() {
			return func() {
				switch err := b.Store.Accounts.RemoveColleague(t.Context(), as(by), who.ID); models.CodeOf(err) {
				case models.CodeForbidden, models.CodeInvalidState:
					refused.Add(1)
				default:
					if err != nil {
						t.Error(err)
					}

					removed.Add(1)
				}
			}
		}

		bookstest.Race(remove(one, two), remove(two, one))
		require.EqualValues(t, 1, removed.Load())
		require.EqualValues(t, 1, refused.Load())
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM users WHERE provider_id = $1 AND deleted_at IS NULL", b.Provider.ID))
	}
}
