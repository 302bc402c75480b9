package accounts_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/accounts"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

// step is a code of a time step, without a secret that it would come from.
func step(n int64) accounts.Code {
	return accounts.Code{Step: func([]byte) (int64, []byte, error) { return n, nil, nil }, Recovery: []byte("none")}
}

func recovery(hash string) accounts.Code {
	return accounts.Code{Step: func([]byte) (int64, []byte, error) { return 0, nil, nil }, Recovery: []byte(hash)}
}

// try begins a try to log in as the customer.
func (b *books) try(ctx context.Context, t *testing.T) *accounts.LoginTry {
	t.Helper()

	try, err := b.Store.Accounts.BeginLogin(ctx, b.Customer.Email, accounts.LoginFrom{Network: home, Address: "198.51.100.7"}, time.Now())
	require.NoError(t, err)

	return try
}

// enrol gives the customer a second factor and leaves one session, which is returned.
func (b *books) enrol(t *testing.T, codes ...string) uuid.UUID {
	t.Helper()

	hashes := make([][]byte, len(codes))
	for i, code := range codes {
		hashes[i] = []byte(code)
	}

	session := b.logIn(t, models.NewID().String())
	require.NoError(t, b.Store.Accounts.BeginSecondFactor(t.Context(), b.Customer.ID, []byte("sealed")))
	require.NoError(t, b.Store.Accounts.ConfirmSecondFactor(t.Context(), db.Actor{UserID: b.Customer.ID}, session, b.try(t.Context(), t), step(1), hashes))

	return session
}

// challenge is a log-in that waits for its code.
func (b *books) challenge(t *testing.T) []byte {
	t.Helper()

	hash := []byte(models.NewID().String())
	require.NoError(t, b.Store.Accounts.ChallengeLogin(t.Context(), b.try(t.Context(), t), hash))

	return hash
}

// TestCodesSideBySide: of many that use a code at once, in log-ins and to step up, one does.
func TestCodesSideBySide(t *testing.T) {
	t.Parallel()
	b := setup(t)

	const rounds, atOnce = 25, 6

	recoveryCodes := make([]string, rounds)
	for i := range recoveryCodes {
		recoveryCodes[i] = models.NewID().String()
	}

	session := b.enrol(t, recoveryCodes...)

	for round := range rounds {
		for _, code := range []accounts.Code{step(int64(round + 2)), recovery(recoveryCodes[round])} {
			var counted atomic.Int32

			challenges := make([][]byte, atOnce)
			for i := range challenges {
				challenges[i] = b.challenge(t)
			}

			bookstest.Parallel(atOnce, func(i int) {
				try, err := b.Store.Accounts.BeginLogin(t.Context(), b.Customer.Email, accounts.LoginFrom{Network: home}, time.Now())
				if err != nil {
					t.Error(err)

					return
				}

				if i%2 == 0 {
					_, err = b.Store.Accounts.StepUp(t.Context(), session, try, code)
				} else {
					_, err = b.Store.Accounts.AnswerChallenge(t.Context(), challenges[i], try, code, next(models.NewID().String()))
				}

				if err == nil {
					counted.Add(1)
				} else if models.CodeOf(err) != models.CodeInvalidCredentials {
					t.Error(err)
				}
			})

			require.EqualValues(t, 1, counted.Load())
		}
	}

	require.Zero(t, b.Count(t, "SELECT count(*) FROM recovery_codes WHERE used_at IS NULL"))
}

// TestLogInBesideARemovedSecondFactor: whichever comes first, no code of a factor that is gone opens a session after it.
func TestLogInBesideARemovedSecondFactor(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for round := range 15 {
		b.enrol(t, "spare")

		challenge := b.challenge(t)
		started := b.Count(t, "SELECT count(*) FROM sessions WHERE ended_at IS NULL")
		require.Equal(t, 1, started, "enrolling has ended the others")

		bookstest.Parallel(2, func(i int) {
			if i == 0 {
				if _, err := b.Store.Accounts.ResetSecondFactor(t.Context(), db.Actor{Operator: "test"}, b.Customer.ID); err != nil {
					t.Error(err)
				}

				return
			}

			try, err := b.Store.Accounts.BeginLogin(t.Context(), b.Customer.Email, accounts.LoginFrom{Network: home}, time.Now())
			if err != nil {
				t.Error(err)

				return
			}

			_, _ = b.Store.Accounts.AnswerChallenge(t.Context(), challenge, try, step(int64(round+2)), next(models.NewID().String()))
		})

		require.Zero(t, b.Count(t, "SELECT count(*) FROM sessions WHERE ended_at IS NULL"))
	}
}

