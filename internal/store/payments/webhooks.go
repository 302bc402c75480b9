package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/incidents"
	"rihla/models"
)

// Stored is what became of an incoming webhook.
type Stored struct {
	models.Delivery

	Duplicate bool // nothing new: the same message again, or a state that already says so
	Reused    bool // another message has its webhook-id: it is not stored, and an incident says so
	Known     bool // there is such a transaction or refund
	Deliver   bool // a workflow has to hear of it
	Ask       bool // it was a hint: the gateway is to be asked about the attempt now
}

// StoreEvent keeps a verified webhook, once per (channel, webhook id), and resolves the attempt or refund it is
// about (rules: webhooks.channel): by the gateway's checkout id, or by our id while the checkout id is not saved yet. An event
// about nothing we know is kept too, with an incident; the gateway gets 404, sends it again, and when its
// payment is known by then it is as good as new.
func (s *Store) StoreEvent(ctx context.Context, e models.WebhookEvent, now time.Time) (Stored, error) {
	var out Stored

	refunded := isRefundEvent(e.Type)

	if e.Hint && e.Unreadable == "" {
		e.Type = models.EventNotice
	}

	err := s.db.InTx(db.Prepared(ctx), func(ctx context.Context, tx bun.Tx) error {
		about, err := subjectOf(ctx, tx, &e, refunded)
		if err != nil {
			return err
		}

		out = Stored{Known: about.t != nil}
		if about.other == uuid.Nil {
			classify(about.t, &about.refund, &e, &out, now)
		} else {
			e.ProcessedAt, e.Outcome = &now, models.OutcomeIncident
		}

		added, err := insertEvent(ctx, tx, &e)
		if err != nil {
			return err
		}

		if !added {
			if adopted, err := storedBefore(ctx, tx, &e, &out); err != nil || !adopted {
				return err
			}
		}

		return about.follow(ctx, tx, &e, &out, now)
	})

	return out, err
}

// follow does what a stored event asks for besides its effect: it opens an incident, or has the gateway asked.
func (about *subject) follow(ctx context.Context, tx bun.Tx, e *models.WebhookEvent, out *Stored, now time.Time) (err error) {
	switch {
	case !out.Known:
		return unknownSubject(ctx, tx, e, out, now)
	case about.other != uuid.Nil:
		return referenceConflict(ctx, tx, about.t, about.other, eventDetails(e))
	case about.outside, e.Type == models.EventNotice:
		if about.outside || e.Hint {
			out.Ask, err = askNow(ctx, tx, about.t, now)
		}

		return err
	case paidOtherwise(about.t, e):
		out.Ask = true

		return expectComparison(ctx, tx, about.t.ID, now)
	default:
		return openEventIncident(ctx, tx, about.t, &about.refund, e)
	}
}

// insertEvent writes an event, and reports whether it did: not when its webhook id is used.
func insertEvent(ctx context.Context, tx bun.Tx, e *models.WebhookEvent) (added bool, err error) {
	res, err := tx.NewInsert().Model(e).ExcludeColumn("received_at").On("CONFLICT (channel, webhook_id) DO NOTHING").Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("store event: %w", err)
	}

	n, err := res.RowsAffected()

	return n > 0, err
}

// unknownSubject deals with an event about nothing that we know. One that tells of money may be about another checkout of a payment that
// is settled: then its gateway is to be asked.
func unknownSubject(ctx context.Context, tx bun.Tx, e *models.WebhookEvent, out *Stored, now time.Time) (err error) {
	reference, notOurs := uuid.Parse(e.MerchantReference)
	if e.Type == models.EventPaymentSucceeded && notOurs == nil {
		out.Ask, err = recheck(ctx, tx, reference, now)
	}

	return errors.Join(err, unknownReference(ctx, tx, e))
}

// openEventIncident opens the incident of an event that operators have to hear of: its type is unknown, or it contradicts what its
// refund has come to.
func openEventIncident(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, refund *models.Refund, e *models.WebhookEvent) error {
	switch {
	case e.Unreadable != "":
		return unreadableEvent(ctx, tx, e)
	case isDisputeEvent(e.Type):
		return disputed(ctx, tx, t, e)
	case !isRefundEvent(e.Type) && !isPaymentEvent(e.Type):
		return unknownEvent(ctx, tx, e)
	case e.RefundID != nil && e.Outcome == models.OutcomeIncident && refund.ApprovalPending:
		return unapprovedRefund(ctx, tx, t, e)
	case e.RefundID != nil && e.Outcome == models.OutcomeIncident:
		return contradictedRefund(ctx, tx, t, refund, e)
	default:
		return nil
	}
}

