package bookstest

import "sync"

// Race runs both at the same moment.
func Race(a, b func()) {
	var wg sync.WaitGroup

	start := make(chan struct{})

	for _, do := range []func(){a, b} {
		wg.Go(func() { <-start; do() })
	}

	close(start)
	wg.Wait()
}
