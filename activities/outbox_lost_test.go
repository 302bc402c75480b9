package activities_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/internal/notify"
	"rihla/internal/store/outbox"
	"rihla/models"
)

// slowPostman holds each message until it is let go.
type slowPostman struct {
	notify.Sender

	begun chan uuid.UUID
	goOn  chan struct{}
}

func (p *slowPostman) Send(_ context.Context, m notify.Message) error {
	p.begun <- m.ID
	<-p.goOn

	return nil
}

// mail queues a message for each of some addresses, which are of all shards.
func (d *desk) mail(t *testing.T, n int) {
	t.Helper()

	for i := range n {
		_, err := d.db.ExecContext(t.Context(), `INSERT INTO notifications (id, user_id, kind, channel, locale, recipient)
			VALUES ($1, $2, 'LOGIN_LOCKED', 'EMAIL', 'en', $3)`,
			uuid.New(), d.world.Users[models.RoleEndUser].ID, fmt.Sprintf("customer-%d@rihla.test", i))
		require.NoError(t, err)
	}
}

// TestWhoHasLostAShardSendsNothingMore: not when it renews its other leases, and not when the shard is free again, since another
// deliverer has had the messages meanwhile.
func TestWhoHasLostAShardSendsNothingMore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.mail(t, 40)

	p := &slowPostman{begun: make(chan uuid.UUID, 100), goOn: make(chan struct{})}
	box := &activities.Outbox{
		Log: silent, Store: d.Store, Sender: p, Now: time.Now, AtOnce: map[models.NotificationChannel]int{models.NotifyEmail: 1},
	}

	ended := make(chan activities.Delivered, 1)

	go func() {
		out, err := box.DeliverNotifications(t.Context())
		if err != nil {
			t.Error(err)
		}

		ended <- out
	}()

	first := <-p.begun

	// Another deliverer takes all shards but one over, delivers what is due, and gives them back.
	other := uuid.New()
	_, err := d.db.ExecContext(t.Context(), "UPDATE outbox_shards SET owner = $1 WHERE shard > 0", other)
	require.NoError(t, err)

	renewed := func() bool {
		var until time.Time

		err := d.db.QueryRowContext(t.Context(), "SELECT leased_until FROM outbox_shards WHERE shard = 0").Scan(&until)

		return err == nil && time.Until(until) > outbox.DeliveryLease-time.Second/2
	}

	waitForRenewal := func() {
		require.Eventually(t, func() bool { return !renewed() }, 10*time.Second, 10*time.Millisecond)
		require.Eventually(t, renewed, 10*time.Second, 10*time.Millisecond)
	}

	waitForRenewal()

	_, err = d.db.ExecContext(t.Context(), "UPDATE notifications SET status = 'SENT', sent_at = now() WHERE id <> $1", first)
	require.NoError(t, err)
	require.NoError(t, d.Store.Outbox.ReleaseShards(t.Context(), other))

	waitForRenewal()
	close(p.goOn)

	require.Equal(t, 1, (<-ended).Sent)
	require.Empty(t, p.begun, "nothing is sent twice")
}

// poison makes a sender panic.
type poison struct{ notify.Sender }

func (poison) Send(context.Context, notify.Message) error { panic("poison") }

// TestAPanicOfASenderIsAFailure: of that message; the worker goes on.
func TestAPanicOfASenderIsAFailure(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.mail(t, 1)

	out, err := (&activities.Outbox{Log: silent, Store: d.Store, Sender: poison{}, Now: time.Now}).DeliverNotifications(t.Context())
	require.NoError(t, err)
	require.Equal(t, activities.Delivered{Failed: 1}, out)
}
