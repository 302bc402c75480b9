package accounts_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/accounts"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
)

func newStaff(provider uuid.UUID, name, email string, role models.Role) models.User {
	return models.User{Name: name, Email: email, Phone: "+966500000001", PasswordHash: "hash", Role: role, ProviderID: &provider}
}

func TestCreateStaff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, admin := t.Context(), bookstest.As(b.World, models.RoleAdmin)

	u, err := b.Store.Accounts.CreateStaff(ctx, admin, newStaff(b.Provider.ID, "New Staff", " New@rihla.test", models.RoleProviderStaff))
	require.NoError(t, err)
	require.Equal(t, "New@rihla.test", u.Email)
	require.Equal(t, b.Provider.ID, *u.ProviderID)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'STAFF_CREATED' AND entity_id = $1", u.ID))

	_, err = b.Store.Accounts.CreateStaff(ctx, admin, newStaff(b.Provider.ID, "Again", "new@RIHLA.test", models.RoleProviderAdmin))
	bookstest.RequireCode(t, models.CodeEmailAlreadyExists, err)

	_, err = b.Store.Accounts.CreateStaff(ctx, admin, newStaff(uuid.New(), "Lost", "lost@rihla.test", models.RoleProviderAdmin))
	bookstest.RequireCode(t, models.CodeNotFound, err)

	for _, role := range []models.Role{models.RoleEndUser, models.RoleAdmin, models.RoleSuperAdmin, "", "BOSS"} {
		_, err = b.Store.Accounts.CreateStaff(ctx, admin, newStaff(b.Provider.ID, "Boss", "boss@rihla.test", role))
		bookstest.RequireCode(t, models.CodeValidation, err)

		var e *models.Error

		require.ErrorAs(t, err, &e)
		require.Contains(t, e.Details, "role")
	}

	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log"), "what failed leaves no entry")
}

func TestListStaff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	storetest.Fixture(t, b.Store) // another company's staff
	ctx, admin := t.Context(), bookstest.As(b.World, models.RoleAdmin)

	b.Exec(t, "UPDATE users SET deleted_at = now() WHERE provider_id = $1", b.Provider.ID)

	zaid, err := b.Store.Accounts.CreateStaff(ctx, admin, newStaff(b.Provider.ID, "Zz", "one@rihla.test", models.RoleProviderStaff))
	require.NoError(t, err)
	amal, err := b.Store.Accounts.CreateStaff(ctx, admin, newStaff(b.Provider.ID, "Aa", "two@rihla.test", models.RoleProviderAdmin))
	require.NoError(t, err)

	for name, tt := range map[string]struct {
		f    accounts.StaffFilter
		want []uuid.UUID
	}{
		"all":    {accounts.StaffFilter{}, []uuid.UUID{zaid.ID, amal.ID}},
		"role":   {accounts.StaffFilter{Role: models.RoleProviderAdmin}, []uuid.UUID{amal.ID}},
		"search": {accounts.StaffFilter{Search: "ONE@"}, []uuid.UUID{zaid.ID}},
		"sort":   {accounts.StaffFilter{Page: db.Page{Sort: []db.Sort{{Field: "name"}}}}, []uuid.UUID{amal.ID, zaid.ID}},
		"none":   {accounts.StaffFilter{Search: "_"}, []uuid.UUID{}},
	} {
		got, err := b.Store.Accounts.ListStaff(ctx, b.Provider.ID, tt.f)
		ids, err := bookstest.IDsOf(got, err, func(u models.User) uuid.UUID { return u.ID })
		require.NoError(t, err, name)
		require.Equal(t, tt.want, ids, name)
	}

	_, err = b.Store.Accounts.ListStaff(ctx, uuid.New(), accounts.StaffFilter{})
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Accounts.ListStaff(ctx, b.Provider.ID, accounts.StaffFilter{Page: db.Page{Sort: []db.Sort{{Field: "password_hash"}}}})
	bookstest.RequireCode(t, models.CodeValidation, err)
}

