package console_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"rihla/console"
)

type answer struct {
	status int
	header http.Header
	body   string
}

func fetch(t *testing.T, path string, headers ...string) answer {
	t.Helper()

	application, err := console.New()
	require.NoError(t, err)

	app := fiber.New()
	app.Get(console.Path, application.Serve)
	app.Get(console.Path+"/*", application.Serve)

	request := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}

	response, err := app.Test(request)
	require.NoError(t, err)

	defer response.Body.Close()

	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	return answer{status: response.StatusCode, header: response.Header, body: string(body)}
}

// TestPagesAreTheApplication: every address that is no file shows the application, which knows its pages.
func TestPagesAreTheApplication(t *testing.T) {
	t.Parallel()

	for _, path := range []string{"/console", "/console/", "/console/bookings", "/console/bookings/019ab0c2-6d5e-7b1a-9a55-0c1f5a3c9d10"} {
		a := fetch(t, path)
		require.Equal(t, http.StatusOK, a.status, path)
		require.Contains(t, a.body, `<div id="root">`, path)
		require.Equal(t, "no-cache", a.header.Get("Cache-Control"), path)
		require.Contains(t, a.header.Get("Content-Security-Policy"), "script-src 'self';", path)
		require.NotContains(t, a.header.Get("Content-Security-Policy"), "unsafe", path)
		require.Contains(t, a.header.Get("Permissions-Policy"), "camera=(self), microphone=()", path)
	}

	for _, path := range []string{"/console/assets/index-old.js", "/console/robots.txt"} {
		require.Equal(t, http.StatusNotFound, fetch(t, path).status, path)
	}
}

// TestFilesAreKept: what the page names is there, is kept for good, and is the same packed and unpacked.
func TestFilesAreKept(t *testing.T) {
	t.Parallel()

	page := fetch(t, "/console").body
	names := regexp.MustCompile(`(?:src|href)="(/console/[^"]+)"`).FindAllStringSubmatch(page, -1)
	require.NotEmpty(t, names)

	for _, name := range names {
		plain := fetch(t, name[1])
		require.Equal(t, http.StatusOK, plain.status, name[1])
		require.Empty(t, plain.header.Get("Content-Encoding"), name[1])

		packed := fetch(t, name[1], "Accept-Encoding", "gzip")
		require.Equal(t, "gzip", packed.header.Get("Content-Encoding"), name[1])
		require.NotEqual(t, plain.header.Get("ETag"), packed.header.Get("ETag"), name[1])

		r, err := gzip.NewReader(strings.NewReader(packed.body))
		require.NoError(t, err)
		require.Empty(t, r.Name, "the same source gives the same bytes")
		require.True(t, r.ModTime.IsZero(), "the same source gives the same bytes")

		unpacked, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, plain.body, string(unpacked), name[1])

		if strings.Contains(name[1], "/assets/") {
			require.Contains(t, plain.header.Get("Cache-Control"), "immutable", name[1])
		}

		again := fetch(t, name[1], "Accept-Encoding", "gzip", "If-None-Match", packed.header.Get("ETag"))
		require.Equal(t, http.StatusNotModified, again.status, name[1])
		require.Empty(t, again.body, name[1])
	}
}
