package engine

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

// Once runs effect in a transaction, unless the request's key was used before for the operation: then the stored answer is given
// again, or, had the request another content, an error. Since transactions exclude each other, of simultaneous requests with one
// key exactly one has an effect. Answers that keep refuses are not stored; nil keeps what a later try cannot change (no 429, no 5xx).
func (s *Server) Once(
	r *http.Request, m *Account, operation Operation, content any, keep func(Answer) bool, effect func(*Tx) (Answer, error),
) Answer {
	key := r.Header.Get("Idempotency-Key")
	if key == "" || !PlainText(key, maxKey) {
		return s.protocol.Failure(Failure{
			Status: http.StatusBadRequest, Code: CodeKeyMissing, Message: "Idempotency-Key must have 1 to 255 characters.",
		})
	}

	canonical, err := json.Marshal(content)
	if err != nil {
		return s.Internal(err)
	}

	sum := sha256.Sum256(canonical)
	digest := hex.EncodeToString(sum[:])
	path := m.Name + "\x00" + string(operation) + "\x00" + key

	if keep == nil {
		keep = isLasting
	}

	var given Answer

	err = s.Commit(func(t *Tx) error {
		var stored storedAnswer

		ok, err := t.get(bucketIdempotency, path, &stored)

		switch {
		case err != nil:
			return err
		case ok && stored.Request != digest:
			given = s.protocol.Failure(Failure{
				Status: http.StatusUnprocessableEntity, Code: CodeKeyReused, Message: "The Idempotency-Key was used before with another body.",
			})

			return nil
		case ok:
			given = Answer{Status: stored.Status, Body: stored.Body, Replayed: true}

			return nil
		}

		if given, err = effect(t); err != nil || !keep(given) {
			return err
		}

		return t.put(bucketIdempotency, path, storedAnswer{Request: digest, Status: given.Status, Body: given.Body})
	})
	if err != nil {
		return s.Internal(err)
	}

	return given
}

func isLasting(a Answer) bool {
	return a.Status < http.StatusInternalServerError && a.Status != http.StatusTooManyRequests
}

// Commit makes a change and, once it is durable, schedules its timers and deliveries. change may run more than once and must
// only touch the transaction and variables that it sets anew.
func (s *Server) Commit(change func(*Tx) error) error {
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

// View reads.
func (s *Server) View(read func(*Tx) error) error { return s.store.view(read) }

// begin holds the request's Idempotency-Key until finished is called, more than once if need be. free is false while
// another request with the same key runs. Requests without a key hold nothing.
func (s *Server) begin(r *http.Request, m *Account, operation Operation) (finished func(), free bool) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" || r.Method != http.MethodPost || !s.traits.Keys {
		return func() {}, true
	}

	held := m.Name + "\x00" + string(operation) + "\x00" + key
	if _, running := s.running.LoadOrStore(held, struct{}{}); running {
		return nil, false
	}

	return func() { s.running.Delete(held) }, true
}

func (s *Server) inProgress() Answer {
	return s.protocol.Failure(Failure{
		Status: http.StatusConflict, Code: CodeInProgress, Message: "A request with this Idempotency-Key is under way.",
	})
}
