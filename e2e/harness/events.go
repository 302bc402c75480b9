package harness

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"rihla/e2e/rig"

	"github.com/stretchr/testify/require"
)

// Events is an open stream of server-sent events.
type Events struct {
	Status int
	Header http.Header

	lines  chan string // closed when the stream has ended
	cancel context.CancelFunc
}

// streamClient has no time limit: a stream is open for as long as a test wants.
var streamClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// Listen opens a stream, which is closed at the latest when the test ends. The test fails unless the answer, up to the
// end of the first event, is as the API's document says.
func (c *Caller) Listen(path string) *Events {
	c.stack.tb.Helper()

	ctx, cancel := context.WithCancel(context.Background())
	c.stack.tb.Cleanup(cancel)

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.stack.URL+path, nil)
	require.NoError(c.stack.tb, err)

	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}

	answer, err := streamClient.Do(r) //nolint:bodyclose // the goroutine that reads it does
	require.NoError(c.stack.tb, err)

	giveUp := time.AfterFunc(startPatience, cancel)
	body := bufio.NewReader(answer.Body)
	first, err := rig.Available(answer, body)
	require.NoError(c.stack.tb, err)
	giveUp.Stop()

	c.stack.conforms(r, Answer{Status: answer.StatusCode, Header: answer.Header, Body: first})

	e := &Events{Status: answer.StatusCode, Header: answer.Header, lines: make(chan string, 1000), cancel: cancel}

	go func() {
		defer close(e.lines)
		defer answer.Body.Close()

		for lines := bufio.NewScanner(io.MultiReader(bytes.NewReader(first), body)); lines.Scan(); {
			e.lines <- lines.Text()
		}
	}()

	return e
}

// Close goes away, as a client does whose page is closed.
func (e *Events) Close() { e.cancel() }

// Next is the next line that begins with the prefix, without it; false when the stream ends, or none comes in time.
func (e *Events) Next(prefix string, within time.Duration) (string, bool) {
	over := time.After(within)

	for {
		select {
		case <-over:
			return "", false
		case line, open := <-e.lines:
			if !open {
				return "", false
			}

			if rest, ok := strings.CutPrefix(line, prefix); ok {
				return rest, true
			}
		}
	}
}

// Ended waits until the stream has ended.
func (e *Events) Ended(within time.Duration) bool {
	over := time.After(within)

	for {
		select {
		case <-over:
			return false
		case _, open := <-e.lines:
			if !open {
				return true
			}
		}
	}
}
