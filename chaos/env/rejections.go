package env

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"sync"
)

// rejections are the gateway's, by what they were about: what it has refused it keeps no row of.
type rejections struct {
	mu         sync.Mutex
	references []string // every id in the request of each
}

// ids are what ours look like, and at some companies theirs.
var ids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// around notes what the gateway refuses for good.
func (r *rejections) around(gateway http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodPost {
			gateway.ServeHTTP(w, req)

			return
		}

		body, err := io.ReadAll(req.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // who has asked is gone
		}

		req.Body = io.NopCloser(bytes.NewReader(body))
		answer := &answered{ResponseWriter: w}
		gateway.ServeHTTP(answer, req)

		if answer.rejected() {
			r.mu.Lock()
			defer r.mu.Unlock()

			r.references = append(r.references, ids.FindAllString(req.URL.Path+" "+string(body), -1)...)
		}
	})
}

func (r *rejections) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()

	return append([]string{}, r.references...)
}

// answered keeps the status of an answer.
type answered struct {
	http.ResponseWriter

	status int
}

// WriteHeader implements http.ResponseWriter.
func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// rejected is a 4xx that stays the same however often it is asked for: 409 and 425 say that something else is under way, 429
// that the gateway is busy.
func (a *answered) rejected() bool {
	switch a.status {
	case http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	default:
		return a.status >= http.StatusBadRequest && a.status < http.StatusInternalServerError
	}
}
