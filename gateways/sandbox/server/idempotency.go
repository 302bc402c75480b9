package server

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
)

// maxKey is the longest Idempotency-Key.
const maxKey = 255

// storedAnswer is what a key gave the first time.
type storedAnswer struct {
	Request string          `json:"request"` // digest of the request it answered
	Status  int             `json:"status"`
	Body    json.RawMessage `json:"body"`
}

// once runs effect in a transaction, unless the key was used before: then the stored answer is given again,
// or, had the request another content, an error. Since transactions exclude each other, of simultaneous
// requests with one key exactly one has an effect. Answers that a later try may change (429, 5xx) are not stored.
func (s *Server) once(r *http.Request, m *merchant, operation string, content any, effect func(*tx) (answer, error)) answer {
	key := r.Header.Get("Idempotency-Key")
	if key == "" || !plainText(key, maxKey) {
		return failure(http.StatusBadRequest, "idempotency_key_required", "Idempotency-Key must have 1 to 255 characters.")
	}

	canonical, err := json.Marshal(content)
	if err != nil {
		return s.internal(err)
	}

	sum := sha256.Sum256(canonical)
	digest := hex.EncodeToString(sum[:])
	path := m.name + "\x00" + operation + "\x00" + key

	var given answer

	err = s.commit(func(t *tx) error {
		var stored storedAnswer

		ok, err := t.get(bucketIdempotency, path, &stored)

		switch {
		case err != nil:
			return err
		case ok && stored.Request != digest:
			given = failure(http.StatusUnprocessableEntity, "idempotency_key_reused",
				"The Idempotency-Key was used before with another body.")

			return nil
		case ok:
			given = answer{status: stored.Status, body: stored.Body, replayed: true}

			return nil
		}

		if given, err = effect(t); err != nil {
			return err
		}

		if given.status >= http.StatusInternalServerError || given.status == http.StatusTooManyRequests {
			return nil
		}

		return t.put(bucketIdempotency, path, storedAnswer{Request: digest, Status: given.status, Body: given.body})
	})
	if err != nil {
		return s.internal(err)
	}

	return given
}

// commit makes a change and, once it is durable, schedules its timers and deliveries.
func (s *Server) commit(change func(*tx) error) error {
	t, err := s.store.update(change)
	if err != nil {
		return err
	}

	for _, timer := range t.timers {
		s.timers.add(timer)
	}

	for _, event := range t.events {
		s.outbox.add(job{id: event, at: s.outbox.clock()})
	}

	return nil
}

// begin holds the request's Idempotency-Key until finished is called, more than once if need be. free is false while
// another request with the same key runs. Requests without a key hold nothing.
func (s *Server) begin(r *http.Request, m *merchant, operation string) (finished func(), free bool) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" || r.Method != http.MethodPost {
		return func() {}, true
	}

	held := m.name + "\x00" + operation + "\x00" + key
	if _, running := s.running.LoadOrStore(held, struct{}{}); running {
		return nil, false
	}

	return func() { s.running.Delete(held) }, true
}

func inProgress() answer {
	return failure(http.StatusConflict, "request_in_progress", "A request with this Idempotency-Key is under way.")
}
