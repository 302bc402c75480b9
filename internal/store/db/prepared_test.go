package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/uptrace/bun"

	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/internal/store/outbox"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// mixed has a column of every type that the store writes.
type mixed struct {
	bun.BaseModel `bun:"table:mixed"`

	ID     uuid.UUID `bun:",pk,type:uuid"`
	Other  *uuid.UUID
	Text   string
	Words  []string `bun:",array"`
	Data   map[string]string
	At     time.Time
	Maybe  *time.Time
	Day    models.Date
	Amount models.Money
	Rate   models.Rate
	Hash   []byte
	N      int
	Flag   bool
	Status models.TransactionStatus
}

// TestPreparedMeansTheSame: what is written and found by a prepared statement is what is written and found by one that holds its values.
func TestPreparedMeansTheSame(t *testing.T) {
	t.Parallel()

	s := onOneConnection(t)
	_, err := s.DB.ExecContext(t.Context(), `CREATE TEMP TABLE mixed (id uuid PRIMARY KEY, other uuid, text text, words text[], data jsonb,
		at timestamptz, maybe timestamptz, day date, amount numeric(14,2), rate numeric(6,4), hash bytea, n int, flag bool, status text)`)
	require.NoError(t, err)

	at := time.Date(2026, 11, 24, 23, 59, 59, 123456000, time.UTC)
	other := uuid.New()

	for _, text := range []string{"", "x", "it's", "''", `\`, `\'`, `"`, "$1", "a', 'b", "?", "سفر", "PENDING", "NULL", "{}", "one\nanother"} {
		for _, m := range []mixed{
			{Text: text, Words: []string{text, ""}, Data: map[string]string{text: text}, Hash: []byte(text), Status: models.TransactionPaid},
			{
				Text: text, Other: &other, Maybe: &at, Amount: models.MustMoney("-115.05"), Rate: models.MustRate("0.15"), N: -3, Flag: true,
				Words: []string{}, Data: map[string]string{}, Hash: []byte{0, 1, 255},
			},
		} {
			m.At, m.Day = at, models.DateIn(at)
			write := func(ctx context.Context) mixed {
				m.ID = uuid.New()
				_, err := s.DB.NewInsert().Model(&m).Exec(ctx)
				require.NoError(t, err)

				var got mixed

				q := s.DB.NewSelect().Model(&got).Where("id = ?", m.ID).Where("text = ?", m.Text).Where("at >= ?", m.At).Where("day = ?", m.Day)
				require.NoError(t, q.Scan(ctx))

				_, err = s.DB.NewUpdate().Model(&m).WherePK().Exec(ctx)
				require.NoError(t, err)

				got.ID = uuid.Nil

				return got
			}

			require.Equal(t, write(t.Context()), write(db.Prepared(t.Context())), "%q", text)
		}
	}
}

// TestPaymentsPrepareFewStatements: payments differ in their values and not in their statements. One with a value in its text would be
// prepared for every payment, and cost more than it saves.
func TestPaymentsPrepareFewStatements(t *testing.T) {
	t.Parallel()

	s := onOneConnection(t)
	b := bundle(t, s, s.DB.Raw)

	prepared := func() (n int) {
		require.NoError(t, s.DB.Raw.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_prepared_statements").Scan(&n))

		return n
	}

	pay := func() {
		tx := b.Paid(t, 1)

		_, err := s.Bookings.LatestAttempt(t.Context(), *tx.BookingID)
		require.NoError(t, err)

		sent, err := s.Outbox.ClaimNotifications(t.Context(), outbox.Claim{}, 100, time.Now())
		require.NoError(t, err)
		require.NotEmpty(t, sent)

		for _, n := range sent {
			b.Sent(t, &n, time.Now())
		}
	}

	pay()

	after := prepared()
	require.Greater(t, after, 10)

	for range 5 {
		pay()
	}

	require.Equal(t, after, prepared())
}

// onOneConnection is a store whose pool is one connection, so that what it leaves behind can be looked at.
func onOneConnection(t *testing.T) *store.Store {
	t.Helper()

	url := storetest.Database(t)
	storetest.OpenAt(t, url, models.DefaultPolicies())

	s, err := store.Open(t.Context(), url, models.DefaultPolicies(), db.Options{MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })

	return s
}
