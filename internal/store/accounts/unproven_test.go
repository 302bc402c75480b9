package accounts_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/accounts"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

// TestOwnerTakesTheAccount: the owner of an address, who uses the link that a stranger's registration has sent, and the owner who resets the
// password, leave nothing of the stranger's that works. A caller who has opened the account keeps all of it.
func TestOwnerTakesTheAccount(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		use   func(*testing.T, *books) error
		stays bool
	}{
		"the link alone": {use: func(t *testing.T, b *books) error {
			t.Helper()

			taken, err := b.Store.Accounts.VerifyEmail(t.Context(), db.Actor{}, []byte("verify"), false)
			require.True(t, taken)

			return err
		}},
		"in a session, or with the password": {stays: true, use: func(t *testing.T, b *books) error {
			t.Helper()

			taken, err := b.Store.Accounts.VerifyEmail(t.Context(), db.Actor{}, []byte("verify"), true)
			require.False(t, taken)

			return err
		}},
		"a new password": {use: func(t *testing.T, b *books) error {
			t.Helper()
			b.link(t, models.TokenResetPassword, "reset")

			return b.Store.Accounts.ResetPassword(t.Context(), db.Actor{}, []byte("reset"), "the owner's")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			ctx := t.Context()
			b.Exec(t, "UPDATE users SET email_verified_at = NULL, role = 'END_USER' WHERE id = $1", b.Customer.ID)

			// What a stranger puts there: a session, a known network, a second factor with recovery codes, a log-in that waits for its code.
			session := b.enrol(t, "recovery")
			waiting := b.challenge(t)
			b.link(t, models.TokenVerifyEmail, "verify")
			require.NoError(t, c.use(t, b))

			u, err := b.Store.Accounts.UserByID(ctx, b.Customer.ID)
			require.NoError(t, err)
			require.NotNil(t, u.EmailVerifiedAt)

			left := map[bool]int{true: 1}[c.stays]
			require.Equal(t, left, b.Count(t, "SELECT count(*) FROM sessions WHERE id = $1 AND ended_at IS NULL", session))
			require.Equal(t, left, b.Count(t, "SELECT count(*) FROM refresh_tokens WHERE family_id = $1 AND revoked_at IS NULL", session))
			require.Equal(t, left, b.Count(t, "SELECT count(*) FROM second_factors"))
			require.Equal(t, left, b.Count(t, "SELECT count(*) FROM recovery_codes"))
			require.Equal(t, left, b.Count(t, "SELECT count(*) FROM users WHERE id = $1 AND second_factor_at IS NOT NULL", u.ID))
			require.Equal(t, left, b.Count(t, "SELECT count(*) FROM login_throttles WHERE subject = $1 AND cardinality(networks) > 0", u.ID))
			require.Equal(t, c.stays, b.Customer.PasswordHash == u.PasswordHash)

			try, err := b.Store.Accounts.BeginLogin(ctx, u.Email, accounts.LoginFrom{Network: home}, time.Now())
			require.NoError(t, err)

			_, err = b.Store.Accounts.AnswerChallenge(ctx, waiting, try, recovery("recovery"), next("in"))
			require.Equal(t, c.stays, err == nil, "%v", err)

			if name == "the link alone" {
				require.Empty(t, u.PasswordHash)
				require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'RESET_PASSWORD' AND data->>'name' = ''"))
				require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'PASSWORD_VOIDED'"))
			}
		})
	}
}

// TestOwnerTakesAnAccountVerifiedBefore: of an account that was verified while a click was enough, a stranger's second factor goes with the
// first password that its owner sets through the mailbox, and a mail says so; whenever it was added. What the owner adds then stays.
func TestOwnerTakesAnAccountVerifiedBefore(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		state string
		stays bool
	}{
		"added before":               {state: "email_verified_at = now() + interval '1 hour', owner_proved_at = NULL, role = 'END_USER'"},
		"added after":                {state: "email_verified_at = now() - interval '1 hour', owner_proved_at = NULL, role = 'END_USER'"},
		"verified with the password": {state: "email_verified_at = now(), owner_proved_at = now(), role = 'END_USER'", stays: true},
		"of the platform's people":   {state: "email_verified_at = now(), owner_proved_at = NULL, role = 'SUPPORT_AGENT'", stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			reset := func(secret string) {
				b.link(t, models.TokenResetPassword, secret)
				require.NoError(t, b.Store.Accounts.ResetPassword(t.Context(), db.Actor{}, []byte(secret), "the owner's"))
			}
			removed := func() int {
				return b.Count(t, "SELECT count(*) FROM notifications WHERE user_id = $1 AND kind = 'SECOND_FACTOR_REMOVED'", b.Customer.ID)
			}

			b.enrol(t, "recovery")
			b.Exec(t, "UPDATE users SET "+c.state+" WHERE id = $1", b.Customer.ID)
			reset("first")

			left := map[bool]int{true: 1}[c.stays]
			require.Equal(t, left, b.Count(t, "SELECT count(*) FROM second_factors"))
			require.Equal(t, left, b.Count(t, "SELECT count(*) FROM users WHERE id = $1 AND second_factor_at IS NOT NULL", b.Customer.ID))
			require.Equal(t, 1-left, removed())
			require.Equal(t, 1-left, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'SECOND_FACTOR_REMOVED'"))

			if !c.stays {
				b.enrol(t, "the owner's recovery")
			}

			reset("second")
			require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM second_factors"), "the owner's own")
			require.Equal(t, 1-left, removed())
		})
	}
}

