package db_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/storetest"
	"rihla/models"
)

// Accounts that could not be reached get the address as it looks, unless it is another one's, and no more of them can be made.
func TestMigrationPutsAddressesRight(t *testing.T) {
	t.Parallel()
	conn, last := before(t, "0063")

	for _, email := range []string{"plain@rihla.test", "Plain@rihla.test\u200e", "\u202aalone@ri\u200bhla.test\u00a0"} {
		execute(t, conn, "INSERT INTO users (id, name, email, role, password_hash) VALUES (gen_random_uuid(), 'User', $1, 'END_USER', 'x')", email)
	}

	for range 2 { // it may be run again
		for part := range strings.SplitSeq(last, "--bun:split") {
			execute(t, conn, part)
		}
	}

	rows, err := conn.QueryContext(t.Context(), "SELECT replace(email, id::text, 'id') FROM users ORDER BY created_at, email")
	require.NoError(t, err)

	defer rows.Close()

	var emails []string

	for rows.Next() {
		var email string
		require.NoError(t, rows.Scan(&email))
		emails = append(emails, email)
	}

	require.NoError(t, rows.Err())
	require.ElementsMatch(t, []string{"plain@rihla.test", "id@unreachable.invalid", "alone@rihla.test"}, emails)

	_, err = conn.ExecContext(t.Context(), "INSERT INTO users (id, name, email, role, password_hash) VALUES (gen_random_uuid(), 'User', $1, 'END_USER', 'x')", "new\u200e@rihla.test")
	require.ErrorContains(t, err, "users_email_plain")
}

// One account has one address, however it was pasted: when it is made, logged in to or asked for.
func TestAccountsAreFoundByTheAddressAsItLooks(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t, models.DefaultPolicies())

	made, err := s.Accounts.CreateUser(t.Context(), models.User{
		Name: "User", Email: "\u202aNew@rihla.test\u200e", PasswordHash: "x", Role: models.RoleEndUser,
	})
	require.NoError(t, err)
	require.Equal(t, "New@rihla.test", made.Email)

	for _, email := range []string{"new@rihla.test", "new@rihla.test\u200f", "\ufeffNEW@rihla.test ", "ne\u00adw@rihla.test"} {
		found, err := s.Accounts.UserByEmail(t.Context(), email)
		require.NoError(t, err, "%+q", email)
		require.Equal(t, made.ID, found.ID)

		_, err = s.Accounts.CreateUser(t.Context(), models.User{Name: "User", Email: email, PasswordHash: "x", Role: models.RoleEndUser})
		require.Equal(t, models.CodeEmailAlreadyExists, models.CodeOf(err), "%+q", email)
	}
}