// storedBefore deals with an event whose webhook id is used: another message under it is refused, the same one is a duplicate,
// unless it is adopted.
func storedBefore(ctx context.Context, tx bun.Tx, e *models.WebhookEvent, out *Stored) (adopted bool, err error) {
	again, err := sameMessage(ctx, tx, e)
	if err != nil {
		return false, err
	}

	if !again {
		*out = Stored{Known: true, Reused: true}

		return false, reusedID(ctx, tx, e)
	}

	if adopted, err = linkOrphanEvent(ctx, tx, e, out); err != nil || !adopted {
		out.Duplicate, out.Deliver = true, false
	}

	return adopted, err
}

// linkOrphanEvent links an event that matched no payment or refund when it was received to the one that it matches now, and resolves
// its incident. It reports false for an event that was linked from the beginning.
func linkOrphanEvent(ctx context.Context, tx bun.Tx, e *models.WebhookEvent, out *Stored) (bool, error) {
	if e.TransactionID == nil {
		return false, nil
	}

	_, err := tx.NewUpdate().Model(e).Column("transaction_id", "refund_id", "processed_at", "outcome").
		Where("channel = ?", e.Channel).Where("webhook_id = ?", e.WebhookID).Where("transaction_id IS NULL").
		Where("merchant_reference = ?", e.MerchantReference).Where("checkout_id = ?", e.CheckoutID).
		Returning("id").Exec(ctx, &e.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}

	if err != nil {
		return false, fmt.Errorf("link event: %w", err)
	}

	out.EventID = e.ID

	_, err = tx.NewUpdate().Model((*models.Incident)(nil)).
		Set("status = ?", models.IncidentResolved).Set("resolved_at = now()").
		Set("note = ?", "Resolved automatically: the webhook was redelivered after its payment became known.").
		Where("id = ?", unknownReferenceID(e)).Where("status = ?", models.IncidentOpen).Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("resolve unknown reference: %w", err)
	}

	return true, nil
}

// classify decides before storing what an event can still change, so that the hundredth delivery of a settled payment
// costs one INSERT and no workflow.
func classify(t *models.PaymentTransaction, refund *models.Refund, e *models.WebhookEvent, out *Stored, now time.Time) {
	switch {
	case isDisputeEvent(e.Type) && t != nil:
		e.ProcessedAt, e.Outcome = &now, models.OutcomeIncident

		return
	case !isRefundEvent(e.Type) && !isPaymentEvent(e.Type) && !isDisputeEvent(e.Type):
		// A type that we do not know is stored and ignored, whatever it is about (rules: webhooks.unknown-type). So is a notice.
		out.Known = true
		e.ProcessedAt, e.Outcome = &now, models.OutcomeIgnored

		return
	case t == nil:
		e.ProcessedAt, e.Outcome = &now, models.OutcomeIncident

		return
	case isRefundEvent(e.Type) && e.RefundID == nil:
		// Made outside of the service: it moves nothing by itself, the gateway's answer does.
		out.Known = true
		e.ProcessedAt, e.Outcome = &now, models.OutcomeIgnored

		return
	}

	out.Delivery = models.Delivery{EventID: e.ID, TransactionID: t.ID, Channel: e.Channel}
	if t.BookingID != nil {
		out.BookingID = *t.BookingID
	}

	if isRefundEvent(e.Type) {
		// No gateway was asked for a manual payout, or for one that waits for an approval: its word about one is for a person to look at.
		byGateway := refund.Channel == models.RefundByGateway
		out.RefundID, out.Deliver = *e.RefundID, byGateway && refund.Status == models.RefundPending && !refund.ApprovalPending

		switch {
		case out.Deliver:
		case byGateway && decisionOf(e.Type) == refund.Status:
			e.ProcessedAt, e.Outcome, out.Duplicate = &now, models.OutcomeDuplicate, true
		case takesBack(refund, e):
			// It moves money: the refund's settlement books it, under the lock of its payment.
			out.Deliver = true
		default:
			e.ProcessedAt, e.Outcome = &now, models.OutcomeIncident
		}

		return
	}

	outcome := models.Judge(t, e).Outcome
	ended := t.Status != models.TransactionPending
	settled := outcome == models.OutcomeDuplicate || outcome == models.OutcomeIgnored

	if ended && settled && !models.IsLateSuccess(t, e) {
		e.ProcessedAt, e.Outcome, out.Duplicate = &now, outcome, true

		return
	}

	out.Deliver, out.Ended = true, ended
}

// decisionOf is the state of a refund that an event reports.
func decisionOf(t models.EventType) models.RefundStatus {
	if t == models.EventRefundSucceeded {
		return models.RefundSucceeded
	}

	return models.RefundFailed
}

