package accounts_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

// link is a mail to the customer that was sent with a secret of this hash, as long after the last one as need be.
func (b *books) link(t *testing.T, purpose models.AccountTokenPurpose, hash string) uuid.UUID {
	t.Helper()

	b.Exec(t, "UPDATE account_tokens SET created_at = created_at - interval '15 minutes'")

	queued, err := b.Store.Accounts.SendLink(t.Context(), db.Actor{Operator: "test"}, b.Customer.ID, purpose)
	require.NoError(t, err)
	require.True(t, queued)

	var id uuid.UUID

	require.NoError(t, b.DB.QueryRowContext(t.Context(),
		"SELECT id FROM account_tokens WHERE purpose = $1 ORDER BY id DESC LIMIT 1", purpose).Scan(&id))
	require.NoError(t, b.Store.Accounts.IssueToken(t.Context(), id, []byte(hash)))

	return id
}

// verify uses a link as a caller who is in a session of the account.
func (b *books) verify(t *testing.T, hash []byte) error {
	t.Helper()

	_, err := b.Store.Accounts.VerifyEmail(t.Context(), db.Actor{}, hash, true)

	return err
}

// TestLinksCountOnce: of many that use a link at once one does, and nothing that was sent before is worth anything then.
func TestLinksCountOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	older, newer := b.link(t, models.TokenResetPassword, "older"), b.link(t, models.TokenResetPassword, "newer")
	verify := b.link(t, models.TokenVerifyEmail, "verify")

	var used atomic.Int32

	bookstest.Parallel(8, func(i int) {
		hash := []byte("newer")
		if i%2 == 0 {
			hash = []byte("older")
		}

		if err := b.Store.Accounts.ResetPassword(ctx, db.Actor{}, hash, "a hash"); err == nil {
			used.Add(1)
		}
	})

	require.EqualValues(t, 1, used.Load())

	for _, id := range []uuid.UUID{older, newer} {
		bookstest.RequireCode(t, models.CodeNotFound, b.Store.Accounts.IssueToken(ctx, id, []byte("again")))
	}

	require.NoError(t, b.Store.Accounts.IssueToken(ctx, verify, []byte("sent again")), "another purpose's is")
	bookstest.RequireCode(t, models.CodeValidation, b.verify(t, []byte("verify")))

	// The address that a link was sent to has become another one since.
	b.Exec(t, "UPDATE users SET email = 'moved@rihla.test' WHERE id = $1", b.Customer.ID)
	bookstest.RequireCode(t, models.CodeValidation, b.verify(t, []byte("sent again")))
}

// TestLinksEndWithThePassword: a changed password is the end of the links that set one, and an invitation sets the first one alone.
func TestLinksEndWithThePassword(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	verify := b.link(t, models.TokenVerifyEmail, "verify")
	ended := []uuid.UUID{b.link(t, models.TokenResetPassword, "reset"), b.link(t, models.TokenInvitation, "invitation")}
	later := b.link(t, models.TokenResetPassword, "later")
	b.Exec(t, "UPDATE account_tokens SET token_hash = NULL, expires_at = NULL WHERE id = $1", later) // whose mail is on its way

	require.NoError(t, b.Store.Accounts.ChangePassword(ctx, db.Actor{Operator: "test"}, b.Customer.ID, "", "new hash"))

	for _, hash := range []string{"reset", "invitation"} {
		bookstest.RequireCode(t, models.CodeValidation, b.Store.Accounts.ResetPassword(ctx, db.Actor{}, []byte(hash), "a hash"))
	}

	for _, id := range append(ended, later) {
		bookstest.RequireCode(t, models.CodeNotFound, b.Store.Accounts.IssueToken(ctx, id, []byte("again")))
	}

	require.NoError(t, b.Store.Accounts.IssueToken(ctx, verify, []byte("verify")), "it sets none")

	b.link(t, models.TokenInvitation, "late")
	bookstest.RequireCode(t, models.CodeValidation, b.Store.Accounts.ResetPassword(ctx, db.Actor{}, []byte("late"), "a hash"))
	b.Exec(t, "UPDATE users SET password_hash = '' WHERE id = $1", b.Customer.ID)
	require.NoError(t, b.Store.Accounts.ResetPassword(ctx, db.Actor{}, []byte("late"), "a hash"))
}

