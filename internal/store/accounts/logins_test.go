package accounts_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/accounts"
	"rihla/internal/store/db"
	"rihla/internal/store/outbox"
	"rihla/models"
)

const stranger, home = "203.0.113.0/24", "198.51.100.0/24"

// guess is one wrong password from a network: nil when it was looked at.
func (b *books) guess(t *testing.T, email, network string, at time.Time) error {
	t.Helper()

	try, err := b.Store.Accounts.BeginLogin(t.Context(), email, accounts.LoginFrom{Network: network, Address: "203.0.113.9"}, at)
	if err != nil {
		return err
	}

	return b.Store.Accounts.LoginFailed(t.Context(), try)
}

// enter is a right password from a network.
func (b *books) enter(t *testing.T, network string, at time.Time) error {
	t.Helper()

	try, err := b.Store.Accounts.BeginLogin(t.Context(), b.Customer.Email, accounts.LoginFrom{Network: network, RequestID: "req-login"}, at)
	if err != nil {
		return err
	}

	_, err = b.Store.Accounts.LogIn(t.Context(), try, next(models.NewID().String()))

	return err
}

func requirePaused(t *testing.T, until time.Time, err error) {
	t.Helper()

	var paused *accounts.LoginPausedError
	require.ErrorAs(t, err, &paused)
	require.WithinDuration(t, until, paused.Until, time.Millisecond)
}

func TestLoginFailuresPauseAnAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := time.Now()

	for range 200 {
		require.NoError(t, b.enter(t, home, now), "successes do not count")
	}

	for _, email := range []string{b.Customer.Email, "nobody." + b.Customer.Email} {
		at := now

		for range 10 {
			require.NoError(t, b.guess(t, email, stranger, at))
		}

		// From whatever network, and as long again each time, up to the longest.
		for i, minutes := range []int{1, 2, 4, 8, 15, 15} {
			until := at.Add(time.Duration(minutes) * time.Minute)
			requirePaused(t, until, b.guess(t, email, fmt.Sprintf("192.0.2.%d/32", i), until.Add(-time.Second)))
			at = until
			require.NoError(t, b.guess(t, email, stranger, at))
		}
	}

	// The owner comes from a known network, and is no failure for it.
	during := now.Add(31 * time.Minute)
	require.NoError(t, b.enter(t, home, during))
	require.Error(t, b.enter(t, "2001:db8::/48", during), "the right password alone proves nothing during a pause")
	require.NoError(t, b.guess(t, b.Customer.Email, home, during))
	require.Equal(t, 17, b.Count(t, "SELECT failures FROM login_throttles WHERE subject = $1", b.Customer.ID))

	require.Equal(t, 201, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'LOGGED_IN' AND actor_id = $1 AND actor_kind = 'USER'", b.Customer.ID))
	require.Equal(t, 17, b.Count(t, `SELECT count(*) FROM audit_log WHERE action = 'LOGIN_FAILED' AND entity_id = $1
		AND actor_kind = 'SYSTEM' AND details ->> 'address' = '203.0.113.9'`, b.Customer.ID))
	require.Equal(t, 17, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'LOGIN_FAILED'"), "an unknown address is in no log")

	require.NoError(t, b.guess(t, b.Customer.Email, stranger, now.Add(25*time.Hour)))
	require.Equal(t, 1, b.Count(t, "SELECT failures FROM login_throttles WHERE subject = $1", b.Customer.ID), "a day later they count anew")
}

func TestLoginFailuresLockAnAccount(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.Login = models.LoginRules{PauseMax: time.Minute, LockAfter: 12}
	b := setup(t, p)
	now := time.Now()
	require.NoError(t, b.enter(t, home, now))

	// Guesses from a known network are not paused, but they count.
	for range 12 {
		require.NoError(t, b.guess(t, b.Customer.Email, home, now))
	}

	requirePaused(t, now.Add(24*time.Hour), b.enter(t, home, now.Add(time.Hour)))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'ACCOUNT_LOCKED' AND entity_id = $1", b.Customer.ID))
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM notifications WHERE kind = 'ACCOUNT_LOCKED' AND user_id = $1 AND channel = 'EMAIL'
		AND recipient = $2 AND locale = $3 AND status = 'PENDING' AND transaction_id IS NULL`, b.Customer.ID, b.Customer.Email, b.Customer.Locale))

	claimed, err := b.Store.Outbox.ClaimNotifications(t.Context(), outbox.Claim{}, 10, time.Now().Add(time.Second))
	require.NoError(t, err)
	require.Len(t, claimed, 1, "the outbox delivers it")

	// A new password opens it.
	require.NoError(t, b.Store.Accounts.ChangePassword(t.Context(), db.Actor{Operator: "root"}, b.Customer.ID, "", "hash"))
	require.NoError(t, b.enter(t, stranger, now.Add(time.Hour)))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'PASSWORD_CHANGED' AND actor_kind = 'OPERATOR' AND operator = 'root'"))

	// So does a day; and an address without an account is locked alike, without a message.
	later := now.Add(time.Minute)

	for range 12 {
		require.NoError(t, b.guess(t, b.Customer.Email, home, later))
		require.NoError(t, b.guess(t, "nobody@rihla.test", home, later))

		b.Exec(t, "UPDATE login_throttles SET failed_at = failed_at - interval '1 hour' WHERE failures >= 10 AND locked_until IS NULL")
	}

	requirePaused(t, later.Add(24*time.Hour), b.guess(t, "nobody@rihla.test", home, later.Add(time.Hour)))
	requirePaused(t, later.Add(24*time.Hour), b.enter(t, home, later.Add(23*time.Hour)))
	require.NoError(t, b.enter(t, home, later.Add(24*time.Hour)))
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'ACCOUNT_LOCKED'"))
}

// TestGuessesSideBySide: what runs at the same time cannot outrun the count.
func TestGuessesSideBySide(t *testing.T) {
	t.Parallel()
	b := setup(t)

	var (
		wg      sync.WaitGroup
		checked atomic.Int64
		now     = time.Now()
	)

	for range 60 {
		wg.Go(func() {
			_, err := b.Store.Accounts.BeginLogin(context.WithoutCancel(t.Context()), b.Customer.Email, accounts.LoginFrom{Network: stranger}, now)
			if err == nil {
				checked.Add(1) // and its password is being compared
			}
		})
	}

	wg.Wait()
	require.Equal(t, int64(10), checked.Load())
}

// TestUnknownAddressesAreBounded: guesses at addresses without an account share rows, however many there are, and an account
// remembers so many networks only.
func TestUnknownAddressesAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := time.Now()

	require.NoError(t, b.guess(t, "One@rihla.test", stranger, now))
	require.NoError(t, b.guess(t, " one@rihla.test", stranger, now))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM login_throttles WHERE failures = 2"), "however it is written")
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM login_throttles WHERE subject::text LIKE '00000000-0000-0000-0000-000000%'`))

	for i := range 30 {
		require.NoError(t, b.enter(t, fmt.Sprintf("10.0.%d.0/24", i), now))
	}

	require.Equal(t, 20, b.Count(t, "SELECT cardinality(networks) FROM login_throttles WHERE subject = $1", b.Customer.ID))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM login_throttles WHERE networks[1] = '10.0.29.0/24'"))
}

func TestUsersAreListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := time.Now()

	b.Exec(t, "INSERT INTO login_throttles (subject, counted_from, locked_until) VALUES ($1, $2, $3)", b.Customer.ID, now, now.Add(time.Hour))

	roles := map[models.Role]int{}

	require.NoError(t, b.Store.Accounts.EachUser(t.Context(), "", now, func(users []accounts.ListedUser) error {
		for i := range users {
			roles[users[i].Role]++
			require.Equal(t, users[i].ID == b.Customer.ID, users[i].LockedUntil != nil)
		}

		return nil
	}))
	require.Len(t, roles, len(b.Users))

	require.NoError(t, b.Store.Accounts.EachUser(t.Context(), models.RoleEndUser, now, func(users []accounts.ListedUser) error {
		require.Len(t, users, 1)

		return nil
	}))
}
