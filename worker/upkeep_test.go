package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"rihla/internal/store"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/internal/testkit"
	"rihla/models"
)

// What fails is tried again every second, and an outage is logged once.
func TestUpkeepGoesOn(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var (
			runs   atomic.Int64
			logged bytes.Buffer
		)

		u := newUpkeep(slog.New(slog.NewTextHandler(&logged, nil)), "left undone", func(context.Context) (int64, error) {
			if n := runs.Add(1); n > 1 && n < 5 {
				return 0, errors.New("away")
			}

			return 1, nil
		})
		u.start()
		time.Sleep(7*upkeepEvery + upkeepEvery/2)
		u.stop()

		require.EqualValues(t, 7, runs.Load())
		require.Equal(t, 1, strings.Count(logged.String(), "left undone"), logged.String())

		time.Sleep(10 * upkeepEvery)
		require.EqualValues(t, 7, runs.Load(), "nothing is done after the end")
	})
}

// A worker that ends does not wait for what it does beside payments.
func TestUpkeepEnds(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(*testing.T) {
		began := make(chan struct{})

		u := newUpkeep(slog.New(slog.DiscardHandler), "", func(ctx context.Context) (int64, error) {
			close(began)
			<-ctx.Done()

			return 0, ctx.Err()
		})
		u.start()
		<-began
		u.stop()
	})
}

// A worker cleans the lists of new entries of the indexes that searches read, in the role of the service, which does not own them.
func TestUpkeepCleansSearchLists(t *testing.T) {
	t.Parallel()

	database := storetest.Database(t)
	owner, conn := storetest.OpenAt(t, database, models.DefaultPolicies())
	b := bookstest.BooksOf(t, owner, conn)

	url := testkit.AsService(t, database)
	require.NoError(t, owner.DB.GrantTo(t.Context(), testkit.ServiceRole))

	service, err := store.Open(t.Context(), url, models.DefaultPolicies(), db.Options{MaxConns: 2})
	require.NoError(t, err)

	defer service.Close()

	b.Paid(t, 1)
	b.Exec(t, "UPDATE search_lists SET rows_at_cleaning = 1000000") // as after a crash, when the count begins anew

	u := newListCleaner(Deps{Store: service, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	u.start()
	require.Eventually(t, func() bool {
		return b.Count(t, "SELECT count(*) FROM search_lists WHERE rows_at_cleaning = 1000000") == 0
	}, time.Minute, upkeepEvery/10)
	u.stop()

	b.Exec(t, "UPDATE search_lists SET rows_at_cleaning = 1000000")

	pages, err := service.DB.CleanSearchLists(t.Context())
	require.NoError(t, err)
	require.Zero(t, pages, "nothing was left")
}

// Without the schedule of the sweep lost events wait for ever. One that was deleted comes back without a restart; one that is there
// is left as it is, paused too.
func TestADeletedScheduleIsMadeAgain(t *testing.T) {
	t.Parallel()

	c, err := client.Dial(client.Options{HostPort: testkit.Temporal(t)})
	require.NoError(t, err)
	t.Cleanup(c.Close)

	d := Deps{Log: slog.New(slog.DiscardHandler), Temporal: c, Queue: "test-" + uuid.NewString(), SweepInterval: time.Hour}
	require.NoError(t, ensureSchedules(t.Context(), d.Log, c, d.Queue, d.SweepInterval))

	sweep := c.ScheduleClient().GetHandle(t.Context(), models.SweepScheduleID(d.Queue))
	audit := c.ScheduleClient().GetHandle(t.Context(), models.AuditScheduleID(d.Queue))

	t.Cleanup(func() {
		require.NoError(t, sweep.Delete(context.WithoutCancel(t.Context())))
		require.NoError(t, audit.Delete(context.WithoutCancel(t.Context())))
	})
	require.NoError(t, audit.Pause(t.Context(), client.SchedulePauseOptions{}))
	require.NoError(t, sweep.Delete(t.Context()))

	keeper := newScheduleKeeper(d)
	require.LessOrEqual(t, keeper.every, time.Minute)
	keeper.every = 10 * time.Millisecond

	keeper.start()
	defer keeper.stop()

	require.Eventually(t, func() bool {
		found, err := sweep.Describe(t.Context())

		return err == nil && found.Schedule.Spec.Intervals[0].Every == time.Hour
	}, 30*time.Second, 20*time.Millisecond)

	found, err := audit.Describe(t.Context())
	require.NoError(t, err)
	require.True(t, found.Schedule.State.Paused)
}
