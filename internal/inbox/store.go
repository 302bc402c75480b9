// Package inbox stores webhook events once, classifies them and hands them to their workflows. It moves no money: payments and refunds
// apply what it has stored, under the lock of the payment.
package inbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// Store is safe for concurrent use.
type Store struct{ db *db.DB }

// NewStore is the store on a pool of connections.
func NewStore(pool *db.DB) *Store { return &Store{db: pool} }

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

	refunded := e.Type.IsAboutRefund()

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
			out.classify(models.Classify(about.t, &about.refund, &e), &e, now)
		} else {
			e.ProcessedAt, e.Outcome = &now, models.OutcomeIncident
		}

		added, err := payments.InsertEvent(ctx, tx, &e)
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
		return payments.ReferenceConflict(ctx, tx, about.t, about.other, e.Facts())
	case about.outside, e.Type == models.EventNotice:
		if about.outside || e.Hint {
			out.Ask, err = payments.AskNow(ctx, tx, about.t, now)
		}

		return err
	case models.PaidOtherwise(about.t, e):
		out.Ask = true

		return payments.ExpectComparison(ctx, tx, about.t.ID, now)
	default:
		return openEventIncident(ctx, tx, about.t, &about.refund, e)
	}
}

// unknownSubject deals with an event about nothing that we know. One that tells of money may be about another checkout of a payment that
// is settled: then its gateway is to be asked.
func unknownSubject(ctx context.Context, tx bun.Tx, e *models.WebhookEvent, out *Stored, now time.Time) (err error) {
	reference, notOurs := uuid.Parse(e.MerchantReference)
	if e.Type == models.EventPaymentSucceeded && notOurs == nil {
		out.Ask, err = payments.Recheck(ctx, tx, reference, now)
	}

	return errors.Join(err, unknownReference(ctx, tx, e))
}

// openEventIncident opens the incident of an event that operators have to hear of: its type is unknown, or it contradicts what its
// refund has come to.
func openEventIncident(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, refund *models.Refund, e *models.WebhookEvent) error {
	switch {
	case e.Unreadable != "":
		return unreadableEvent(ctx, tx, e)
	case e.Type.IsAboutDispute():
		return payments.NoteDispute(ctx, tx, t, e)
	case !e.Type.IsAboutRefund() && !e.Type.IsAboutPayment():
		return unknownEvent(ctx, tx, e)
	case e.RefundID != nil && e.Outcome == models.OutcomeIncident && refund.ApprovalPending:
		return refunds.Unapproved(ctx, tx, t, e)
	case e.RefundID != nil && e.Outcome == models.OutcomeIncident:
		return refunds.Contradicted(ctx, tx, t, refund, e)
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

// classify notes what an event can still change.
func (out *Stored) classify(c models.EventClass, e *models.WebhookEvent, now time.Time) {
	out.Delivery, out.Deliver, out.Duplicate = c.Delivery, c.Deliver, c.Repeated
	out.Known = out.Known || c.NoMatter

	if c.Outcome != "" {
		e.ProcessedAt, e.Outcome = &now, c.Outcome
	}
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
