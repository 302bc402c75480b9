package failure_test

import (
	"context"
	"flag"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
)

// stormOutage is how long Temporal is away in TestOutagesUnderWebhooks. The service is held to a minute
// (`go test ./e2e/failure -run OutagesUnderWebhooks -v -args -storm-outage 60s`); the shorter one goes through the same states.
var (
	stormOutage  = flag.Duration("storm-outage", 3*time.Second, "how long Temporal is away under webhooks")
	stormCluster = flag.Bool("storm-cluster", false, "Temporal is a cluster of two nodes")
)

const (
	stormRate = 50          // webhooks per second
	stormEdge = time.Second // of webhooks before the outage and after it
)

// orchestrator is a Temporal that can be killed.
type orchestrator interface {
	Kill()
	Start(ctx context.Context) error
}

// TestOutagesUnderWebhooks: Temporal is away for a while and PostgreSQL is killed and restarted meanwhile, under a stream
// of webhooks. Every webhook that was accepted has its effect once.
func TestOutagesUnderWebhooks(t *testing.T) {
	s := harness.Start(t, harness.Options{Private: true, Cluster: *stormCluster, Env: inLife()})

	var temporal orchestrator = s.Components.Temporal
	if *stormCluster {
		temporal = s.Components.Cluster
	}

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()

	whole := *stormOutage + 2*stormEdge
	payments := int(whole.Seconds() * stormRate)
	l := newLoad(t, s, payments)
	pay := l.queueToPay(ctx, t, payments)
	before := s.GatewayStats()

	var outage sync.WaitGroup

	began := time.Now()

	outage.Go(func() { pay(whole) })
	require.True(t, pause(ctx, stormEdge))

	temporal.Kill()

	require.True(t, pause(ctx, *stormOutage/2))

	s.Components.Postgres.Kill()
	require.NoError(t, s.Components.Postgres.Start(ctx))
	t.Logf("PostgreSQL is back %s after the first webhook", time.Since(began).Round(time.Millisecond))
	require.True(t, pause(ctx, stormEdge+*stormOutage-time.Since(began)))

	stored := s.Count("SELECT count(*) FROM webhook_events")
	waiting := s.Count("SELECT count(*) FROM webhook_events WHERE processed_at IS NULL")

	require.NoError(t, temporal.Start(ctx))
	t.Logf("Temporal is back after %s; %d webhooks are stored, %d of them wait", time.Since(began).Round(time.Millisecond), stored, waiting)
	require.NotZero(t, waiting)

	back := time.Now()

	outage.Wait()
	l.finish(t, payments)

	await(t, 3*time.Minute+5**stormOutage, func() error { return books(s.DB, s.GatewayLedger()) })
	t.Logf("all %d payments are settled %s after Temporal was back", payments, time.Since(back).Round(time.Millisecond))

	now := s.GatewayStats()
	require.Equal(t, payments, now.WebhooksDelivered-before.WebhooksDelivered, "every webhook was accepted in the end")
	require.Equal(t, payments, s.Count(`SELECT count(*) FROM webhook_events
		WHERE processed_at IS NOT NULL AND webhook_id NOT LIKE 'status-query:%'`), "and is there once")
	t.Logf("%d deliveries were not accepted and came again", now.WebhookFailures-before.WebhookFailures)
}
