package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

var errNoImage = errors.New("the layout has no image for this machine: build it first")

// opened reads the layout: the image's index, and the bills of materials.
func opened(dir string) (index v1.ImageIndex, bills []v1.Image, err error) {
	all, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, nil, err
	}

	manifest, err := all.IndexManifest()
	if err != nil {
		return nil, nil, err
	}

	for _, d := range manifest.Manifests {
		if d.MediaType.IsIndex() {
			index, err = all.ImageIndex(d.Digest)
		} else {
			var bill v1.Image

			bill, err = all.Image(d.Digest)
			bills = append(bills, bill)
		}

		if err != nil {
			return nil, nil, err
		}
	}

	if index == nil {
		return nil, nil, errNoImage
	}

	return index, bills, nil
}

// push sends what was built and prints the reference by digest, which is what a deployment names.
func push(ctx context.Context, dir, repository string, out io.Writer) error {
	index, bills, err := opened(dir)
	if err != nil {
		return err
	}

	repo, err := name.NewRepository(repository)
	if err != nil {
		return err
	}

	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}

	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}

	for _, label := range []string{"version", "revision"} {
		tag := repo.Tag(manifest.Annotations["org.opencontainers.image."+label])
		if err := remote.WriteIndex(tag, index, options...); err != nil {
			return err
		}
	}

	for _, bill := range bills {
		digest, err := bill.Digest()
		if err != nil {
			return err
		}

		if err := remote.Write(repo.Digest(digest.String()), bill, options...); err != nil {
			return err
		}
	}

	digest, err := index.Digest()
	fmt.Fprintln(out, repo.Digest(digest.String()))

	return err
}

// unpack writes the files of this machine's image, with their modes; as root with their owners, too.
func unpack(dir, to string) error {
	index, _, err := opened(dir)
	if err != nil {
		return err
	}

	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}

	for _, d := range manifest.Manifests {
		if d.Platform == nil || d.Platform.Architecture != runtime.GOARCH {
			continue
		}

		img, err := index.Image(d.Digest)
		if err != nil {
			return err
		}

		files := mutate.Extract(img)

		return errors.Join(extract(tar.NewReader(files), to), files.Close())
	}

	return errNoImage
}

func extract(files *tar.Reader, to string) error {
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}

		if err != nil {
			return err
		}

		if err := extractOne(files, h, filepath.Join(to, filepath.Clean("/"+h.Name))); err != nil {
			return err
		}
	}
}

func extractOne(body io.Reader, h *tar.Header, path string) error {
	if h.Typeflag == tar.TypeDir {
		if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // its mode follows
			return err
		}
	} else {
		f, err := os.Create(path) //nolint:gosec // below the directory that was asked for
		if err != nil {
			return err
		}

		_, err = io.Copy(f, body)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}

	if os.Geteuid() == 0 {
		if err := os.Lchown(path, h.Uid, h.Gid); err != nil {
			return err
		}
	}

	return os.Chmod(path, h.FileInfo().Mode())
}
