package inbox

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

// books are a store whose statements the test lets go.
type books struct {
	mu      sync.Mutex
	batches [][]string // webhook ids
	alone   []string

	hold chan struct{}                              // a statement takes one; nil: none waits
	fail func(events []models.WebhookEvent) error   // of a batch
	bad  map[string]bool                            // fail alone, too
	open func(e *models.WebhookEvent) (stored bool) // nil: all
}

func (b *books) queue() *Queue { return NewQueue(slog.New(slog.DiscardHandler), b.together, b.one) }

func (b *books) together(_ context.Context, events []models.WebhookEvent) (map[uuid.UUID]Stored, error) {
	b.mu.Lock()
	ids := make([]string, len(events))

	for i := range events {
		ids[i] = events[i].WebhookID
	}

	b.batches = append(b.batches, ids)
	b.mu.Unlock()

	if b.hold != nil {
		<-b.hold
	}

	if b.fail != nil {
		if err := b.fail(events); err != nil {
			return nil, err
		}
	}

	out := map[uuid.UUID]Stored{}

	for i := range events {
		if b.open == nil || b.open(&events[i]) {
			out[events[i].ID] = Stored{Known: true, Deliver: true, Delivery: models.Delivery{EventID: events[i].ID}}
		}
	}

	return out, nil
}

func (b *books) one(_ context.Context, e models.WebhookEvent, _ time.Time) (Stored, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.alone = append(b.alone, e.WebhookID)

	if b.bad[e.WebhookID] {
		return Stored{}, errors.New("cannot be stored")
	}

	return Stored{Known: true, Delivery: models.Delivery{EventID: e.ID}}, nil
}

func event(channel models.Channel, id string) models.WebhookEvent {
	return models.WebhookEvent{
		ID: models.NewID(), Channel: channel, WebhookID: id, Type: models.EventPaymentSucceeded, CheckoutID: "c",
		MerchantReference: uuid.NewString(),
	}
}

func put(t *testing.T, in *Queue, ctx context.Context, channel models.Channel, id string) <-chan error { //nolint:revive // t comes first
	t.Helper()

	done := make(chan error, 1)

	go func() {
		_, err := in.Put(ctx, event(channel, id), time.Now())
		done <- err
	}()

	synctest.Wait()

	return done
}

// TestEventsGoTogetherWhileOthersAreWritten: the first goes at once and by itself, those that arrive meanwhile go together, in their order.
func TestEventsGoTogetherWhileOthersAreWritten(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := &books{hold: make(chan struct{})}
		in := b.queue()

		ids := []string{"1", "2", "3", "4"}
		done := make([]<-chan error, 0, len(ids))

		for _, id := range ids {
			done = append(done, put(t, in, t.Context(), models.ChannelGatewayA, id))
		}

		require.Equal(t, [][]string{{"1"}}, b.batches)

		b.hold <- struct{}{}

		synctest.Wait()
		require.NoError(t, <-done[0])
		require.Equal(t, [][]string{{"1"}, {"2", "3", "4"}}, b.batches)
		require.Empty(t, done[1], "none is answered before its commit")

		close(b.hold)

		for _, d := range done[1:] {
			require.NoError(t, <-d)
		}

		require.NoError(t, <-put(t, in, t.Context(), models.ChannelGatewayA, "5"), "and so on")
		require.Empty(t, b.alone)
	})
}

// TestOneBadEventFailsAlone: the others of its batch are stored.
func TestOneBadEventFailsAlone(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := &books{
			hold: make(chan struct{}), bad: map[string]bool{"bad": true},
			fail: func(events []models.WebhookEvent) error {
				if len(events) > 1 {
					return &pgconn.PgError{Code: "22021"}
				}

				return nil
			},
		}
		in := b.queue()

		put(t, in, t.Context(), models.ChannelGatewayA, "first")

		bad, good := put(t, in, t.Context(), models.ChannelGatewayA, "bad"), put(t, in, t.Context(), models.ChannelGatewayA, "good")

		close(b.hold)
		require.ErrorContains(t, <-bad, "cannot be stored")
		require.NoError(t, <-good)
		require.ElementsMatch(t, []string{"bad", "good"}, b.alone)
	})
}

