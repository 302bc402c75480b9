package failure_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
)

// inLife gives the API the patience that it has by default: how long it waits is part of how it fails.
func inLife(more ...map[string]string) map[string]string {
	env := map[string]string{"CHECKOUT_WAIT": "5s", "REFUND_WAIT": "5s"}
	for _, m := range more {
		maps.Copy(env, m)
	}

	return env
}

func TestKillOfTheWorker(t *testing.T) {
	sms := newSMSCompany(t, 300*time.Millisecond)
	s := harness.Start(t, harness.Options{Env: inLife(sms.env())})
	surviveKill(t, s, s.Worker)

	messages, again := sms.counts()
	t.Logf("%d SMS came, %d of them twice", messages, again)
	require.Equal(t, s.Count("SELECT count(*) FROM notifications WHERE channel = 'SMS'"), messages)
}

func TestKillOfTheAPI(t *testing.T) {
	s := harness.Start(t, harness.Options{Env: inLife()})
	surviveKill(t, s, s.API)
}

func TestKillOfBoth(t *testing.T) {
	s := harness.Start(t, harness.Options{Env: inLife()})
	surviveKill(t, s, s.API, s.Worker)
}

// inFlight is how many payments are under way at the moment of a kill, at the least.
const inFlight = 50

// surviveKill kills processes in the middle of payments at all stages, starts them again as a supervisor would, and
// waits until the books agree.
func surviveKill(t *testing.T, s *harness.Stack, killed ...*harness.Process) {
	t.Helper()

	const first, later = 35, 65

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	l := newLoad(t, s, first+later)
	pay := l.waitToPay(ctx, t, first, time.Second)

	l.come(ctx, later, 100*time.Millisecond)
	pay()
	require.Eventually(t, func() bool { return l.paid.Load() >= 10 && l.booked.Load() >= first+5 }, patience, time.Millisecond)

	for _, p := range killed {
		p.Kill()
	}

	settledAtKill := s.Count("SELECT count(*) FROM bookings WHERE status = 'CONFIRMED'")
	t.Logf("at the kill: %d customers; %d bookings, %d attempts, %d of them with a checkout; %d paid, %d settled",
		first+later, s.Count("SELECT count(*) FROM bookings"), s.Count("SELECT count(*) FROM payment_transactions"),
		s.Count("SELECT count(*) FROM payment_transactions WHERE reference IS NOT NULL"), l.paid.Load(), settledAtKill)
	require.GreaterOrEqual(t, first+later-settledAtKill, inFlight)

	for _, p := range killed {
		p.Start()
	}

	taken := takenBy(s.GatewayLedger())
	up := time.Now()

	t.Logf("%d payments that the gateway took before the restart settled %s after it",
		len(taken), awaitSettled(t, s, taken).Round(time.Millisecond))

	l.finish(t, first+later)
	t.Logf("last customer has paid after %s, %d tries again", time.Since(up).Round(time.Millisecond), l.retries.Load())
	awaitBooks(t, s)
	t.Logf("everything settled %s after the restart", time.Since(up).Round(time.Millisecond))
}
