package refunds_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/models"
)

func TestNoteSentBefore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.Reserve(t, b.Ask(tx, "40.00"))
	before := models.MustMoney("5.00")

	noted, err := b.Store.Refunds.NoteSentBefore(t.Context(), r.ID, &before)
	require.NoError(t, err)
	require.True(t, noted)

	sums, err := b.Store.Refunds.Returned(t.Context(), tx.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"0.00", "40.00", "0.00"}, []string{sums.Done.String(), sums.Sent.String(), sums.Outside.String()})

	now, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, 1, now.Sends)
	require.Equal(t, models.SentUnknown, *now.SentAnswer)
	require.Equal(t, "5.00", now.RefundedBefore.String())

	noted, err = b.Store.Refunds.NoteSentBefore(t.Context(), r.ID, nil)
	require.NoError(t, err)
	require.False(t, noted, "its sending is known")
}

func TestRefundsSince(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	r := b.Reserve(t, b.Ask(tx, "40.00"))

	for name, test := range map[string]struct {
		channel models.Channel
		from    time.Time
		found   int
	}{
		"since":           {tx.Channel, time.Now().Add(-time.Hour), 1},
		"open":            {tx.Channel, time.Now().Add(time.Hour), 1},
		"another account": {models.ChannelWalletB, time.Now().Add(-time.Hour), 0},
	} {
		rows, next, err := b.Store.Refunds.RefundsSince(t.Context(), []models.Channel{test.channel}, test.from, db.SweepCursor{}, 10)
		require.NoError(t, err, name)
		require.Len(t, rows, test.found, name)
		require.True(t, next.Is(db.SweepCursor{}), name)
	}

	known, err := b.Store.Refunds.KnownRefunds(t.Context(), []uuid.UUID{r.ID, uuid.New()})
	require.NoError(t, err)
	require.Equal(t, map[uuid.UUID]bool{r.ID: true}, known)
}
