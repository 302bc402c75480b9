package audit

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireSameInParts requires that an audit that takes two payments at a time breaks the same rules.
func requireSameInParts(t *testing.T, tx *sql.Tx, c tampering, rules map[string]bool) {
	t.Helper()

	named := map[string]bool{}
	sum, err := inspect(t.Context(), tx, 2, func(d Difference) error {
		named[d.Rule] = true

		return nil
	})
	require.NoError(t, err)
	require.Empty(t, sum.Unseen)

	if c.name == "the entry of another payment" { // is not there to be compared with: it is missing instead
		require.True(t, rules["transfer-moment"])
		rules = map[string]bool{"transfer-accounts": true, "transfer-cause": true}
	}

	if c.name == "no such payment" { // its entry is in the first part, its transfers in that of their payment, which misses it
		delete(named, "transfer-cause")
	}

	require.Equal(t, rules, named, "in parts")
}

// Every payment is in one part, and so is every id that no payment has.
func TestParts(t *testing.T) {
	t.Parallel()

	w := newWorld(t)

	tx, err := w.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	defer func() { _ = tx.Rollback() }()

	var payments int
	require.NoError(t, tx.QueryRowContext(t.Context(), "SELECT count(*) FROM payment_transactions").Scan(&payments))
	require.Greater(t, payments, 3)

	for _, size := range []int{1, 2, 3, payments - 1, payments, payments + 1} {
		all, err := parts(t.Context(), tx, size)
		require.NoError(t, err)
		require.Len(t, all, (payments+size-1)/size)
		require.Empty(t, all[0].from)
		require.Empty(t, all[len(all)-1].below)

		if size >= payments {
			require.Equal(t, "SELECT 1", all[0].scoped("SELECT 1"), "the whole is read as it is")

			continue
		}

		var sum int

		for i, p := range all {
			if i > 0 {
				require.Equal(t, all[i-1].below, p.from)
			}

			var n int
			require.NoError(t, tx.QueryRowContext(t.Context(), p.scoped("SELECT count(*) FROM payment_transactions")).Scan(&n))
			require.LessOrEqual(t, n, size)
			require.Positive(t, n)

			sum += n
		}

		require.Equal(t, payments, sum)
	}
}
