package main

import (
	"archive/tar"
	"bytes"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user runs the service; it owns /data and nothing else. The number is that of nonroot in distroless images.
const user = 65532

// passwd names the user to whom looks for a name.
const passwd = "nonroot:x:65532:65532:nonroot:/data:/sbin/nologin\n"

// imageOf is the program on an image without anything else.
func imageOf(src source, arch, program string) (v1.Image, error) {
	files, err := layerOf(src, program)
	if err != nil {
		return nil, err
	}

	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)

	img, err := mutate.Append(base, mutate.Addendum{
		Layer: files, History: v1.History{Created: v1.Time{Time: src.time}, CreatedBy: "tools/image", Comment: "rihla " + src.version},
	})
	if err != nil {
		return nil, err
	}

	known, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}

	config := known.DeepCopy() // with the layer
	config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: src.time}
	// /data has photos without MEDIA_URL and messages without SMTP_URL, /tmp exports that are being written: the only places that it
	// writes to, so that the root file system can be read-only.
	config.Config = v1.Config{
		User: "65532:65532", Entrypoint: []string{"/rihla"}, WorkingDir: "/",
		Env:          []string{"APP_ENV=production", "DATA_DIR=/data"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		Volumes:      map[string]struct{}{"/data": {}, "/tmp": {}},
		Labels:       src.labels(),
	}

	return mutate.ConfigFile(img, config)
}

// layerOf has the program and the directories that it needs, all of the commit's moment.
func layerOf(src source, program string) (v1.Layer, error) {
	binary, err := os.ReadFile(program) //nolint:gosec // which was built before
	if err != nil {
		return nil, err
	}

	var file bytes.Buffer

	w := tar.NewWriter(&file)

	for _, f := range []struct {
		tar.Header

		body []byte
	}{
		{tar.Header{Name: "data/", Typeflag: tar.TypeDir, Mode: 0o700, Uid: user, Gid: user}, nil},
		{tar.Header{Name: "etc/", Typeflag: tar.TypeDir, Mode: 0o755}, nil},
		{tar.Header{Name: "etc/passwd", Mode: 0o644}, []byte(passwd)},
		{tar.Header{Name: "rihla", Mode: 0o755}, binary},
		{tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777}, nil},
	} {
		f.ModTime, f.Size, f.Format = src.time, int64(len(f.body)), tar.FormatUSTAR

		if err := w.WriteHeader(&f.Header); err != nil {
			return nil, err
		}

		if _, err := w.Write(f.body); err != nil {
			return nil, err
		}
	}

	if err := w.Close(); err != nil {
		return nil, err
	}

	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
}
