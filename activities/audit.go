package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"rihla/internal/audit"
	"rihla/internal/store"
	"rihla/internal/store/incidents"
	"rihla/internal/telemetry"
)

// Audit recomputes the books at night and tells people of what does not agree.
type Audit struct {
	Store *store.Store
	Now   func() time.Time
}

// auditExamples is how many differences of one rule an incident shows; `rihla audit` prints them all.
const auditExamples = 20

// Audited is the outcome of one audit.
type Audited struct {
	Rules       int      `json:"rules"` // that were looked at
	Differences int      `json:"differences,omitempty"`
	Incidents   int      `json:"incidents,omitempty"` // rules that do not hold
	Unseen      []string `json:"unseen,omitempty"`    // rules that could not be looked at; there is an incident about them
}

// AuditBooks runs every rule and sees to it that there is an open incident per rule that does not hold, and one about
// those that could not be looked at. When the audit as a whole is interrupted, what it has found until then is reported all
// the same, and the error is returned.
func (a *Audit) AuditBooks(ctx context.Context) (Audited, error) {
	stop := heartbeat(ctx)
	defer stop()

	examples := map[string][]string{}

	sum, broken := audit.Run(ctx, a.Store.DB.Raw, func(d audit.Difference) error {
		if len(examples[d.Rule]) < auditExamples {
			examples[d.Rule] = append(examples[d.Rule], d.String())
		}

		return nil
	})

	out := Audited{Differences: sum.Differences}
	workflow := workflowOf(ctx)

	var errs error

	for _, r := range sum.Rules {
		if r.Differences == 0 {
			continue
		}

		out.Incidents++
		errs = errors.Join(errs, a.Store.Incidents.ReportDifferences(ctx, incidents.Differences{
			Rule: r.Name, Says: r.Says, Count: r.Differences, Examples: examples[r.Name],
		}, a.Now(), workflow))
	}

	reasons := make([]string, len(sum.Unseen))
	for i, u := range sum.Unseen {
		reasons[i] = telemetry.Scrub(u.Err.Error())

		for _, r := range u.Rules {
			out.Unseen = append(out.Unseen, r.Name)
		}
	}

	out.Rules = len(sum.Rules) - len(out.Unseen) // those are among the rules, with what was found before it failed

	if len(out.Unseen) > 0 {
		errs = errors.Join(errs, a.Store.Incidents.ReportUnseen(ctx, out.Unseen, strings.Join(reasons, "; "), a.Now(), workflow))
	}

	if broken != nil {
		errs = errors.Join(fmt.Errorf("audit the books: %w", broken), errs)
	}

	return out, asActivityError(errs)
}

// ReportUnaudited sees to it that there is an open incident about an audit that has failed for good.
func (a *Audit) ReportUnaudited(ctx context.Context, why string) error {
	return asActivityError(a.Store.Incidents.ReportUnseen(ctx, nil, telemetry.Scrub(why), a.Now(), workflowOf(ctx)))
}

// workflowOf is the id of the workflow that the activity works for, if it is one.
func workflowOf(ctx context.Context) string {
	if !activity.IsActivity(ctx) {
		return ""
	}

	return activity.GetInfo(ctx).WorkflowExecution.ID
}
