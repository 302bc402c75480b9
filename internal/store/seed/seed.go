package seed

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// Seed says how much made-up data to add.
type Seed struct {
	Records  int             // ledger entries, at least
	Seed     uint64          // of the random numbers: the same one makes the same amounts, days and outcomes, under new ids
	Now      time.Time       // the end of the days that the data is spread over
	Days     int             // that it is spread over; two years unless given
	Demo     bool            // the first of the companies is that of SeedDev
	Progress func(lines int) // told after every batch; may be nil
	Password string          // hash that no password has, for the made-up users
}

// seedBatch is about how many ledger entries are in memory at once. All of them are of one provider, so that the sums for
// reports change in few rows.
const seedBatch = 10_000

// Grow adds a company's life at scale: companies, customers, trips, bookings, campaigns, payments with the webhooks that
// prove them, refunds of every kind, payouts, ledger entries and transfers, made by the same pure rules as real ones and
// written by COPY, in one SQL transaction: all of it or nothing. It may be run on a database that is in use: ids are new
// and numbers come from the sequence; but the service waits meanwhile. The trail of states is written by the seed itself,
// in the order in which it would have come about; for that it has to own the tables. It returns the number of entries.
func (s *Store) Grow(ctx context.Context, o Seed) (lines int, err error) {
	conn, err := s.db.Raw.Conn(ctx)
	if err != nil {
		return 0, fmt.Errorf("connect for seed: %w", err)
	}
	defer conn.Close()

	err = conn.Raw(func(driver any) error {
		return pgx.BeginFunc(ctx, db.Pgx(driver), func(tx pgx.Tx) error {
			lines, err = grow(ctx, tx, o, s.policies)

			return err
		})
	})

	return lines, err
}

func grow(ctx context.Context, tx pgx.Tx, o Seed, p models.Policies) (lines int, err error) {
	g := &grower{
		random:   rand.New(rand.NewPCG(o.Seed, 0x72696c6861)), //nolint:gosec // made-up data, the same again for the same seed
		policies: p, now: o.Now.UTC().Truncate(time.Second), days: cmp.Or(o.Days, seedDays), password: o.Password,
		texts: map[entryText]int64{},
	}

	// Off: what would write the trail of states of this moment, and tell open dashboards of payments that are years old.
	if err := execAll(ctx, tx, []string{"ALTER TABLE payment_transactions DISABLE TRIGGER USER"}); err != nil {
		return 0, err
	}

	restore := []string{
		"ALTER TABLE payment_transactions ENABLE TRIGGER USER",
		// What was made up was not written when it says. Of entries from before there were seals nothing else is known, either.
		"UPDATE audit_unsealed SET noted_at = NULL WHERE created_at < noted_at - interval '1 hour'",
	}

	if o.Records >= bulkFrom {
		more, err := prepareBulk(ctx, tx)
		if err != nil {
			return 0, err
		}

		restore = append(restore, more...)
	}

	if o.Demo {
		g.companies = append(g.companies, demoCompany(p.Commission))
	}

	if err := g.people(o.Records).copy(ctx, tx); err != nil {
		return 0, fmt.Errorf("seed people: %w", err)
	}

	for rows := range g.batches(o.Records) {
		if err := rows.save(ctx, tx, g.texts); err != nil {
			return lines, fmt.Errorf("seed entries from %d on: %w", lines, err)
		}

		lines += len(rows.lines)
		if o.Progress != nil {
			o.Progress(lines)
		}
	}

	return lines, execAll(ctx, tx, restore)
}

// batches makes the rows of as many entries, always one batch ahead of the one that is being written.
func (g *grower) batches(lines int) iter.Seq[*seedRows] {
	size := min(seedBatch, (lines+len(g.companies)-1)/len(g.companies)) // so that of few entries each company has some

	return func(yield func(*seedRows) bool) {
		ahead, done := make(chan *seedRows, 1), make(chan struct{})
		defer close(done)

		go func() {
			defer close(ahead)

			for made, n := 0, 0; made < lines; n++ {
				rows := g.batch(n, min(size, lines-made))
				made += len(rows.lines)

				select {
				case ahead <- rows:
				case <-done:
					return
				}
			}
		}()

		for rows := range ahead {
			if !yield(rows) {
				return
			}
		}
	}
}

// save writes the batch. texts are the ids of those that are known already.
func (r *seedRows) save(ctx context.Context, tx pgx.Tx, texts map[entryText]int64) error {
	if err := r.number(ctx, tx); err != nil {
		return fmt.Errorf("number entries: %w", err)
	}

	if err := r.findTexts(ctx, tx, texts); err != nil {
		return fmt.Errorf("find texts: %w", err)
	}

	return r.copy(ctx, tx)
}

// number gives every entry of the batch the next number of the sequence, in the order of the entries.
func (r *seedRows) number(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, "SELECT nextval('financial_record_numbers') FROM generate_series(1, $1::int)", len(r.lines))
	if err != nil {
		return err
	}

	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}

	for i := range r.lines {
		r.lines[i].TransactionNumber = ledger.TransactionNumber(r.lines[i].RecordDate, numbers[i])
	}

	for i := range r.lines {
		if l := &r.lines[i]; l.Kind == models.RecordClawback {
			l.Details = "Claw-back of " + r.lines[r.clawedEntry[i]].TransactionNumber
		}
	}

	return nil
}

// entryText is what an entry is searched by: there are far fewer of them than entries.
type entryText struct {
	kind           models.RecordKind
	title, details string
}

// findTexts finds the texts of the entries of a batch, those that are new to this run in the database.
func (r *seedRows) findTexts(ctx context.Context, tx pgx.Tx, texts map[entryText]int64) error {
	for i := range r.lines {
		l := &r.lines[i]
		text := entryText{l.Kind, l.TripTitle, l.Details}

		if l.Kind == models.RecordClawback { // its number is not part of the text
			text.details, _, _ = strings.Cut(l.Details, ledger.NumberPrefix)
		}

		id, known := texts[text]
		if !known {
			if err := tx.QueryRow(ctx, "SELECT record_text_id($1, $2, $3)", text.kind, text.title, text.details).Scan(&id); err != nil {
				return err
			}

			texts[text] = id
		}

		r.texts = append(r.texts, id)
	}

	return nil
}
