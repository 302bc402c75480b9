package cmd

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/migrations"
)

// The plan says of every lock and work that a migration can have what it means to the others.
func TestPlanInWords(t *testing.T) {
	t.Parallel()

	for _, e := range migrations.Effects() {
		require.Contains(t, lockWords, e.Lock)
		require.NotContains(t, work(db.PlanEffect{Effect: e}), "%!")
	}

	from := migrations.Release{Version: "1.1.0"}
	to := migrations.Release{Version: "1.2.0", Beside: true}
	to.NoReturn.When = "a period is closed"

	var out strings.Builder

	require.NoError(t, printPlan(&out, db.Plan{
		From: &from, To: to,
		Steps: []db.PlanStep{{Name: "0095_terms", InTransaction: true, Effects: []db.PlanEffect{
			{Effect: migrations.Effect{Table: "bookings", Lock: "AccessExclusiveLock", Work: "rewrite"}, Rows: 3_000_000, Time: 15 * time.Second},
			{Effect: migrations.Effect{Table: "trips", Lock: "ShareUpdateExclusiveLock", Work: "index"}, Rows: 9},
			{Effect: migrations.Effect{Table: "users", Lock: "ShareRowExclusiveLock", Work: "catalogue"}},
		}}},
		NoReturn: []db.PointOfNoReturn{{Release: to, Passed: true}},
	}))
	require.Equal(t, `From 1.1.0 to 1.2.0.

0095_terms, in one transaction
  bookings                 others wait; writes it anew: 3000000 rows, about 15s
  trips                    others read and write; makes an index: 9 rows, less than a second
  users                    others read, and wait to write; for a moment

Processes of 1.1.0 go on meanwhile and afterwards, beside those of 1.2.0.

No way back from 1.2.0 once a period is closed. This has happened: restore a backup to go back.
`, out.String())
}
