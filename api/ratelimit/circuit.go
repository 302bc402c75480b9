package ratelimit

import (
	"sync"
	"time"
)

// circuitPause is the time between two looks at a dependency that is away.
const circuitPause = time.Second

// circuit remembers whether a dependency answers, so that while it does not, one caller per pause waits for it, and not
// all of them. The zero value is closed: the dependency is asked.
type circuit struct {
	mu      sync.Mutex
	away    bool
	retryAt time.Time
}

// ask reports whether the caller may ask the dependency, and whether that is the look that can end an outage.
func (c *circuit) ask(now time.Time) (ask, probe bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	switch {
	case !c.away:
		return true, false
	case now.Before(c.retryAt):
		return false, false
	default:
		c.retryAt = now.Add(circuitPause)

		return true, true
	}
}

// note takes what came of it, and reports whether that began or ended an outage. Answers that were on their way when the
// outage began do not end it: only a probe does, so that a dependency which answers now and then changes the state at
// most twice a pause.
func (c *circuit) note(now time.Time, probe, answered bool) (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	switch {
	case answered && c.away && probe:
		c.away = false

		return true
	case !answered && !c.away:
		c.away, c.retryAt = true, now.Add(circuitPause)

		return true
	case !answered && probe:
		c.retryAt = now.Add(circuitPause)

		return false
	default:
		return false
	}
}
