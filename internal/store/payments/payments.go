package payments

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"rihla/internal/store/db"
	"rihla/models"
)

// Payable is what a new intent needs to know about its subject.
type Payable struct {
	OwnerID    uuid.UUID                  // the customer of a booking; zero for a campaign
	ProviderID uuid.UUID                  // the company behind it
	Open       *models.PaymentTransaction // the attempt that is still PENDING, if any
	Next       int                        // number of the next attempt: 1 + attempts that have ended
	Amount     models.Money               // that an attempt would ask for, VAT included
	Err        error                      // BOOKING_NOT_PAYABLE, CAMPAIGN_NOT_PAYABLE or PAYMENT_IN_SUSPENSE, when nothing can be paid
}

// PayableBooking reads what an intent for the booking meets. Error: NOT_FOUND.
func (s *Store) PayableBooking(ctx context.Context, id uuid.UUID, now time.Time) (Payable, error) {
	var b struct {
		models.Booking `bun:",extend"`

		Trip  models.Trip                `bun:"rel:belongs-to,join:trip_id=id"`
		Open  *models.PaymentTransaction `bun:"rel:has-one,join:id=booking_id"`
		Ended int                        `bun:"ended,scanonly"`
		Held  bool                       `bun:"held,scanonly"` // money of an attempt is in suspense
	}

	err := s.db.NewSelect().Model(&b).ColumnExpr("?", db.Columns[models.Booking](s.db, "bk")).
		ColumnExpr(`(SELECT count(*) FROM payment_transactions AS t
			WHERE t.booking_id = bk.id AND t.kind = 'PAYMENT' AND t.status <> 'PENDING') AS ended`).
		ColumnExpr("EXISTS (SELECT FROM payment_transactions AS t WHERE t.booking_id = bk.id AND "+inSuspense+") AS held").
		Relation("Trip", func(q *bun.SelectQuery) *bun.SelectQuery { return q.Column("status", "departure_at", "deleted_at") }).
		RelationWithOpts("Open", bun.RelationOpts{AdditionalJoinOnConditions: []schema.QueryWithArgs{
			{Query: "open.kind = 'PAYMENT' AND open.status = 'PENDING'"},
		}}).
		Where("bk.id = ?", id).Scan(db.Prepared(ctx))
	if err != nil {
		return Payable{}, db.NotFound(err)
	}

	p := Payable{
		OwnerID: b.UserID, ProviderID: b.ProviderID, Amount: b.Amount, Open: b.Open, Next: b.Ended + 1, Err: b.Payable(&b.Trip, now),
	}
	if b.Held && p.Err == nil {
		p.Err = errInSuspense()
	}

	return p, nil
}

// PayableCampaign reads what an intent for the campaign meets. Error: NOT_FOUND.
func (s *Store) PayableCampaign(ctx context.Context, id uuid.UUID, now time.Time) (Payable, error) {
	var c models.AdCampaign
	if err := s.db.NewSelect().Model(&c).Where("id = ?", id).Where("deleted_at IS NULL").Scan(ctx); err != nil {
		return Payable{}, db.NotFound(err)
	}

	t, err := tripByID(ctx, s.db, c.TripID)
	if err != nil {
		return Payable{}, err
	}

	p := Payable{ProviderID: c.ProviderID, Err: advertisable(&c, &t, now)}
	p.Amount, _ = models.AddVAT(c.Price, s.policies.VATAd)

	return p, s.loadAttempts(ctx, &p, "ad_campaign_id", id)
}

func (s *Store) loadAttempts(ctx context.Context, p *Payable, column string, id uuid.UUID) error {
	var attempts []models.PaymentTransaction

	err := s.db.NewSelect().Model(&attempts).
		Where("? = ?", bun.Ident(column), id).Where("kind = ?", models.KindPayment).Scan(ctx)
	if err != nil {
		return fmt.Errorf("read attempts: %w", err)
	}

	p.Next = 1

	for i := range attempts {
		if attempts[i].Status == models.TransactionPending {
			p.Open = &attempts[i]
		} else {
			p.Next++
		}

		if attempts[i].InSuspense() && p.Err == nil {
			p.Err = errInSuspense()
		}
	}

	return nil
}

// advertisable says whether the campaign can be paid at now, as AdCampaign.Payable does, and whether there is still a trip
// to advertise. Error: CAMPAIGN_NOT_PAYABLE.
func advertisable(c *models.AdCampaign, trip *models.Trip, now time.Time) error {
	if err := c.Payable(now); err != nil {
		return err
	}

	if trip.DeletedAt != nil {
		return models.NewError(models.CodeCampaignNotPayable, "campaign.trip_deleted")
	}

	if trip.Status.IsCalledOff() {
		return models.NewError(models.CodeCampaignNotPayable, "campaign.trip_called_off")
	}

	return nil
}

