//go:build !production

package cmd

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/docs"
)

var href = regexp.MustCompile(`<a href="([^"]+)">`)

// TestRunbookLinks follows every link from the index: all lead to a page, and to a heading or anchor on it, and every page of the runbook
// is reached.
func TestRunbookLinks(t *testing.T) {
	t.Parallel()

	pages, handler := map[string]string{}, runbook()

	var open func(page string) string

	open = func(page string) string {
		if body, seen := pages[page]; seen {
			return body
		}

		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, page, nil))
		require.Equal(t, http.StatusOK, answer.Code, page)

		pages[page] = answer.Body.String()
		from, err := url.Parse(page)
		require.NoError(t, err)

		for _, link := range href.FindAllStringSubmatch(pages[page], -1) {
			to, err := from.Parse(link[1])
			require.NoError(t, err)

			target := open(to.Path)
			if to.Fragment != "" {
				require.Contains(t, target, `id="`+to.Fragment+`"`, "%s links to %s", page, link[1])
			}
		}

		return pages[page]
	}

	open("/operations")

	written, err := fs.Glob(docs.Pages, "runbook/*.md")
	require.NoError(t, err)
	require.Greater(t, len(written), 20)

	for _, name := range written {
		require.Contains(t, pages, "/"+name, "no link from the index leads to it")
	}

	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/runbook/no-such.md", nil))
	require.Equal(t, http.StatusNotFound, answer.Code)
}
