package middleware

import (
	"hash/maphash"
	"sync"
	"time"
)

const (
	// suspectTime is how long a token is remembered that turned out not to stand for its account any more. Some live for longer, and are
	// remembered again.
	suspectTime = time.Minute
	// suspectsAtMost bounds what is remembered. When there are more, all are forgotten.
	suspectsAtMost = 4096
)

// suspects are tokens that were refused lately because of their account. Their account is read before they are given a place for a payment,
// and not after: else such a token could hold places which others need, time and again. What they are answered does not depend on it.
type suspects struct {
	now  func() time.Time
	seed maphash.Seed

	mu    sync.Mutex
	until map[uint64]time.Time // by a hash of the token
}

func newSuspects(now func() time.Time) *suspects {
	return &suspects{now: now, seed: maphash.MakeSeed(), until: map[uint64]time.Time{}}
}

func (s *suspects) add(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if len(s.until) >= suspectsAtMost {
		clear(s.until)
	}

	s.until[maphash.String(s.seed, token)] = s.now().Add(suspectTime)
}

func (s *suspects) have(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	key := maphash.String(s.seed, token)

	until, found := s.until[key]
	if found && !s.now().Before(until) {
		delete(s.until, key)

		return false
	}

	return found
}
