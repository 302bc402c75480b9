//go:build !production

package cmd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
)

// An empty database of another machine may be that of a production that is being set up: seed wants to be told that it is none.
func TestSeedRefusesADatabaseThatNobodyNamed(t *testing.T) {
	t.Parallel()

	for url, there := range map[string]bool{
		"postgres://rihla@db.internal/rihla":         true,
		"postgres://rihla@10.0.0.7:5432/rihla":       true,
		"postgres://rihla@127.0.0.1:5432/rihla":      false,
		"postgres://rihla@localhost/rihla":           false,
		"postgres://rihla@[::1]/rihla":               false,
		"host=/var/run/postgresql dbname=rihla":      false,
		"postgres:///rihla?host=/var/run/postgresql": false,
	} {
		cfg := config.Config{Database: config.Database{URL: config.Secret(url)}}

		for _, unset := range []map[string]string{nil, {"APP_ENV": " "}} {
			if err := refuseUndeclared(cfg, unset); there {
				require.ErrorContains(t, err, "APP_ENV=development", url)
			} else {
				require.NoError(t, err, url)
			}
		}

		require.NoError(t, refuseUndeclared(cfg, map[string]string{"APP_ENV": "development"}), url)
	}
}
