package db_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

func (b *books) note(ctx context.Context, t *testing.T, in bun.IDB) uuid.UUID {
	t.Helper()

	id := uuid.New()
	require.NoError(t, db.Audit(ctx, in, b.Finance, "HOTEL_CREATED", "hotel", &id, nil))

	return id
}

func TestSealAudit(t *testing.T) {
	t.Parallel()
	b := setup(t)

	_, err := b.Store.DB.SealAudit(t.Context())
	require.NoError(t, err)

	first, err := b.Store.DB.NewestAuditSeal(t.Context())
	require.NoError(t, err)

	b.note(t.Context(), t, b.Store.DB)
	b.Exec(t, "UPDATE audit_unsealed SET noted_at = noted_at - interval '1 minute'")

	age, err := b.Store.DB.UnsealedAuditAge(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqual(t, age, time.Minute)

	sealed, err := b.Store.DB.SealAudit(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, sealed)

	next, err := b.Store.DB.NewestAuditSeal(t.Context())
	require.NoError(t, err)
	require.Equal(t, first.Number+1, next.Number)
	require.Len(t, next.Hash, 64)
	require.WithinDuration(t, time.Now(), next.SealedAt, time.Minute)

	age, err = b.Store.DB.UnsealedAuditAge(t.Context())
	require.NoError(t, err)
	require.Zero(t, age)

	sealed, err = b.Store.DB.SealAudit(t.Context())
	require.NoError(t, err)
	require.Zero(t, sealed, "nothing has come")

	again, err := b.Store.DB.NewestAuditSeal(t.Context())
	require.NoError(t, err)
	require.Equal(t, next, again, "no seal of nothing")

	for _, change := range []string{
		"UPDATE audit_log SET action = 'X'", "DELETE FROM audit_log", "TRUNCATE audit_log", "UPDATE audit_seals SET sealed_at = now()",
		"DELETE FROM audit_seals", "TRUNCATE audit_seals",
	} {
		_, err := b.DB.ExecContext(t.Context(), change)
		require.ErrorContains(t, err, "append-only", change)
	}
}

// Many writers, some of whose transactions end late, and several who seal: each entry is under one seal, and the chain has no fork.
func TestSealAuditWhileEntriesAreWritten(t *testing.T) {
	t.Parallel()
	b := setup(t)

	const writers, each, sealers = 4, 40, 3

	var (
		writing, sealing sync.WaitGroup
		done             = make(chan struct{})
	)

	for range writers {
		writing.Go(func() {
			for n := range each {
				err := b.Store.DB.InTx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
					b.note(ctx, t, tx)

					if n%4 != 0 {
						return nil
					}

					_, err := tx.ExecContext(ctx, "SELECT pg_sleep(0.02)") // it commits after others that began later

					return err
				})
				if err != nil {
					t.Errorf("note: %v", err)
				}
			}
		})
	}

	for range sealers {
		sealing.Go(func() {
			for {
				if _, err := b.Store.DB.SealAudit(t.Context()); err != nil {
					t.Errorf("seal: %v", err)
				}

				select {
				case <-done:
					return
				default:
				}
			}
		})
	}

	writing.Wait()
	close(done)
	sealing.Wait()

	_, err := b.Store.DB.SealAudit(t.Context())
	require.NoError(t, err)

	require.Zero(t, b.Count(t, "SELECT count(*) FROM audit_unsealed"))
	require.GreaterOrEqual(t, b.Count(t, "SELECT count(*) FROM audit_log"), writers*each)
	require.Equal(t, b.Count(t, "SELECT count(*) FROM audit_log"), b.Count(t, "SELECT count(*) FROM audit_seals, unnest(entries)"))
	require.Equal(t, b.Count(t, "SELECT count(*) FROM audit_log"), b.Count(t, "SELECT count(DISTINCT e) FROM audit_seals, unnest(entries) AS e"))
	require.Greater(t, b.Count(t, "SELECT count(*) FROM audit_seals"), 1)
	require.Zero(t, b.Count(t, `SELECT count(*) FROM audit_seals AS s WHERE s.number > 1
		AND NOT EXISTS (SELECT FROM audit_seals AS p WHERE p.number = s.number - 1 AND p.hash = s.previous)`))
}

