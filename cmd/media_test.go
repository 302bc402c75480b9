//go:build !production

package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
)

func TestDevKeepsItsMediaSecret(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	secret := func(configured ...config.Secret) string {
		h := &devEnv{cfg: config.Config{App: config.App{DataDir: dir}, Media: config.Media{URLSecrets: configured}}}
		require.NoError(t, h.prepareMediaSecret(t.Context()))
		require.Len(t, h.cfg.Media.URLSecrets, 1)

		return h.cfg.Media.URLSecrets[0].Reveal()
	}

	require.Equal(t, "configured", secret("configured"))
	require.NoFileExists(t, filepath.Join(dir, "keys", "media-url-secret"))

	first := secret()
	require.Len(t, first, 64)
	require.Equal(t, first, secret(), "from one run to the next")

	info, err := os.Stat(filepath.Join(dir, "keys", "media-url-secret"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
