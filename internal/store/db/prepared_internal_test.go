package db

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/schema"
)

func TestParameters(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, query, text string
		literals          []string
	}{
		{
			"compared", `SELECT "a" FROM "t" WHERE (id = '1') AND at <= '2' AND b <> 'x' AND (c='y')`,
			`SELECT "a" FROM "t" WHERE (id = $1) AND at <= $2 AND b <> $3 AND (c=$4)`,
			[]string{"1", "2", "x", "y"},
		},
		{
			"assigned", `UPDATE "t" SET a = 'x', "b" = 'y' WHERE ("t"."id" = 'z')`,
			`UPDATE "t" SET a = $1, "b" = $2 WHERE ("t"."id" = $3)`,
			[]string{"x", "y", "z"},
		},
		{
			"rows of values", `INSERT INTO t ("a", "b") VALUES ('x', 1, NULL, 'PENDING'), ('y', DEFAULT, TRUE, 'it''s') RETURNING "c"`,
			`INSERT INTO t ("a", "b") VALUES ($1, 1, NULL, $2), ($3, DEFAULT, TRUE, $4) RETURNING "c"`,
			[]string{"x", "PENDING", "y", "it's"},
		},
		{"a list", `SELECT FROM t WHERE (id IN ('a-b', 'C1'))`, `SELECT FROM t WHERE (id IN ($1, $2))`, []string{"a-b", "C1"}},
		{"empty", `SELECT FROM t WHERE a = ''`, `SELECT FROM t WHERE a = $1`, []string{""}},
		{
			"constants of conditions stay", `UPDATE t SET s = 'PAID' WHERE s = 'PENDING' AND k IN ('ONE_WAY', 'OTHER')`,
			`UPDATE t SET s = 'PAID' WHERE s = 'PENDING' AND k IN ('ONE_WAY', 'OTHER')`, nil,
		},
		{
			"what is no value stays", `SELECT nextval('seq'), COALESCE(a, 'x'), '5'::int, b ->> 'k', c @> '{}', d LIKE 'x%', now() - interval '1 day'`,
			`SELECT nextval('seq'), COALESCE(a, 'x'), '5'::int, b ->> 'k', c @> '{}', d LIKE 'x%', now() - interval '1 day'`, nil,
		},
		{
			"functions among values", `INSERT INTO t VALUES (lower('X'), 'y')`, `INSERT INTO t VALUES (lower('X'), $1)`, []string{"y"},
		},
		{
			"statements of WITH", `WITH "w0" AS (UPDATE t SET s = 'PAID', a = 'x' WHERE (id = '1') RETURNING 1), ` +
				`"w1" AS (INSERT INTO t VALUES ('y', DEFAULT), ('z', concat('RH-', nextval('n')))) SELECT ARRAY[(SELECT count(*) FROM "w0")]`,
			`WITH "w0" AS (UPDATE t SET s = 'PAID', a = $1 WHERE (id = $2) RETURNING 1), ` +
				`"w1" AS (INSERT INTO t VALUES ($3, DEFAULT), ($4, concat('RH-', nextval('n')))) SELECT ARRAY[(SELECT count(*) FROM "w0")]`,
			[]string{"x", "1", "y", "z"},
		},
		{"quotes in names", `SELECT "it's" FROM t WHERE "a""'" = 'x'`, `SELECT "it's" FROM t WHERE "a""'" = $1`, []string{"x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			text, literals, ok := parameters(tt.query)
			require.True(t, ok)
			require.Equal(t, tt.text, text)
			require.Equal(t, tt.literals, literals)
		})
	}

	for _, left := range []string{"SELECT $1", "SELECT 1 -- '", "SELECT /* ' */ 1", "SELECT $$it's$$"} {
		text, _, ok := parameters(left)
		require.False(t, ok)
		require.Equal(t, left, text)
	}
}

// FuzzParameters: whatever a value is, the statement with its values put back is the one that Bun has written, and a value is never
// left in its text, where it would make a statement of its own.
func FuzzParameters(f *testing.F) {
	for _, seed := range []string{"", "x", "it's", "''", `\`, `"`, "$1", "--", "/*", "a','b", "?", "سفر", "PENDING", "{\"a\": \"it's\"}"} {
		f.Add(seed, seed)
	}

	gen := schema.NewQueryGen(pgdialect.New())

	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || strings.ContainsRune(a+b, 0) {
			return // which Bun replaces or refuses
		}

		query := gen.FormatQuery(`INSERT INTO t ("x", "y") VALUES (?, ?), (?, 7) ON CONFLICT DO NOTHING`, a, b, b)

		text, literals, ok := parameters(query)
		require.True(t, ok)
		require.Equal(t, `INSERT INTO t ("x", "y") VALUES ($1, $2), ($3, 7) ON CONFLICT DO NOTHING`, text)
		require.Equal(t, []string{a, b, b}, literals)

		query = gen.FormatQuery(`UPDATE t SET x = ? WHERE y = ? AND (z IN (?))`, a, b, a)

		text, literals, ok = parameters(query)
		require.True(t, ok)

		for i := len(literals); i > 0; i-- { // the last first: $1 is the beginning of $10
			text = strings.ReplaceAll(text, "$"+strconv.Itoa(i), "\x00"+strconv.Itoa(i)+"\x00")
		}

		for i, value := range literals {
			text = strings.ReplaceAll(text, "\x00"+strconv.Itoa(i+1)+"\x00", "'"+strings.ReplaceAll(value, "'", "''")+"'")
		}

		require.Equal(t, query, text)
	})
}
