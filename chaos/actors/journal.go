// Package actors are the people of the chaos harness: customers, advertisers, finance staff, readers and forgers, who act on
// a schedule, and the faults that break the environment under them. Actors retry requests that the network or the service broke,
// as an app does, and they note every answer.
package actors

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Journal is what happened in one schedule. It is safe for concurrent use.
type Journal struct {
	began time.Time

	mu       sync.Mutex
	trail    []string
	answers  []Answer
	keyed    []request // by their first sending
	problems []string
	counts   map[string]int
	calm     bool // nothing is broken any more: there is no excuse for an answer that says "try again"
}

// NewJournal begins now.
func NewJournal() *Journal { return &Journal{began: time.Now(), counts: map[string]int{}} }

// Stepf notes an actor's step, for the trail.
func (j *Journal) Stepf(who, format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.trail = append(j.trail, fmt.Sprintf("%s %7.3f s  %-12s %s",
		time.Now().UTC().Format("15:04:05.000"), time.Since(j.began).Seconds(), who, fmt.Sprintf(format, args...)))
}

// Problemf notes what must not be.
func (j *Journal) Problemf(who, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	j.Stepf(who, "PROBLEM: %s", text)

	j.mu.Lock()
	defer j.mu.Unlock()

	j.problems = append(j.problems, who+": "+text)
}

// Count counts something that was done or injected, for the table at the end.
func (j *Journal) Count(what string, n int) {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.counts[what] += n
}

// Calm says that from now on nothing is broken.
func (j *Journal) Calm() {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.calm = true
}

func (j *Journal) isCalm() bool {
	j.mu.Lock()
	defer j.mu.Unlock()

	return j.calm
}

// Trail is every step with its time.
func (j *Journal) Trail() []string {
	j.mu.Lock()
	defer j.mu.Unlock()

	return slices.Clone(j.trail)
}

// Problems are what the actors themselves took exception to.
func (j *Journal) Problems() []string {
	j.mu.Lock()
	defer j.mu.Unlock()

	return slices.Clone(j.problems)
}

// Counts are what Count has counted.
func (j *Journal) Counts() map[string]int {
	j.mu.Lock()
	defer j.mu.Unlock()

	return maps.Clone(j.counts)
}

// Answers are all answers that came, in the order in which they came.
func (j *Journal) Answers() []Answer {
	j.mu.Lock()
	defer j.mu.Unlock()

	return slices.Clone(j.answers)
}

// sends notes a request that carries a key, so that it can be repeated. A key is one person's: two would get two answers.
func (j *Journal) sends(r request) {
	j.mu.Lock()
	defer j.mu.Unlock()

	if r.key == "" {
		return
	}

	i := slices.IndexFunc(j.keyed, func(o request) bool { return o.key == r.key })

	switch {
	case i < 0:
		j.keyed = append(j.keyed, r)
	case j.keyed[i].token != r.token:
		j.problems = append(j.problems, "harness: two people send one key: "+r.method+" "+r.path)
	}
}

func (j *Journal) add(a Answer) {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.answers = append(j.answers, a)
}
