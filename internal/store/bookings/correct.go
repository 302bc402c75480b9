package bookings

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/outbox"
	"rihla/models"
)

// Correct puts right how a booking's contact is reached and the names of passengers, with an audit entry that has digests in place of the
// data, and a mail to the address before and the one after (rules: bookings.correct). What is as it was is no change. Errors: NOT_FOUND;
// INVALID_STATE from the departure on, for a cancelled passenger, and for a name that was changed too often; VALIDATION_ERROR on
// passengers.
func (s *Store) Correct(ctx context.Context, by db.Actor, booking uuid.UUID, c models.Correction, now time.Time) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		b, err := LockBooking(ctx, tx, booking)
		if err != nil {
			return err
		}

		var trip models.Trip
		if err := tx.NewSelect().Model(&trip).Column("title", "departure_at").Where("id = ?", b.TripID).Scan(ctx); err != nil {
			return fmt.Errorf("read trip: %w", err)
		}

		renamed, err := renamesOf(ctx, tx, booking)
		if err != nil {
			return err
		}

		was := b

		done, err := b.Correct(c, renamed, s.policies.PassengerNameChanges, trip.DepartureAt, now)
		if err != nil || len(done.Fields) == 0 {
			return err
		}

		if err := writeCorrection(ctx, tx, by, &was, &b, done, now); err != nil {
			return err
		}

		if err := tellCorrected(ctx, tx, &was, &b, &trip, done); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditBookingCorrected, models.EntityBooking, &b.ID, map[string]any{
			"changed": done.Fields, "before": done.Before, "after": done.After,
		})
	})
}

// renamesOf is how often the name of each position of a booking was changed. The booking is locked.
func renamesOf(ctx context.Context, tx bun.Tx, booking uuid.UUID) (map[int]int, error) {
	var rows []struct{ Position, N int }

	err := tx.NewSelect().Model((*models.PassengerRename)(nil)).ColumnExpr("position, max(n) AS n").Where("booking_id = ?", booking).
		Group("position").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("count corrections of names: %w", err)
	}

	renamed := make(map[int]int, len(rows))
	for _, r := range rows {
		renamed[r.Position] = r.N
	}

	return renamed, nil
}

// writeCorrection writes the counts before the names: the database lets no name change without its count.
func writeCorrection(ctx context.Context, tx bun.Tx, by db.Actor, was, is *models.Booking, done models.Corrected, now time.Time) error {
	for i := range done.Renames {
		done.Renames[i].RenamedBy = by.UserID
	}

	if len(done.Renames) > 0 {
		if _, err := tx.NewInsert().Model(&done.Renames).ExcludeColumn("created_at").Exec(ctx); err != nil {
			return fmt.Errorf("count corrections of names: %w", err)
		}
	}

	is.ContactE164 = phoneKey(is.ContactPhone)

	res, err := tx.NewUpdate().Model(is).Column("contact_name", "contact_email", "contact_phone", "contact_e164", "passengers").
		Set("updated_at = ?", now).WherePK().Where(db.Still, bun.Ident("status"), was.Status).Exec(ctx)
	if err != nil {
		return fmt.Errorf("correct booking: %w", err)
	}

	return db.AffectedOne(res, "booking")
}

// tellCorrected mails the address before and the one after which kinds of data were changed, and neither of them the other address. Of a
// booking that was never paid strangers may be the contact: then the account's own address gets it, once that is verified.
func tellCorrected(ctx context.Context, tx bun.Tx, was, is *models.Booking, trip *models.Trip, done models.Corrected) error {
	var payment models.PaymentTransaction

	err := tx.NewSelect().Model(&payment).Column("id", "captured_at").Where("booking_id = ?", is.ID).Where("kind = ?", models.KindPayment).
		OrderExpr("captured_at IS NULL, attempt DESC").Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) { // nothing was ever sent about it
		return nil
	}

	if err != nil {
		return fmt.Errorf("read payment: %w", err)
	}

	to := map[string]string{"before": was.ContactEmail, "after": is.ContactEmail}
	if payment.CapturedAt == nil {
		to["before"] = ""
		if to["after"], err = verifiedAddress(ctx, tx, is.UserID); err != nil {
			return err
		}
	}

	if to["before"] == to["after"] {
		delete(to, "before")
	}

	return queueCorrected(ctx, tx, is, payment.ID, to, correctionFacts(is, trip, done))
}

// correctionFacts leave out the name: at one of the two addresses another person may read the mail.
func correctionFacts(b *models.Booking, trip *models.Trip, done models.Corrected) map[string]string {
	changed := make([]string, len(done.Fields))
	for i, f := range done.Fields {
		changed[i] = string(f)
	}

	facts := outbox.BookingData(b, trip)
	facts["changed"] = strings.Join(changed, ",")
	delete(facts, "name")

	return facts
}

func queueCorrected(
	ctx context.Context, tx bun.Tx, b *models.Booking, payment uuid.UUID, to map[string]string, facts map[string]string,
) error {
	rows := make([]models.Notification, 0, len(to))
	correction := models.NewID().String()
	for which, address := range to {
		rows = append(rows,
			outbox.NewMessages(models.NotifyBookingCorrected, payment, correction+":"+which, b.Locale, address, "", facts)...)
	}

	_, err := outbox.InsertMessages(ctx, tx, rows)

	return err
}

// verifiedAddress is the address of an account whose owner has proved to read it; empty: none.
func verifiedAddress(ctx context.Context, tx bun.Tx, user uuid.UUID) (string, error) {
	var address string

	err := tx.NewSelect().Model((*models.User)(nil)).Column("email").Where("id = ?", user).
		Where("email_verified_at IS NOT NULL").Where("deleted_at IS NULL").Scan(ctx, &address)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}

	if err != nil {
		return "", fmt.Errorf("read the account's address: %w", err)
	}

	return address, nil
}
