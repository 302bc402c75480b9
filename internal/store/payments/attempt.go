package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// attempt is a payment attempt with all that settling it is decided by. It is locked, and so is its booking or campaign.
type attempt struct {
	t        models.PaymentTransaction
	booking  models.Booking    // the columns of lockedColumns; zero for a campaign's attempt
	campaign models.AdCampaign // likewise; zero for a booking's
	trip     models.Trip       // title, status, departure, deleted or not
	events   []models.WebhookEvent

	openAttempt uuid.UUID // another attempt of the booking or campaign that is PENDING; zero: none
	openGateway models.Gateway

	contacts []models.ProviderContact // of the company, who are told of bookings; none for a campaign
}

// lockAttempt reads it in two statements. The first one locks, the attempt before its booking or campaign. What it had to wait for
// may have changed the trip (a move locks the bookings), processed the events or opened another attempt; a statement sees other rows
// than those that it has locked as they were when it began, so that these are read by the second one. Error: NOT_FOUND.
func lockAttempt(ctx context.Context, tx bun.Tx, id uuid.UUID) (attempt, error) {
	a, err := lockBookingAttempt(ctx, tx, id)
	if errors.Is(err, sql.ErrNoRows) {
		a, err = lockCampaignAttempt(ctx, tx, id)
	}

	if err != nil {
		return attempt{}, db.NotFound(err)
	}

	return a, a.readUnderLock(ctx, tx)
}

func lockBookingAttempt(ctx context.Context, tx bun.Tx, id uuid.UUID) (attempt, error) {
	var row struct {
		models.PaymentTransaction `bun:",extend"`

		Booking models.Booking `bun:"embed:bk_"`
	}

	err := tx.NewSelect().Model(&row).ColumnExpr("?", db.Columns[models.PaymentTransaction](tx, "pt")).
		ColumnExpr("bk.id AS bk_id, bk.booking_number AS bk_booking_number, bk.trip_id AS bk_trip_id, bk.user_id AS bk_user_id").
		ColumnExpr("bk.status AS bk_status, bk.seats AS bk_seats, bk.hold_until AS bk_hold_until, bk.currency AS bk_currency").
		ColumnExpr("bk.contact_name AS bk_contact_name, bk.contact_email AS bk_contact_email").
		ColumnExpr("bk.contact_phone AS bk_contact_phone, bk.locale AS bk_locale").
		Join("JOIN bookings AS bk ON bk.id = pt.booking_id").Where("pt.id = ?", id).For("NO KEY UPDATE OF pt, bk").Scan(ctx)

	return attempt{t: row.PaymentTransaction, booking: row.Booking}, err
}

func lockCampaignAttempt(ctx context.Context, tx bun.Tx, id uuid.UUID) (attempt, error) {
	var row struct {
		models.PaymentTransaction `bun:",extend"`

		Campaign models.AdCampaign `bun:"embed:ac_"`
	}

	err := tx.NewSelect().Model(&row).ColumnExpr("?", db.Columns[models.PaymentTransaction](tx, "pt")).
		ColumnExpr("ac.id AS ac_id, ac.trip_id AS ac_trip_id, ac.provider_id AS ac_provider_id, ac.title AS ac_title").
		ColumnExpr("ac.starts_on AS ac_starts_on, ac.ends_on AS ac_ends_on, ac.price AS ac_price, ac.status AS ac_status").
		ColumnExpr("ac.deleted_at AS ac_deleted_at").
		Join("JOIN ad_campaigns AS ac ON ac.id = pt.ad_campaign_id").Where("pt.id = ?", id).For("NO KEY UPDATE OF pt, ac").Scan(ctx)

	return attempt{t: row.PaymentTransaction, campaign: row.Campaign}, err
}

// bookedContacts are the contact persons of a company who are told of bookings, NULL for none: a look into an index beside what is read
// anyway, so that a settlement takes no statement more.
const bookedContacts = `(
	SELECT jsonb_agg(jsonb_build_object('Name', pc.name, 'Email', pc.email, 'Messages', pc.messages) ORDER BY pc.position)
	FROM provider_contacts AS pc WHERE pc.provider_id = ? AND ? = ANY (pc.messages)) AS contacts`

// readUnderLock reads the trip, the events that have had no effect yet, oldest first, and the other open attempt, of which an index
// allows one. Both are found by what they belong to, not among all that are in their state: see db.Still.
func (a *attempt) readUnderLock(ctx context.Context, tx bun.Tx) error {
	var rows []struct {
		models.Trip `bun:",extend"`

		OpenID      uuid.UUID      `bun:"open_id"`
		OpenGateway models.Gateway `bun:"open_gateway"`

		Contacts []models.ProviderContact `bun:"contacts,type:jsonb"`
		Event    models.WebhookEvent      `bun:"embed:we_"`
	}

	q := tx.NewSelect().Model(&rows).Column("t.title", "t.status", "t.departure_at", "t.deleted_at").
		ColumnExpr("other.id AS open_id, other.gateway AS open_gateway").
		ColumnExpr("we.id AS we_id, we.webhook_id AS we_webhook_id, we.type AS we_type, we.checkout_id AS we_checkout_id").
		ColumnExpr("we.merchant_reference AS we_merchant_reference, we.amount AS we_amount, we.currency AS we_currency").
		ColumnExpr("we.payment_method AS we_payment_method, we.result_code AS we_result_code, we.failure_reason AS we_failure_reason").
		ColumnExpr("we.occurred_at AS we_occurred_at, we.received_at AS we_received_at").
		Join("LEFT JOIN webhook_events AS we ON we.transaction_id = ? AND we.refund_id IS NULL AND we.outcome = ''", a.t.ID)

	const other = "LEFT JOIN payment_transactions AS other ON other.status IS NOT DISTINCT FROM 'PENDING' AND other.id <> ? AND "

	if a.t.BookingID != nil {
		q = q.ColumnExpr(bookedContacts, a.t.ProviderID, models.CompanyBooked).
			Join(other+"other.booking_id = ?", a.t.ID, *a.t.BookingID).Where("t.id = ?", a.booking.TripID)
	} else {
		q = q.Join(other+"other.ad_campaign_id = ?", a.t.ID, *a.t.AdCampaignID).Where("t.id = ?", a.campaign.TripID)
	}

	if err := q.Order("we.received_at", "we.id").Scan(ctx); err != nil {
		return fmt.Errorf("read what an attempt is settled by: %w", err)
	}

	if len(rows) == 0 {
		return fmt.Errorf("read what an attempt is settled by: the trip of attempt %s is missing", a.t.ID)
	}

	a.contacts = rows[0].Contacts

	for i := range rows {
		a.trip, a.openAttempt, a.openGateway = rows[i].Trip, rows[i].OpenID, rows[i].OpenGateway

		if rows[i].Event.ID != uuid.Nil {
			a.events = append(a.events, rows[i].Event)
		}
	}

	return nil
}
