package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/storetest"
	"rihla/models"
)

func newStaff(provider uuid.UUID, name, email string, role models.Role) models.User {
	return models.User{Name: name, Email: email, Phone: "+966500000001", PasswordHash: "hash", Role: role, ProviderID: &provider}
}

func TestCreateStaff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, admin := t.Context(), as(b.World, models.RoleAdmin)

	u, err := b.s.CreateStaff(ctx, newStaff(b.Provider.ID, "New Staff", " New@rihla.test", models.RoleProviderStaff), admin)
	require.NoError(t, err)
	require.Equal(t, "New@rihla.test", u.Email)
	require.Equal(t, b.Provider.ID, *u.ProviderID)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM audit_log WHERE action = 'STAFF_CREATED' AND entity_id = $1", u.ID))

	_, err = b.s.CreateStaff(ctx, newStaff(b.Provider.ID, "Again", "new@RIHLA.test", models.RoleProviderAdmin), admin)
	requireCode(t, models.CodeEmailAlreadyExists, err)

	_, err = b.s.CreateStaff(ctx, newStaff(uuid.New(), "Lost", "lost@rihla.test", models.RoleProviderAdmin), admin)
	requireCode(t, models.CodeNotFound, err)

	for _, role := range []models.Role{models.RoleEndUser, models.RoleAdmin, models.RoleSuperAdmin, "", "BOSS"} {
		_, err = b.s.CreateStaff(ctx, newStaff(b.Provider.ID, "Boss", "boss@rihla.test", role), admin)
		requireCode(t, models.CodeValidation, err)

		var e *models.Error

		require.ErrorAs(t, err, &e)
		require.Contains(t, e.Details, "role")
	}

	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM audit_log"), "what failed leaves no entry")
}

func TestListStaff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	storetest.Fixture(t, b.s) // another company's staff
	ctx, admin := t.Context(), as(b.World, models.RoleAdmin)

	b.exec(t, "UPDATE users SET deleted_at = now() WHERE provider_id = $1", b.Provider.ID)

	zaid, err := b.s.CreateStaff(ctx, newStaff(b.Provider.ID, "Zz", "one@rihla.test", models.RoleProviderStaff), admin)
	require.NoError(t, err)
	amal, err := b.s.CreateStaff(ctx, newStaff(b.Provider.ID, "Aa", "two@rihla.test", models.RoleProviderAdmin), admin)
	require.NoError(t, err)

	for name, tt := range map[string]struct {
		f    store.StaffFilter
		want []uuid.UUID
	}{
		"all":    {store.StaffFilter{}, []uuid.UUID{zaid.ID, amal.ID}},
		"role":   {store.StaffFilter{Role: models.RoleProviderAdmin}, []uuid.UUID{amal.ID}},
		"search": {store.StaffFilter{Search: "ONE@"}, []uuid.UUID{zaid.ID}},
		"sort":   {store.StaffFilter{Page: store.Page{Sort: []store.Sort{{Field: "name"}}}}, []uuid.UUID{amal.ID, zaid.ID}},
		"none":   {store.StaffFilter{Search: "_"}, []uuid.UUID{}},
	} {
		got, err := b.s.ListStaff(ctx, b.Provider.ID, tt.f)
		ids, err := idsOf(got, err, func(u models.User) uuid.UUID { return u.ID })
		require.NoError(t, err, name)
		require.Equal(t, tt.want, ids, name)
	}

	_, err = b.s.ListStaff(ctx, uuid.New(), store.StaffFilter{})
	requireCode(t, models.CodeNotFound, err)
	_, err = b.s.ListStaff(ctx, b.Provider.ID, store.StaffFilter{Page: store.Page{Sort: []store.Sort{{Field: "password_hash"}}}})
	requireCode(t, models.CodeValidation, err)
}