// TestAPanicIsNoEndForOthers: what one event makes panic is an error of that event alone; and deliveries after it are stored as ever.
func TestAPanicIsNoEndForOthers(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := &books{
			hold: make(chan struct{}), bad: map[string]bool{"poison": true},
			fail: func(events []models.WebhookEvent) error {
				for i := range events {
					if events[i].WebhookID == "poison" {
						panic(events[i])
					}
				}

				return nil
			},
		}
		in := b.queue()

		put(t, in, t.Context(), models.ChannelGatewayA, "first")

		poison, good := put(t, in, t.Context(), models.ChannelGatewayA, "poison"), put(t, in, t.Context(), models.ChannelGatewayA, "good")

		close(b.hold)
		require.ErrorContains(t, <-poison, "cannot be stored")
		require.NoError(t, <-good)
		require.ElementsMatch(t, []string{"poison", "good"}, b.alone)

		require.NoError(t, <-put(t, in, t.Context(), models.ChannelGatewayA, "later"))
		require.Equal(t, []string{"later"}, b.batches[len(b.batches)-1])
		require.Zero(t, in.channels[models.ChannelGatewayA].inside)
	})
}

// TestWithoutTheDatabaseNothingIsTriedAgain: all of a batch get its error, and no event is tried alone.
func TestWithoutTheDatabaseNothingIsTriedAgain(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		away := &pgconn.PgError{Code: "57P01"}
		b := &books{fail: func([]models.WebhookEvent) error { return away }}

		require.ErrorIs(t, <-put(t, b.queue(), t.Context(), models.ChannelGatewayA, "1"), away)
		require.Empty(t, b.alone)
	})
}

// TestOthersAreStoredAlone: an event that the statement has left out, or that is none of its kind.
func TestOthersAreStoredAlone(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := &books{open: func(*models.WebhookEvent) bool { return false }}
		in := b.queue()

		require.NoError(t, <-put(t, in, t.Context(), models.ChannelGatewayA, "ended"))

		refund := event(models.ChannelGatewayA, "refund")
		refund.Type = models.EventRefundSucceeded

		_, err := in.Put(t.Context(), refund, time.Now())
		require.NoError(t, err)
		require.Equal(t, []string{"ended", "refund"}, b.alone)
		require.Len(t, b.batches, 1)
	})
}

// TestAFullChannelRefusesAtOnce: with as many deliveries under way as it may have; another channel goes on, and it does when there
// is room again.
func TestAFullChannelRefusesAtOnce(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := &books{hold: make(chan struct{})}
		in := b.queue()

		var stored sync.WaitGroup

		for range maxInside {
			stored.Go(func() {
				_, err := in.Put(t.Context(), event(models.ChannelGatewayA, "storm"), time.Now())
				if err != nil {
					t.Error(err)
				}
			})
		}

		synctest.Wait()
		require.ErrorIs(t, <-put(t, in, t.Context(), models.ChannelGatewayA, "one too many"), ErrFull)

		other := put(t, in, t.Context(), models.ChannelWalletB, "another channel's")
		require.Equal(t, []string{"another channel's"}, b.batches[len(b.batches)-1])

		close(b.hold)
		require.NoError(t, <-other)
		stored.Wait()

		for _, batch := range b.batches {
			require.LessOrEqual(t, len(batch), maxBatch)
		}

		require.NoError(t, <-put(t, in, t.Context(), models.ChannelGatewayA, "later"))
		require.Zero(t, in.channels[models.ChannelGatewayA].inside)
	})
}

// TestARequestThatGaveUpIsNotStored: the gateway has got its answer, and delivers again.
func TestARequestThatGaveUpIsNotStored(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := &books{hold: make(chan struct{})}
		in := b.queue()

		put(t, in, t.Context(), models.ChannelGatewayA, "first")

		ctx, cancel := context.WithCancel(t.Context())
		gone := put(t, in, ctx, models.ChannelGatewayA, "gone")
		stays := put(t, in, t.Context(), models.ChannelGatewayA, "stays")

		cancel()
		require.ErrorIs(t, <-gone, context.Canceled)

		close(b.hold)
		require.NoError(t, <-stays)
		require.Equal(t, [][]string{{"first"}, {"stays"}}, b.batches)
	})
}
