package failure_test

import (
	"context"
	"flag"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
)

// killEvery is how many requests lie between two kills of TestKillAtEveryBoundary. 1 kills before and after every one of
// them, which takes most of an hour (`go test ./e2e/failure -run EveryBoundary -timeout 3h -v -args -kill-every 1`).
var killEvery = flag.Int("kill-every", 40, "TestKillAtEveryBoundary kills the worker at every n-th request")

// TestKillAtEveryBoundary kills the worker, as kill -9 does, at the requests by which its activities change the world:
// statements of the database and calls to the gateway, once before the request arrives, once after it has had its
// effect and before the worker gets the answer. The first and the last request of an activity are its boundaries. After any
// kill the final state is that of a run without a kill.
func TestKillAtEveryBoundary(t *testing.T) {
	t.Parallel()

	var (
		met activitySet
		all sync.WaitGroup
	)

	// More at once than there are processors: they wait most of the time, for Temporal to miss the dead worker.
	turn := make(chan struct{}, 5)

	for _, j := range journeys() {
		all.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()

			t.Run(j.name, func(t *testing.T) { j.survive(t, &met) })
		})
	}

	all.Wait()

	if !t.Failed() && met.journeys == len(journeys()) { // else -run has left some out
		require.Empty(t, met.missing(), "activities that no journey has come through")
	}
}

// journey is one way of money through the service.
type journey struct {
	name string
	env  map[string]string
	// tampered says what prepare puts into a state that the service cannot bring about, and rule what the audit calls it.
	tampered, rule string
	// cut is a part of statements on which the worker's connection breaks each time.
	cut string
	// smsTakes has the worker send one message of a kind at a time; an SMS takes so long.
	smsTakes time.Duration
	// customers go the same way side by side; 0: one. So many times fewer of their requests are broken.
	customers int
	// prepare does what comes before, with a worker that is well, and returns what is done while it is killed. That is
	// repeated by the caller until it succeeds, as clients do.
	prepare func(t *testing.T, s *harness.Stack) act
	// want are lines that must be left in the end.
	want []string
}

// act goes the way and returns the id of the booking or campaign whose remains are compared.
type act func(ctx context.Context) (subject string, err error)

// tapMoments are on both sides of a request.
var tapMoments = []harness.Moment{harness.BeforeRequest, harness.AfterEffect}

func (j journey) survive(t *testing.T, met *activitySet) {
	t.Helper()

	slow := map[string]string{}
	if j.smsTakes > 0 {
		slow = newSMSCompany(t, j.smsTakes).env()
		slow["SMS_CONCURRENCY"], slow["MAIL_CONCURRENCY"] = "1", "1"
	}

	s := harness.Start(t, harness.Options{Env: inLife(slow, map[string]string{
		// The sweep comes as often as by default: it wakes the outbox when a worker is killed before it could.
		"SWEEP_INTERVAL": "10s",
		// A refusal that follows a lost answer counts after this: longer than a sending belongs to a worker, shorter than patience.
		"REFUND_SETTLE_AFTER": "8s",
	}, j.env)})
	tap := s.TapWorker()

	tap.Cut(j.cut)

	if j.tampered != "" {
		s.Tampered(j.tampered, j.rule)
	}

	run := func(n int, when harness.Moment) (left string, passed []string, took time.Duration) {
		return j.run(t, s.For(t), tap, n, when)
	}

	whole, passed, _ := run(0, harness.BeforeRequest)
	for _, line := range j.want {
		require.Contains(t, strings.Split(whole, "\n"), line, "without a kill")
	}

	t.Logf("%d requests:\n%s", len(passed), strings.Join(passed, "\n"))

	var recoveries []time.Duration

	kill := func(n int, when harness.Moment) {
		left, until, took := run(n, when)
		require.Equal(t, whole, left, "killed %s request %d: %s", when, n, until[len(until)-1])

		if len(until) == n { // else it got through with fewer requests
			recoveries = append(recoveries, took)
			t.Logf("killed %s request %d, at rest again after %s: %s", when, n, took.Round(time.Millisecond), until[n-1])
		}
	}

	every := max(1, *killEvery) * max(1, j.customers)
	first := max(1, min((every+1)/2, len(passed)/2)) // each journey is broken at least once

	for i, n := len(j.name), first; n <= len(passed); i, n = i+1, n+every {
		sides := tapMoments
		if every > 1 {
			sides = tapMoments[i%2 : i%2+1]
		}

		for _, when := range sides {
			kill(n, when)
		}
	}

	// With fewer requests of a sweep between them it may have got through each time: it is broken earlier then.
	for n := first / 2; n > 0 && len(recoveries) == 0; n /= 2 {
		kill(n, tapMoments[0])
	}

	require.NotEmpty(t, recoveries, "it was through before it could be killed")
	t.Logf("killed %d times; back at work within %s, at the median %s", len(recoveries),
		slices.Max(recoveries).Round(time.Millisecond), median(recoveries).Round(time.Millisecond))
	met.add(t, s)
}

func median(d []time.Duration) time.Duration { return slices.Sorted(slices.Values(d))[len(d)/2] }

// run goes the journey once, kills the worker at the n-th request, starts it again, and returns what is left in the end,
// the requests up to the kill, and how long after the restart everything was done.
func (j journey) run(t *testing.T, s *harness.Stack, tap *harness.Tap, n int, when harness.Moment) (string, []string, time.Duration) {
	t.Helper()

	do := j.prepare(t, s)
	killed := tap.Arm(n, when, func() { s.Worker.Kill() })

	// The steps before have limits of their own: the time is for getting over the kill.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	var (
		subject string
		failed  error
	)

	done := make(chan struct{})

	go func() {
		defer close(done)

		if subject, failed = do(ctx); failed == nil {
			failed = awaitRest(ctx, s, subject)
		}
	}()

	var up time.Time

	select {
	case <-killed:
		s.Worker.Start()

		up = time.Now()
	case <-done:
	}

	<-done

	passed := tap.Disarm()
	if len(passed) == n && n > 0 && up.IsZero() { // at its very last request
		<-killed
		s.Worker.Start()

		up = time.Now()
	}

	label := "nowhere"

	if len(passed) > 0 {
		label = passed[len(passed)-1]
	}

	require.NoError(t, failed, "killed %s request %d: %s", when, n, label)

	left, err := remains(ctx, s, subject)
	require.NoError(t, err)

	return left, passed, time.Since(up)
}