// TestVerifiedAccountsAreNotTaken: an older link of an address that is proved takes nothing from its owner.
func TestVerifiedAccountsAreNotTaken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	session := b.logIn(t, "token")

	b.Exec(t, "UPDATE users SET email_verified_at = now() WHERE id = $1", b.Customer.ID)
	b.link(t, models.TokenVerifyEmail, "verify")

	taken, err := b.Store.Accounts.VerifyEmail(t.Context(), db.Actor{}, []byte("verify"), false)
	require.NoError(t, err)
	require.False(t, taken)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM sessions WHERE id = $1 AND ended_at IS NULL", session))
}

// TestUnprovedAccountsGiveWay: who has registered an address without proving it keeps its owner from no account of the platform's or a
// company's people. A company's administrator removes none that has paid.
func TestUnprovedAccountsGiveWay(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		proved, paid, byCompany bool
		gives                   bool
	}{
		"never proved":                      {gives: true},
		"never proved, and has paid":        {paid: true, gives: true},
		"proved":                            {proved: true},
		"a company's":                       {byCompany: true, gives: true},
		"a company's, of one that has paid": {byCompany: true, paid: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			ctx := t.Context()

			old, _, err := b.Store.Accounts.Register(ctx, db.Actor{}, models.User{
				Name: "Stranger", Email: "Colleague@rihla.test", Phone: "+966500000001", PasswordHash: "x", Role: models.RoleEndUser,
			})
			require.NoError(t, err)

			if c.proved {
				b.Exec(t, "UPDATE users SET email_verified_at = now() WHERE id = $1", old.ID)
			}

			if c.paid {
				b.payFor(t, old)
			}

			invite := func() (models.User, error) {
				if c.byCompany {
					return b.Store.Accounts.CreateStaff(ctx, bookstest.As(b.World, models.RoleProviderAdmin),
						newStaff(b.Provider.ID, "Colleague", " colleague@rihla.test", models.RoleProviderStaff))
				}

				return b.Store.Accounts.Invite(ctx, bookstest.As(b.World, models.RoleSuperAdmin), models.User{
					Name: "Colleague", Email: " colleague@rihla.test", Phone: "+966500000002", Role: models.RoleSupportAgent,
				})
			}

			made, err := invite()
			if !c.gives {
				bookstest.RequireCode(t, models.CodeEmailAlreadyExists, err)
				require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM users WHERE id = $1 AND deleted_at IS NULL", old.ID))

				return
			}

			require.NoError(t, err)
			require.NotEqual(t, old.ID, made.ID)
			require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM users WHERE id = $1 AND deleted_at IS NOT NULL", old.ID))
			require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'USER_REMOVED' AND entity_id = $1", old.ID))

			_, err = invite()
			bookstest.RequireCode(t, models.CodeEmailAlreadyExists, err)
		})
	}
}

// payFor gives an account a booking that is paid.
func (b *books) payFor(t *testing.T, u models.User) {
	t.Helper()

	own := b.Customer
	b.Customer = u
	b.Paid(t, 1)
	b.Customer = own
}

// TestResetOfASecondFactorEndsThePassword: who has got hold of the password does not enrol before the owner.
func TestResetOfASecondFactorEndsThePassword(t *testing.T) {
	t.Parallel()

	for _, by := range []db.Actor{{Operator: "test"}, {}} {
		b := setup(t)
		if by.Operator == "" {
			by = bookstest.As(b.World, models.RoleSuperAdmin)
		}

		b.enrol(t, "recovery")

		u, err := b.Store.Accounts.ResetSecondFactor(t.Context(), by, b.Customer.ID)
		require.NoError(t, err)
		require.Empty(t, u.PasswordHash)
		require.Nil(t, u.SecondFactorAt)
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM users WHERE id = $1 AND password_hash = ''", u.ID))
		require.Zero(t, b.Count(t, "SELECT count(*) FROM sessions WHERE user_id = $1 AND ended_at IS NULL", u.ID))
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE user_id = $1 AND kind = 'RESET_PASSWORD'", u.ID))
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE entity_id = $1 AND action = 'PASSWORD_VOIDED'", u.ID))
	}
}

