package activities

import (
	"context"
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"

	"rihla/internal/telemetry"
)

// Gate looks whether the build that runs it can take on what other builds have begun.
type Gate struct {
	// Replay replays the histories of running and recent workflows with this build. Its error says that it could not look.
	Replay func(ctx context.Context) (Gated, error)
}

// Gated is what replaying histories has shown.
type Gated struct {
	Replayed int64 `json:"replayed"`
	// Refused says, one by one, what this build cannot take on. Histories get it as an error.
	Refused []string `json:"-"`
}

const (
	// refusedErrorType is a build that cannot take on all workflows.
	refusedErrorType = "DOES_NOT_REPLAY"
	// gateExamples is how many of them the error names; `rihla worker verify` prints them all.
	gateExamples = 10
)

// ReplayHistories fails for good when this build cannot take on a workflow: no other try would find otherwise.
func (g *Gate) ReplayHistories(ctx context.Context) (Gated, error) {
	stop := heartbeat(ctx)
	defer stop()

	found, err := g.Replay(ctx)
	if err != nil {
		return Gated{}, asActivityError(fmt.Errorf("replay histories: %w", err))
	}

	if n := len(found.Refused); n > 0 {
		text := fmt.Sprintf("this build cannot take on %d workflows: %s", n, strings.Join(found.Refused[:min(n, gateExamples)], "; "))

		return Gated{}, temporal.NewApplicationErrorWithOptions(telemetry.Scrub(text), refusedErrorType,
			temporal.ApplicationErrorOptions{NonRetryable: true})
	}

	return found, nil
}
