package bookings

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

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
	Network      string               // where the request came from: of IPv4 the /24, of IPv6 the /48; may be empty
	Claim        uuid.UUID            // of the request's Idempotency-Key; uuid.Nil without one
}

// maxPassengers is the size of a booking (rules: bookings.size).
const maxPassengers = 20

// maxOffers bounds how often a trip is read again that has changed, or has got free seats, since it was read.
const maxOffers = 10

// CreateBooking takes the seats and writes the booking, PENDING_PAYMENT, in one statement, which also binds the request's
// Idempotency-Key to it. The amount in SAR is the price per seat, VAT included, of this moment. Errors: VALIDATION_ERROR on
// passengers and on trip_id (no such trip, or hidden from consumers), TRIP_NOT_BOOKABLE (not published, or departed),
// TRIP_CAPACITY_REACHED, TOO_MANY_UNPAID_BOOKINGS, METHOD_NOT_AVAILABLE (unpaid bills hold too much of the trip);
// IDEMPOTENCY_KEY_IN_PROGRESS when the request has lost its key to another one.
func (s *Store) CreateBooking(ctx context.Context, n NewBooking, now time.Time) (models.Booking, error) {
	if len(n.Passengers) < 1 || len(n.Passengers) > maxPassengers {
		return models.Booking{}, models.Invalid("passengers", "booking.passengers", "max", maxPassengers)
	}

	if n.ID == uuid.Nil {
		n.ID = models.NewSubjectID()
	}

	for range maxOffers {
		o, err := s.readOffer(ctx, n, now)
		if err != nil {
			return models.Booking{}, err
		}

		b := s.newBooking(n, o)
		if err := s.checkAmount(&b); err != nil {
			return models.Booking{}, err
		}

		made, err := s.takeSeats(ctx, &b, &n, o, now)
		if made {
			return b, nil
		}

		if err != nil {
			return models.Booking{}, s.firstReason(ctx, n, err, now)
		}
	}

	return models.Booking{}, errors.New("the trip is changed over and over")
}

// firstReason is why seats were not taken. The trip may have been sold out while the booking waited for its turn: another method, or
// fewer unpaid bookings, would not help then (rules: bookings.full-first).
func (s *Store) firstReason(ctx context.Context, n NewBooking, err error, now time.Time) error {
	switch models.CodeOf(err) {
	case models.CodeMethodNotAvailable, models.CodeTooManyUnpaidBookings:
	default:
		return err
	}

	if _, gone := s.readOffer(ctx, n, now); gone != nil {
		return gone
	}

	return err
}

// checkAmount refuses a booking that cannot be paid. Errors: VALIDATION_ERROR, METHOD_NOT_AVAILABLE.
func (s *Store) checkAmount(b *models.Booking) error {
	if !b.Amount.Fits() {
		return models.Invalid("passengers", "booking.too_expensive")
	}

	if b.HoldMethod == nil { // by which it is to be paid is not said yet
		return nil
	}

	return s.policies.Methods.Check(*b.HoldMethod, b.Amount)
}

// newBooking is what is to be written. The database says when it was made, and so until when its seats are held.
func (s *Store) newBooking(n NewBooking, o tripOffer) models.Booking {
	if n.Locale == "" {
		n.Locale = models.LocaleArabic
	}

	amount, schedule := o.pricePerSeat.Times(len(n.Passengers)), s.policies.Cancellation.String()

	return models.Booking{
		ID: n.ID, TripID: n.TripID, ProviderID: o.providerID, UserID: n.UserID,
		Status: models.BookingPendingPayment, Seats: len(n.Passengers), SeatsHeld: true,
		Amount: amount, Currency: models.Currency,
		VATRate: s.policies.VATBooking, VATAmount: models.VATWithin(amount, s.policies.VATBooking),
		Passengers: n.Passengers, ContactName: n.ContactName, ContactEmail: n.ContactEmail, ContactPhone: n.ContactPhone,
		Locale: n.Locale, ReturnURL: n.ReturnURL, ReturnBase: n.ReturnBase, BookedDepartureAt: o.departure, BookedSchedule: &schedule,
		ContactE164: phoneKey(n.ContactPhone), HoldMethod: optionalMethod(n.Method),
	}
}

// tripOffer is what a trip has to say to a booking, before it is locked.
type tripOffer struct {
	providerID   uuid.UUID
	pricePerSeat models.Money
	departure    time.Time
	stranger     bool // the account's address is not verified
}

const readOfferSQL = `
SELECT t.provider_id, t.price_per_seat, t.departure_at,
       t.deleted_at IS NULL AND p.status = 'ACTIVE', t.status = 'PUBLISHED' AND t.departure_at > @now, t.seats_taken + @seats <= t.capacity,
       @claim::uuid IS NULL OR EXISTS (SELECT FROM idempotency_keys WHERE claim = @claim AND status IS NULL),
       CASE WHEN @attempts_max::int > 0 THEN (
           SELECT count(*) FROM payment_transactions
           WHERE user_id = @user AND kind = 'PAYMENT' AND status <> 'PAID' AND created_at > @hour_ago) ELSE 0 END,
       EXISTS (SELECT FROM users WHERE id = @user AND email_verified_at IS NULL)
FROM trips AS t JOIN providers AS p ON p.id = t.provider_id
WHERE t.id = @trip`

// readOffer reads what needs no lock, and refuses what it can: customers of a trip that is sold out do not queue for its row. A
// request that has lost its key hears of that first, whatever has become of the trip.
func (s *Store) readOffer(ctx context.Context, n NewBooking, now time.Time) (o tripOffer, err error) {
	var (
		visible, open, room, claimed bool
		begun                        int
	)

	err = s.db.Raw.QueryRowContext(ctx, readOfferSQL, pgx.QueryExecModeCacheStatement, pgx.NamedArgs{
		"trip": n.TripID, "now": now, "seats": len(n.Passengers), "claim": db.NullableID(n.Claim),
		"user": n.UserID, "attempts_max": s.policies.UnpaidAttempts, "hour_ago": now.Add(-time.Hour),
	}).Scan(&o.providerID, &o.pricePerSeat, &o.departure, &visible, &open, &room, &claimed, &begun, &o.stranger)

	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return o, fmt.Errorf("read trip: %w", err)
	case err == nil && !claimed:
		return o, db.ErrClaimLost()
	case err == nil && s.tooManyAttempts(begun) != nil:
		return o, s.tooManyAttempts(begun)
	case err != nil || !visible:
		return o, models.Invalid("trip_id", "booking.trip_unknown")
	case !open:
		return o, models.NewError(models.CodeTripNotBookable, "booking.trip_not_bookable")
	case !room:
		return o, models.NewError(models.CodeTripCapacityReached, "booking.trip_full")
	default:
		return o, nil
	}
}
