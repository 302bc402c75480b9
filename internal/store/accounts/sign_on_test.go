package accounts_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/accounts"
	"rihla/internal/store/bookstest"
	"rihla/models"
)

// TestStepUpBySignOn: a new sign-in counts in the session that the provider has opened, from when it was, and in no other.
func TestStepUpBySignOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, home := t.Context(), accounts.LoginFrom{Address: "198.51.100.7"}

	lately := func(session uuid.UUID) bool {
		factor, lately, err := b.Store.Accounts.SteppedUp(ctx, b.Customer.ID, session)
		require.NoError(t, err)
		require.Equal(t, models.FactorIssuer, factor)

		return lately
	}
	open := func(at time.Time) uuid.UUID {
		opened, err := b.Store.Accounts.SignOn(ctx, b.Customer, accounts.Opening{
			Token: next(models.NewID().String()), From: home, SecondFactor: models.SecondFactorIssuer, ProvedAt: at,
		})
		require.NoError(t, err)

		return opened.ID
	}

	require.True(t, lately(open(time.Now().Add(-9*time.Minute))), "the provider has just seen it")
	require.False(t, lately(open(time.Now().Add(-11*time.Hour))), "and here in the morning")
	require.True(t, lately(open(time.Now().Add(time.Hour))))

	session := open(time.Time{})
	require.False(t, lately(session), "it does not say when")

	_, err := b.Store.Accounts.StepUpBySignOn(ctx, b.Customer, session, home, time.Now().Add(-9*time.Minute))
	require.NoError(t, err)
	require.True(t, lately(session))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM sessions WHERE id = $1 AND code_at < now() - interval '8 minutes'", session),
		"it counts from the sign-in")

	up, err := b.Store.Accounts.StepUpBySignOn(ctx, b.Customer, session, home, time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(models.StepUpFor), *up.SteppedUpUntil(time.Now()), time.Minute, "never later than now")
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'STEPPED_UP' AND entity_id = $1", b.Customer.ID))

	refused := func(u models.User, session uuid.UUID) {
		t.Helper()

		_, err := b.Store.Accounts.StepUpBySignOn(ctx, u, session, home, time.Now())
		bookstest.RequireCode(t, models.CodeInvalidState, err)
	}

	other, err := b.Store.Accounts.CreateUser(ctx, models.User{
		Name: "Other", Email: "other@rihla.test", Phone: "+966500000001", PasswordHash: "x", Role: models.RoleSupportAgent,
	})
	require.NoError(t, err)

	refused(other, session)                        // another account has signed in
	refused(b.Customer, b.logIn(t, "by password")) // a session by password

	ended := open(time.Now())
	require.NoError(t, b.Store.Accounts.LogOut(ctx, b.Customer.ID, ended))
	refused(b.Customer, ended) // it has ended

	b.Exec(t, "UPDATE users SET locked_at = now() WHERE id = $1", b.Customer.ID)
	refused(b.Customer, session) // the account is locked
	b.Exec(t, "UPDATE users SET locked_at = NULL, second_factor_at = now() WHERE id = $1", b.Customer.ID)
	refused(b.Customer, session) // the account types codes
}

// TestLogOut ends the session of its own account.
func TestLogOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	session := b.logIn(t, "token")

	require.NoError(t, b.Store.Accounts.LogOut(t.Context(), uuid.New(), session))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM sessions WHERE id = $1 AND ended_at IS NULL", session))

	for range 2 {
		require.NoError(t, b.Store.Accounts.LogOut(t.Context(), b.Customer.ID, session))
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM sessions WHERE id = $1 AND ended_at IS NOT NULL", session))
	}

	_, err := b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("token"), next("next"), accounts.LoginFrom{}, time.Now())
	bookstest.RequireCode(t, models.CodeInvalidCredentials, err)
}
