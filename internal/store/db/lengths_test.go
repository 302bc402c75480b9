package db_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/storetest"
	"rihla/models"
)

// checkedLength is the CHECK of a column whose text has at most so many letters, as PostgreSQL prints it.
var checkedLength = regexp.MustCompile(`^\(+(?:char_length\((\w+)\) >= \d+\) AND \()?char_length\((\w+)\) <= (\d+)\)+$`)

// TestLengthsAgree: a text that the database bounds is bounded the same in openapi.yaml, and its letters count, not their bytes.
func TestLengthsAgree(t *testing.T) {
	t.Parallel()

	_, conn := storetest.Open(t, models.DefaultPolicies())
	documented := lengthsOfDocument(t)
	seen := map[string]bool{}

	rows, err := conn.QueryContext(t.Context(), `SELECT conrelid::regclass::text, pg_get_expr(conbin, conrelid)
		FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace`)
	require.NoError(t, err)

	defer rows.Close()

	checks := map[string][]string{}

	for rows.Next() {
		var table, is string

		require.NoError(t, rows.Scan(&table, &is))

		if m := checkedLength.FindStringSubmatch(is); m != nil {
			checks[table+"."+m[2]] = []string{is, m[2], m[3]}
		}
	}

	require.NoError(t, rows.Err())

	for column, m := range checks {
		most, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		require.True(t, documented[m[1]][most], "%s has at most %d letters, and no property of that name in openapi.yaml", column, most)

		seen[column] = true

		for letters, want := range map[int]bool{most: true, most + 1: false} {
			var ok bool

			query := fmt.Sprintf("SELECT %s FROM (SELECT repeat('س', %d) AS %s) AS one", m[0], letters, m[1])
			require.NoError(t, conn.QueryRowContext(t.Context(), query).Scan(&ok), query)
			require.Equal(t, want, ok, "%s with %d letters", column, letters)
		}
	}

	require.Contains(t, seen, "buses.accessibility")
	require.Greater(t, len(seen), 4)
}

// lengthsOfDocument are the bounds that properties have, by their names.
func lengthsOfDocument(t *testing.T) map[string]map[int]bool {
	t.Helper()

	doc, err := openapi3.NewLoader().LoadFromFile("../../../api/openapi.yaml")
	require.NoError(t, err)

	all := map[string]map[int]bool{}

	for _, schema := range doc.Components.Schemas {
		for name, property := range schema.Value.Properties {
			if most := property.Value.MaxLength; most != nil {
				if all[name] == nil {
					all[name] = map[int]bool{}
				}

				all[name][int(*most)] = true
			}
		}
	}

	return all
}
