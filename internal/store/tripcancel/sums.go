package tripcancel

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// Preview says what calling a trip off that the actor sees would come to at now. Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) Preview(ctx context.Context, by db.Actor, trip uuid.UUID, now time.Time) (models.TripCancellationSums, error) {
	t, err := s.catalogue.GetProviderTrip(ctx, by, trip)
	if err != nil {
		return models.TripCancellationSums{}, err
	}

	sums, err := sumsOf(ctx, s.db, trip, now)
	if err != nil {
		return sums, err
	}

	if sums.CampaignRefundTotal, err = unrunTotal(ctx, s.db, trip, now); err != nil {
		return sums, err
	}

	earlier, err := before(ctx, s.db, by.UserID, t.ProviderID, now)
	sums.NeedsApproval = s.policies.TripNeedsApproval(earlier.alone, sums.RefundTotal)

	return sums, err
}

// booked is a paid booking of a trip.
type booked struct {
	ID     uuid.UUID
	Booked int // passengers, cancelled ones included
	Seats  int // that are left
}

// sumsOf adds up what each paid booking of the trip would get back: by the same rule as its cancellation in full.
func sumsOf(ctx context.Context, in bun.IDB, trip uuid.UUID, now time.Time) (models.TripCancellationSums, error) {
	var sums models.TripCancellationSums

	all, paid, err := soldOf(ctx, in, trip)
	if err != nil {
		return sums, err
	}

	earlier, err := partsOf(ctx, in, trip)
	if err != nil {
		return sums, err
	}

	paidOut, err := transferredOf(ctx, in, trip)
	if err != nil {
		return sums, err
	}

	for _, b := range all {
		t := paid[b.ID]
		if t == nil {
			continue
		}

		back := t.CancelPart(earlier[b.ID], b.Booked, b.Seats, models.WholePercent).Refund
		sums.Bookings++
		sums.Seats += b.Seats
		sums.RefundTotal = sums.RefundTotal.Add(back)

		if line, ok := paidOut[t.ID]; ok && back.IsPositive() {
			split := models.SplitForRefund(line, uuid.Nil, back, models.GatewayAccount(t.Gateway), now)
			if split.Clawback != nil {
				sums.ClawbackTotal = sums.ClawbackTotal.Add(split.Clawback.NetAmount.Abs())
			}
		}
	}

	return sums, addCounts(ctx, in, trip, &sums)
}

// soldOf are the paid bookings of a trip, and the payments that have bought them.
func soldOf(ctx context.Context, in bun.IDB, trip uuid.UUID) ([]booked, map[uuid.UUID]*models.PaymentTransaction, error) {
	var (
		all      []booked
		payments []models.PaymentTransaction
	)

	err := in.NewSelect().Model((*models.Booking)(nil)).ColumnExpr("bk.id, jsonb_array_length(bk.passengers) AS booked, bk.seats").
		Where("bk.trip_id = ?", trip).Where("bk.status = ?", models.BookingConfirmed).Scan(ctx, &all)
	if err != nil {
		return nil, nil, fmt.Errorf("read paid bookings: %w", err)
	}

	err = in.NewSelect().Model(&payments).Join("JOIN bookings AS bk ON bk.id = pt.booking_id").Where("bk.trip_id = ?", trip).
		Where("bk.status = ?", models.BookingConfirmed).Where("pt.kind = ?", models.KindPayment).
		Where("pt.status = ?", models.TransactionPaid).Scan(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read payments: %w", err)
	}

	by := make(map[uuid.UUID]*models.PaymentTransaction, len(payments))
	for i := range payments {
		by[*payments[i].BookingID] = &payments[i]
	}

	return all, by, nil
}

// partsOf are what cancellations have taken out of the paid bookings of a trip, first to last.
func partsOf(ctx context.Context, in bun.IDB, trip uuid.UUID) (map[uuid.UUID][]models.CancelledPart, error) {
	var rows []models.Cancellation

	err := in.NewSelect().Model(&rows).Join("JOIN bookings AS bk ON bk.id = cn.booking_id").Where("bk.trip_id = ?", trip).
		Where("bk.status = ?", models.BookingConfirmed).Where("cn.status = ?", models.CancellationDone).
		Order("cn.booking_id", "cn.n").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read cancellations: %w", err)
	}

	parts := make(map[uuid.UUID][]models.CancelledPart, len(rows))
	for i := range rows {
		parts[rows[i].BookingID] = append(parts[rows[i].BookingID], rows[i].Part())
	}

	return parts, nil
}

// transferredOf are the entries of sales of a trip whose company share was paid out already, by payment.
func transferredOf(ctx context.Context, in bun.IDB, trip uuid.UUID) (map[uuid.UUID]models.FinancialRecord, error) {
	var rows []models.FinancialRecord

	err := in.NewSelect().Model(&rows).Join("JOIN bookings AS bk ON bk.id = fr.booking_id").Where("bk.trip_id = ?", trip).
		Where("fr.kind = ?", models.RecordSale).Where("fr.balance_status = ?", models.BalanceTransferred).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what was paid out: %w", err)
	}

	lines := make(map[uuid.UUID]models.FinancialRecord, len(rows))
	for i := range rows {
		lines[rows[i].PaymentTransactionID] = rows[i]
	}

	return lines, nil
}

func addCounts(ctx context.Context, in bun.IDB, trip uuid.UUID, sums *models.TripCancellationSums) error {
	err := in.NewRaw(`SELECT (SELECT count(*) FROM bookings WHERE trip_id = ?0 AND status = ?1),
			(SELECT count(*) FROM ad_campaigns WHERE trip_id = ?0 AND deleted_at IS NULL AND status IN (?2))`,
		trip, models.BookingPendingPayment, bun.List(models.LiveCampaigns())).Scan(ctx, &sums.OpenCheckouts, &sums.Campaigns)
	if err != nil {
		return fmt.Errorf("count checkouts and campaigns: %w", err)
	}

	return nil
}
