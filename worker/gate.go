package worker

import (
	"context"
	"fmt"
	"time"

	"rihla/activities"
)

// newGate replays what the other versions of the workers have begun, with the workflows of this build.
func newGate(d Deps) *activities.Gate {
	return &activities.Gate{Replay: func(ctx context.Context) (activities.Gated, error) {
		found, err := Verify(ctx, d.Temporal, VerifyOptions{
			Namespace: d.Namespace, Queue: d.Queue, Data: d.Data, Failures: d.Failures,
			Since: time.Now().Add(-VerifySince), Limit: VerifyLimit,
		})

		return gated(found), err
	}}
}

// gated is the same in the form of the activity.
func gated(v Verified) activities.Gated {
	var out activities.Gated

	for _, of := range v.Types {
		out.Replayed += of.Running + of.Ended
	}

	for _, f := range v.Failed {
		out.Refused = append(out.Refused, fmt.Sprintf("%s %s, run %s: %v", f.Type, f.WorkflowID, f.RunID, f.Err))
	}

	if v.Unknown > 0 {
		out.Refused = append(out.Refused, fmt.Sprintf("%d of types that it does not have", v.Unknown))
	}

	return out
}
