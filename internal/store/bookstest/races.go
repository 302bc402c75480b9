package bookstest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
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

// AllAtOnce runs all at the same moment, and requires that who does not succeed is refused with one of the codes.
func AllAtOnce(t *testing.T, acts []func(context.Context) error, refusals ...models.Code) {
	t.Helper()

	var wg sync.WaitGroup

	errs := make([]error, len(acts))
	for i, act := range acts {
		wg.Go(func() { errs[i] = act(t.Context()) })
	}

	wg.Wait()

	for _, err := range errs {
		if err != nil {
			require.Contains(t, refusals, models.CodeOf(err), "%v", err)
		}
	}
}
