package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/storetest"
	"rihla/models"
)

// A database of PostgreSQL 14 that was upgraded lets everybody create in the schema public, until it is migrated.
func TestMigrationRevokesCreateFromPublic(t *testing.T) {
	t.Parallel()
	s, conn := storetest.Open(t, models.DefaultPolicies())
	b := bundle(t, s, conn)

	may := func() (everybody, owner bool) {
		require.NoError(t, conn.QueryRowContext(t.Context(), `SELECT has_schema_privilege('public', 'public', 'CREATE'),
			has_schema_privilege('public', 'CREATE')`).Scan(&everybody, &owner))

		return everybody, owner
	}

	b.Exec(t, "GRANT CREATE ON SCHEMA public TO PUBLIC")

	everybody, _ := may()
	require.True(t, everybody)
	b.Exec(t, "DELETE FROM bun_migrations WHERE name = '0053'")

	applied, err := s.DB.Migrate(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"0053_no_create_in_public"}, applied)

	everybody, owner := may()
	require.False(t, everybody)
	require.True(t, owner)
}
