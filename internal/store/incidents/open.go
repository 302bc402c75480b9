package incidents

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"rihla/models"
)

// Open inserts the incident, or appends the event to the list that an existing one keeps, and says what is so now. One that
// was resolved is open again: who resolved it did not know of this event. (A gateway sends a webhook again that was answered 404;
// that is known.)
func Open(ctx context.Context, tx bun.IDB, i models.Incident, event map[string]any) error {
	const known = `COALESCE(ic.details->'events', '[]') @>
		jsonb_build_array(jsonb_build_object('webhook_id', EXCLUDED.details->'events'->0->'webhook_id'))`

	i.Status = models.IncidentOpen
	i.Details = map[string]any{"events": []map[string]any{event}}

	_, err := tx.NewInsert().Model(&i).ExcludeColumn("created_at").
		On("CONFLICT (id) DO UPDATE").
		Set("details = CASE WHEN " + known + " THEN ic.details ELSE " +
			"jsonb_set(ic.details, '{events}', COALESCE(ic.details->'events', '[]') || (EXCLUDED.details->'events')) END").
		Set("message = CASE WHEN " + known + " THEN ic.message ELSE EXCLUDED.message END").
		Set("message_text = CASE WHEN " + known + " THEN ic.message_text ELSE EXCLUDED.message_text END").
		Set("status = CASE WHEN " + known + " THEN ic.status ELSE 'OPEN' END").
		Set("resolved_at = CASE WHEN " + known + " THEN ic.resolved_at END").
		Set("resolved_by = CASE WHEN " + known + " THEN ic.resolved_by END").
		Exec(ctx)
	if err != nil {
		return fmt.Errorf("open incident: %w", err)
	}

	return nil
}
