package cmd

import (
	"context"
	"log/slog"
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
