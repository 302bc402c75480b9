package audit

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// logTamperings are what can be done to the audit log and to its seals. There are three seals.
func logTamperings(w *world) []tampering {
	const digest = `audit_entry_digest(id, created_at, actor_id, actor_role, operator, action, entity, entity_id, address, user_agent,
		request_id, details)`

	return []tampering{
		{"log-chain", "a seal of another time", "UPDATE audit_seals SET sealed_at = sealed_at - interval '1 s' WHERE number = 2", nil, nil, nil},
		{"log-chain", "another hash", "UPDATE audit_seals SET hash = sha256('') WHERE number = 2", nil, nil, nil},
		{"log-chain", "a seal that follows on none", "UPDATE audit_seals SET previous = sha256('') WHERE number = 1", nil, nil, nil},
		{
			"log-chain", "two entries in another order", `UPDATE audit_seals SET entries = entries[2:2] || entries[1:1] || entries[3:],
			digests = digests[2:2] || digests[1:1] || digests[3:] WHERE number = 1`, nil, nil, nil,
		},
		{
			"log-chain", "an entry that was sealed again", `WITH changed AS (UPDATE audit_log SET action = 'X' WHERE id = $1 RETURNING *),
			again AS (SELECT s.*, array_replace(s.digests, s.digests[array_position(s.entries, c.id)], ` +
				strings.NewReplacer("(id", "(c.id", " created_at", " c.created_at", " details", " c.details", "request_id", "c.request_id").Replace(digest) +
				`) AS now FROM audit_seals AS s JOIN changed AS c ON c.id = ANY (s.entries))
			UPDATE audit_seals AS s SET digests = a.now,
				hash = audit_seal_hash(s.number, s.previous, s.since, s.until, s.noted_at, s.sealed_at, s.entries, a.now)
			FROM again AS a WHERE s.number = a.number`,
			[]any{w.logged[0]},
			nil, nil,
		},
		{"log-chain", "a seal that is missing", "DELETE FROM audit_seals WHERE number = 2", nil, nil, []string{"log-sealed"}},
		{"log-entries", "one that was changed", "UPDATE audit_log SET user_agent = 'another' WHERE id = $1", []any{w.logged[0]}, of(w.logged[0]), nil},
		{
			"log-entries", "one of another time", "UPDATE audit_log SET created_at = created_at - interval '1 s' WHERE id = $1",
			[]any{w.logged[0]},
			of(w.logged[0]), nil,
		},
		{"log-entries", "one that is missing", "DELETE FROM audit_log WHERE id = $1", []any{w.logged[2]}, of(w.logged[2]), nil},
		{
			"log-entries", "one that was changed before it was sealed", `WITH noted AS (INSERT INTO audit_unsealed
				SELECT entries[array_length(entries, 1)], until, now(), sha256('') FROM audit_seals WHERE number = 3)
			UPDATE audit_seals SET number = number WHERE number = 3`, nil, nil, nil,
		},
		{
			"log-entries", "two that were exchanged", `UPDATE audit_log AS l SET user_agent = o.user_agent, entity_id = o.entity_id
			FROM audit_log AS o WHERE (l.id, o.id) IN (($1::uuid, $2::uuid), ($2::uuid, $1::uuid))`,
			[]any{w.logged[0], w.logged[1]},
			of(w.logged[1]), nil,
		},
		{"log-sealed", "the last seal is gone", "DELETE FROM audit_seals WHERE number = 3", nil, of(w.logged[2]), nil},
		{
			"log-sealed", "one that came around the service", "INSERT INTO audit_log (id, action, entity) VALUES ($1, 'HOTEL_CREATED', 'hotel')",
			[]any{w.Trip.ID},
			of(w.Trip.ID), nil,
		},
		{
			"log-sealed", "one that is not sealed", `WITH made AS (INSERT INTO audit_log (id, action, entity) VALUES ($1, 'HOTEL_CREATED', 'hotel')
			RETURNING *) INSERT INTO audit_unsealed SELECT id, created_at, now() - interval '6 minutes', ` + digest + " FROM made",
			[]any{w.Trip.ID},
			of(w.Trip.ID), nil,
		},
		{
			"log-sealed", "older entries are not sealed", `INSERT INTO audit_seal_start (created_at, id, until, begun_at)
			SELECT max(created_at), '00000000-0000-0000-0000-000000000000', '1999-01-01', now() - interval '2 days' FROM audit_log`, nil, nil, nil,
		},
		{
			"log-dates", "one of yesterday", `WITH made AS (INSERT INTO audit_log (id, action, entity, created_at)
			VALUES ($1, 'HOTEL_CREATED', 'hotel', now() - interval '1 day')
			RETURNING *) INSERT INTO audit_unsealed SELECT id, created_at, now(), ` + digest + " FROM made",
			[]any{w.Trip.ID},
			of(w.Trip.ID), nil,
		},
		{
			"log-archive", "a month with an entry that no seal covers", `INSERT INTO archived_months (table_name, since, until, rows, sums, sha256, file)
			VALUES ('audit_log', NULL, '1999-12-01', 1, '{}', repeat('0', 64), '')`, nil, nil, nil,
		},
	}
}

// note writes an entry about nothing that another rule looks at.
func (w *world) note(t *testing.T, agent string) uuid.UUID {
	t.Helper()

	by, id := w.finance, uuid.New()
	by.Address, by.UserAgent = "203.0.113.7", agent
	require.NoError(t, w.s.DB.Audit(t.Context(), by, "HOTEL_CREATED", "hotel", &id, map[string]any{"name": "ü \\ \"q\"", "n": 1}))

	return w.id(t, "SELECT id FROM audit_log WHERE entity_id = $1", id)
}

// What SQL has sealed is what the audit computes from the description alone, whatever is in the fields.
func TestSealsOfOddEntries(t *testing.T) {
	t.Parallel()

	w := newWorld(t)

	for _, agent := range []string{"", "-", "3:abc", "مرحبا\nx", strings.Repeat("é", 300), "a\x00b\xff"} {
		w.note(t, agent)
	}

	w.seal(t)

	sum, err := Run(t.Context(), w.db, func(d Difference) error {
		t.Errorf("%s", d)

		return nil
	})
	require.NoError(t, err)
	require.EqualValues(t, 4, sum.LogSeal.Number)

	seal, err := ParseLogSeal(sum.LogSeal.String())
	require.NoError(t, err)

	has, err := HasLogSeal(t.Context(), w.db, seal)
	require.NoError(t, err)
	require.True(t, has)

	seal.Number--
	has, err = HasLogSeal(t.Context(), w.db, seal)
	require.NoError(t, err)
	require.False(t, has, "the hash is another seal's")

	for _, bad := range []string{"", "1", "x:00", "0:" + seal.Hash, "1:" + seal.Hash[2:], "1:" + seal.Hash[1:] + "x"} {
		_, err := ParseLogSeal(bad)
		require.Error(t, err, bad)
	}
}
