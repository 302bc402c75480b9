package cmd

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rihla/internal/config"
	"rihla/internal/media"
	"rihla/internal/store"
)

// openMedia opens the storage of photos, begins to remove what no photo needs, and makes the addresses of photos.
func openMedia(ctx context.Context, cfg config.Config, s *store.Store, open *closers) (*media.Bucket, *media.Links, error) {
	links, err := media.NewLinks(cfg.App.PublicURL, cfg.Media.URLSecrets.Reveal(), cfg.Media.URLTTL, time.Now)
	if err != nil {
		return nil, nil, err
	}

	files, err := media.Open(ctx, cfg.Media.URL, cfg.App.DataDir)
	if err != nil {
		return nil, nil, err
	}

	open.add(func() { _ = files.Close() })

	janitor := media.NewJanitor(files, media.Photos{Known: s.Catalogue.KnownPhotoKeys, Forget: s.Catalogue.ForgetPhotos}, slog.Default())

	janitor.Start()
	open.add(janitor.Stop)

	return files, links, nil
}

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
