package cmd

import (
	"context"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"regexp"
	"time"

	"rihla/docs"
)

// defaultRunbookAddr is where `dev` serves the runbook.
const defaultRunbookAddr = "127.0.0.1:8091"

// startRunbook serves the runbook, to which incidents link, unless RUNBOOK_URL says that it is elsewhere.
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

// escapedAnchor is an anchor of the runbook after its text was escaped.
var escapedAnchor = regexp.MustCompile(`&lt;a id=&#34;([a-z0-9_-]+)&#34;&gt;&lt;/a&gt;`)

// runbook serves docs/operations.md as it is written, with its anchors, so that a link to a paragraph leads there.
func runbook() http.Handler {
	page := `<!doctype html><html lang="en"><meta charset="utf-8"><title>Rihla: operations</title>` +
		`<pre style="white-space: pre-wrap; max-width: 120ch; margin: 2em auto">` +
		escapedAnchor.ReplaceAllString(html.EscapeString(docs.Operations), `<a id="$1"></a>`) + `</pre></html>`

	mux := http.NewServeMux()
	mux.HandleFunc("GET /operations", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")

		_, _ = io.WriteString(w, page)
	})
	mux.Handle("GET /{$}", http.RedirectHandler("/operations", http.StatusFound))

	return mux
}