// decidedBy is the type of the events that report a state of a refund: decisionOf the other way round.
func decidedBy(s models.RefundStatus) models.EventType {
	if s == models.RefundSucceeded {
		return models.EventRefundSucceeded
	}

	return models.EventRefundFailed
}

// contradictedRefund asks a person to look when the gateway says the opposite of what it had said about a refund. It is
// an incident of its own: that of the refusal may have been resolved, and would not be looked at again.
func contradictedRefund(
	ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, r *models.Refund, e *models.WebhookEvent,
) error {
	text := models.IncidentSays("incident.refund_contradicted")
	if r.Channel == models.RefundByHand {
		text = models.IncidentSays("incident.refund_by_hand_contradicted")
	}

	return incidents.Open(ctx, tx, models.Incident{
		ID:                   models.IncidentID(models.IncidentRefundFailed, e.RefundID.String()+"/contradicted"),
		Kind:                 models.IncidentRefundFailed,
		PaymentTransactionID: &t.ID,
		BookingID:            t.BookingID,
		AdCampaignID:         t.AdCampaignID,
		RefundID:             e.RefundID,
		IncidentText:         text,
		WorkflowID:           models.RefundWorkflowID(*e.RefundID),
	}, eventDetails(e))
}

// unprocessed is an event with what it takes to find its workflow.
type unprocessed struct {
	models.WebhookEvent `bun:",extend"`

	Status    models.TransactionStatus `bun:"status"`
	BookingID *uuid.UUID               `bun:"booking_id"`
}

// UnprocessedEvents are stored events older than minAge whose effect is still to come: what a relay or the sweep has to
// deliver again. Those behind after, oldest first; next is where to go on.
func (s *Store) UnprocessedEvents(
	ctx context.Context, minAge time.Duration, after db.SweepCursor, limit int, now time.Time,
) (out []models.Delivery, next db.SweepCursor, err error) {
	var rows []unprocessed

	q := s.db.NewSelect().Model(&rows).ColumnExpr("?", db.Columns[models.WebhookEvent](s.db, "we")).ColumnExpr("pt.status, pt.booking_id").
		Join("JOIN payment_transactions AS pt ON pt.id = we.transaction_id").
		Where("we.processed_at IS NULL").Where("we.received_at <= ?", now.Add(-minAge))
	if err := after.After(q, "we.received_at", "we.id", limit).Scan(ctx); err != nil {
		return nil, after, fmt.Errorf("read unprocessed events: %w", err)
	}

	out = make([]models.Delivery, len(rows))
	for i, r := range rows {
		out[i] = models.Delivery{
			EventID: r.ID, TransactionID: *r.TransactionID, Channel: r.Channel,
			Ended: r.RefundID == nil && r.Status != models.TransactionPending,
		}
		if r.RefundID != nil {
			out[i].RefundID = *r.RefundID
		}

		if r.BookingID != nil {
			out[i].BookingID = *r.BookingID
		}
	}

	return out, db.NextSweepCursor(rows, limit, func(r *unprocessed) db.SweepCursor { return db.SweepCursor{At: r.ReceivedAt, ID: r.ID} }), nil
}

// MarkRefundEvents closes the events of the refund r of t, which has been decided; t is locked, and r was read under its lock. An event
// that says the opposite of the decision, whether it came before or after it, is booked where the company takes back what it had said, and
// is for a person to look at.
func MarkRefundEvents(
	ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, r *models.Refund, outcome models.EventOutcome, now time.Time,
) error {
	var contrary []models.WebhookEvent

	_, err := closeRefundEvents(tx, r, models.OutcomeIncident, now).Where("type <> ?", decidedBy(r.Status)).
		Returning("?Columns").Exec(ctx, &contrary)
	if err != nil {
		return fmt.Errorf("mark events against refund: %w", err)
	}

	for i := range contrary {
		if err := revisedRefund(ctx, tx, t, r, &contrary[i]); err != nil {
			return err
		}
	}

	// Those that say the same, and no others: one that says the opposite may have come between the two statements.
	if _, err := closeRefundEvents(tx, r, outcome, now).Where("type = ?", decidedBy(r.Status)).Exec(ctx); err != nil {
		return fmt.Errorf("mark refund events: %w", err)
	}

	return nil
}

func closeRefundEvents(tx bun.Tx, r *models.Refund, outcome models.EventOutcome, now time.Time) *bun.UpdateQuery {
	return tx.NewUpdate().Model((*models.WebhookEvent)(nil)).
		Set("processed_at = ?", now).Set("outcome = ?", outcome).
		Where("refund_id = ?", r.ID).Where("outcome = ''")
}