func TestEndOfSessions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, admin := t.Context(), bookstest.As(b.World, models.RoleAdmin)
	expires := time.Now().Add(time.Hour)
	rotate := func(from, to string) error {
		_, err := b.Store.Accounts.RotateRefreshToken(ctx, []byte(from), models.RefreshToken{TokenHash: []byte(to), ExpiresAt: expires}, accounts.LoginFrom{}, time.Now())

		return err
	}

	u, other := b.Users[models.RoleProviderStaff], b.Users[models.RoleProviderAdmin]
	for hash, of := range map[string]models.User{"u1": u, "u2": u, "o1": other} {
		require.NoError(t, b.open(ctx, of, models.RefreshToken{TokenHash: []byte(hash), ExpiresAt: expires}))
	}

	require.NoError(t, rotate("u1", "u1b"))

	require.NoError(t, b.Store.Accounts.ChangePassword(ctx, admin, u.ID, "", "new hash"))
	bookstest.RequireCode(t, models.CodeInvalidCredentials, rotate("u1b", "u1c"))
	bookstest.RequireCode(t, models.CodeInvalidCredentials, rotate("u2", "u2b"))
	require.NoError(t, rotate("o1", "o2"), "other people stay signed in")

	read, err := b.Store.Accounts.UserByID(ctx, u.ID)
	require.NoError(t, err)
	require.Equal(t, "new hash", read.PasswordHash)
	require.Error(t, b.Store.Accounts.ChangePassword(ctx, admin, u.ID, "", ""))

	bookstest.RequireCode(t, models.CodeNotFound, b.Store.Accounts.ChangePassword(ctx, admin, u.ID, u.PasswordHash, "hash"))

	// A login proved before the change opens no session after it.
	late := models.RefreshToken{TokenHash: []byte("late"), ExpiresAt: expires}
	bookstest.RequireCode(t, models.CodeInvalidCredentials, b.open(ctx, u, late))
	require.NoError(t, b.open(ctx, read, models.RefreshToken{TokenHash: []byte("u3"), ExpiresAt: expires}))
	require.NoError(t, b.Store.Accounts.RemoveUser(ctx, admin, u.ID))
	bookstest.RequireCode(t, models.CodeInvalidCredentials, rotate("u3", "u4"))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM refresh_tokens WHERE user_id = $1 AND revoked_at IS NULL", u.ID))

	bookstest.RequireCode(t, models.CodeInvalidCredentials, b.open(ctx, read, late))
	bookstest.RequireCode(t, models.CodeNotFound, b.Store.Accounts.RemoveUser(ctx, admin, u.ID))
	bookstest.RequireCode(t, models.CodeNotFound, b.Store.Accounts.ChangePassword(ctx, admin, u.ID, "", "hash"))

	for _, action := range []string{"USER_REMOVED", "PASSWORD_CHANGED"} {
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = $1 AND entity_id = $2", action, u.ID))
	}

	_, err = b.Store.Accounts.CreateStaff(ctx, admin, newStaff(b.Provider.ID, "Next", u.Email, models.RoleProviderStaff))
	require.NoError(t, err, "the email is free again")
}

func TestRemoveStaff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, admin := t.Context(), bookstest.As(b.World, models.RoleAdmin)
	u := b.Users[models.RoleProviderStaff]

	bookstest.RequireCode(t, models.CodeNotFound, b.Store.Accounts.RemoveStaff(ctx, admin, uuid.New(), u.ID))
	bookstest.RequireCode(t, models.CodeNotFound, b.Store.Accounts.RemoveStaff(ctx, admin, b.Provider.ID, b.Customer.ID))
	require.NoError(t, b.Store.Accounts.RemoveStaff(ctx, admin, b.Provider.ID, u.ID))
	bookstest.RequireCode(t, models.CodeNotFound, b.Store.Accounts.RemoveStaff(ctx, admin, b.Provider.ID, u.ID))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'STAFF_REMOVED' AND entity_id = $1", u.ID))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM users WHERE deleted_at IS NOT NULL"))
}

func TestStanding(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, admin := t.Context(), bookstest.As(b.World, models.RoleAdmin)
	u := b.Users[models.RoleProviderStaff]

	now, err := b.Store.Accounts.AccountStatus(ctx, u.ID, uuid.Nil)
	require.NoError(t, err)
	require.Equal(t, accounts.AccountStatus{Role: models.RoleProviderStaff, ProviderID: b.Provider.ID}, now)

	require.NoError(t, b.Store.Accounts.ChangePassword(ctx, admin, u.ID, u.PasswordHash, "hash"))
	now, err = b.Store.Accounts.AccountStatus(ctx, u.ID, uuid.Nil)
	require.NoError(t, err)
	require.Equal(t, 1, now.TokenGeneration)

	now, err = b.Store.Accounts.AccountStatus(ctx, b.Customer.ID, uuid.Nil)
	require.NoError(t, err)
	require.Equal(t, accounts.AccountStatus{Role: models.RoleEndUser}, now, "other people's tokens hold")

	require.NoError(t, b.Store.Accounts.RemoveUser(ctx, admin, u.ID))
	_, err = b.Store.Accounts.AccountStatus(ctx, u.ID, uuid.Nil)
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Accounts.AccountStatus(ctx, uuid.New(), uuid.Nil)
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

// A login that runs beside a change of the password: no session from before it is left, whichever comes first.
func TestLoginBesideAPasswordChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	for i := range 20 {
		u, err := b.Store.Accounts.UserByID(ctx, b.Customer.ID)
		require.NoError(t, err)

		var changeErr error

		bookstest.Parallel(4, func(n int) {
			if n == 0 {
				changeErr = b.Store.Accounts.ChangePassword(ctx, db.Actor{}, u.ID, u.PasswordHash, "hash "+string(rune('a'+i)))

				return
			}

			_ = b.open(ctx, u, models.RefreshToken{
				TokenHash: []byte{byte(i), byte(n)}, ExpiresAt: time.Now().Add(time.Hour),
			})
		})

		require.NoError(t, changeErr)
		require.Zero(t, b.Count(t, "SELECT count(*) FROM refresh_tokens WHERE revoked_at IS NULL"))
	}
}
