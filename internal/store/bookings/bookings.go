package bookings

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// NewBooking asks for seats on a trip, one per passenger.
type NewBooking struct {
	ID           uuid.UUID // of a booking that was taken back (DiscardBooking) and is made again; a new one when left out
	UserID       uuid.UUID
	TripID       uuid.UUID
	Passengers   []models.Passenger
	ContactName  string
	ContactEmail string
	ContactPhone string
	Locale       models.Locale        // of its notifications; Arabic when left out
	Method       models.PaymentMethod // decides how long the seats are held
	ReturnURL    string               // where the customer goes afterwards; may be empty
	ReturnBase   string               // the public address of the API, through which the customer goes there
	Claim        uuid.UUID            // of the request's Idempotency-Key; uuid.Nil without one
}

// maxPassengers is the size of a booking (rules: bookings.size).
const maxPassengers = 20

// CreateBooking takes the seats and writes the booking, PENDING_PAYMENT, in one SQL transaction, which also binds the
// request's Idempotency-Key to it. The amount in SAR is the price per seat, VAT included, of this moment. Errors:
// VALIDATION_ERROR on passengers and on trip_id (no such trip, or hidden from consumers), TRIP_NOT_BOOKABLE (not published, or
// departed), TRIP_CAPACITY_REACHED, TOO_MANY_UNPAID_BOOKINGS, METHOD_NOT_AVAILABLE (unpaid bills hold too much of
// the trip); IDEMPOTENCY_KEY_IN_PROGRESS when the request has lost its key to
// another one.
func (s *Store) CreateBooking(ctx context.Context, n NewBooking, now time.Time) (models.Booking, error) {
	if len(n.Passengers) < 1 || len(n.Passengers) > maxPassengers {
		return models.Booking{}, models.Invalid("passengers", "must name 1 to %d passengers", maxPassengers)
	}

	var b models.Booking

	if n.ID == uuid.Nil {
		n.ID = models.NewID()
	}

	err := s.db.InTx(db.Prepared(ctx), func(ctx context.Context, tx bun.Tx) error {
		// The key first: the trip, which others wait for, is locked for as short as can be.
		if err := db.BindKey(ctx, tx, n.Claim, n.ID); err != nil {
			return err
		}

		if err := s.limitUnpaid(ctx, tx, n, now); err != nil {
			return err
		}

		o, err := takeSeats(ctx, tx, n.TripID, len(n.Passengers), now)
		if err != nil {
			return err
		}

		if n.Method == models.MethodBillPayment {
			if err := s.limitBills(ctx, tx, n.TripID, n.ID, len(n.Passengers), o.capacity); err != nil {
				return err
			}
		}

		b = s.newBooking(n, o)
		if err := s.checkAmount(&b); err != nil {
			return err
		}

		if _, err := tx.NewInsert().Model(&b).Returning("booking_number, created_at, updated_at").Exec(ctx); err != nil {
			return fmt.Errorf("insert booking: %w", err)
		}

		return nil
	})
	if err != nil {
		return models.Booking{}, err
	}

	return b, nil
}

// checkAmount refuses a booking that cannot be paid. Errors: VALIDATION_ERROR, METHOD_NOT_AVAILABLE.
func (s *Store) checkAmount(b *models.Booking) error {
	if !b.Amount.Fits() {
		return models.Invalid("passengers", "cost more together than one booking may")
	}

	if b.HoldMethod == nil { // by which it is to be paid is not said yet
		return nil
	}

	return s.policies.Methods.Check(*b.HoldMethod, b.Amount)
}

func (s *Store) newBooking(n NewBooking, o tripOffer) models.Booking {
	if n.Locale == "" {
		n.Locale = models.LocaleArabic
	}

	amount, schedule := o.pricePerSeat.Times(len(n.Passengers)), s.policies.Cancellation.String()

	return models.Booking{
		ID: n.ID, TripID: n.TripID, ProviderID: o.providerID, UserID: n.UserID,
		Status: models.BookingPendingPayment, Seats: len(n.Passengers), SeatsHeld: true,
		HoldUntil: earlierTime(o.at.Add(s.policies.Hold(n.Method)), o.departure),
		Amount:    amount, Currency: models.Currency,
		VATRate: s.policies.VATBooking, VATAmount: models.VATWithin(amount, s.policies.VATBooking),
		Passengers: n.Passengers, ContactName: n.ContactName, ContactEmail: n.ContactEmail, ContactPhone: n.ContactPhone,
		Locale: n.Locale, ReturnURL: n.ReturnURL, ReturnBase: n.ReturnBase, BookedDepartureAt: o.departure, BookedSchedule: &schedule,
		CreatedAt: o.at, ContactE164: e164(n.ContactPhone), HoldMethod: optionalMethod(n.Method),
	}
}

// tripOffer is what a trip had to say when its seats were taken.
type tripOffer struct {
	providerID   uuid.UUID
	pricePerSeat models.Money
	departure    time.Time
	capacity     int
	at           time.Time // by the clock of the database, while the trip is locked: it tells the order of bookings and moves
}

// earlierTime is the first of two moments: a trip that has left cannot be paid.
func earlierTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}

	return a
}

