package bookings

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"github.com/uptrace/bun"

	"rihla/models"
)

// The limits of unpaid bookings, as refuse_unpaid of the database names them.
const (
	limitAccountBookings = "ACCOUNT_BOOKINGS"
	limitAccountSeats    = "ACCOUNT_SEATS"
)

// errUnpaid is TOO_MANY_UNPAID_BOOKINGS: a booking would be one too many of the account, or of the contact's phone, to wait for its
// payment.
func (s *Store) errUnpaid(limit string, unpaid, held int64) error {
	switch limit {
	case limitAccountBookings:
		return models.NewError(models.CodeTooManyUnpaidBookings,
			"booking.unpaid_limit", "n", unpaid)
	case limitAccountSeats:
		return models.NewError(models.CodeTooManyUnpaidBookings,
			"booking.unpaid_seats", "held", held, "max", s.policies.UnpaidSeats)
	default: // perhaps a stranger's phone: do not reveal how much is unpaid there
		return models.NewError(models.CodeTooManyUnpaidBookings,
			"booking.unpaid_phone")
	}
}

// errStranger is TOO_MANY_UNPAID_BOOKINGS of accounts whose address is not verified, together: of the trip, or of the caller's network.
func errStranger(limit string) error {
	if limit == "NETWORK" {
		return models.NewError(models.CodeTooManyUnpaidBookings,
			"booking.unpaid_network")
	}

	return models.NewError(models.CodeTooManyUnpaidBookings,
		"booking.unpaid_trip")
}

// maxAttempts is how many attempts one booking or campaign has. Every intent reads them.
const maxAttempts = 20

// MayAttempt says whether the account may begin the attempt, by how many it has begun; what it may pay says Payable. Requests at the
// same time may exceed the limit of the hour by one each. Errors: TOO_MANY_UNPAID_BOOKINGS, BOOKING_NOT_PAYABLE and
// CAMPAIGN_NOT_PAYABLE (it has had as many as there may be).
func (s *Store) MayAttempt(ctx context.Context, a models.Attempt, now time.Time) error {
	switch {
	case a.Number <= maxAttempts:
		return s.limitAttempts(ctx, s.db, a.UserID, now)
	case a.BookingID != uuid.Nil:
		return models.NewError(models.CodeBookingNotPayable, "booking.too_many_attempts", "n", maxAttempts)
	default:
		return models.NewError(models.CodeCampaignNotPayable, "campaign.too_many_attempts", "n", maxAttempts)
	}
}

// limitAttempts bounds what replacing attempts, and making and cancelling bookings, costs at the gateways: each attempt is opened,
// closed and asked about after its end.
func (s *Store) limitAttempts(ctx context.Context, db bun.IDB, user uuid.UUID, now time.Time) error {
	if s.policies.UnpaidAttempts == 0 {
		return nil
	}

	begun, err := db.NewSelect().Model((*models.PaymentTransaction)(nil)).Where("user_id = ?", user).
		Where("kind = ?", models.KindPayment).Where("status <> ?", models.TransactionPaid).
		Where("created_at > ?", now.Add(-time.Hour)).Count(ctx)
	if err != nil {
		return fmt.Errorf("count attempts: %w", err)
	}

	return s.tooManyAttempts(int(begun))
}

// tooManyAttempts is TOO_MANY_UNPAID_BOOKINGS for an account that has begun too many payments within the last hour.
func (s *Store) tooManyAttempts(begun int) error {
	if limit := s.policies.UnpaidAttempts; limit == 0 || begun < limit {
		return nil
	}

	return models.NewError(models.CodeTooManyUnpaidBookings,
		"booking.unpaid_payments", "n", begun)
}

// limitBills refuses a bill for seats of a trip of which unpaid bills hold as much as they may: they wait for days. The caller has
// locked the trip. Error: METHOD_NOT_AVAILABLE.
func (s *Store) limitBills(ctx context.Context, tx bun.Tx, trip, booking uuid.UUID, seats, capacity int) error {
	share := s.policies.BillShare.Decimal()
	if share.IsZero() {
		return nil
	}

	var held int

	if err := tx.NewRaw("SELECT lock_bill_seats(?, ?)", trip, booking).Scan(ctx, &held); err != nil {
		return fmt.Errorf("count seats of bills: %w", err)
	}

	if decimal.NewFromInt(int64(held + seats)).GreaterThan(share.Mul(decimal.NewFromInt(int64(capacity)))) {
		return errBillShare()
	}

	return nil
}

func errBillShare() error {
	return models.NewError(models.CodeMethodNotAvailable, "method.bills_full")
}

// ChangeMethod keeps the method of a booking's next attempt, under the booking's lock. A booking that begins to wait for a bill
// needs room among those of its trip. Error: METHOD_NOT_AVAILABLE.
func (s *Store) ChangeMethod(ctx context.Context, tx bun.Tx, b *models.Booking, to models.PaymentMethod) error {
	if b.HoldMethod != nil && *b.HoldMethod == to {
		return nil
	}

	if to == models.MethodBillPayment {
		var capacity int

		err := tx.NewSelect().Model((*models.Trip)(nil)).Column("capacity").Where("id = ?", b.TripID).
			For("NO KEY UPDATE").Scan(ctx, &capacity)
		if err != nil {
			return fmt.Errorf("lock trip: %w", err)
		}

		if err := s.limitBills(ctx, tx, b.TripID, b.ID, b.Seats, capacity); err != nil {
			return err
		}
	}

	b.HoldMethod = &to

	if _, err := tx.NewUpdate().Model(b).Column("hold_method").WherePK().Exec(ctx); err != nil {
		return fmt.Errorf("change method: %w", err)
	}

	return nil
}

// phoneKey is the one spelling of a phone number by which unpaid bookings are counted. What is no number has one, too, of its digits, so
// that nothing escapes the count.
func phoneKey(phone string) *string {
	number, ok := models.E164(phone)
	if !ok {
		number = "?" + strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}

			return r
		}, number)
	}

	return &number
}

// optionalMethod is nil for none.
func optionalMethod(m models.PaymentMethod) *models.PaymentMethod {
	if m == "" {
		return nil
	}

	return &m
}