// TestLogInBesideANewSecondFactor: a log-in whose password was right before a second factor was enabled opens no session that has not seen
// it, whichever comes first.
func TestLogInBesideANewSecondFactor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	b.enrol(t)

	after := b.try(ctx, t)
	after.User.SecondFactorAt = nil // as it was read before
	_, err := b.Store.Accounts.LogIn(ctx, after, next("late"))
	bookstest.RequireCode(t, models.CodeInvalidCredentials, err)

	for range 15 {
		_, err := b.Store.Accounts.ResetSecondFactor(ctx, db.Actor{Operator: "test"}, b.Customer.ID)
		require.NoError(t, err)

		session := b.logIn(t, models.NewID().String())
		login, confirm := b.try(ctx, t), b.try(ctx, t)

		require.NoError(t, b.Store.Accounts.BeginSecondFactor(ctx, b.Customer.ID, []byte("sealed")))

		bookstest.Parallel(2, func(i int) {
			if i == 0 {
				_, _ = b.Store.Accounts.LogIn(ctx, login, next(models.NewID().String()))

				return
			}

			if err := b.Store.Accounts.ConfirmSecondFactor(ctx, db.Actor{UserID: b.Customer.ID}, session, confirm, step(1), nil); err != nil {
				t.Error(err)
			}
		})

		require.Zero(t, b.Count(t, "SELECT count(*) FROM sessions WHERE ended_at IS NULL AND second_factor = ''"))
		require.Zero(t, b.Count(t, "SELECT count(*) FROM refresh_tokens WHERE revoked_at IS NULL AND family_id <> $1", session))
	}

	// One that slipped in before the service held this is not refreshed.
	slipped := b.logInBy(t, "slipped", models.SecondFactorTOTP)
	b.Exec(t, "UPDATE sessions SET second_factor = '', code_at = NULL WHERE id = $1", slipped)

	_, err = b.Store.Accounts.RotateRefreshToken(ctx, []byte("slipped"), next("on"), accounts.LoginFrom{}, time.Now())
	bookstest.RequireCode(t, models.CodeInvalidCredentials, err)
}

// TestSecretThatNoKeyOpens: recovery codes count all the same, and what is opened by an older key is kept as the first one seals it.
func TestSecretThatNoKeyOpens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	session, lost := b.enrol(t, "spare"), errors.New("no key")
	code := func(recovery string) accounts.Code {
		return accounts.Code{Step: func([]byte) (int64, []byte, error) { return 0, nil, lost }, Recovery: []byte(recovery)}
	}

	_, err := b.Store.Accounts.StepUp(ctx, session, b.try(ctx, t), code("wrong"))
	require.ErrorIs(t, err, lost)

	_, err = b.Store.Accounts.AnswerChallenge(ctx, b.challenge(t), b.try(ctx, t), code("spare"), next("in"))
	require.NoError(t, err)

	again := step(2)
	again.Step = func(sealed []byte) (int64, []byte, error) {
		require.Equal(t, "sealed", string(sealed))

		return 2, []byte("sealed anew"), nil
	}
	_, err = b.Store.Accounts.StepUp(ctx, session, b.try(ctx, t), again)
	require.NoError(t, err)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM second_factors WHERE secret = 'sealed anew' AND last_step = 2"))

	_, err = b.Store.Accounts.StepUp(ctx, session, b.try(ctx, t), step(3))
	require.NoError(t, err)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM second_factors WHERE secret = 'sealed anew'"), "as it is")
}

