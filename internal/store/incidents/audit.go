package incidents

import (
	"context"
	"fmt"
	"time"

	"rihla/models"
)

// Differences are what an audit found against one rule.
type Differences struct {
	Rule     string
	Says     string // the rule as a sentence
	Count    int
	Examples []string // the first of them, one line each
}

// auditItself takes the place of a rule when the audit could not look at one: it is the name of none.
const auditItself = "audit"

// ReportDifferences opens the incident AUDIT_DIFFERENCE of a rule, or brings the one that is open up to date: there is
// one per rule until a person resolves it, and another one if the differences are still there at the next audit. seen is
// when they were found.
func (s *Store) ReportDifferences(ctx context.Context, d Differences, seen time.Time, workflow string) error {
	text := models.IncidentSays("incident.audit_differences", "n", d.Count, "rule", d.Rule)

	return s.reportAudit(ctx, d.Rule, text, map[string]any{
		"says": d.Says, "differences": d.Count, "examples": d.Examples,
	}, seen, workflow)
}

// ReportUnseen does the same for rules that the audit could not look at: one incident for all of them. rules is empty
// when it could not look at any; why has no secrets and no personal data.
func (s *Store) ReportUnseen(ctx context.Context, rules []string, why string, seen time.Time, workflow string) error {
	text := models.IncidentSays("incident.audit_all_unseen")
	if len(rules) > 0 {
		text = models.IncidentSays("incident.audit_unseen", "rules", rules)
	}

	return s.reportAudit(ctx, auditItself, text, map[string]any{"unseen": rules, "error": why}, seen, workflow)
}

// reportAudit leaves it to the index incidents_audit_open that two audits at once open one incident.
func (s *Store) reportAudit(
	ctx context.Context, rule string, text models.IncidentText, details map[string]any, seen time.Time, workflow string,
) error {
	details["rule"], details["last_seen"] = rule, seen.UTC()

	i := models.Incident{
		ID: models.NewID(), Kind: models.IncidentAuditDifference, Status: models.IncidentOpen,
		IncidentText: text, Details: details, WorkflowID: workflow,
	}

	_, err := s.db.NewInsert().Model(&i).ExcludeColumn("created_at").
		On("CONFLICT ((details ->> 'rule')) WHERE kind = 'AUDIT_DIFFERENCE' AND status = 'OPEN' DO UPDATE").
		Set("message = EXCLUDED.message").Set("message_text = EXCLUDED.message_text").
		Set("details = EXCLUDED.details").Set("workflow_id = EXCLUDED.workflow_id").Exec(ctx)
	if err != nil {
		return fmt.Errorf("report audit: %w", err)
	}

	return nil
}
