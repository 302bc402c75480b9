package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
)

// Without archive_mode there is nothing to say; e2e/alerts has it on.
func TestWALArchiveWhileItIsOff(t *testing.T) {
	t.Parallel()

	a, err := storetest.New(t).DB.WALArchive(t.Context())
	require.NoError(t, err)
	require.Equal(t, db.WALArchive{}, a)
}