// TestResetsAreNotUsedUp: however often strangers ask for an owner's new password, one mail within 15 minutes is queued, and the link of the
// last one is good until the next. One whose link was used does not count.
func TestResetsAreNotUsedUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	asked := func(n int) (queued int) {
		var mails atomic.Int32

		bookstest.Parallel(n, func(int) {
			was, err := b.Store.Accounts.AskForReset(ctx, db.Actor{}, b.Customer.Email)
			if err != nil {
				t.Error(err)
			}

			if was {
				mails.Add(1)
			}
		})

		return int(mails.Load())
	}

	for range 12 { // a day's would have been over after 5
		require.Equal(t, 1, asked(6))
		b.Exec(t, "UPDATE account_tokens SET created_at = created_at - interval '15 minutes'")
	}

	require.Equal(t, 1, asked(1))
	b.Exec(t, "UPDATE account_tokens SET used_at = now()")
	require.Equal(t, 1, asked(1))

	none, err := b.Store.Accounts.AskForReset(ctx, db.Actor{}, "nobody@rihla.test")
	require.NoError(t, err)
	require.False(t, none)

	n, within := models.TokenResetPassword.MailLimit()
	require.Equal(t, 1, n)
	require.Less(t, within, models.TokenResetPassword.Lifetime(), "there is always a link that opens")
}

// TestOwnersOfAddressesAreToldOnce: of many that register an address at once its owner hears once a day, by an index.
func TestOwnersOfAddressesAreToldOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for day := range 5 {
		var told atomic.Int32

		bookstest.Parallel(8, func(int) {
			u := models.User{Name: "Stranger", Email: b.Customer.Email, PasswordHash: "hash", Role: models.RoleEndUser}

			_, mailed, err := b.Store.Accounts.Register(t.Context(), db.Actor{}, u)
			if models.CodeOf(err) != models.CodeEmailAlreadyExists {
				t.Error(err)
			}

			if mailed {
				told.Add(1)
			}
		})

		require.EqualValues(t, 1, told.Load())
		require.Equal(t, day+1, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'ALREADY_REGISTERED'"))
		b.Exec(t, "UPDATE notifications SET created_at = created_at - interval '1 day'")
	}
}

// TestStrangersSecondFactorGoes: who has registered another's address keeps its owner out by no second factor; that of an owner who has
// proved the address before stays.
func TestStrangersSecondFactorGoes(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		proved bool
		role   models.Role
	}{
		"proved": {true, models.RoleEndUser}, "never proved": {false, models.RoleEndUser}, "made by others": {false, models.RoleSupportAgent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			ctx, stays := t.Context(), name != "never proved"

			b.Exec(t, `UPDATE users SET email_verified_at = CASE WHEN $1 THEN now() END,
				owner_proved_at = CASE WHEN $1 THEN now() END, role = $2 WHERE id = $3`, tt.proved, tt.role, b.Customer.ID)
			b.enrol(t, "spare")
			b.link(t, models.TokenResetPassword, "link")
			require.NoError(t, b.Store.Accounts.ResetPassword(ctx, db.Actor{}, []byte("link"), "a hash"))

			u, err := b.Store.Accounts.UserByID(ctx, b.Customer.ID)
			require.NoError(t, err)
			require.NotNil(t, u.EmailVerifiedAt)
			require.Equal(t, stays, u.SecondFactorAt != nil)

			left := map[bool]int{true: 1}[stays]
			require.Equal(t, left, b.Count(t, "SELECT count(*) FROM second_factors"))
			require.Equal(t, left, b.Count(t, "SELECT count(*) FROM recovery_codes"))
			require.Equal(t, 1-left, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'SECOND_FACTOR_REMOVED'"))
		})
	}
}

// TestUnconfirmedSecondFactorOfAStranger: nor does one that waits for its first code stay.
func TestUnconfirmedSecondFactorOfAStranger(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.Exec(t, "UPDATE users SET email_verified_at = NULL WHERE id = $1", b.Customer.ID)
	require.NoError(t, b.Store.Accounts.BeginSecondFactor(t.Context(), b.Customer.ID, []byte("theirs")))
	b.link(t, models.TokenResetPassword, "link")
	require.NoError(t, b.Store.Accounts.ResetPassword(t.Context(), db.Actor{}, []byte("link"), "a hash"))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM second_factors"))
}

// TestAccountsAreFoundByIndexes: neither a list of accounts nor a registration reads all sessions, or all messages.
func TestAccountsAreFoundByIndexes(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for query, index := range map[string]string{
		"SELECT max(created_at) FROM sessions WHERE user_id = '" + b.Customer.ID.String() + "'":                                               "sessions_of_user",
		"SELECT FROM notifications WHERE user_id = '" + b.Customer.ID.String() + "' AND kind = 'A' AND created_at > now() - interval '1 day'": "notifications_of_user",
	} {
		require.Contains(t, b.plan(t, query), index)
	}
}

// plan is how PostgreSQL would find what a query asks for in a table of many rows.
func (b *books) plan(t *testing.T, query string) (plan string) {
	t.Helper()

	conn, err := b.DB.Conn(context.WithoutCancel(t.Context()))
	require.NoError(t, err)

	defer conn.Close()

	_, err = conn.ExecContext(t.Context(), "SET enable_seqscan = off")
	require.NoError(t, err)
	require.NoError(t, conn.QueryRowContext(t.Context(), "EXPLAIN (FORMAT JSON) "+query).Scan(&plan))

	return plan
}
