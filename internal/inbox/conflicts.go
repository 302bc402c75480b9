package inbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/uptrace/bun"

	"rihla/models"
)

// sameMessage compares an event with the one that was stored under its webhook id: byte by byte, or, where a gateway encodes a
// message anew for each delivery, as JSON. Answers to our own questions carry no body: the first one counts. Of what was stored
// without its body, and of what is encrypted anew for each delivery, only the fields can be compared.
func sameMessage(ctx context.Context, tx bun.Tx, e *models.WebhookEvent) (same bool, err error) {
	if e.Body == nil {
		return true, nil
	}

	const sameFields = "(type, checkout_id, merchant_reference, amount, currency) IS NOT DISTINCT FROM (?0, ?1, ?2, ?3::numeric, ?4)"

	compared := "CASE WHEN body IS NULL THEN " + sameFields + " ELSE body = ?5 OR body::jsonb = ?5::jsonb END"
	if e.Sealed {
		compared = sameFields
	}

	err = tx.NewRaw("SELECT "+compared+" FROM webhook_events WHERE channel = ?6 AND webhook_id = ?7",
		e.Type, e.CheckoutID, e.MerchantReference, e.Amount, e.Currency, *e.Body, e.Channel, e.WebhookID).Scan(ctx, &same)
	if err != nil {
		return false, fmt.Errorf("compare with the event of the same webhook id: %w", err)
	}

	return same, nil
}

const (
	reusedShown = 4 << 10 // bytes of a refused message that its incident shows
	reusedKept  = 20      // refused messages that one incident lists
)

// reusedID opens the incident about a webhook id that two messages have. The gateway sends the refused one again and again, and
// may send more: each is listed once, up to reusedKept.
func reusedID(ctx context.Context, tx bun.Tx, e *models.WebhookEvent) error {
	sum := sha256.Sum256([]byte(*e.Body))
	event := e.Facts()
	event["body_sha256"] = hex.EncodeToString(sum[:])

	if len(*e.Body) <= reusedShown {
		event["body"] = *e.Body
	}

	i := models.Incident{
		ID:           models.IncidentID(models.IncidentWebhookIDReused, string(e.Channel)+":"+e.WebhookID),
		Kind:         models.IncidentWebhookIDReused,
		Status:       models.IncidentOpen,
		Details:      map[string]any{"channel": e.Channel, "events": []map[string]any{event}},
		IncidentText: models.IncidentSays("incident.webhook_id_reused"),
	}

	_, err := tx.NewInsert().Model(&i).ExcludeColumn("created_at").
		On("CONFLICT (id) DO UPDATE").
		Set("details = jsonb_set(ic.details, '{events}', (ic.details->'events') || (EXCLUDED.details->'events'))").
		Set("status = 'OPEN'").Set("resolved_at = NULL").Set("resolved_by = NULL").
		Where("jsonb_array_length(ic.details->'events') < ?", reusedKept).
		Where("NOT (ic.details->'events') @> jsonb_build_array(jsonb_build_object('body_sha256', EXCLUDED.details->'events'->0->'body_sha256'))").
		Exec(ctx)
	if err != nil {
		return fmt.Errorf("open incident about a webhook id: %w", err)
	}

	return nil
}

// unknownEvent opens one incident per channel and type, with the first event of it. All of them are stored; a person who has
// resolved the incident has decided about the type, so that it stays resolved.
func unknownEvent(ctx context.Context, tx bun.Tx, e *models.WebhookEvent) error {
	i := models.Incident{
		ID:           models.IncidentID(models.IncidentUnknownEvent, string(e.Channel)+":"+string(e.Type)),
		Kind:         models.IncidentUnknownEvent,
		Status:       models.IncidentOpen,
		Details:      map[string]any{"channel": e.Channel, "type": e.Type, "events": []map[string]any{e.Facts()}},
		IncidentText: models.IncidentSays("incident.unknown_event", "type", e.Type),
	}

	_, err := tx.NewInsert().Model(&i).ExcludeColumn("created_at").On("CONFLICT (id) DO NOTHING").Exec(ctx)
	if err != nil {
		return fmt.Errorf("open incident about an unknown event: %w", err)
	}

	return nil
}

// unreadableEvent opens one incident per channel and cause about proven messages that the driver cannot read. They come until the cause is
// mended: one that was resolved before is open again with the next message.
func unreadableEvent(ctx context.Context, tx bun.Tx, e *models.WebhookEvent) error {
	i := models.Incident{
		ID:           models.IncidentID(models.IncidentUnknownEvent, string(e.Channel)+":"+string(e.Type)+":"+e.Unreadable),
		Kind:         models.IncidentUnknownEvent,
		Status:       models.IncidentOpen,
		Details:      map[string]any{"channel": e.Channel, "type": e.Type, "cause": e.Unreadable, "events": []map[string]any{e.Facts()}},
		IncidentText: models.IncidentSays("incident.unreadable_event", "cause", e.Unreadable),
	}

	_, err := tx.NewInsert().Model(&i).ExcludeColumn("created_at").On("CONFLICT (id) DO UPDATE").
		Set("status = 'OPEN'").Set("resolved_at = NULL").Set("resolved_by = NULL").
		Set("details = CASE WHEN jsonb_array_length(ic.details->'events') < ? THEN "+
			"jsonb_set(ic.details, '{events}', (ic.details->'events') || (EXCLUDED.details->'events')) ELSE ic.details END", reusedKept).
		Where("ic.status <> 'OPEN' OR jsonb_array_length(ic.details->'events') < ?", reusedKept).Exec(ctx)
	if err != nil {
		return fmt.Errorf("open incident about an unreadable event: %w", err)
	}

	return nil
}
