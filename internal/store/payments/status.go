package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// PaymentStatus is what a waiting customer polls for (rules: payments.status). What belongs to an attempt is zero while the
// booking has none.
type PaymentStatus struct {
	BookingID     uuid.UUID
	UserID        uuid.UUID // the owner of the booking
	BookingStatus models.BookingStatus
	PaymentStatus models.TransactionStatus
	TransactionID *uuid.UUID
	Method        models.PaymentMethod
	Channel       models.Channel
	Amount        models.Money // SAR, VAT included
	Currency      string
	CheckoutURL   *string
	ExpiresAt     *time.Time
	FailureCode   *models.FailureCode
	UpdatedAt     time.Time
	LastDecline   *Decline // of an open attempt
	Unheard       bool     // the gateway can be asked about the attempt, and has not been heard about it for UnheardFor
}

// UnheardFor is how long nothing has to be heard about an open attempt before its customer's waiting has the gateway asked, and how
// long until it is queried again: one query per attempt and 20 seconds, however many poll.
const UnheardFor = 20 * time.Second

// unheardSQL is that of an attempt pt, which was neither opened nor asked about since a moment, and waits for no question.
const unheardSQL = `pt.status = 'PENDING' AND pt.reference IS NOT NULL AND pt.check_at IS NULL
	AND COALESCE(pt.asked_at, pt.created_at) <= `

// The attempt that was paid tells more than one that came after it. A refund never changes the attempt's own
// status (rules: settling.refund-state), only how much of it has been given back.
var paymentStatusSQL = `
SELECT ` + db.AccountColumns("$4") + `, bk.id, bk.user_id, bk.status, bk.amount, bk.currency,
       CASE WHEN pt.status = 'PAID' AND pt.refunded_amount = pt.amount THEN 'REFUNDED'
            WHEN pt.status = 'PAID' AND pt.refunded_amount > 0 THEN 'PARTIAL_REFUND'
            ELSE COALESCE(pt.status, '') END,
       pt.id, COALESCE(pt.payment_method, ''), COALESCE(pt.channel, ''), pt.checkout_url, pt.expires_at, pt.failure_code,
       GREATEST(bk.updated_at, pt.updated_at), COALESCE(` + unheardSQL + `$3, false),
       d.occurred_at, COALESCE(d.result_code, ''), COALESCE(d.failure_reason, '')
FROM users AS u
LEFT JOIN bookings AS bk ON bk.id = $2
LEFT JOIN LATERAL (
    SELECT id, status, reference, check_at, asked_at, created_at, updated_at, refunded_amount, amount, payment_method, channel,
           checkout_url, expires_at, failure_code
    FROM payment_transactions WHERE booking_id = bk.id AND kind = 'PAYMENT'
    ORDER BY status = 'PAID' DESC, attempt DESC LIMIT 1
) AS pt ON true
LEFT JOIN LATERAL (` + lastDeclineSQL + `) AS d ON pt.status = 'PENDING'
WHERE u.id = $1 AND ` + db.AccountIsLive

// CallerStatus is what one statement reads for a customer who asks for a payment: the payment, and the customer's own account, which
// the API judges before it looks at the payment.
type CallerStatus struct {
	Account *db.AccountStatus // nil: the account does not exist any more, and nothing else was read
	Payment *PaymentStatus    // nil: there is no such booking
}

// PaymentStatusFor reads the state of a booking's payment for a caller, by a token of the session (uuid.Nil: of none): that of the
// paid attempt, else of the newest, else what the booking's own state says of it (BookingStatus.Unattempted); after a refund REFUNDED or
// PARTIAL_REFUND. It is the hottest read of the service, hence the prepared statement, and one for account and payment.
func (s *Store) PaymentStatusFor(ctx context.Context, caller, session, booking uuid.UUID, now time.Time) (CallerStatus, error) {
	var (
		account db.AccountStatus
		p       statusRow
	)

	err := s.db.Raw.QueryRowContext(ctx, paymentStatusSQL, pgx.QueryExecModeCacheStatement, caller, booking, now.Add(-UnheardFor),
		db.NullableID(session)).
		Scan(append(account.Fields(), p.fields()...)...)

	switch {
	case errors.Is(err, sql.ErrNoRows):
		return CallerStatus{}, nil
	case err != nil:
		return CallerStatus{}, fmt.Errorf("read payment status: %w", err)
	case p.booking == nil:
		return CallerStatus{Account: &account}, nil
	default:
		return CallerStatus{Account: &account, Payment: p.status()}, nil
	}
}

// statusRow is a row of paymentStatusSQL, in which everything of the booking is NULL when there is none.
type statusRow struct {
	booking, user *uuid.UUID
	bookingStatus *models.BookingStatus
	amount        *models.Money
	currency      *string
	updated       *time.Time
	declinedAt    *time.Time
	declined      Decline
	PaymentStatus
}

