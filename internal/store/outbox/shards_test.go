package outbox_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/outbox"
	"rihla/models"
)

func (b *books) lease(t *testing.T, owner uuid.UUID, shards []int, now time.Time) []int {
	t.Helper()

	held, err := b.Store.Outbox.LeaseShards(t.Context(), owner, shards, now)
	require.NoError(t, err)

	return held
}

func TestAShardHasOneDeliverer(t *testing.T) {
	t.Parallel()
	b := setup(t)

	first, second, now := uuid.New(), uuid.New(), time.Now()
	require.ElementsMatch(t, outbox.AllShards(), b.lease(t, first, outbox.AllShards(), now))
	require.Empty(t, b.lease(t, second, []int{1, 3}, now.Add(2*time.Second)), "they are the other one's")
	require.ElementsMatch(t, []int{1, 3}, b.lease(t, first, []int{1, 3}, now.Add(2*time.Second)), "who renews them")
	require.ElementsMatch(t, []int{2}, b.lease(t, second, []int{1, 2, 3}, now.Add(4*time.Second)), "and loses what was not renewed")

	require.NoError(t, b.Store.Outbox.ReleaseShards(t.Context(), first))
	require.ElementsMatch(t, []int{1, 3}, b.lease(t, second, []int{1, 3}, now.Add(4*time.Second)), "what is let go of can be had at once")
	require.ElementsMatch(t, []int{0}, b.lease(t, first, []int{0, 1, 2, 3}, now.Add(5*time.Second)))
}

func TestParallelLeasesOfAShard(t *testing.T) {
	t.Parallel()
	b := setup(t)

	now, held := time.Now(), make(chan int, 100)

	bookstest.Parallel(8, func(int) {
		got, err := b.Store.Outbox.LeaseShards(t.Context(), uuid.New(), outbox.AllShards(), now)
		if err != nil {
			t.Error(err)
		}

		for _, shard := range got {
			held <- shard
		}
	})
	close(held)

	times := map[int]int{}
	for shard := range held {
		times[shard]++
	}

	require.Len(t, times, outbox.Shards)

	for shard, n := range times {
		require.Equal(t, 1, n, shard)
	}
}

// message queues one by mail at a moment.
func (b *books) message(t *testing.T, to string, at time.Time) uuid.UUID {
	t.Helper()

	id := uuid.New()
	b.Exec(t, `INSERT INTO notifications (id, user_id, kind, channel, locale, recipient, created_at, next_attempt_at)
		VALUES ($1, $2, 'LOGIN_LOCKED', 'EMAIL', 'en', $3, $4, $4)`, id, b.Customer.ID, to, at)

	return id
}

func TestEveryAddressIsInOneShard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "it queues messages without a cause", "notification")

	now := time.Now()

	for i := range 60 {
		b.message(t, fmt.Sprintf("Customer-%d@rihla.test", i), now)
		b.message(t, fmt.Sprintf("customer-%d@RIHLA.test", i), now)
	}

	shardOf := map[outbox.Address]int{}

	for _, shard := range outbox.AllShards() {
		rows, err := b.Store.Outbox.ClaimNotifications(t.Context(), outbox.Claim{Shards: []int{shard}}, 1000, now)
		require.NoError(t, err)
		require.NotEmpty(t, rows)
		require.Zero(t, len(rows)%2, "an address is the same in all spellings")

		for i := range rows {
			to := outbox.AddressOf(&rows[i])
			if other, met := shardOf[to]; met {
				require.Equal(t, other, shard)
			}

			shardOf[to] = shard
		}
	}

	require.Len(t, shardOf, 60)
	require.Empty(t, b.Claim(t, 10, now))
}

// What a killed deliverer had claimed comes before what was queued since.
func TestKilledDeliverersKeepTheOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "it queues messages without a cause", "notification")

	const to = "customer@rihla.test"

	killed, next, now := uuid.New(), uuid.New(), time.Now()
	failed, first := b.message(t, to, now.Add(-2*time.Minute)), b.message(t, to, now.Add(-time.Minute))
	b.lease(t, killed, outbox.AllShards(), now)

	rows := b.Claim(t, 10, now)
	require.Equal(t, []uuid.UUID{failed, first}, ids(rows))
	b.Failed(t, &rows[0], false, "temporary failure", now)

	second := b.message(t, to, now.Add(time.Second))
	require.Empty(t, b.lease(t, next, outbox.AllShards(), now.Add(2*time.Second)))
	require.Len(t, b.lease(t, next, outbox.AllShards(), now.Add(3*time.Second)), outbox.Shards)

	require.Equal(t, []uuid.UUID{first}, ids(b.Claim(t, 1, now.Add(3*time.Second))))
	require.Equal(t, []uuid.UUID{failed, second}, ids(b.Claim(t, 10, now.Add(3*time.Second))), "who failed waited for 2 s, and was overtaken")

	// A renewal is no second taking-over.
	b.lease(t, next, outbox.AllShards(), now.Add(4*time.Second))
	require.Empty(t, b.Claim(t, 10, now.Add(4*time.Second)))
}

func TestReturnedNotifications(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.queued(t, 2)

	now := time.Now().Add(time.Second)
	rows := b.Claim(t, 10, now)
	require.Len(t, rows, 4)
	b.Sent(t, &rows[0], now)
	require.NoError(t, b.Store.Outbox.ReturnNotifications(t.Context(), ids(rows), now))
	require.Equal(t, 3, b.Count(t, "SELECT count(*) FROM notifications WHERE attempts = 0 AND next_attempt_at = created_at"))
	require.Equal(t, ids(rows[1:]), ids(b.Claim(t, 10, now)), "they are due again, in the same order")
}

func TestClaimsLeaveOutAddresses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "it queues messages without a cause", "notification")

	now := time.Now()
	b.message(t, "Flooded@rihla.test", now)
	other := b.message(t, "other@rihla.test", now)

	rows, err := b.Store.Outbox.ClaimNotifications(t.Context(), outbox.Claim{Except: []string{"flooded@rihla.test"}}, 10, now)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{other}, ids(rows))
}

// Messages that are under way count among those that an address has had on the same channel, and what was paid is none of them.
func TestMessagesUnderWayCount(t *testing.T) {
	t.Parallel()
	p := models.DefaultPolicies()
	p.MessagesPerRecipient = 3
	b := setup(t, p)

	b.queued(t, 3)

	rows := b.Claim(t, 10, time.Now().Add(time.Second))
	require.Len(t, rows, 6)

	paid := slices.Clone(rows[:2])

	// As they would be read, had the bookings not been paid.
	for i := range rows {
		rows[i].Kind = models.NotifyPaymentFailed
	}

	rows = append(rows, paid...)

	left, err := b.Store.Outbox.WithholdNotifications(t.Context(), rows, map[outbox.Address]int{outbox.AddressOf(&rows[0]): 2}, time.Now())
	require.NoError(t, err)
	require.Len(t, left, 6, "one on this channel and three on the other one, and what was paid on both")
}
