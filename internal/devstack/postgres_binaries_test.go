package devstack

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// tinyArchive is a .tar.xz of three shell scripts: bin/postgres and bin/initdb, which print "postgres (PostgreSQL) 17.5", and
// bin/pg_ctl, which fails.
const tinyArchive = "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4Cf/ALFdADEaShsJm84iHsbLRwPoGC75j1TR0bLwgHrZQah4q5kOCk1Lotwx8u+Lx60TxBADlN2SrIMJ" +
	"fX8GMrEycr4RhY60QJLhU1uIXUuXrTiUaOa1lqyoPaUlFYwCY2wOf/Ei2xZBQ1sDhcNhV9jjMLOrA0Z9OChHt21wS9uudttzyS6QQuhbAn1Y5RtGqRySkFwLPaWLhrkJ" +
	"XyFL5a2jO7zPmAdXd+kQQ6rgx4+8gqiPCBBDAAAAAABqWpAgIDEdDAABzQGAUAAAjGim0rHEZ/sCAAAAAARZWg=="

// repository serves archive as the binaries of every version and platform.
func repository(t *testing.T, archive []byte) string {
	t.Helper()
	var jar bytes.Buffer
	writer := zip.NewWriter(&jar)
	file, err := writer.Create("postgres.txz")
	require.NoError(t, err)
	_, err = file.Write(archive)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if filepath.Ext(r.URL.Path) != ".jar" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(jar.Bytes())
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestDownloadPostgres(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // the library leaves a log file there
	archive, err := base64.StdEncoding.DecodeString(tinyArchive)
	require.NoError(t, err)
	self := account{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}
	log := slog.New(slog.DiscardHandler)
	dir := filepath.Join(t.TempDir(), "postgresql")

	found, err := downloadPostgres(t.Context(), log, self, dir, repository(t, archive))
	require.NoError(t, err)
	require.Equal(t, postgresBinaries{dir: filepath.Join(dir, "bin"), major: 17}, found)
	rest, err := os.ReadDir(filepath.Dir(dir))
	require.NoError(t, err)
	require.Len(t, rest, 1, "nothing but the binaries is left")

	// The second time nothing is downloaded.
	again, err := downloadPostgres(t.Context(), log, self, dir, "http://127.0.0.1:1")
	require.NoError(t, err)
	require.Equal(t, found, again)
}

func TestDownloadPostgresFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // the library leaves a log file there
	dir := filepath.Join(t.TempDir(), "postgresql")
	_, err := downloadPostgres(t.Context(), slog.New(slog.DiscardHandler), account{}, dir, "http://127.0.0.1:1")
	require.ErrorContains(t, err, "apt-get install postgresql")
	require.ErrorContains(t, err, "DATABASE_URL")
	require.NoDirExists(t, dir)
}

func TestFindPostgresKeepsToTheClustersVersion(t *testing.T) {
	t.Parallel()
	self := account{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}
	_, ok := findPostgres(t.Context(), self, 9)
	require.False(t, ok)
}

func TestAccountReaches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner := account{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}
	stranger := account{uid: owner.uid + 4321, gid: owner.gid + 4321}
	closed, open := filepath.Join(dir, "closed"), filepath.Join(dir, "open")
	require.NoError(t, os.Mkdir(closed, 0o700))
	require.NoError(t, os.Mkdir(open, 0o755))
	require.True(t, owner.reaches(closed))
	require.False(t, stranger.reaches(closed))
	require.False(t, owner.reaches(filepath.Join(dir, "absent")))
	require.False(t, stranger.reaches(open), "t.TempDir is below a directory that only its owner enters")
}
