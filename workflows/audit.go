package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
)

// auditTimeout bounds one audit: ten million entries take minutes.
const auditTimeout = 2 * time.Hour

// AuditOptions are the input of one audit.
type AuditOptions struct {
	// Tries is how often an audit that is interrupted is tried before an incident is opened; 0: as often as the nightly one.
	Tries int32 `json:"tries,omitempty"`
}

// auditTries are within 20 minutes: the first ones soon, for a worker that was killed, the last ones late, for a database
// that is away.
const auditTries = 6

// Audit runs once a night by its Temporal Schedule and has the books recomputed.
func Audit(ctx workflow.Context, o AuditOptions) (activities.Audited, error) {
	var out activities.Audited

	if o.Tries <= 0 {
		o.Tries = auditTries
	}

	actx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: auditTimeout,
		HeartbeatTimeout:    heartbeatTimeout,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 2 * time.Second, BackoffCoefficient: 5, MaximumInterval: 15 * time.Minute, MaximumAttempts: o.Tries,
		},
		Summary: "Recompute the books from their proofs",
	})

	err := workflow.ExecuteActivity(actx, auditor.AuditBooks).Get(ctx, &out)
	if err != nil {
		// Silence would be taken for books that agree.
		dctx := withDatabase(ctx, "Open an incident: the audit did not finish")
		if told := workflow.ExecuteLocalActivity(dctx, auditor.ReportUnaudited, errorText(err)).Get(ctx, nil); told != nil {
			return out, told
		}

		setDetails(ctx, "The audit failed. An incident is open.")

		return out, err
	}

	if len(out.Unseen) > 0 {
		setDetails(ctx, fmt.Sprintf("%d rules, %d differences; %d rules could not be checked. An incident is open.",
			out.Rules, out.Differences, len(out.Unseen)))
	} else {
		setDetails(ctx, fmt.Sprintf("%d rules, %d differences.", out.Rules, out.Differences))
	}

	return out, nil
}
