package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/internal/store/incidents"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// confirm delivers what was paid for at the moment taken: it confirms the booking or starts the campaign. It reports false when
// that is not possible; then nothing has changed. Whether the payment was in time goes by taken: an outage of ours must not
// make it late.
func (st *settlement) confirm(ctx context.Context, taken time.Time) (bool, error) {
	if st.t.AdCampaignID != nil {
		return st.confirmCampaign(ctx, taken)
	}

	if runs, err := st.tripRuns(ctx, taken); err != nil || !runs {
		return false, err // there is nothing to confirm any more
	}

	b := &st.booking

	switch b.Status {
	case models.BookingPendingPayment:
	case models.BookingPaymentFailed:
		// The hold is over and the seats went back: it needs them a second time.
		if again, err := st.retakeSeats(ctx, b, taken); err != nil || !again {
			return false, err
		}
	default:
		return false, nil
	}

	st.writes.Update("booking", bookings.Transition(st.store.db, b, models.BookingConfirmed, st.now))
	st.notifyPaid()

	return true, nil
}

// tripRuns reports whether the trip still takes place, as far as is known: while its cancellation waits for an approval, who is paying
// already is confirmed. The approval cancels the booking with all others.
func (st *settlement) tripRuns(ctx context.Context, taken time.Time) (bool, error) {
	trip := st.trip
	if trip.Status != models.TripCancelling {
		return trip.Runs(taken), nil
	}

	trip.Status = models.TripPublished
	if !trip.Runs(taken) {
		return false, nil
	}

	waits, err := st.tx.NewSelect().Model((*models.TripCancellation)(nil)).Where("tc.trip_id = ?", st.booking.TripID).
		Where("tc.status = ?", models.TripCancellationRunning).Where("tc.approval_pending").Exists(ctx)
	if err != nil {
		return false, fmt.Errorf("look for the trip's cancellation: %w", err)
	}

	return waits, nil
}

// reportOpenAttempt names another attempt that is still open, when an old one was paid late or its money is in suspense: the
// customer must not pay twice. It decides by the state and not by what this run did, because an earlier run may have been killed
// before it answered.
func (st *settlement) reportOpenAttempt() {
	if st.t.Status == models.TransactionPaid || st.t.InSuspense() {
		st.out.Sibling, st.out.SiblingGateway = st.openAttempt, st.openGateway
	}
}

func (st *settlement) retakeSeats(ctx context.Context, b *models.Booking, taken time.Time) (bool, error) {
	res, err := st.tx.NewUpdate().Model((*models.Trip)(nil)).
		Set("seats_taken = seats_taken + ?", b.Seats).
		Where("id = ?", b.TripID).Where("seats_taken + ? <= capacity", b.Seats).
		Where("status = ?", models.TripPublished).Where("departure_at > ?", taken).Where("deleted_at IS NULL").Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("retake seats: %w", err)
	}

	n, err := res.RowsAffected()

	return n == 1, err
}

func (st *settlement) confirmCampaign(ctx context.Context, taken time.Time) (bool, error) {
	c := &st.campaign

	// Between two attempts a campaign can be edited: money for the old price does not buy the new one.
	price, _ := models.AddVAT(c.Price, st.t.VATRate)
	refused := advertisable(c, &st.trip, taken)

	if payable := refused == nil && c.DeletedAt == nil && price.Equal(st.t.Amount); !payable {
		return false, nil
	}

	st.moveCampaign(models.CampaignStatusOnPayment(c.StartsOn, st.now))

	return true, st.notifyCampaign(ctx, c)
}

// moveCampaign leaves the state that was read under the lock.
func (st *settlement) moveCampaign(to models.CampaignStatus) {
	from := st.campaign.Status
	st.campaign.Status = to

	st.writes.Update("campaign", st.store.db.NewUpdate().Model(&st.campaign).Column("status").
		Set("updated_at = ?", st.now).WherePK().Where(db.Still, bun.Ident("status"), from))
}

// failBooking leaves the booking payable while its hold lasts, unless the policy or the reason makes the failure
// final.
func (st *settlement) failBooking(ctx context.Context, why models.FailureCode) error {
	b := &st.booking

	final := st.store.policies.FailAtOnce && why != models.FailureCancelled || !b.HoldUntil.After(st.now)
	if b.Status != models.BookingPendingPayment || !final {
		return nil
	}

	st.writes.Update("booking", bookings.Transition(st.store.db, b, models.BookingPaymentFailed, st.now))

	// Written now: notifyOfFailure looks for money of the booking's attempts, this one among them.
	if err := st.flush(ctx); err != nil {
		return err
	}

	if err := bookings.FreeSeats(ctx, st.tx, b); err != nil {
		return err
	}

	n, err := notifyOfFailure(ctx, st.tx, b, &st.t, !b.HoldUntil.After(st.now))
	st.out.Queued += n

	return err
}

// postLedger writes the ledger entry of the paid attempt and the transfers that prove it.
func (st *settlement) postLedger() {
	r := models.Sale(&st.t, st.trip.Title)
	if st.t.AdCampaignID != nil {
		r = models.Advertising(&st.t, st.trip.Title, st.campaign.Title)
	}

	st.writes.Insert("ledger entry", ledger.NewRecord(st.store.db, &r), nil)
	st.insertTransfers(models.SettlementTransfers(&r, st.t.Gateway))
}

func (st *settlement) insertTransfers(all []models.LedgerTransfer) {
	if len(all) > 0 {
		st.writes.Insert("transfers", ledger.NewTransfers(st.store.db, all), nil)
	}
}

// incident opens the one incident of its kind about the attempt; a further event only adds itself to the details.
func (st *settlement) incident(ctx context.Context, kind models.IncidentKind, text models.IncidentText, e *models.WebhookEvent) error {
	st.out.NeedsReview = true

	return incidents.Open(ctx, st.tx, models.Incident{
		ID:                   models.IncidentID(kind, st.t.ID.String()),
		Kind:                 kind,
		PaymentTransactionID: &st.t.ID,
		BookingID:            st.t.BookingID,
		AdCampaignID:         st.t.AdCampaignID,
		IncidentText:         text,
		WorkflowID:           incidents.WorkflowOr(ctx, models.PaymentWorkflowID(st.t.ID)),
	}, e.Facts())
}
