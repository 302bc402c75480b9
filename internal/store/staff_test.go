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
	for hash, of := range map[string]uuid.UUID{"u1": u.ID, "u2": u.ID, "o1": other.ID} {
		require.NoError(t, b.s.SaveRefreshToken(ctx, models.RefreshToken{TokenHash: []byte(hash), UserID: of, ExpiresAt: expires}))
	}

	require.NoError(t, rotate("u1", "u1b"))

	require.NoError(t, b.s.ChangePassword(ctx, u.ID, "new hash"))
	requireCode(t, models.CodeInvalidCredentials, rotate("u1b", "u1c"))
	requireCode(t, models.CodeInvalidCredentials, rotate("u2", "u2b"))
	require.NoError(t, rotate("o1", "o2"), "other people stay signed in")

	read, err := b.s.UserByID(ctx, u.ID)
	require.NoError(t, err)
	require.Equal(t, "new hash", read.PasswordHash)
	require.Error(t, b.s.ChangePassword(ctx, u.ID, ""))

	require.NoError(t, b.s.SaveRefreshToken(ctx, models.RefreshToken{TokenHash: []byte("u3"), UserID: u.ID, ExpiresAt: expires}))
	require.NoError(t, b.s.RemoveUser(ctx, u.ID, admin))
	requireCode(t, models.CodeInvalidCredentials, rotate("u3", "u4"))
	require.Zero(t, b.count(t, "SELECT count(*) FROM refresh_tokens WHERE user_id = $1 AND revoked_at IS NULL", u.ID))

	requireCode(t, models.CodeNotFound, b.s.RemoveUser(ctx, u.ID, admin))
	requireCode(t, models.CodeNotFound, b.s.ChangePassword(ctx, u.ID, "hash"))

	for _, action := range []string{"USER_REMOVED", "PASSWORD_CHANGED"} {
		require.Equal(t, 1, b.count(t, "SELECT count(*) FROM audit_log WHERE action = $1 AND entity_id = $2", action, u.ID))
	}

	_, err = b.s.CreateStaff(ctx, newStaff(b.Provider.ID, "Next", u.Email, models.RoleProviderStaff), admin)
	require.NoError(t, err, "the email is free again")
}
