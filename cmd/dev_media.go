//go:build !production

package cmd

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// prepareMediaSecret makes a secret of this machine's own for the addresses of photos and keeps it, unless one is
// configured.
func (h *devEnv) prepareMediaSecret(context.Context) error {
	if len(h.cfg.Media.URLSecrets) > 0 {
		return nil
	}

	path := filepath.Join(h.cfg.App.DataDir, "keys", "media-url-secret")

	secret, err := os.ReadFile(path) //nolint:gosec // a fixed name in DATA_DIR
	if errors.Is(err, fs.ErrNotExist) {
		secret, err = newSecretFile(path)
	}

	if err != nil {
		return fmt.Errorf("secret for the addresses of photos: %w", err)
	}

	return h.cfg.Media.URLSecrets.UnmarshalText([]byte(strings.TrimSpace(string(secret))))
}

func newSecretFile(path string) ([]byte, error) {
	const size = 32

	random := make([]byte, size)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}

	secret := hex.AppendEncode(nil, random)

	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}

	return secret, os.WriteFile(path, append(secret, '\n'), 0o600)
}
