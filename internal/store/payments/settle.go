package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// settlement carries one run of SettlePayment or EndPayment through its steps. They decide by what was read under the locks, collect what
// is to be written, and flush sends it.
type settlement struct {
	attempt

	store  *Store
	tx     bun.Tx
	now    time.Time
	writes db.Writes
	out    models.Settled
}

// SettlePayment applies every stored, unprocessed webhook event of the attempt, oldest first, in one SQL
// transaction: state, booking or campaign, ledger entry, transfers, notifications, incidents (rules: settling.one-transaction). Running it
// again changes nothing. Error: NOT_FOUND.
func (s *Store) SettlePayment(ctx context.Context, id uuid.UUID, now time.Time) (models.Settled, error) {
	return s.settle(ctx, id, now, func(ctx context.Context, st *settlement) error {
		for i := range st.events {
			if err := st.apply(ctx, &st.events[i]); err != nil {
				return err
			}

			// Each event is judged by what the one before it has left, and may change the same rows.
			if err := st.flush(ctx); err != nil {
				return err
			}
		}

		return nil
	})
}

// EndPayment ends a PENDING attempt without money: expired, cancelled, or refused by the gateway. An attempt that
// has ended already stays as it is. Error: NOT_FOUND.
func (s *Store) EndPayment(
	ctx context.Context, id uuid.UUID, why models.FailureCode, reason string, now time.Time,
) (models.Settled, error) {
	return s.settle(ctx, id, now, func(ctx context.Context, st *settlement) error {
		if st.t.Status != models.TransactionPending {
			return nil
		}

		if err := st.fail(ctx, why, reason); err != nil {
			return err
		}

		return st.flush(ctx)
	})
}

func (s *Store) settle(
	ctx context.Context, id uuid.UUID, now time.Time, do func(context.Context, *settlement) error,
) (models.Settled, error) {
	var out models.Settled

	err := s.db.InTx(db.Prepared(ctx), func(ctx context.Context, tx bun.Tx) error {
		a, err := lockAttempt(ctx, tx, id)
		if err != nil {
			return err
		}

		st := &settlement{attempt: a, store: s, tx: tx, now: now}
		if err := do(ctx, st); err != nil {
			return err
		}

		st.reportOpenAttempt()

		out = st.result()

		return nil
	})
	if err != nil {
		return models.Settled{}, fmt.Errorf("settle payment: %w", err)
	}

	return out, nil
}

// flush writes what was collected.
func (st *settlement) flush(ctx context.Context) error { return st.writes.Flush(ctx, st.tx) }

func (st *settlement) result() models.Settled {
	st.out.Status, st.out.Gateway = st.t.Status, st.t.Gateway
	if st.t.FailureCode != nil {
		st.out.Failure = *st.t.FailureCode
	}

	st.out.RefundOwed = st.t.Status == models.TransactionFailed && st.t.CapturedAt != nil &&
		!st.t.WentBack()

	if st.t.InSuspense() { // by the state, as above: the run before may have died with the answer
		st.out.Mismatch, st.out.NeedsReview = expectedAndTaken(&st.t).String(), true
	}

	if st.t.BookingID != nil {
		st.out.Booking = *st.t.BookingID
	}

	if st.t.Status == models.TransactionPaid && st.t.AdCampaignID != nil {
		st.out.Campaign = *st.t.AdCampaignID
	}

	return st.out
}

// apply gives one event its effect and marks it processed. Only the rare ways read, or write by themselves, what they do not know yet.
func (st *settlement) apply(ctx context.Context, e *models.WebhookEvent) error {
	verdict := models.Judge(&st.t, e)
	outcome := verdict.Outcome

	// When the event was stored the other attempt may not have known its checkout yet.
	other, err := OtherOwner(ctx, st.tx, &st.t, e)
	if err != nil {
		return err
	}

	switch {
	case other != uuid.Nil:
		st.out.NeedsReview, outcome = true, models.OutcomeIncident
		err = ReferenceConflict(ctx, st.tx, &st.t, other, e.Facts())
	case models.IsLateSuccess(&st.t, e):
		outcome, err = st.lateSuccess(ctx, e)
	case verdict.Outcome == models.OutcomeIncident:
		err = st.mismatch(ctx, e, verdict)
	case verdict.Outcome == models.OutcomeDuplicate && e.Type == models.EventPaymentSucceeded:
		// Told twice, or paid twice: the gateway knows.
		st.writes.Update("payment transaction", st.store.db.NewUpdate().Model((*models.PaymentTransaction)(nil)).
			Set(recheckNow, st.now).Where("id = ?", st.t.ID))
	case verdict.Outcome != models.OutcomeApplied:
	case verdict.Status == models.TransactionPaid:
		err = st.capture(ctx, e)
	default:
		err = st.fail(ctx, verdict.Failure, e.FailureReason)
	}

	if err != nil {
		return err
	}

	st.writes.Update("event", st.store.db.NewUpdate().Model(e).Set("processed_at = ?", st.now).Set("outcome = ?", outcome).
		WherePK().Where("outcome = ''")) // which is processed_at IS NULL, without its index (db.Still)

	return nil
}

