package operations

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestWaitersAreToldOfTheirOwnBooking(t *testing.T) {
	t.Parallel()

	w := newWaiters()
	mine, other := uuid.New(), uuid.New()

	first, leaveFirst := w.add(mine)
	second, leaveSecond := w.add(mine)
	third, leaveThird := w.add(other)

	w.tell(mine)
	w.tell(mine) // not read since: one notification covers both
	w.tell(uuid.New())

	require.Len(t, first, 1)
	require.Len(t, second, 1)
	require.Empty(t, third)

	<-first
	leaveSecond()
	w.tell(mine)
	require.Len(t, first, 1)

	leaveFirst()
	leaveThird()
	w.tell(mine)
	require.Empty(t, w.of, "nothing is kept of who has left")
}

// While nothing is heard everybody looks often, and at the moment when announcements are heard again once.
func TestWaitersLookByThemselves(t *testing.T) {
	t.Parallel()

	w := newWaiters()
	told, leave := w.add(uuid.New())
	defer leave()

	for range 100 {
		require.GreaterOrEqual(t, w.pause(), lookOften/2)
		require.Less(t, w.pause(), lookOften)
	}

	w.listening(true)
	require.Len(t, told, 1)
	<-told

	for range 100 {
		require.GreaterOrEqual(t, w.pause(), lookSeldom/2)
		require.Less(t, w.pause(), lookSeldom)
	}

	w.listening(false)
	require.Less(t, w.pause(), lookOften)
	require.Empty(t, told)
}
