package resources_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// unreadUploads announces bodies that never come: who may not upload, or not as much, is answered without them.
func unreadUploads(t *testing.T, s *harness.Stack) {
	t.Helper()

	for _, tt := range []struct {
		token string
		size  int
		want  int
		code  models.Code
	}{
		{"", 50 << 20, http.StatusUnauthorized, models.CodeUnauthenticated},
		{s.As(models.RoleEndUser).Token(), 50 << 20, http.StatusForbidden, models.CodeForbidden},
		{s.As(models.RoleProviderStaff).Token(), 64<<20 + 1, http.StatusRequestEntityTooLarge, models.CodePayloadTooLarge},
		{"", 64<<20 + 1, http.StatusRequestEntityTooLarge, models.CodePayloadTooLarge},
	} {
		t.Run(fmt.Sprint(tt.want, tt.token == ""), func(t *testing.T) {
			t.Parallel()
			refused(t, announce(t, s, tt.token, tt.size), tt.want, tt.code)
		})
	}
}

// announce sends the beginning of an upload and waits for the answer.
func announce(t *testing.T, s *harness.Stack, token string, size int) harness.Answer {
	t.Helper()

	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	require.NoError(t, err)

	defer conn.Close()

	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))

	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n"+
		"Content-Type: multipart/form-data; boundary=b\r\n\r\n%s", buses.path, token, size, strings.Repeat("preamble", 2048))
	require.NoError(t, err)

	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)

	defer r.Body.Close()

	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)

	return harness.Answer{Status: r.StatusCode, Header: r.Header, Body: body}
}

// TestPhotosAfterACrash kills the API: what it had stored stays, and what it left behind goes. So do, with their rows, the photos of a bus
// that was deleted 30 days ago, and not yet those of one that was deleted later.
func TestPhotosAfterACrash(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: patient})

	bus, _ := made(t, upload(t, s.As(models.RoleProviderStaff), buses.path, photo(picture(t)), payload(t, buses.body(s, "Coach"))))
	address := photosIn(t, bus)[0]["url"]
	folder := filepath.Join(s.DataDir, "media", "bus-photos")

	for plate, days := range map[string]int{"Gone": 31, "Going": 29} {
		bus, at := made(t, upload(t, s.As(models.RoleProviderStaff), buses.path, photo(picture(t)), payload(t, buses.body(s, plate))))
		a, err := s.As(models.RoleProviderAdmin).Do(http.MethodDelete, at, nil, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusNoContent, a.Status)
		_, err = s.Store.DB.ExecContext(t.Context(), "UPDATE buses SET deleted_at = now() - ? * interval '1 day' WHERE id = ?", days, bus["id"])
		require.NoError(t, err)
	}

	orphan, fresh := filepath.Join(folder, "orphan"), filepath.Join(folder, "fresh")

	for _, name := range []string{orphan, fresh} {
		require.NoError(t, os.WriteFile(name, nil, 0o600))
	}

	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, files, 5)

	hours := time.Now().Add(-2 * time.Hour)
	for _, file := range files {
		if file.Name() != filepath.Base(fresh) {
			require.NoError(t, os.Chtimes(filepath.Join(folder, file.Name()), hours, hours))
		}
	}

	s.API.Kill()
	s.API.Start()

	require.Eventually(t, func() bool {
		_, err := os.Stat(orphan)

		return errors.Is(err, os.ErrNotExist)
	}, time.Minute, 50*time.Millisecond, "old, and of no photo")
	require.FileExists(t, fresh, "an upload may be at it")
	require.Eventually(t, func() bool {
		files, err := os.ReadDir(folder)

		return err == nil && len(files) == 3
	}, time.Minute, 50*time.Millisecond, "the deleted bus's")
	require.Equal(t, 2, s.Count("SELECT count(*) FROM bus_photos"))
	require.Equal(t, http.StatusOK, opened(t, s, address).Status, "the same address, from another process")
}