// TestChallengeBesideANewPassword: a challenge whose password was right is worth nothing after the password was changed, though the account
// is read again with its code.
func TestChallengeBesideANewPassword(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	b.enrol(t)
	challenge := b.challenge(t)
	_, err := b.Store.Accounts.ChallengedUser(ctx, challenge)
	require.NoError(t, err)

	require.NoError(t, b.Store.Accounts.ChangePassword(ctx, db.Actor{Operator: "test"}, b.Customer.ID, "", "another hash"))

	_, err = b.Store.Accounts.AnswerChallenge(ctx, challenge, b.try(ctx, t), step(2), next("late"))
	bookstest.RequireCode(t, models.CodeInvalidCredentials, err)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM sessions WHERE ended_at IS NULL"))
}

// TestSteppedUp is a code's ten minutes, in one session of one account.
func TestSteppedUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	steppedUp := func(user, session uuid.UUID) bool {
		factor, lately, err := b.Store.Accounts.SteppedUp(ctx, user, session)
		require.NoError(t, err)
		require.Equal(t, models.FactorOwn, factor)

		return lately
	}

	factor, lately, err := b.Store.Accounts.SteppedUp(ctx, b.Customer.ID, uuid.Nil)
	require.NoError(t, err)
	require.Equal(t, models.FactorNone, factor)
	require.False(t, lately)

	_, _, err = b.Store.Accounts.SteppedUp(ctx, uuid.New(), uuid.Nil)
	bookstest.RequireCode(t, models.CodeNotFound, err)

	session := b.enrol(t)
	require.True(t, steppedUp(b.Customer.ID, session))
	require.False(t, steppedUp(b.Customer.ID, uuid.Nil), "a token of no session")

	other := b.logInBy(t, "another session", models.SecondFactorIssuer)
	require.False(t, steppedUp(b.Customer.ID, other))

	b.Exec(t, "UPDATE sessions SET code_at = now() - interval '10 minutes 1 second' WHERE id = $1", session)
	require.False(t, steppedUp(b.Customer.ID, session))
	b.Exec(t, "UPDATE sessions SET code_at = now() - interval '9 minutes 50 seconds' WHERE id = $1", session)
	require.True(t, steppedUp(b.Customer.ID, session))
	b.Exec(t, "UPDATE sessions SET ended_at = now() WHERE id = $1", session)
	require.False(t, steppedUp(b.Customer.ID, session))
}

// TestRefreshingEndsWithTheSession: a token is never good for longer than its session, and a session that has ended is not used again.
func TestRefreshingEndsWithTheSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	for round := range 10 {
		first := models.NewID().String()
		session := b.logIn(t, first)

		bookstest.Parallel(2, func(i int) {
			if i == 0 {
				if err := b.Store.Accounts.EndSession(ctx, db.Actor{UserID: b.Customer.ID}, b.Customer.ID, session); err != nil {
					t.Error(err)
				}

				return
			}

			_, _ = b.Store.Accounts.RotateRefreshToken(ctx, []byte(first), next(models.NewID().String()), accounts.LoginFrom{}, time.Now())
		})

		require.Zero(t, b.Count(t, "SELECT count(*) FROM refresh_tokens WHERE family_id = $1 AND revoked_at IS NULL", session), "round %d", round)

		now, err := b.Store.Accounts.AccountStatus(ctx, b.Customer.ID, session)
		require.NoError(t, err)
		require.True(t, now.SessionOver)
	}

	session := b.logIn(t, "long")
	b.Exec(t, "UPDATE sessions SET expires_at = now() + interval '5 minutes' WHERE id = $1", session)

	_, err := b.Store.Accounts.RotateRefreshToken(ctx, []byte("long"), next("longer"), accounts.LoginFrom{Address: "203.0.113.5"}, time.Now())
	require.NoError(t, err)
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM refresh_tokens AS rt JOIN sessions AS s ON s.id = rt.family_id
		WHERE s.id = $1 AND rt.spent_at IS NULL AND rt.expires_at <= s.expires_at AND s.address = '203.0.113.5'`, session))
}