// takeSeats counts the seats in, under the lock of the trip's row, if the trip can be booked and has so many left.
func takeSeats(ctx context.Context, tx bun.Tx, trip uuid.UUID, seats int, now time.Time) (tripOffer, error) {
	var o tripOffer

	err := tx.QueryRowContext(ctx, `
		UPDATE trips AS t SET seats_taken = t.seats_taken + ?0
		FROM providers AS p
		WHERE t.id = ?1 AND p.id = t.provider_id AND p.status = 'ACTIVE'
		  AND t.status = 'PUBLISHED' AND t.departure_at > ?2 AND t.deleted_at IS NULL
		  AND t.seats_taken + ?0 <= t.capacity
		RETURNING t.provider_id, t.price_per_seat, t.departure_at, t.capacity, clock_timestamp()`, seats, trip, now).
		Scan(&o.providerID, &o.pricePerSeat, &o.departure, &o.capacity, &o.at)
	if errors.Is(err, sql.ErrNoRows) {
		return o, whyNotBookable(ctx, tx, trip, now)
	}

	if err != nil {
		return o, fmt.Errorf("take seats: %w", err)
	}

	return o, nil
}

func whyNotBookable(ctx context.Context, tx bun.Tx, trip uuid.UUID, now time.Time) error {
	var visible, open bool

	err := tx.QueryRowContext(ctx, `
		SELECT t.deleted_at IS NULL AND p.status = 'ACTIVE', t.status = 'PUBLISHED' AND t.departure_at > ?
		FROM trips AS t JOIN providers AS p ON p.id = t.provider_id
		WHERE t.id = ?`, now, trip).Scan(&visible, &open)

	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && !visible:
		return models.Invalid("trip_id", "is not a trip of the catalogue")
	case err != nil:
		return fmt.Errorf("read trip: %w", err)
	case !open:
		return models.Errorf(models.CodeTripNotBookable, "The trip is not published or has departed.")
	default:
		return models.Errorf(models.CodeTripCapacityReached, "The trip has not enough seats left.")
	}
}

// DiscardBooking takes back a booking whose payment could not even be started: it deletes it and frees its seats, unless
// they are free because its hold ended meanwhile. It reports false, and changes nothing, once the booking has a payment
// attempt, was cancelled, or is gone.
func (s *Store) DiscardBooking(ctx context.Context, id uuid.UUID) (discarded bool, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		discarded = false

		// FOR UPDATE keeps attempts from being inserted meanwhile: their foreign key needs the row.
		var b models.Booking

		err := tx.NewSelect().Model(&b).Where("bk.id = ?", id).
			Where("bk.status IN (?)", bun.List([]models.BookingStatus{models.BookingPendingPayment, models.BookingPaymentFailed})).
			For("UPDATE").Scan(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}

		if err != nil {
			return fmt.Errorf("lock booking: %w", err)
		}

		paid, err := tx.NewSelect().Model((*models.PaymentTransaction)(nil)).Where("pt.booking_id = ?", id).Exists(ctx)
		if err != nil || paid {
			return err
		}

		if _, err := tx.NewDelete().Model(&b).WherePK().Exec(ctx); err != nil {
			return fmt.Errorf("delete booking: %w", err)
		}

		discarded = true

		if !b.SeatsHeld {
			return nil
		}

		return FreeSeats(ctx, tx, &b)
	})

	return discarded && err == nil, err
}

// BookingByID finds a booking. Error: NOT_FOUND.
func (s *Store) BookingByID(ctx context.Context, id uuid.UUID) (models.Booking, error) {
	var b models.Booking

	err := s.db.NewSelect().Model(&b).Where("bk.id = ?", id).Scan(db.Prepared(ctx))

	return b, db.NotFound(err)
}

var bookingOrder = db.Order{
	Columns:  map[string]string{"created_at": "bk.created_at"},
	ID:       "bk.id",
	Fallback: db.Sort{Field: "created_at", Desc: true},
}

// MyBookings lists a user's bookings, newest first; an empty status is any. Error: VALIDATION_ERROR on sort.
func (s *Store) MyBookings(
	ctx context.Context, user uuid.UUID, status models.BookingStatus, p db.Page,
) (db.Listed[models.Booking], error) {
	q := s.db.NewSelect().Where("bk.user_id = ?", user)

	return db.List[models.Booking](ctx, db.WhereEqual(q, "bk.status", status), p, bookingOrder)
}

// LatestAttempt is the payment attempt of a booking that counts: the paid one, else the newest; nil when it has none.
func (s *Store) LatestAttempt(ctx context.Context, booking uuid.UUID) (*models.PaymentTransaction, error) {
	latest, err := s.LatestAttempts(ctx, booking)

	return latest[booking], err
}

// LatestAttempts are the LatestAttempt of several bookings, by booking; those without an attempt are not in it.
func (s *Store) LatestAttempts(ctx context.Context, bookings ...uuid.UUID) (map[uuid.UUID]*models.PaymentTransaction, error) {
	latest := make(map[uuid.UUID]*models.PaymentTransaction, len(bookings))
	if len(bookings) == 0 {
		return latest, nil
	}

	var attempts []models.PaymentTransaction

	err := s.db.NewSelect().Model(&attempts).DistinctOn("pt.booking_id").
		Where("pt.booking_id IN (?)", bun.List(bookings)).Where("pt.kind = ?", models.KindPayment).
		OrderExpr("pt.booking_id, pt.status = ? DESC, pt.attempt DESC", models.TransactionPaid).Scan(db.Prepared(ctx))
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}

	for i := range attempts {
		latest[*attempts[i].BookingID] = &attempts[i]
	}

	return latest, nil
}
