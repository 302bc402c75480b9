package accounts_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/accounts"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/models"
)

// TestStrangersAreBounded: side by side, a network registers so often within an hour, and all strangers together cause so many mails.
func TestStrangersAreBounded(t *testing.T) {
	t.Parallel()

	policies := models.DefaultPolicies()
	policies.Strangers = models.StrangerRules{Mails: 10, Registrations: 3}

	b := setup(t, policies)
	ctx := t.Context()

	var let atomic.Int32

	bookstest.Parallel(8, func(int) {
		ok, next, err := b.Store.Accounts.MayRegister(ctx, home, time.Now())
		if err != nil || next <= 0 || next > time.Hour {
			t.Error(err, next)
		}

		if ok {
			let.Add(1)
		}
	})

	require.EqualValues(t, 3, let.Load())

	ok, _, err := b.Store.Accounts.MayRegister(ctx, stranger, time.Now())
	require.NoError(t, err)
	require.True(t, ok, "another network")

	b.Exec(t, "UPDATE stranger_counts SET hour = hour - interval '1 hour'")

	ok, _, err = b.Store.Accounts.MayRegister(ctx, home, time.Now())
	require.NoError(t, err)
	require.True(t, ok, "another hour")

	register := func(email string) {
		_, _, err := b.Store.Accounts.Register(ctx, db.Actor{}, models.User{
			Name: "S", Email: email, Phone: "+966500000001", PasswordHash: "x", Role: models.RoleEndUser,
		})
		if err != nil && models.CodeOf(err) != models.CodeEmailAlreadyExists {
			t.Error(err)
		}
	}

	bookstest.Parallel(20, func(i int) {
		switch i % 3 {
		case 0:
			register(fmt.Sprintf("s%d@rihla.test", i))
		case 1:
			register(b.Customer.Email)
		default:
			if _, err := b.Store.Accounts.AskForReset(ctx, db.Actor{}, b.Customer.Email); err != nil {
				t.Error(err)
			}
		}
	})

	require.LessOrEqual(t, b.Count(t, "SELECT count(*) FROM notifications WHERE kind <> 'RESET_PASSWORD'"), 10)
	require.Equal(t, 10, b.Count(t, "SELECT count FROM stranger_counts WHERE subject = 'mails'"))

	// The hour is over for all: the account is there, and without a mail.
	register("late@rihla.test")
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM users WHERE email = 'late@rihla.test'"))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications WHERE recipient = 'late@rihla.test'"))

	late, err := b.Store.Accounts.UserByEmail(ctx, "late@rihla.test")
	require.NoError(t, err)

	ok, err = b.Store.Accounts.MayMailUnproved(ctx, db.Actor{}, &late, models.TokenVerifyEmail)
	require.NoError(t, err)
	require.False(t, ok)
	require.Positive(t, b.overdue(t).StrangerMails)

	verified := time.Now()
	late.EmailVerifiedAt = &verified
	ok, err = b.Store.Accounts.MayMailUnproved(ctx, db.Actor{}, &late, models.TokenVerifyEmail)
	require.NoError(t, err)
	require.True(t, ok)

	b.Exec(t, "UPDATE stranger_counts SET hour = hour - interval '1 day'")

	_, err = b.Store.Accounts.PurgeRefreshTokens(ctx, time.Minute)
	require.NoError(t, err)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM stranger_counts"))
}

// TestBucketsAreKeyed: which addresses without an account share a row depends on a key: without it none are found.
func (b *books) overdue(t *testing.T) payments.Overdue {
	t.Helper()

	o, err := b.Store.Payments.Overdue(t.Context(), time.Now())
	require.NoError(t, err)

	return o
}

// TestOneNetworkDoesNotEndTheMailsOfAll: whatever one network asks for, an owner whose address is proved gets the link, and so do strangers
// of other networks. What is not sent is not counted.
func TestOneNetworkDoesNotEndTheMailsOfAll(t *testing.T) {
	t.Parallel()

	policies := models.DefaultPolicies()
	policies.Strangers = models.StrangerRules{Mails: 40, Registrations: 100}

	b := setup(t, policies)
	ctx := t.Context()
	attacker, other := db.Actor{Network: stranger}, db.Actor{Network: home}

	open := func(by db.Actor, email string) models.User {
		t.Helper()

		u, _, err := b.Store.Accounts.Register(ctx, by, models.User{
			Name: "S", Email: email, Phone: "+966500000001", PasswordHash: "x", Role: models.RoleEndUser,
		})
		require.NoError(t, err)

		return u
	}
	mails := func(to string) int {
		return b.Count(t, "SELECT count(*) FROM notifications WHERE recipient = $1", to)
	}

	one := open(attacker, "one@rihla.test")

	for range 100 {
		_, err := b.Store.Accounts.AskForReset(ctx, attacker, one.Email)
		require.NoError(t, err)
	}

	require.Equal(t, 2, mails(one.Email), "the link that proves the address, and one to reset the password")
	require.Equal(t, 2, b.Count(t, "SELECT count FROM stranger_counts WHERE subject = 'mails'"), "what is not sent is not counted")

	for i := range 60 {
		open(attacker, fmt.Sprintf("many%d@rihla.test", i))
	}

	require.Equal(t, leastOfNetwork, b.Count(t, "SELECT count FROM stranger_counts WHERE subject = 'mails'"))

	fresh := open(other, "fresh@rihla.test")
	require.Equal(t, 1, mails(fresh.Email))

	b.Exec(t, "UPDATE stranger_counts SET count = 1000")
	b.Exec(t, "UPDATE users SET email_verified_at = now() WHERE id = $1", b.Customer.ID)

	queued, err := b.Store.Accounts.AskForReset(ctx, attacker, b.Customer.Email)
	require.NoError(t, err)
	require.True(t, queued, "an owner whose address is proved")
	require.Zero(t, b.overdue(t).StrangerMails)
}

