package devstack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// release is an archive as Temporal publishes it: a licence, and the program.
func release(t *testing.T, name, program string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	files := tar.NewWriter(zipped)
	for _, file := range []struct{ name, text string }{{"LICENSE", "free"}, {name, program}} {
		require.NoError(t, files.WriteHeader(&tar.Header{Name: file.name, Mode: 0o755, Size: int64(len(file.text)), Typeflag: tar.TypeReg}))
		_, err := files.Write([]byte(file.text))
		require.NoError(t, err)
	}
	require.NoError(t, files.Close())
	require.NoError(t, zipped.Close())
	return out.Bytes()
}

// published serves the archive at the address of this system's release, and returns a program to be had from there.
func published(t *testing.T, archive []byte, sum string) temporalBinary {
	t.Helper()
	platform := runtime.GOOS + "_" + runtime.GOARCH
	mux := http.NewServeMux()
	mux.HandleFunc("/"+releaseVersion+"/temporal_cli_"+releaseVersion[1:]+"_"+platform+".tar.gz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(archive)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	if sum == "" {
		got := sha256.Sum256(archive)
		sum = hex.EncodeToString(got[:])
	}
	return temporalBinary{
		binDir: t.TempDir(), log: slog.New(slog.DiscardHandler), releases: server.URL, sums: map[string]string{platform: sum},
	}
}

const fitting = "#!/bin/sh\necho temporal version 1.5.1 '(Server 1.29.1, UI 2.42.1)'\n"

func TestDownloadedTemporal(t *testing.T) {
	t.Parallel()
	b := published(t, release(t, "temporal", fitting), "")
	require.NoError(t, b.download(t.Context()))
	root, err := ModuleRoot()
	require.NoError(t, err)
	require.True(t, b.usable(t.Context(), root))
	require.Equal(t, releaseVersion, pinnedCLI(root), "the release and what is built are one version")

	// It is downloaded once.
	b.releases = "http://127.0.0.1:1"
	found, err := b.obtain(t.Context())
	require.NoError(t, err)
	require.Equal(t, filepath.Join(b.binDir, "temporal"), found)
}

func TestDownloadedTemporalIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]temporalBinary{
		"instead of the pinned":   published(t, release(t, "temporal", fitting), strings.Repeat("0", 64)),
		"no temporal in it":       published(t, release(t, "other", fitting), ""),
		"gzip":                    published(t, []byte("<html>no archive</html>"), ""),
		"does not run here":       published(t, release(t, "temporal", "#!/bin/sh\nexit 1\n"), ""),
		"connection refused":      {binDir: t.TempDir(), log: slog.New(slog.DiscardHandler), releases: "http://127.0.0.1:1", sums: releaseSums},
		"there is no release for": {binDir: t.TempDir(), log: slog.New(slog.DiscardHandler), releases: "http://127.0.0.1:1"},
	} {
		require.ErrorContains(t, b.download(t.Context()), name)
		left, err := os.ReadDir(b.binDir)
		require.NoError(t, err)
		require.Empty(t, left, name)
	}

	missing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(missing.Close)
	b := published(t, nil, "")
	b.releases = missing.URL
	require.ErrorContains(t, b.download(t.Context()), "404")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, b.download(ctx), context.Canceled)
}

func TestReleaseSums(t *testing.T) {
	t.Parallel()
	for platform, sum := range releaseSums {
		raw, err := hex.DecodeString(sum)
		require.NoError(t, err, platform)
		require.Len(t, raw, sha256.Size, platform)
	}
}
