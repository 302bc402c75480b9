package bookings

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"rihla/internal/store/db"
	"rihla/models"
)

// takeSeatsSQL locks, in this order, the account and the phone, the request's key, the network of a stranger, and the trip, for as long
// as the statement and its commit take. The parts follow from each other: none is run unless the one before it has found what it needs.
// When one refuses, nothing has changed, except that the key may name a booking that is not made: the next owner of the key makes it.
//
// The commit does not wait for the disk: that takes longer than all of the statement, and the trip's row would be locked meanwhile.
// Nothing is lost by it that a customer was told of. The log is written in order, so that the booking is on the disk once what was
// committed after it is: the row of its payment, without which it is not answered (docs/decisions/0046).
const takeSeatsSQL = `
WITH allowed AS MATERIALIZED (
    SELECT refused, unpaid, held FROM refuse_unpaid(@user, @phone, @seats, @bookings_max, @seats_max)
), bound AS (
    UPDATE idempotency_keys SET resource_id = @id FROM allowed WHERE refused IS NULL AND claim = @claim AND status IS NULL
    RETURNING 1
), strangers AS MATERIALIZED (
    SELECT CASE WHEN @stranger THEN refuse_stranger(@trip, @network, @seats, @stranger_share, @network_max) END AS refused FROM allowed
    WHERE refused IS NULL AND (@claim::uuid IS NULL OR EXISTS (SELECT FROM bound))
), bills AS MATERIALIZED (
    SELECT CASE WHEN @bill_share::numeric > 0 THEN lock_bill_seats(@trip, @id) ELSE 0 END AS held FROM strangers
    WHERE refused IS NULL
), taken AS (
    UPDATE trips AS t SET seats_taken = t.seats_taken + @seats FROM bills, providers AS p
    WHERE t.id = @trip AND p.id = t.provider_id AND p.status = 'ACTIVE'
      AND t.status = 'PUBLISHED' AND t.departure_at > @now AND t.deleted_at IS NULL AND t.seats_taken + @seats <= t.capacity
      AND t.provider_id = @provider AND t.price_per_seat = @price AND t.departure_at = @departure
      AND (@bill_share::numeric = 0 OR bills.held + @seats <= @bill_share::numeric * t.capacity)
    RETURNING clock_timestamp() AS at, set_config('synchronous_commit', 'off', true)
), made AS (
    INSERT INTO bookings (id, trip_id, provider_id, user_id, status, seats, seats_held, hold_until, amount, currency, vat_rate, vat_amount,
        passengers, contact_name, contact_email, contact_phone, contact_e164, locale, return_url, return_base,
        booked_departure_at, booked_schedule, hold_method, created_at)
    SELECT @id, @trip, @provider, @user, @status, @seats, true, least(taken.at + @hold * interval '1 microsecond', @departure),
        @amount, @currency, @vat_rate, @vat_amount, @passengers, @contact_name, @contact_email, @contact_phone, @phone, @locale,
        @return_url, @return_base, @departure, @schedule, @method, taken.at
    FROM taken
    RETURNING booking_number, hold_until, created_at, updated_at
), noted AS (
    INSERT INTO stranger_seats (booking_id, trip_id, network, seats) SELECT @id, @trip, @network, @seats FROM made WHERE @stranger
)
SELECT allowed.refused, allowed.unpaid, allowed.held, strangers.refused, bills.held,
       bills.held + @seats > @bill_share::numeric * t.capacity,
       made.booking_number, made.hold_until, made.created_at, made.updated_at
FROM allowed LEFT JOIN strangers ON true LEFT JOIN bills ON true LEFT JOIN made ON true
LEFT JOIN trips AS t ON t.id = @trip AND @bill_share::numeric > 0`

// takeSeats counts the seats in and writes the booking, if the trip is still what it was when the booking was worked out; else it
// reports false. The trip's row is locked for this one statement: other customers of the trip do not wait for round trips. The
// booking's moment is taken under that lock, so that it tells the order of bookings and moves of the trip.
// Errors: TOO_MANY_UNPAID_BOOKINGS, METHOD_NOT_AVAILABLE, IDEMPOTENCY_KEY_IN_PROGRESS.
func (s *Store) takeSeats(
	ctx context.Context, b *models.Booking, n *NewBooking, o tripOffer, now time.Time,
) (made bool, err error) {
	args, err := s.takeSeatsArgs(b, n, o, now)
	if err != nil {
		return false, err
	}

	leave, err := s.turns.take(ctx, b.TripID)
	if err != nil {
		return false, err
	}
	defer leave()

	var (
		limit, stranger        sql.NullString
		unpaid, held, bills    sql.NullInt64
		overShare              sql.NullBool
		number                 sql.NullString
		until, created, update sql.NullTime
	)

	err = s.db.Retry(func() error {
		return s.db.Raw.QueryRowContext(ctx, takeSeatsSQL, pgx.QueryExecModeCacheStatement, args).
			Scan(&limit, &unpaid, &held, &stranger, &bills, &overShare, &number, &until, &created, &update)
	})

	switch {
	case err != nil:
		return false, fmt.Errorf("take seats: %w", err)
	case limit.Valid:
		return false, s.errUnpaid(limit.String, unpaid.Int64, held.Int64)
	case stranger.Valid:
		return false, errStranger(stranger.String)
	case !bills.Valid:
		return false, db.ErrClaimLost()
	case number.Valid:
		b.Number, b.HoldUntil, b.CreatedAt, b.UpdatedAt = number.String, until.Time, created.Time, update.Time

		return true, nil
	case overShare.Bool:
		return false, errBillShare()
	default:
		return false, nil
	}
}

func (s *Store) takeSeatsArgs(b *models.Booking, n *NewBooking, o tripOffer, now time.Time) (pgx.NamedArgs, error) {
	passengers, err := json.Marshal(b.Passengers)
	if err != nil {
		return nil, fmt.Errorf("encode passengers: %w", err)
	}

	var (
		method models.PaymentMethod
		share  models.Rate // of other methods nothing is counted
	)

	if b.HoldMethod != nil {
		method = *b.HoldMethod
	}

	if method == models.MethodBillPayment {
		share = s.policies.BillShare
	}

	return pgx.NamedArgs{
		"id": b.ID, "trip": b.TripID, "provider": b.ProviderID, "user": b.UserID, "status": string(b.Status), "seats": b.Seats,
		"amount": b.Amount, "currency": b.Currency, "vat_rate": b.VATRate, "vat_amount": b.VATAmount, "passengers": string(passengers),
		"contact_name": b.ContactName, "contact_email": b.ContactEmail, "contact_phone": b.ContactPhone, "phone": b.ContactE164,
		"locale": string(b.Locale), "return_url": b.ReturnURL, "return_base": b.ReturnBase, "departure": b.BookedDepartureAt,
		"schedule": b.BookedSchedule, "method": b.HoldMethod, "hold": s.policies.Hold(method).Microseconds(),
		"price": o.pricePerSeat, "now": now, "claim": db.NullableID(n.Claim), "bill_share": share,
		"bookings_max": s.policies.UnpaidBookings, "seats_max": s.policies.UnpaidSeats,
		"stranger": o.stranger, "network": n.Network, "stranger_share": s.policies.UnverifiedShare, "network_max": s.policies.UnpaidPerNetwork,
	}, nil
}