// tripByID reads what paying needs to know of a trip.
func tripByID(ctx context.Context, db bun.IDB, id uuid.UUID) (models.Trip, error) {
	var t models.Trip

	err := db.NewSelect().Model(&t).Column("id", "title", "status", "departure_at", "deleted_at").Where("id = ?", id).Scan(ctx)
	if err != nil {
		return t, fmt.Errorf("read trip: %w", err)
	}

	return t, nil
}

// CheckMethod refuses a method by which an amount cannot be paid. Errors: METHOD_NOT_AVAILABLE, VALIDATION_ERROR.
func (s *Store) CheckMethod(method models.PaymentMethod, amount models.Money) error {
	return s.policies.Methods.Check(method, amount)
}

// OpenedCheckout is what the gateway has made.
type OpenedCheckout struct {
	Reference string
	URL       string
	PageData  map[string]string // nil where the page is the company's
}

// SaveCheckout keeps the gateway's reference and the page on which the customer pays. Saving the same twice
// changes nothing; an attempt that has ended keeps its state and only learns its reference. So does one that has moved from the
// channel to another account: the customer never learns that checkout's address. Error: ErrReferenceTaken, with an incident, when it is the
// checkout of another attempt.
func (s *Store) SaveCheckout(ctx context.Context, id uuid.UUID, at models.Channel, made OpenedCheckout) error {
	q := s.db.NewUpdate().Model((*models.PaymentTransaction)(nil)).
		Set("reference = ?", made.Reference).Set("checkout_url = ?", made.URL).Set("opened_at = now()").Set("updated_at = now()")
	if made.PageData != nil {
		page, err := json.Marshal(made.PageData)
		if err != nil {
			return fmt.Errorf("save checkout: %w", err)
		}

		q = q.Set("page_data = ?", string(page))
	}

	_, err := q.Where("id = ?", id).Where("channel = ?", at).Where("reference IS NULL").Exec(db.Prepared(ctx))
	if db.Violates(err, "transactions_reference") {
		return s.checkoutTaken(ctx, id, made.Reference)
	}

	if err != nil {
		return fmt.Errorf("save checkout: %w", err)
	}

	return nil
}

// MoveToBackup gives an attempt of which nothing was sent to the first account of its gateway to the backup. It reports whether the
// attempt is there now. The caller has opened the attempt, and its first call did not leave or did not arrive: for an attempt
// whose checkout may have been made this would make a second one.
func (s *Store) MoveToBackup(ctx context.Context, t *models.PaymentTransaction) (bool, error) {
	backup := t.Gateway.BackupChannel()

	res, err := s.db.NewUpdate().Model((*models.PaymentTransaction)(nil)).Set("channel = ?", backup).Set("updated_at = now()").
		Where("id = ?", t.ID).Where("channel = ?", t.Channel).Where(db.Still, bun.Ident("status"), models.TransactionPending).
		Where("reference IS NULL").Where("sent_answer IS NULL").Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("move attempt to the backup account: %w", err)
	}

	n, err := res.RowsAffected()
	if err == nil && n == 1 {
		t.Channel = backup
	}

	return n == 1, err
}

// noteOpeningSQL starts the time anew with an answer that was lost, and with a conflict that follows something else: something
// is under way now. A refusal says nothing about what was sent before it, and another conflict nothing new.
const noteOpeningSQL = `
UPDATE payment_transactions SET sent_answer = ?0,
	unsettled_at = CASE WHEN ?0 = 'REFUSED' OR ?0 = 'CONFLICT' AND sent_answer = 'CONFLICT'
		THEN COALESCE(unsettled_at, clock_timestamp()) ELSE clock_timestamp() END
WHERE id = ?1 AND status IS NOT DISTINCT FROM 'PENDING' AND reference IS NULL
RETURNING clock_timestamp() - unsettled_at >= ?2 * interval '1 microsecond'`

// NoteOpeningAnswer keeps how an opening of the attempt was answered without success, while it or an earlier one may still have an
// effect. It reports whether settle has passed since that was last so. By the database's clock: a worker whose clock is wrong must
// not believe that a gateway has had its time.
func (s *Store) NoteOpeningAnswer(
	ctx context.Context, id uuid.UUID, answer models.SentAnswer, settle time.Duration,
) (settled bool, err error) {
	err = s.db.NewRaw(noteOpeningSQL, answer, id, settle.Microseconds()).Scan(ctx, &settled)
	if errors.Is(err, sql.ErrNoRows) { // it was opened or has ended meanwhile: there is nothing to decide
		return false, nil
	}

	if err != nil {
		return false, fmt.Errorf("save the answer to an opening: %w", err)
	}

	return settled, nil
}