// Both formats have every entry once, in the order of the seals, and no cell that a spreadsheet would run.
func TestExportAuditLog(t *testing.T) {
	t.Parallel()
	b := setup(t)

	by := b.Finance
	by.Address, by.UserAgent = "203.0.113.7", "=HYPERLINK(\"http://x.test\")"
	id := uuid.New()
	require.NoError(t, b.Store.DB.Audit(t.Context(), by, "HOTEL_CREATED", "hotel", &id, map[string]any{"name": "فندق, \"x\""}))
	_, err := b.Store.DB.SealAudit(t.Context())
	require.NoError(t, err)
	b.note(t.Context(), t, b.Store.DB)

	filter := db.AuditFilter{Action: "HOTEL_CREATED"}

	var text bytes.Buffer

	rows, err := b.Store.DB.ExportAuditCSV(t.Context(), filter, &text)
	require.NoError(t, err)
	require.EqualValues(t, 2, rows)

	cells, err := csv.NewReader(&text).ReadAll()
	require.NoError(t, err)
	require.Len(t, cells, 3)
	require.Equal(t, []string{
		"seal", "id", "created_at", "actor_kind", "actor_id", "actor_role", "operator", "action", "entity", "entity_id", "address", "user_agent",
		"request_id", "details", "digest", "seal_position", "seal_entries", "seal_since", "seal_until", "seal_noted_at", "seal_sealed_at",
		"seal_previous", "seal_hash",
	}, cells[0])
	require.NotEmpty(t, cells[1][0], "the seal")
	require.Equal(t, id.String(), cells[1][9])
	require.Equal(t, "203.0.113.7", cells[1][10])
	require.Equal(t, "'=HYPERLINK(\"http://x.test\")", cells[1][11])
	require.JSONEq(t, `{"name": "فندق, \"x\""}`, cells[1][13])
	require.Empty(t, cells[2][0], "has no seal yet")

	var lines bytes.Buffer

	rows, err = b.Store.DB.ExportAuditLines(t.Context(), filter, &lines)
	require.NoError(t, err)
	require.EqualValues(t, 2, rows)

	all := strings.Split(strings.TrimSpace(lines.String()), "\n")
	require.Len(t, all, 2)

	var entry struct {
		Seal      *int64          `json:"seal"`
		EntityID  uuid.UUID       `json:"entity_id"`
		UserAgent string          `json:"user_agent"`
		Details   json.RawMessage `json:"details"`
	}

	require.NoError(t, json.Unmarshal([]byte(all[0]), &entry))
	require.NotNil(t, entry.Seal)
	require.Equal(t, id, entry.EntityID)
	require.Equal(t, by.UserAgent, entry.UserAgent, "as it is: nothing runs it")

	rows, err = b.Store.DB.ExportAuditLines(t.Context(), db.AuditFilter{Days: models.Days{To: models.DateIn(time.Now()).AddDays(-2)}}, &lines)
	require.NoError(t, err)
	require.Zero(t, rows)
}

// At the end of a month more waits than is sealed at once: the seals of two months do not alternate, or a month that is archived would
// leave gaps among those of the next.
func TestSealsOfTwoMonthsDoNotAlternate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "entries of another month are written now", "log-dates")

	_, err := b.Store.DB.SealAudit(t.Context())
	require.NoError(t, err)

	b.Exec(t, `INSERT INTO audit_log (id, action, entity, created_at)
		SELECT gen_random_uuid(), 'HOTEL_CREATED', 'hotel', now() - (n % 2) * interval '40 days' FROM generate_series(1, 20) AS n`)

	for range 8 {
		b.Exec(t, "SELECT seal_audit_log(3)")
	}

	require.Zero(t, b.Count(t, "SELECT count(*) FROM audit_unsealed"))
	require.Zero(t, b.Count(t, `SELECT count(*) FROM audit_seals AS s JOIN audit_seals AS n ON n.number = s.number + 1
		WHERE s.until < now() AND n.since < now() - interval '39 days' AND s.since > now() - interval '1 day' AND s.number > 1`))
}
