package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"rihla/internal/store/bookings"
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

	var b models.Booking
	if err := st.tx.NewSelect().Model(&b).Where("id = ?", *st.t.BookingID).For("NO KEY UPDATE").Scan(ctx); err != nil {
		return false, fmt.Errorf("lock booking: %w", err)
	}

	var err error
	if st.trip, err = tripOf(ctx, st.tx, &b); err != nil {
		return false, err
	}

	if !st.trip.Runs(taken) {
		return false, nil // there is nothing to confirm any more
	}

	switch b.Status {
	case models.BookingPendingPayment:
	case models.BookingPaymentFailed:
		// The hold is over and the seats went back: it needs them a second time.
		if again, err := st.retakeSeats(ctx, &b, taken); err != nil || !again {
			return false, err
		}
	default:
		return false, nil
	}

	if err := bookings.TransitionBooking(ctx, st.tx, &b, models.BookingConfirmed, st.now); err != nil {
		return false, err
	}

	return true, st.notifyCustomer(ctx, &b, models.NotifyPaymentSucceeded)
}

// findOtherOpenAttempt finds another attempt that is still open, when an old one was paid late or its money is in suspense: the
// customer must not pay twice. It decides by the state and not by what this run did, because an earlier run may have been killed
// before it answered.
func (st *settlement) findOtherOpenAttempt(ctx context.Context) error {
	if st.t.Status != models.TransactionPaid && !st.t.InSuspense() {
		return nil
	}

	q := st.tx.NewSelect().Model((*models.PaymentTransaction)(nil)).Column("id", "gateway").
		Where("status = ?", models.TransactionPending).Where("id <> ?", st.t.ID)
	if st.t.BookingID != nil {
		q = q.Where("booking_id = ?", *st.t.BookingID)
	} else {
		q = q.Where("ad_campaign_id = ?", *st.t.AdCampaignID)
	}

	err := q.Scan(ctx, &st.out.Sibling, &st.out.SiblingGateway)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("read open attempt: %w", err)
	}

	return nil
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
	var c models.AdCampaign
	if err := st.tx.NewSelect().Model(&c).Where("id = ?", *st.t.AdCampaignID).For("NO KEY UPDATE").Scan(ctx); err != nil {
		return false, fmt.Errorf("lock campaign: %w", err)
	}

	refused, err := advertisable(ctx, st.tx, &c, taken)
	if err != nil {
		return false, err
	}

	// Between two attempts a campaign can be edited: money for the old price does not buy the new one.
	price, _ := models.AddVAT(c.Price, st.t.VATRate)
	if payable := refused == nil && c.DeletedAt == nil && price.Equal(st.t.Amount); !payable {
		return false, nil
	}

	_, err = st.tx.NewUpdate().Model(&c).
		Set("status = ?", models.CampaignStatusOnPayment(c.StartsOn, st.now)).Set("updated_at = ?", st.now).
		WherePK().Where("status = ?", c.Status).Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("start campaign: %w", err)
	}

	return true, st.notifyCampaign(ctx, &c)
}

// failBooking leaves the booking payable while its hold lasts, unless the policy or the reason makes the failure
// final.
func (st *settlement) failBooking(ctx context.Context, why models.FailureCode) error {
	var b models.Booking
	if err := st.tx.NewSelect().Model(&b).Where("id = ?", *st.t.BookingID).For("NO KEY UPDATE").Scan(ctx); err != nil {
		return fmt.Errorf("lock booking: %w", err)
	}

	final := st.store.policies.FailAtOnce && why != models.FailureCancelled || !b.HoldUntil.After(st.now)
	if b.Status != models.BookingPendingPayment || !final {
		return nil
	}

	if err := bookings.TransitionBooking(ctx, st.tx, &b, models.BookingPaymentFailed, st.now); err != nil {
		return err
	}

	if err := bookings.FreeSeats(ctx, st.tx, &b); err != nil {
		return err
	}

	n, err := notifyOfFailure(ctx, st.tx, &b, &st.t)
	st.out.Queued += n

	return err
}

// postLedger writes the ledger line of the paid attempt and the transfers that prove it.
func (st *settlement) postLedger(ctx context.Context) error {
	var r models.FinancialRecord

	if st.t.AdCampaignID != nil {
		title, err := tripTitle(ctx, st.tx, &st.t)
		if err != nil {
			return err
		}

		r = models.Advertising(&st.t, title)
	} else {
		r = models.Sale(&st.t, st.trip.Title)
	}

	if err := ledger.InsertRecord(ctx, st.tx, &r); err != nil {
		return err
	}

	return st.insertTransfers(ctx, models.SettlementTransfers(&r, st.t.Gateway))
}

func (st *settlement) insertTransfers(ctx context.Context, all []models.LedgerTransfer) error {
	return ledger.PostTransfers(ctx, st.tx, all)
}

// incident opens the one incident of its kind about the attempt; a further event only adds itself to the details.
func (st *settlement) incident(ctx context.Context, kind models.IncidentKind, message string, e *models.WebhookEvent) error {
	st.out.NeedsReview = true

	return incidents.Open(ctx, st.tx, models.Incident{
		ID:                   models.IncidentID(kind, st.t.ID.String()),
		Kind:                 kind,
		PaymentTransactionID: &st.t.ID,
		BookingID:            st.t.BookingID,
		AdCampaignID:         st.t.AdCampaignID,
		Message:              message,
		WorkflowID:           incidents.WorkflowOr(ctx, models.PaymentWorkflowID(st.t.ID)),
	}, eventDetails(e))
}

func eventDetails(e *models.WebhookEvent) map[string]any {
	d := map[string]any{
		"webhook_id": e.WebhookID, "type": e.Type, "checkout_id": e.CheckoutID, "merchant_reference": e.MerchantReference,
		"currency": e.Currency, "result_code": e.ResultCode, "received_at": e.ReceivedAt,
	}
	if e.Amount != nil {
		d["amount"] = e.Amount
	}

	return d
}