// leastOfNetwork is how many mails a network may cause in an hour however few all may.
const leastOfNetwork = 10

// TestLinksOfOneMailbox: accounts of addresses that differ behind a plus sign are one mailbox, which gets so many links a day.
func TestLinksOfOneMailbox(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ctx := t.Context()

	for i := range 30 {
		by := db.Actor{Network: fmt.Sprintf("10.0.%d.0/24", i)}

		u, _, err := b.Store.Accounts.Register(ctx, by, models.User{
			Name: "S", Email: fmt.Sprintf("box+%d@rihla.test", i), Phone: "+966500000001", PasswordHash: "x", Role: models.RoleEndUser,
		})
		require.NoError(t, err)

		_, err = b.Store.Accounts.AskForReset(ctx, by, u.Email)
		require.NoError(t, err)
	}

	require.Equal(t, 10, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'RESET_PASSWORD'"),
		"twenty links of both kinds, and none to reset a password after them")
}

func TestBucketsAreKeyed(t *testing.T) {
	t.Parallel()
	b := setup(t)

	rows := func(key string) (subjects string) {
		b.Exec(t, "DELETE FROM login_throttles")
		b.Store.Accounts.KeyUnknown([]byte(key))

		for i := range 20 {
			require.NoError(t, b.guess(t, fmt.Sprintf("nobody%d@rihla.test", i), stranger, time.Now()))
		}

		require.NoError(t, b.DB.QueryRowContext(t.Context(), "SELECT string_agg(subject::text, ' ' ORDER BY subject) FROM login_throttles").Scan(&subjects))

		return subjects
	}

	one := rows("one key")
	require.Equal(t, one, rows("one key"))
	require.NotEqual(t, one, rows("another key"))

	b.Exec(t, "UPDATE login_throttles SET failed_at = now() - interval '2 days', counted_from = now() - interval '2 days'")
	require.NoError(t, b.guess(t, b.Customer.Email, stranger, time.Now()))
	b.Exec(t, "UPDATE login_throttles SET failed_at = now() - interval '2 days', counted_from = now() - interval '2 days'")

	_, err := b.Store.Accounts.PurgeRefreshTokens(t.Context(), time.Minute)
	require.NoError(t, err)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM login_throttles"), "the row of an account stays, with its networks")
}

// TestRefreshAgain: a client that has lost the answer gets the same successor, for a while, and as long as that was not used.
func TestRefreshAgain(t *testing.T) {
	t.Parallel()

	home := accounts.LoginFrom{Network: home, Address: "198.51.100.7", UserAgent: "phone"}

	for name, c := range map[string]struct {
		from   func(*accounts.LoginFrom)
		change string // of the rows before
		use    bool   // the successor before
		ends   bool   // the session
	}{
		"the same client":     {},
		"another network":     {from: func(f *accounts.LoginFrom) { f.Network = stranger }, ends: true},
		"no network":          {from: func(f *accounts.LoginFrom) { f.Network = "" }, ends: true},
		"another device":      {from: func(f *accounts.LoginFrom) { f.UserAgent = "laptop" }, ends: true},
		"too late":            {change: "UPDATE refresh_tokens SET spent_at = spent_at - interval '31 seconds' WHERE spent_at IS NOT NULL", ends: true},
		"the successor used":  {use: true, ends: true},
		"of an older process": {change: "UPDATE refresh_tokens SET successor = NULL, successor_hash = NULL", ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			family := b.logIn(t, "one")
			second := next("two")
			second.Sealed = []byte("two, sealed")

			_, err := b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("one"), second, home, time.Now())
			require.NoError(t, err)

			if c.change != "" {
				b.Exec(t, c.change)
			}

			if c.use {
				_, err := b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("two"), next("three"), home, time.Now())
				require.NoError(t, err)
			}

			from := home
			if c.from != nil {
				c.from(&from)
			}

			lost := next("four")
			lost.Sealed = []byte("four, sealed")
			again, err := b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("one"), lost, from, time.Now())

			open := b.Count(t, "SELECT count(*) FROM sessions WHERE id = $1 AND ended_at IS NULL", family)

			if c.ends {
				bookstest.RequireCode(t, models.CodeInvalidCredentials, err)
				require.Zero(t, open)

				return
			}

			require.NoError(t, err)
			require.Equal(t, []byte("two, sealed"), again.Again)
			require.Equal(t, family, again.Session.ID)
			require.Equal(t, 1, open)
			require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM refresh_tokens WHERE family_id = $1", family), "none was made")

			_, err = b.Store.Accounts.RotateRefreshToken(t.Context(), []byte("two"), next("three"), home, time.Now())
			require.NoError(t, err, "and it works")
		})
	}
}