// TestPowerIsTold: every SUPER_ADMIN gets a mail about each account that has just got a role with power, however it got it.
func TestPowerIsTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, by := t.Context(), bookstest.As(b.World, models.RoleSuperAdmin)

	second, err := b.Store.Accounts.CreateUser(ctx, models.User{
		Name: "Second", Email: "second@rihla.test", Phone: "+966500000009", PasswordHash: "x", Role: models.RoleSuperAdmin,
	})
	require.NoError(t, err)

	supers := b.Count(t, "SELECT count(*) FROM users WHERE role = 'SUPER_ADMIN' AND deleted_at IS NULL")
	told := func() int { return b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'ADMIN_ADDED'") }
	invite := func(role models.Role) models.User {
		u, err := b.Store.Accounts.Invite(ctx, by, models.User{
			Name: "New", Email: models.NewID().String() + "@rihla.test", Phone: "+966500000002", Role: role,
		})
		require.NoError(t, err)

		return u
	}

	support := invite(models.RoleSupportAgent)
	require.Zero(t, told())

	want := 0

	for _, role := range []models.Role{models.RoleAdmin, models.RoleFinanceAdmin, models.RoleSuperAdmin} {
		invite(role)

		want += supers
		require.Equal(t, want, told(), role)
	}

	supers++ // the one that was just invited

	_, err = b.Store.Accounts.ChangeAccount(ctx, by, support.ID, func(u *models.User) error {
		u.Role = models.RoleFinanceAdmin

		return nil
	})
	require.NoError(t, err)

	want += supers
	require.Equal(t, want, told(), "a promotion")

	_, err = b.Store.Accounts.ChangeAccount(ctx, by, support.ID, func(u *models.User) error {
		u.Name = "Another name"

		return nil
	})
	require.NoError(t, err)
	require.Equal(t, want, told(), "the role was the same")

	_, err = b.Store.Accounts.AddUser(ctx, db.Actor{Operator: "test"}, models.User{
		Name: "By command", Email: "command@rihla.test", Phone: "+966500000002", PasswordHash: "x", Role: models.RoleAdmin,
	})
	require.NoError(t, err)

	want += supers
	require.Equal(t, want, told(), "the command line")
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'ADMIN_ADDED' AND user_id = $1"+
		" AND data->>'account' = 'command@rihla.test' AND data->>'role' = 'ADMIN'", second.ID))
}

// TestNoTextOfUnprovedAccounts: no mail about an account whose address was never proved has its name.
func TestNoTextOfUnprovedAccounts(t *testing.T) {
	t.Parallel()

	for _, proved := range []bool{false, true} {
		policies := models.DefaultPolicies()
		policies.Login = models.LoginRules{LockAfter: 1}

		b := setup(t, policies)
		ctx := t.Context()

		b.Exec(t, "UPDATE users SET email_verified_at = CASE WHEN $1 THEN now() END, name = 'Win a prize' WHERE id = $2", proved, b.Customer.ID)

		u, err := b.Store.Accounts.UserByID(ctx, b.Customer.ID)
		require.NoError(t, err)

		for _, purpose := range []models.AccountTokenPurpose{models.TokenVerifyEmail, models.TokenResetPassword} {
			b.link(t, purpose, string(purpose))
		}

		b.enrol(t, "recovery")
		require.NoError(t, b.Store.Accounts.RemoveSecondFactor(ctx, db.Actor{UserID: u.ID}, u.ID, b.logInBy(t, "t", models.SecondFactorTOTP)))
		require.NoError(t, b.Store.Accounts.ChangePassword(ctx, db.Actor{Operator: "test"}, u.ID, "", "hash"))

		_, _, err = b.Store.Accounts.Register(ctx, db.Actor{}, models.User{Name: "S", Email: u.Email, PasswordHash: "x", Role: models.RoleEndUser})
		bookstest.RequireCode(t, models.CodeEmailAlreadyExists, err)

		try := b.try(ctx, t)
		require.NoError(t, b.Store.Accounts.LoginFailed(ctx, try))

		kinds := b.Count(t, "SELECT count(DISTINCT kind) FROM notifications WHERE user_id = $1", u.ID)
		require.GreaterOrEqual(t, kinds, 7, "verify, reset, added, removed, changed, registered again, locked")
		require.Equal(t, map[bool]int{true: kinds}[proved],
			b.Count(t, "SELECT count(DISTINCT kind) FROM notifications WHERE user_id = $1 AND data::text LIKE '%Win a prize%'", u.ID))
	}
}
