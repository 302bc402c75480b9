package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/models"
)

// OpenPayment writes the PENDING row of an attempt, with the amount and the rates of this moment, or returns the
// row that the same attempt has written before; fresh tells the two apart, and the row's Purchase is read in both cases. clock is
// read once the booking or the campaign is locked: of two tries of one attempt, that which had to wait cannot open what the other found
// too late. Errors: NOT_FOUND, BOOKING_NOT_PAYABLE, CAMPAIGN_NOT_PAYABLE (also when another attempt is open), PAYMENT_IN_SUSPENSE,
// METHOD_NOT_AVAILABLE (unpaid bills hold too much of the trip).
func (s *Store) OpenPayment(
	ctx context.Context, a models.Attempt, clock func() time.Time,
) (row models.PaymentTransaction, fresh bool, err error) {
	err = s.db.InTx(db.Prepared(ctx), func(ctx context.Context, tx bun.Tx) error {
		o := opening{store: s, tx: tx, attempt: a, clock: clock}

		var err error
		if a.BookingID != uuid.Nil {
			err = o.openForBooking(ctx)
		} else {
			err = o.openForCampaign(ctx)
		}

		row, fresh = o.row, o.fresh

		return err
	})

	return row, fresh, err
}

// opening carries one run of OpenPayment through its steps: the lock, what is read under it, the row.
type opening struct {
	store   *Store
	tx      bun.Tx
	attempt models.Attempt
	clock   func() time.Time

	row   models.PaymentTransaction
	fresh bool
}

func (o *opening) openForBooking(ctx context.Context) error {
	var b models.Booking
	if err := o.tx.NewSelect().Model(&b).Where("id = ?", o.attempt.BookingID).For("NO KEY UPDATE").Scan(ctx); err != nil {
		return db.NotFound(err)
	}

	known, err := o.readUnderLock(ctx, b.TripID, b.ProviderID, "booking_id", b.ID)
	if err != nil {
		return err
	}

	if known.Opened {
		if err := o.readOpened(ctx); err != nil {
			return err
		}

		o.row.Purchase = o.store.bookingPurchase(&b, &known.Trip, &o.row)

		return nil
	}

	now := o.clock()
	if err := b.Payable(&known.Trip, now); err != nil {
		return err
	}

	if known.InSuspense {
		return errInSuspense()
	}

	if err := o.store.bookings.ChangeMethod(ctx, o.tx, &b, o.attempt.Method); err != nil {
		return err
	}

	until := b.HoldFor(o.store.policies.Hold(o.attempt.Method), known.DepartureAt, now).Truncate(time.Microsecond)
	if !until.Equal(b.HoldUntil) {
		b.HoldUntil = until

		if _, err := o.tx.NewUpdate().Model(&b).Column("hold_until").WherePK().Exec(ctx); err != nil {
			return fmt.Errorf("set hold: %w", err)
		}
	}

	o.row = o.store.newAttempt(o.attempt, b.ProviderID, b.HoldUntil)
	o.row.BookingID = &b.ID
	bookings.ReturnTo(&o.row, b.ReturnURL, b.ReturnBase)
	o.row.Amount, o.row.VATRate, o.row.VATAmount = b.Amount, b.VATRate, b.VATAmount
	o.row.CommissionRate = known.CommissionRate
	o.row.Purchase = o.store.bookingPurchase(&b, &known.Trip, &o.row)

	return o.insert(ctx)
}

func (o *opening) openForCampaign(ctx context.Context) error {
	var c models.AdCampaign
	if err := o.tx.NewSelect().Model(&c).Where("id = ?", o.attempt.CampaignID).For("NO KEY UPDATE").Scan(ctx); err != nil {
		return db.NotFound(err)
	}

	known, err := o.readUnderLock(ctx, c.TripID, c.ProviderID, "ad_campaign_id", c.ID)
	if err != nil {
		return err
	}

	if known.Opened {
		if err := o.readOpened(ctx); err != nil {
			return err
		}

		o.row.Purchase = campaignPurchase(&c, &known.Trip, &o.row)

		return nil
	}

	if c.DeletedAt != nil {
		return models.NotFound()
	}

	now := o.clock()
	if err := advertisable(&c, &known.Trip, now); err != nil {
		return err
	}

	if known.InSuspense {
		return errInSuspense()
	}

	if c.Status == models.CampaignPaymentFailed {
		c.Status = models.CampaignPendingPayment
		if _, err := o.tx.NewUpdate().Model(&c).Column("status").Set("updated_at = now()").WherePK().Exec(ctx); err != nil {
			return fmt.Errorf("reopen campaign: %w", err)
		}
	}

	// As a booking's hold, its time begins by the database's clock: the worker's may be wrong, and may be another one's at the end.
	o.row = o.store.newAttempt(o.attempt, c.ProviderID, known.Began.Add(o.store.policies.Hold(o.attempt.Method)))
	o.row.AdCampaignID = &c.ID
	bookings.ReturnTo(&o.row, c.ReturnURL, c.ReturnBase)
	o.row.VATRate, o.row.CommissionRate = o.store.policies.VATAd, models.AdvertisingCommission()
	o.row.Amount, o.row.VATAmount = models.AddVAT(c.Price, o.row.VATRate)
	o.row.Purchase = campaignPurchase(&c, &known.Trip, &o.row)

	if !o.row.Amount.Fits() {
		return models.NewError(models.CodeCampaignNotPayable, "campaign.price_too_large")
	}

	return o.insert(ctx)
}

