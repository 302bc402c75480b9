package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// load is what a round of the same work gave.
type load struct {
	took []time.Duration // of each piece of work, from the quickest
	wall time.Duration
}

// rate is how many a second.
func (l load) rate() float64 { return float64(len(l.took)) / l.wall.Seconds() }

// at is the time within which a share of the work was done, 0.5 for the median.
func (l load) at(share float64) time.Duration {
	if len(l.took) == 0 {
		return 0
	}

	return l.took[min(int(share*float64(len(l.took))), len(l.took)-1)]
}

// closedLoop does something n times by as many clients, each of which goes on once its last one is done. The first error ends it.
func closedLoop(ctx context.Context, clients, n int, do func(ctx context.Context) error) (load, error) {
	var (
		mu   sync.Mutex
		left = n
		out  load
	)

	next := func() bool {
		mu.Lock()
		defer mu.Unlock()

		left--

		return left >= 0
	}

	group, ctx := errgroup.WithContext(ctx)
	began := time.Now()

	for range clients {
		group.Go(func() error {
			for next() && ctx.Err() == nil {
				start := time.Now()

				if err := do(ctx); err != nil {
					return err
				}

				mu.Lock()
				out.took = append(out.took, time.Since(start))
				mu.Unlock()
			}

			return nil
		})
	}

	err := group.Wait()
	out.wall = time.Since(began)

	slices.Sort(out.took)

	return out, err
}

// loadOf is a load of parts that were measured apart.
func loadOf(parts [][]time.Duration, wall time.Duration) load {
	out := load{took: slices.Concat(parts...), wall: wall}
	slices.Sort(out.took)

	return out
}
