package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

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

	trip, err := tripOf(ctx, st.tx, &b)
	if err != nil {
		return false, err
	}

	if !trip.Runs(taken) {
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

	if err := moveBooking(ctx, st.tx, &b, models.BookingConfirmed, st.now); err != nil {
		return false, err
	}

	return true, st.notifyCustomer(ctx, &b, models.NotifyPaymentSucceeded)
}

// findSibling notes another attempt that is still open: an old one was paid late, or its money is in suspense, and the customer
// must not pay twice.
// It goes by the state and not by what this run did: whoever ran before may have died with the answer.
func (st *settlement) findSibling(ctx context.Context) error {
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

	if err := moveBooking(ctx, st.tx, &b, models.BookingPaymentFailed, st.now); err != nil {
		return err
	}

	if err := freeSeats(ctx, st.tx, &b); err != nil {
		return err
	}

	n, err := notifyOfFailure(ctx, st.tx, &b, &st.t)
	st.out.Queued += n

	return err
}

// moveBooking is the guarded UPDATE of a booking's state. seats_held follows the state, which the database checks.
func moveBooking(ctx context.Context, tx bun.Tx, b *models.Booking, to models.BookingStatus, now time.Time) error {
	from := b.Status
	b.Status = to
	b.SeatsHeld = to == models.BookingPendingPayment || to == models.BookingConfirmed

	res, err := tx.NewUpdate().Model(b).Column("status", "seats_held").Set("updated_at = ?", now).
		WherePK().Where("status = ?", from).Exec(ctx)
	if err != nil {
		return fmt.Errorf("move booking: %w", err)
	}

	return affectedOne(res, "booking")
}

// freeSeats gives a booking's seats back to its trip; the caller has just moved the booking to a state without seats.
func freeSeats(ctx context.Context, tx bun.Tx, b *models.Booking) error {
	_, err := tx.NewUpdate().Model((*models.Trip)(nil)).
		Set("seats_taken = seats_taken - ?", b.Seats).Where("id = ?", b.TripID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("free seats: %w", err)
	}

	return nil
}

// book writes the ledger line of the paid attempt and the transfers that prove it.
func (st *settlement) book(ctx context.Context) error {
	title, err := tripTitle(ctx, st.tx, &st.t)
	if err != nil {
		return err
	}

	var r models.FinancialRecord
	if st.t.AdCampaignID != nil {
		r = models.Advertising(&st.t, title)
	} else {
		r = models.Sale(&st.t, title)
	}

	if err := insertRecord(ctx, st.tx, &r); err != nil {
		return err
	}

	return st.insertTransfers(ctx, models.SettlementTransfers(&r, st.t.Gateway))
}

// insertRecord gives the line its number and writes it. A second line for the same cause is a bug that the primary
// key turns into an error.
func insertRecord(ctx context.Context, tx bun.Tx, r *models.FinancialRecord) error {
	var n int64
	if err := tx.NewRaw("SELECT nextval('financial_record_numbers')").Scan(ctx, &n); err != nil {
		return fmt.Errorf("number ledger line: %w", err)
	}

	r.TransactionNumber = transactionNumber(r.RecordDate, n)
	if _, err := tx.NewInsert().Model(r).ExcludeColumn("created_at", "updated_at").Exec(ctx); err != nil {
		return fmt.Errorf("insert ledger line: %w", err)
	}

	return nil
}

// transactionNumber is the number that people know a line by (contract §6); n is the next of financial_record_numbers.
func transactionNumber(day models.Date, n int64) string {
	return fmt.Sprintf("RH-%d-%06d", day.Year(), n)
}

func (st *settlement) insertTransfers(ctx context.Context, all []models.LedgerTransfer) error {
	return insertTransfers(ctx, st.tx, all)
}

func insertTransfers(ctx context.Context, tx bun.Tx, all []models.LedgerTransfer) error {
	if len(all) == 0 {
		return nil
	}

	if _, err := tx.NewInsert().Model(&all).ExcludeColumn("created_at").Exec(ctx); err != nil {
		return fmt.Errorf("insert transfers: %w", err)
	}

	return nil
}

// incident opens the one incident of its kind about the attempt; a further event only adds itself to the details.
func (st *settlement) incident(ctx context.Context, kind models.IncidentKind, message string, e *models.WebhookEvent) error {
	st.out.NeedsReview = true

	return openIncident(ctx, st.tx, models.Incident{
		ID:                   models.IncidentID(kind, st.t.ID.String()),
		Kind:                 kind,
		PaymentTransactionID: &st.t.ID,
		BookingID:            st.t.BookingID,
		AdCampaignID:         st.t.AdCampaignID,
		Message:              message,
		WorkflowID:           workflowOr(ctx, "payment/"+st.t.ID.String()),
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

// openIncident inserts the incident, or appends the event to the list that an existing one keeps, and says what is so now. One that
// was resolved is open again: who resolved it did not know of this event. (A gateway sends a webhook again that was answered 404;
// that is known.)
func openIncident(ctx context.Context, tx bun.IDB, i models.Incident, event map[string]any) error {
	const known = `COALESCE(ic.details->'events', '[]') @>
		jsonb_build_array(jsonb_build_object('webhook_id', EXCLUDED.details->'events'->0->'webhook_id'))`

	i.Status = models.IncidentOpen
	i.Details = map[string]any{"events": []map[string]any{event}}

	_, err := tx.NewInsert().Model(&i).ExcludeColumn("created_at").
		On("CONFLICT (id) DO UPDATE").
		Set("details = CASE WHEN " + known + " THEN ic.details ELSE " +
			"jsonb_set(ic.details, '{events}', COALESCE(ic.details->'events', '[]') || (EXCLUDED.details->'events')) END").
		Set("message = CASE WHEN " + known + " THEN ic.message ELSE EXCLUDED.message END").
		Set("status = CASE WHEN " + known + " THEN ic.status ELSE 'OPEN' END").
		Set("resolved_at = CASE WHEN " + known + " THEN ic.resolved_at END").
		Set("resolved_by = CASE WHEN " + known + " THEN ic.resolved_by END").
		Exec(ctx)
	if err != nil {
		return fmt.Errorf("open incident: %w", err)
	}

	return nil
}

// affectedOne turns a guarded UPDATE that met another state than the lock had shown into an error.
func affectedOne(res sql.Result, what string) error {
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}

	if n != 1 {
		return fmt.Errorf("%s was not in the expected state", what)
	}

	return nil
}
