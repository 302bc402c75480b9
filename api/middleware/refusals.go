package middleware

import (
	"sync"
	"time"
)

// refusalsEvery is how often the log says that requests are refused because there is too much to do. Each has its line "request" and a
// metric besides; a line more for each would be written when there is least time for it.
const refusalsEvery = 10 * time.Second

// refusals count, by what they are refused with, the requests of which the log has said nothing yet. The zero value is ready for use.
type refusals struct {
	mu   sync.Mutex
	kind map[string]*refusal
}

type refusal struct {
	logged time.Time
	since  int
}

// add counts one and returns how many the next line of the log is about, this one among them; 0: it is not its time yet.
func (r *refusals) add(why string, now time.Time) (due int) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.kind == nil {
		r.kind = map[string]*refusal{}
	}

	one := r.kind[why]
	if one == nil {
		one = &refusal{}
		r.kind[why] = one
	}

	one.since++

	if now.Sub(one.logged) < refusalsEvery {
		return 0
	}

	due, one.since, one.logged = one.since, 0, now

	return due
}