func TestEndOfSessions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, admin := t.Context(), as(b.World, models.RoleAdmin)
	expires := time.Now().Add(time.Hour)
	rotate := func(from, to string) error {
		_, err := b.s.RotateRefreshToken(ctx, []byte(from), models.RefreshToken{TokenHash: []byte(to), ExpiresAt: expires})

		return err
	}

	u, other := b.Users[models.RoleProviderStaff], b.Users[models.RoleProviderAdmin]
	for hash, of := range map[string]models.User{"u1": u, "u2": u, "o1": other} {
		require.NoError(t, b.s.OpenSession(ctx, of, models.RefreshToken{TokenHash: []byte(hash), ExpiresAt: expires}))
	}

	require.NoError(t, rotate("u1", "u1b"))

	require.NoError(t, b.s.ChangePassword(ctx, u.ID, "", "new hash", admin))
	requireCode(t, models.CodeInvalidCredentials, rotate("u1b", "u1c"))
	requireCode(t, models.CodeInvalidCredentials, rotate("u2", "u2b"))
	require.NoError(t, rotate("o1", "o2"), "other people stay signed in")

	read, err := b.s.UserByID(ctx, u.ID)
	require.NoError(t, err)
	require.Equal(t, "new hash", read.PasswordHash)
	require.Error(t, b.s.ChangePassword(ctx, u.ID, "", "", admin))

	requireCode(t, models.CodeNotFound, b.s.ChangePassword(ctx, u.ID, u.PasswordHash, "hash", admin))

	// Whoever proved who they are before the change is not let in after it.
	late := models.RefreshToken{TokenHash: []byte("late"), ExpiresAt: expires}
	requireCode(t, models.CodeInvalidCredentials, b.s.OpenSession(ctx, u, late))
	require.NoError(t, b.s.OpenSession(ctx, read, models.RefreshToken{TokenHash: []byte("u3"), ExpiresAt: expires}))
	require.NoError(t, b.s.RemoveUser(ctx, u.ID, admin))
	requireCode(t, models.CodeInvalidCredentials, rotate("u3", "u4"))
	require.Zero(t, b.count(t, "SELECT count(*) FROM refresh_tokens WHERE user_id = $1 AND revoked_at IS NULL", u.ID))

	requireCode(t, models.CodeInvalidCredentials, b.s.OpenSession(ctx, read, late))
	requireCode(t, models.CodeNotFound, b.s.RemoveUser(ctx, u.ID, admin))
	requireCode(t, models.CodeNotFound, b.s.ChangePassword(ctx, u.ID, "", "hash", admin))

	for _, action := range []string{"USER_REMOVED", "PASSWORD_CHANGED"} {
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM audit_log WHERE action = $1 AND entity_id = $2", action, u.ID))
	}

	_, err = b.s.CreateStaff(ctx, newStaff(b.Provider.ID, "Next", u.Email, models.RoleProviderStaff), admin)
	require.NoError(t, err, "the email is free again")
}

func TestRemoveStaff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, admin := t.Context(), as(b.World, models.RoleAdmin)
	u := b.Users[models.RoleProviderStaff]

	requireCode(t, models.CodeNotFound, b.s.RemoveStaff(ctx, uuid.New(), u.ID, admin))
	requireCode(t, models.CodeNotFound, b.s.RemoveStaff(ctx, b.Provider.ID, b.customer.ID, admin))
	require.NoError(t, b.s.RemoveStaff(ctx, b.Provider.ID, u.ID, admin))
	requireCode(t, models.CodeNotFound, b.s.RemoveStaff(ctx, b.Provider.ID, u.ID, admin))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM audit_log WHERE action = 'STAFF_REMOVED' AND entity_id = $1", u.ID))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM users WHERE deleted_at IS NOT NULL"))
}

func TestStanding(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, admin := t.Context(), as(b.World, models.RoleAdmin)
	u := b.Users[models.RoleProviderStaff]

	now, err := b.s.Standing(ctx, u.ID)
	require.NoError(t, err)
	require.Equal(t, store.Standing{Role: models.RoleProviderStaff, ProviderID: b.Provider.ID}, now)

	require.NoError(t, b.s.ChangePassword(ctx, u.ID, u.PasswordHash, "hash", admin))
	now, err = b.s.Standing(ctx, u.ID)
	require.NoError(t, err)
	require.Equal(t, 1, now.TokenGeneration)

	now, err = b.s.Standing(ctx, b.customer.ID)
	require.NoError(t, err)
	require.Equal(t, store.Standing{Role: models.RoleEndUser}, now, "other people's tokens hold")

	require.NoError(t, b.s.RemoveUser(ctx, u.ID, admin))
	_, err = b.s.Standing(ctx, u.ID)
	requireCode(t, models.CodeNotFound, err)
	_, err = b.s.Standing(ctx, uuid.New())
	requireCode(t, models.CodeNotFound, err)
}

// A login that runs beside a change of the password: no session from before it is left, whichever comes first.
func TestLoginBesideAPasswordChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	for i := range 20 {
		u, err := b.s.UserByID(ctx, b.customer.ID)
		require.NoError(t, err)

		var changeErr error

		parallel(4, func(n int) {
			if n == 0 {
				changeErr = b.s.ChangePassword(ctx, u.ID, u.PasswordHash, "hash "+string(rune('a'+i)), store.Actor{})

				return
			}

			_ = b.s.OpenSession(ctx, u, models.RefreshToken{
				TokenHash: []byte{byte(i), byte(n)}, ExpiresAt: time.Now().Add(time.Hour),
			})
		})

		require.NoError(t, changeErr)
		require.Zero(t, b.count(t, "SELECT count(*) FROM refresh_tokens WHERE revoked_at IS NULL"))
	}
}
