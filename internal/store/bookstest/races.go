package bookstest

import (
	"sync"
	"time"
)

// Race runs both at the same moment.
func Race(a, b func()) { RaceAhead(0, a, b) }

// RaceAhead starts a before b by ahead, or after it where ahead is negative.
func RaceAhead(ahead time.Duration, a, b func()) {
	var wg sync.WaitGroup

	start := make(chan struct{})

	run := func(late time.Duration, do func()) {
		wg.Go(func() {
			<-start

			if late > 0 {
				<-time.After(late)
			}

			do()
		})
	}
	run(-ahead, a)
	run(ahead, b)

	close(start)
	wg.Wait()
}
