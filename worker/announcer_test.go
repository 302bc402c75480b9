package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// What is decided while an announcement is under way goes with the next, and one that fails does not end the others.
func TestAnnouncerTakesAllThatIsDue(t *testing.T) {
	t.Parallel()

	began, goOn := make(chan struct{}), make(chan struct{})
	announced := make(chan []uuid.UUID, 10)

	var once sync.Once

	a := newAnnouncer(slog.New(slog.DiscardHandler), "ids", 0, func(_ context.Context, bookings []uuid.UUID) error {
		announced <- bookings

		var err error

		once.Do(func() {
			close(began)
			<-goOn

			err = errors.New("away")
		})

		return err
	})
	a.start()
	defer a.stop()

	first, second, third := uuid.New(), uuid.New(), uuid.New()

	a.Add(first)
	<-began
	a.Add(second)
	a.Add(third)
	close(goOn)

	require.Equal(t, []uuid.UUID{first}, <-announced)
	require.Equal(t, []uuid.UUID{second, third}, <-announced)
}

// What the last activities of a worker have decided is announced before it ends.
func TestAnnouncerEndsWithNothingDue(t *testing.T) {
	t.Parallel()

	for range 100 {
		var announced []uuid.UUID

		a := newAnnouncer(slog.New(slog.DiscardHandler), "ids", 0, func(ctx context.Context, bookings []uuid.UUID) error {
			announced = append(announced, bookings...)

			return ctx.Err()
		})
		a.start()

		booking := uuid.New()
		a.Add(booking)
		a.stop()

		require.Equal(t, []uuid.UUID{booking}, announced)
	}
}

// What comes within the pause goes together, and a worker that ends does not wait for more.
func TestAnnouncerGathers(t *testing.T) {
	t.Parallel()

	announced := make(chan []uuid.UUID, 10)
	a := newAnnouncer(slog.New(slog.DiscardHandler), "ids", time.Hour, func(_ context.Context, ids []uuid.UUID) error {
		announced <- ids

		return nil
	})
	a.start()

	first, second := uuid.New(), uuid.New()
	a.Add(first)
	a.Add(second)
	a.stop()

	require.Equal(t, []uuid.UUID{first, second}, <-announced)
	require.Empty(t, announced)
}
