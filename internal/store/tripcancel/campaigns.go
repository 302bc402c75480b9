package tripcancel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/refunds"
	"rihla/models"
)

// Campaigns are those of a trip that have not ended.
func (s *Store) Campaigns(ctx context.Context, trip uuid.UUID) ([]uuid.UUID, error) {
	var ids []uuid.UUID

	err := s.db.NewSelect().Model((*models.AdCampaign)(nil)).Column("ac.id").Where("ac.trip_id = ?", trip).
		Where("ac.deleted_at IS NULL").Where("ac.status IN (?)", bun.List(models.LiveCampaigns())).Order("ac.id").Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("read campaigns of the trip: %w", err)
	}

	return ids, nil
}

// EndCampaign ends a campaign of a trip that is called off: it is CANCELLED, and the days that it has not run go back (rules:
// trips.cancel-campaigns). Doing it again reports the same.
func (s *Store) EndCampaign(ctx context.Context, id, campaign uuid.UUID, now time.Time) (models.CancelledForTrip, error) {
	var out models.CancelledForTrip

	c, err := byID(ctx, s.db, id)
	if err != nil {
		return out, err
	}

	var refund *models.Refund

	// An attempt that was opened, or paid, beside this has to be locked first in its turn.
	for range db.MaxTxTries {
		err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
			refund, out = nil, models.CancelledForTrip{Campaign: campaign}
			refund, err = s.endCampaign(ctx, tx, &c, campaign, now, &out)

			return err
		})
		if !errors.Is(err, errAttemptAppeared) {
			break
		}
	}

	if code := blocks(err); code != "" {
		out = models.CancelledForTrip{Campaign: campaign, Blocked: code}

		return out, nil
	}

	if err != nil || refund == nil || refund.Status != models.RefundPending {
		return out, err
	}

	return out, s.underWay(ctx, refund, &out)
}

func (s *Store) endCampaign(
	ctx context.Context, tx bun.Tx, c *models.TripCancellation, campaign uuid.UUID, now time.Time, out *models.CancelledForTrip,
) (*models.Refund, error) {
	ad, attempts, err := lockCampaign(ctx, tx, campaign)
	if err != nil {
		return nil, err
	}

	live := slices.Contains(models.LiveCampaigns(), ad.Status)
	if !live && ad.Status != models.CampaignCancelled {
		return nil, nil //nolint:nilnil // it has ended: nothing goes back
	}

	var refund *models.Refund

	for i := range attempts {
		t := &attempts[i]
		if t.Status == models.TransactionPending {
			out.Attempt, out.Gateway = t.ID, t.Gateway

			continue
		}

		if refund, err = s.refundUnrun(ctx, tx, c, &ad, t, now); err != nil {
			return nil, err
		}
	}

	if !live { // an earlier try has ended it
		return refund, nil
	}

	return refund, refunds.CancelCampaign(ctx, tx, &ad, db.Actor{}, map[string]any{"trip_cancellation_id": c.ID}, now)
}

// errAttemptAppeared rolls back the end of a campaign that an attempt was opened or paid beside.
var errAttemptAppeared = errors.New("an attempt was opened or paid meanwhile")

// lockCampaign locks a campaign after its attempts that are open or paid, as everywhere. Error: errAttemptAppeared.
func lockCampaign(
	ctx context.Context, tx bun.Tx, campaign uuid.UUID,
) (ad models.AdCampaign, attempts []models.PaymentTransaction, err error) {
	live := func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("ad_campaign_id = ?", campaign).Where("kind = ?", models.KindPayment).
			Where("status IN (?, ?)", models.TransactionPending, models.TransactionPaid)
	}

	if err = live(tx.NewSelect().Model(&attempts)).Order("id").For("NO KEY UPDATE").Scan(ctx); err != nil {
		return ad, nil, fmt.Errorf("lock attempts: %w", err)
	}

	if err = tx.NewSelect().Model(&ad).Where("ac.id = ?", campaign).For("NO KEY UPDATE").Scan(ctx); err != nil {
		return ad, nil, db.NotFound(err)
	}

	n, err := live(tx.NewSelect().Model((*models.PaymentTransaction)(nil))).Count(ctx)
	if err == nil && int(n) != len(attempts) {
		err = errAttemptAppeared
	}

	return ad, attempts, err
}

// unrunOf is what of the payment of a campaign goes back when the campaign ends at now: never more than is left of it.
func unrunOf(ad *models.AdCampaign, t *models.PaymentTransaction, now time.Time) models.Money {
	back := ad.Unrun(t.Amount, now)
	if left := t.Remaining(); back.Cmp(left) > 0 {
		back = left
	}

	return back
}

// unrunTotal is what goes back when all campaigns of a trip that have not ended end at now.
func unrunTotal(ctx context.Context, in bun.IDB, trip uuid.UUID, now time.Time) (total models.Money, err error) {
	var ads []models.AdCampaign

	err = in.NewSelect().Model(&ads).Where("ac.trip_id = ?", trip).Where("ac.deleted_at IS NULL").
		Where("ac.status IN (?)", bun.List(models.LiveCampaigns())).Scan(ctx)
	if err != nil {
		return total, fmt.Errorf("read campaigns of the trip: %w", err)
	}

	if len(ads) == 0 {
		return total, nil
	}

	by := make(map[uuid.UUID]*models.AdCampaign, len(ads))
	for i := range ads {
		by[ads[i].ID] = &ads[i]
	}

	var paid []models.PaymentTransaction

	err = in.NewSelect().Model(&paid).Where("pt.ad_campaign_id IN (?)", bun.List(slices.Collect(maps.Keys(by)))).
		Where("pt.kind = ?", models.KindPayment).Where("pt.status = ?", models.TransactionPaid).Scan(ctx)
	if err != nil {
		return total, fmt.Errorf("read payments of campaigns: %w", err)
	}

	for i := range paid {
		total = total.Add(unrunOf(by[*paid[i].AdCampaignID], &paid[i], now))
	}

	return total, nil
}

// refundUnrun orders what a paid campaign has not run, once; nil when that is nothing.
func (s *Store) refundUnrun(
	ctx context.Context, tx bun.Tx, c *models.TripCancellation, ad *models.AdCampaign, t *models.PaymentTransaction, now time.Time,
) (*models.Refund, error) {
	id := models.RefundID(t.ID, identity+c.ID.String())

	var known []models.Refund
	if err := tx.NewSelect().Model(&known).Where("rf.id = ?", id).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read refund: %w", err)
	}

	if len(known) > 0 {
		return &known[0], nil
	}

	if ad.Status == models.CampaignCancelled {
		return nil, nil //nolint:nilnil // nothing went back
	}

	back := unrunOf(ad, t, now)
	if !back.IsPositive() {
		return nil, nil //nolint:nilnil // nothing goes back
	}

	kind := models.RefundPartial
	if back.Equal(t.Amount) {
		kind = models.RefundFull
	}

	r, err := s.refunds.OrderIn(ctx, tx, models.RefundRequest{
		ID: id, TransactionID: t.ID, Type: kind, Amount: &back,
		Cause: models.RefundTripCancelled,
	}, now)

	return &r, err
}
