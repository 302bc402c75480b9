package engine

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// job is something to do at a time. What it is about is in the store; a job whose subject is gone or done
// is harmless, so jobs are never removed.
type job struct {
	id      string
	at      time.Time
	attempt int  // of a delivery: how many were made before
	faulted bool // of a delivery: it has met its fault, if there was one
}

// schedule runs jobs when they are due.
type schedule struct {
	clock func() time.Time
	tick  time.Duration // longest sleep, so that a clock that jumps is noticed

	mu   sync.Mutex
	jobs jobHeap
	wake chan struct{}
}

func newSchedule(clock func() time.Time, tick time.Duration) *schedule {
	return &schedule{clock: clock, tick: tick, wake: make(chan struct{}, 1)}
}

// add is safe for concurrent use.
func (s *schedule) add(j job) {
	s.mu.Lock()
	heap.Push(&s.jobs, j)
	first := s.jobs[0] == j
	s.mu.Unlock()

	if first {
		select {
		case s.wake <- struct{}{}:
		default: // it is awake already
		}
	}
}

// run hands due jobs to handle, at most limit at once, until ctx ends and all have returned.
func (s *schedule) run(ctx context.Context, limit int, handle func(context.Context, job)) {
	slots := make(chan struct{}, limit)

	var running sync.WaitGroup
	defer running.Wait()

	for {
		due, wait := s.due()

		for _, j := range due {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}

			running.Go(func() {
				defer func() { <-slots }()

				handle(ctx, j)
			})
		}

		timer := time.NewTimer(wait)

		select {
		case <-ctx.Done():
			timer.Stop()

			return
		case <-s.wake:
		case <-timer.C:
		}

		timer.Stop()
	}
}

// due takes what is due and tells how long to sleep afterwards.
func (s *schedule) due() ([]job, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()

	var due []job

	now := s.clock()
	for len(s.jobs) > 0 {
		if left := s.jobs[0].at.Sub(now); left > 0 {
			return due, min(left, s.tick)
		}

		due = append(due, heap.Pop(&s.jobs).(job))
	}

	return due, s.tick
}

// jobHeap is a container/heap of jobs, the earliest first.
type jobHeap []job

func (h jobHeap) Len() int           { return len(h) }
func (h jobHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h jobHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *jobHeap) Push(x any) { *h = append(*h, x.(job)) }

// Pop implements heap.Interface.
func (h *jobHeap) Pop() any {
	last := len(*h) - 1
	j := (*h)[last]
	*h = (*h)[:last]

	return j
}
