package models_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestSessionLimit(t *testing.T) {
	t.Parallel()

	for _, role := range models.Roles() {
		want := 12 * time.Hour
		if role == models.RoleEndUser {
			want = 30 * 24 * time.Hour
		}

		require.Equal(t, want, models.SessionLimit(role), role)
	}
}

func TestSteppedUpUntil(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	at := now.Add(-9 * time.Minute)

	require.Nil(t, (&models.Session{}).SteppedUpUntil(now))
	require.Equal(t, now.Add(time.Minute), *(&models.Session{CodeAt: &at}).SteppedUpUntil(now))
	require.Nil(t, (&models.Session{CodeAt: &at}).SteppedUpUntil(now.Add(time.Minute)))
}

func TestMayBecome(t *testing.T) {
	t.Parallel()

	for _, was := range models.Roles() {
		for _, role := range models.Roles() {
			err := models.MayBecome(was, role)
			if was == role || was.IsPlatform() && role.IsPlatform() {
				require.NoError(t, err, "%s %s", was, role)
			} else {
				require.Equal(t, models.CodeValidation, models.CodeOf(err), "%s %s", was, role)
			}
		}
	}
}

func TestAccountState(t *testing.T) {
	t.Parallel()

	now := time.Now()

	require.Equal(t, models.AccountActive, (&models.User{PasswordHash: "hash"}).State())
	require.Equal(t, models.AccountInvited, (&models.User{}).State())
	require.Equal(t, models.AccountLocked, (&models.User{LockedAt: &now}).State())
}
