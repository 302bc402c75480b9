package bookstest

import "sync"

// Parallel runs fn n times at once and waits for all of them.
func Parallel(n int, fn func(i int)) {
	var (
		wg    sync.WaitGroup
		start = make(chan struct{})
	)

	for i := range n {
		wg.Go(func() {
			<-start
			fn(i)
		})
	}

	close(start)
	wg.Wait()
}
