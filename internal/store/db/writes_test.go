package db_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
)

type kept struct {
	bun.BaseModel `bun:"table:kept"`

	ID   uuid.UUID `bun:"id,pk"`
	Text string    `bun:"text"`
}

// TestWrites: all parts of a flush are one statement, and none of them stays when a guarded one meets another state.
func TestWrites(t *testing.T) {
	t.Parallel()

	s := storetest.New(t)
	_, err := s.DB.ExecContext(t.Context(), `CREATE TABLE kept (id uuid PRIMARY KEY, text varchar NOT NULL)`)
	require.NoError(t, err)

	first, second := kept{ID: uuid.New(), Text: "it's '$1' ?"}, kept{ID: uuid.New(), Text: "PENDING"}
	insert := func(rows ...kept) *bun.InsertQuery { return s.DB.NewInsert().Model(&rows).On("CONFLICT DO NOTHING") }

	flush := func(w *db.Writes) error {
		return s.DB.InTx(db.Prepared(t.Context()), func(ctx context.Context, tx bun.Tx) error { return w.Flush(ctx, tx) })
	}

	var (
		w db.Writes
		n int
	)

	require.NoError(t, flush(&w), "nothing to write")

	w.Insert("rows", insert(first), &n)
	require.NoError(t, flush(&w))
	require.Equal(t, 1, n)
	require.NoError(t, flush(&w), "it was sent before")

	w.Update("row", s.DB.NewUpdate().Model(&first).Set("text = ?", "new").WherePK().Where("text = ?", first.Text))
	w.Insert("rows", insert(first, second), &n)
	require.Equal(t, []string{"row", "rows"}, w.Collected())
	require.NoError(t, flush(&w))
	require.Equal(t, 2, n, "one was there")

	third := kept{ID: uuid.New()}

	w.Insert("rows", insert(third), nil)
	w.Update("row", s.DB.NewUpdate().Model(&first).Set("text = ?", "newer").WherePK().Where("text = ?", first.Text))
	require.EqualError(t, flush(&w), "row was not in the expected state")

	var texts []string

	require.NoError(t, s.DB.NewSelect().Model((*kept)(nil)).Column("text").Order("text").Scan(t.Context(), &texts))
	require.Equal(t, []string{"PENDING", "new"}, texts)
}
