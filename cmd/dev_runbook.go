//go:build !production

package cmd

import (
	"context"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	"rihla/docs"
)

// defaultRunbookAddr is where `dev` serves the runbook.
const defaultRunbookAddr = "127.0.0.1:8091"

// startRunbook serves the runbook, to which incidents link, unless RUNBOOK_URL names another address.
func (h *devEnv) startRunbook(ctx context.Context) error {
	if h.cfg.App.RunbookURL != "" {
		return nil
	}

	addr, err := h.freeAddress(ctx, "runbook", defaultRunbookAddr)
	if err != nil {
		return err
	}

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("runbook: %w", err)
	}

	server := &http.Server{Handler: runbook(), ReadHeaderTimeout: 5 * time.Second}

	go func() { _ = server.Serve(listener) }()

	h.open.add(func() { h.errs = append(h.errs, server.Close()) })
	h.cfg.App.RunbookURL = "http://" + listener.Addr().String() + "/operations"

	return nil
}

var (
	// runbookAnchor, runbookHeading and runbookLink are parts of a page after its text was escaped.
	runbookAnchor  = regexp.MustCompile(`&lt;a id=&#34;([a-z0-9._-]+)&#34;&gt;(.*?)&lt;/a&gt;`)
	runbookHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	runbookLink    = regexp.MustCompile(`\[([^\]]+)\]\(([^)\s#]*)(#[^)\s]+)?\)`)
	slugDrops      = regexp.MustCompile(`<[^>]*>|[^a-z0-9 _-]`)
)

// runbook serves docs/operations.md, the index, at /operations, and every page that it leads to at its path below docs.
func runbook() http.Handler {
	const index = "operations.md"

	mux := http.NewServeMux()
	mux.Handle("GET /{$}", http.RedirectHandler("/operations", http.StatusFound))
	mux.HandleFunc("GET /operations", func(w http.ResponseWriter, r *http.Request) { servePage(w, r, index) })
	mux.HandleFunc("GET /{page...}", func(w http.ResponseWriter, r *http.Request) { servePage(w, r, r.PathValue("page")) })

	return mux
}

func servePage(w http.ResponseWriter, r *http.Request, name string) {
	text, err := docs.Pages.ReadFile(name)
	if err != nil {
		http.NotFound(w, r)

		return
	}

	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")

	_, _ = io.WriteString(w, pageHTML(name, string(text))) //nolint:gosec // a file of this binary, escaped
}

// pageHTML is a page as it is written, with its anchors, headings and links to other pages; links to files that are not served are text.
func pageHTML(name, text string) string {
	text = runbookAnchor.ReplaceAllString(html.EscapeString(text), `<a id="$1">$2</a>`)
	text = runbookHeading.ReplaceAllStringFunc(text, func(line string) string {
		title := runbookHeading.FindStringSubmatch(line)[1]

		return `<b id="` + slug(title) + `">` + line + `</b>`
	})
	text = runbookLink.ReplaceAllStringFunc(text, func(link string) string {
		parts := runbookLink.FindStringSubmatch(link)
		label, target, fragment := parts[1], parts[2], parts[3]

		if target != "" {
			if _, err := docs.Pages.Open(path.Join(path.Dir(name), target)); err != nil {
				return label
			}
		}

		return `<a href="` + target + fragment + `">` + label + `</a>`
	})

	return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Rihla: ` + html.EscapeString(name) + `</title>` +
		`<pre style="white-space: pre-wrap; max-width: 120ch; margin: 2em auto">` + text + `</pre></html>`
}

// slug is the id of a heading, as hosts of Markdown make it.
func slug(title string) string {
	return strings.ReplaceAll(slugDrops.ReplaceAllString(strings.ToLower(html.UnescapeString(title)), ""), " ", "-")
}