// openedBy is what an attempt is opened by, besides its booking or campaign.
type openedBy struct {
	models.Trip `bun:",extend"`

	CommissionRate models.Rate `bun:"commission_rate"`
	InSuspense     bool        `bun:"in_suspense"` // money of another attempt: it might be what the customer wanted to pay with
	Opened         bool        `bun:"opened"`      // an earlier try has written the row
	Began          time.Time   `bun:"began"`       // the transaction, by the database's clock: created_at of what it writes
}

// readUnderLock is a statement of its own: the one that locks sees other rows as they were before it waited for the lock, and another
// try of the attempt, a move of the trip or money in suspense may be what it has waited for.
func (o *opening) readUnderLock(ctx context.Context, trip, provider uuid.UUID, column string, subject uuid.UUID) (by openedBy, err error) {
	err = o.tx.NewSelect().Model(&by).Column("t.id", "t.title", "t.status", "t.departure_at", "t.return_at", "t.deleted_at").
		ColumnExpr("p.commission_rate, p.name AS provider_name").
		ColumnExpr("EXISTS (SELECT FROM payment_transactions WHERE (? = ?) AND suspense_at IS NOT NULL"+
			stillHeld+") AS in_suspense", bun.Ident(column), subject).
		ColumnExpr("EXISTS (SELECT FROM payment_transactions WHERE (id = ?)) AS opened", o.attempt.ID()).
		ColumnExpr("now() AS began").
		Join("JOIN providers AS p ON p.id = ?", provider).Where("t.id = ?", trip).Scan(ctx)
	if err != nil {
		return by, fmt.Errorf("read what an attempt is opened by: %w", err)
	}

	return by, nil
}

// readOpened reads the row of an earlier try.
func (o *opening) readOpened(ctx context.Context) error {
	return o.tx.NewSelect().Model(&o.row).Where("id = ?", o.attempt.ID()).Scan(ctx)
}

// insert writes the row. Its booking or campaign is locked, so that no other try can have written it since it was looked for.
func (o *opening) insert(ctx context.Context) error {
	if err := o.store.policies.Methods.Check(o.row.PaymentMethod, o.row.Amount); err != nil {
		return err
	}

	if _, err := o.tx.NewInsert().Model(&o.row).Returning("created_at, updated_at").Exec(ctx); err != nil {
		return openConflict(err)
	}

	o.fresh = true

	return nil
}

// openConflict maps the unique indexes that allow one open attempt to the answer a caller can act on.
func openConflict(err error) error {
	switch {
	case db.Violates(err, "transactions_booking_pending"), db.Violates(err, "transactions_booking_attempt"):
		return models.NewError(models.CodeBookingNotPayable, "booking.other_attempt")
	case db.Violates(err, "transactions_campaign_pending"), db.Violates(err, "transactions_campaign_attempt"):
		return models.NewError(models.CodeCampaignNotPayable, "campaign.other_attempt")
	default:
		return err
	}
}

func (s *Store) newAttempt(a models.Attempt, provider uuid.UUID, expires time.Time) models.PaymentTransaction {
	// As the database keeps it: who reads the row tells the gateway the same time as who has written it, and so asks for the
	// same checkout.
	expires = expires.Truncate(time.Microsecond)

	return models.PaymentTransaction{
		ID: a.ID(), Kind: models.KindPayment, Attempt: a.Number, UserID: a.UserID, ProviderID: provider,
		Currency: models.Currency, PaymentMethod: a.Method, Gateway: a.Method.Gateway(),
		Channel: s.policies.Routes.Channel(a.Method),
		Status:  models.TransactionPending, ExpiresAt: expires, OpenedFor: db.NullableID(a.Opener),
	}
}