func (r *statusRow) fields() []any {
	return []any{
		&r.booking, &r.user, &r.bookingStatus, &r.amount, &r.currency, &r.PaymentStatus.PaymentStatus, &r.TransactionID, &r.Method, &r.Channel,
		&r.CheckoutURL, &r.ExpiresAt, &r.FailureCode, &r.updated, &r.Unheard,
		&r.declinedAt, &r.declined.ResultCode, &r.declined.Reason,
	}
}

func (r *statusRow) status() *PaymentStatus {
	p := &r.PaymentStatus
	p.BookingID, p.UserID, p.BookingStatus = *r.booking, *r.user, *r.bookingStatus
	p.Amount, p.Currency, p.UpdatedAt = *r.amount, *r.currency, *r.updated

	if r.declinedAt != nil {
		r.declined.At = *r.declinedAt
		p.LastDecline = &r.declined
	}

	if p.TransactionID == nil {
		p.PaymentStatus, p.FailureCode = p.BookingStatus.Unattempted()
	}

	return p
}

// waitedSQL finds, among bookings that are waited for, those that are decided by the rules of paymentStatusSQL, and the attempts of which
// nothing was heard.
const waitedSQL = `
SELECT id, decided, attempt FROM (
    SELECT bk.id, COALESCE(pt.status <> 'PENDING', bk.status <> 'PENDING_PAYMENT') AS decided,
           CASE WHEN ` + unheardSQL + `$2 THEN pt.id END AS attempt
    FROM unnest($1::uuid[]) AS waited (id) JOIN bookings AS bk ON bk.id = waited.id
    LEFT JOIN LATERAL (
        SELECT id, status, reference, check_at, asked_at, created_at
        FROM payment_transactions WHERE booking_id = bk.id AND kind = 'PAYMENT'
        ORDER BY status = 'PAID' DESC, attempt DESC LIMIT 1
    ) AS pt ON true
) AS looked WHERE decided OR attempt IS NOT NULL`

// LookAtWaited reads, for all customers of a process who wait, which of the bookings are decided, and which attempts are unheard of for
// UnheardFor.
func (s *Store) LookAtWaited(ctx context.Context, bookings []uuid.UUID, now time.Time) (decided, unheard []uuid.UUID, err error) {
	rows, err := s.db.Raw.QueryContext(ctx, waitedSQL, pgx.QueryExecModeCacheStatement, texts(bookings), now.Add(-UnheardFor))
	if err != nil {
		return nil, nil, fmt.Errorf("look at waiting payments: %w", err)
	}
	defer rows.Close()

	for rows.Next() {
		var (
			booking uuid.UUID
			over    bool
			attempt uuid.NullUUID
		)

		if err := rows.Scan(&booking, &over, &attempt); err != nil {
			return nil, nil, fmt.Errorf("look at waiting payments: %w", err)
		}

		if over {
			decided = append(decided, booking)
		}

		if attempt.Valid {
			unheard = append(unheard, attempt.UUID)
		}
	}

	return decided, unheard, rows.Err()
}

// WaitForAnswers notes that the customers of open attempts wait and nothing was heard about them for UnheardFor: the next poll of their
// channels asks. It returns the channels, each once, of those that this call has noted. Of concurrent callers one notes an attempt, and
// within UnheardFor none does again; an attempt with an event that is not settled yet is not asked about.
func (s *Store) WaitForAnswers(ctx context.Context, attempts []uuid.UUID, now time.Time) (channels []models.Channel, err error) {
	err = s.db.NewRaw(`WITH noted AS (
			UPDATE payment_transactions AS pt SET check_at = ? WHERE pt.id IN (
				SELECT pt.id FROM payment_transactions AS pt WHERE pt.id IN (?) AND `+unheardSQL+`?
				AND NOT EXISTS (SELECT FROM webhook_events AS we WHERE we.transaction_id = pt.id AND we.outcome = '')
				FOR NO KEY UPDATE SKIP LOCKED)
			RETURNING pt.channel)
		SELECT DISTINCT channel FROM noted`, now, bun.List(attempts), now.Add(-UnheardFor)).Scan(ctx, &channels)
	if err != nil {
		return nil, fmt.Errorf("note that customers wait: %w", err)
	}

	return channels, nil
}

// ClaimWaitedFor claims open attempts of the channel whose customers wait for an answer, those first that have waited for longest.
// Each is claimed once: one whose question gets lost is noted again after UnheardFor, if its customer still polls. Concurrent callers
// never get the same row.
func (s *Store) ClaimWaitedFor(
	ctx context.Context, c models.Channel, limit int, now time.Time,
) (rows []models.PaymentTransaction, err error) {
	err = s.db.NewRaw(`UPDATE payment_transactions SET asked_at = ?, check_at = NULL WHERE id IN (
			SELECT id FROM payment_transactions WHERE status = 'PENDING' AND check_at IS NOT NULL AND channel = ?
			ORDER BY check_at LIMIT ? FOR NO KEY UPDATE SKIP LOCKED)
		RETURNING ?`, now, c, limit, db.Columns[models.PaymentTransaction](s.db, "")).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("claim attempts with waiting customers: %w", err)
	}

	return rows, nil
}