// lateSuccess handles money that arrives for an attempt which had ended unpaid (rules: late.accept).
func (st *settlement) lateSuccess(ctx context.Context, e *models.WebhookEvent) (models.EventOutcome, error) {
	if failure, ok := models.Mismatch(&st.t, e); !ok {
		st.suspend(e)
		// From now on the attempt is final, whatever it had failed by.
		st.transition(models.TransactionFailed, failure, e.FailureReason, nil)
		st.postSuspense()

		return models.OutcomeIncident, st.mismatchIncident(ctx, e)
	}

	return models.OutcomeApplied, st.capture(ctx, e)
}

// capture books money that the gateway has taken: the sale, if what was bought can still be delivered, else the debt
// to the customer.
func (st *settlement) capture(ctx context.Context, e *models.WebhookEvent) error {
	if st.t.Reference == nil && e.CheckoutID != "" {
		st.t.Reference = &e.CheckoutID // the webhook was faster than SaveCheckout; a refund has to name the checkout
	}

	taken := e.TakenAt(&st.t)
	st.t.NotePaidBy(e.PaymentMethod)

	deliverable, err := st.confirm(ctx, taken)
	if err != nil {
		return err
	}

	if !deliverable {
		return st.recordLiability(ctx, e, taken)
	}

	st.transition(models.TransactionPaid, "", "", &taken)
	st.postLedger()

	if !e.IsPolled() {
		st.out.Heard = e.ReceivedAt
	}

	return nil
}

// transition is the guarded UPDATE of the attempt's state: it must leave exactly the state that was read under the lock. taken is when
// the gateway took the money; nil: it took none.
func (st *settlement) transition(to models.TransactionStatus, why models.FailureCode, reason string, taken *time.Time) {
	st.out.Moved = true

	from := st.t.Status
	st.t.Status, st.t.FailureReason, st.t.FailureCode = to, reason, nil

	if why != "" {
		st.t.FailureCode = &why
	}

	if taken != nil {
		st.t.CapturedAt = taken
	}

	st.writes.Update("payment transaction", st.store.db.NewUpdate().Model(&st.t).
		Column("status", "failure_code", "failure_reason", "captured_at", "reference", "captured_amount", "captured_currency", "suspense_at",
			"paid_by").
		Set("check_at = ?", nextCheckAt(st.store.policies, &st.t, why, st.now)).
		Set("updated_at = ?", st.now).WherePK().Where(db.Still, bun.Ident("status"), from))
}

// recordLiability records money that came too late to buy anything as a liability to the customer, with an incident. A refund follows.
func (st *settlement) recordLiability(ctx context.Context, e *models.WebhookEvent, taken time.Time) error {
	why := models.FailureCancelled
	if st.t.FailureCode != nil {
		why = *st.t.FailureCode
	}

	st.transition(models.TransactionFailed, why, st.t.FailureReason, &taken)
	st.insertTransfers([]models.LedgerTransfer{models.LateCaptureTransfer(&st.t)})

	text := models.IncidentSays("incident.late_refunded")
	if st.t.RefundChannel() == models.RefundByHand {
		text = models.IncidentSays("incident.late_by_hand")
	}

	return st.incident(ctx, models.IncidentLatePayment, text, e)
}

// fail ends the attempt unpaid and applies the booking failure policy (rules: bookings.failure).
func (st *settlement) fail(ctx context.Context, why models.FailureCode, reason string) error {
	st.transition(models.TransactionFailed, why, reason, nil)

	if st.t.BookingID != nil {
		return st.failBooking(ctx, why)
	}

	if st.campaign.Status == models.CampaignPendingPayment {
		st.moveCampaign(models.CampaignPaymentFailed)
	}

	return nil
}

// mismatch fails the attempt for good, books the money that was taken all the same into suspense, and leaves the rest to a person
// (rules: late.mismatch).
func (st *settlement) mismatch(ctx context.Context, e *models.WebhookEvent, v models.Verdict) error {
	switch {
	case st.t.Status == models.TransactionPending:
		st.suspend(e)

		if err := st.fail(ctx, v.Failure, e.FailureReason); err != nil {
			return err
		}

		st.postSuspense()
	case st.t.FailureCode != nil && st.t.FailureCode.IsMismatch() && st.t.TakenAt() == nil && e.Type == models.EventPaymentSucceeded:
		// It failed by a success without money; now money has come.
		st.suspendLater(e)
	}

	return st.mismatchIncident(ctx, e)
}

func (st *settlement) mismatchIncident(ctx context.Context, e *models.WebhookEvent) error {
	kind := models.IncidentAmountMismatch

	switch {
	case st.t.FailureCode != nil && st.t.FailureCode.IsMismatch():
		kind = models.IncidentKind(*st.t.FailureCode) // the one that is open already
	case !models.SameCurrency(e.Currency, st.t.Currency):
		kind = models.IncidentCurrencyMismatch
	}

	return st.incident(ctx, kind, models.SaidByIncident(mismatchText(&st.t, e)), e)
}
