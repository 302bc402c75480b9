package bookings

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// Report is what a device says of one passenger.
type Report struct {
	// Passenger is who has boarded; uuid.Nil when the device has read no ticket of ours.
	Passenger uuid.UUID
	// Trip is the one that the ticket is for; uuid.Nil without a ticket.
	Trip   uuid.UUID
	At     time.Time
	Device string
}

// Reported is what became of a Report.
type Reported struct {
	Status models.CheckInStatus
	At     *time.Time // of the check-in that stands
}

// CheckIn writes down which passengers of a trip have boarded, in one SQL transaction, and answers each report in its order. A report that
// cannot be carried out changes nothing for the others (rules: tickets.check-in). Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) CheckIn(ctx context.Context, by db.Actor, trip uuid.UUID, reports []Report, now time.Time) ([]Reported, error) {
	if err := s.catalogue.MayWrite(ctx, by); err != nil {
		return nil, err
	}

	t, err := s.catalogue.GetProviderTrip(ctx, by, trip)
	if err != nil {
		return nil, err
	}

	out := make([]Reported, len(reports))

	if err := s.judgeTrips(ctx, by, t.ID, reports, out); err != nil {
		return nil, err
	}

	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c := boarding{tx: tx, trip: t.ID, by: by.UserID, now: now.Truncate(time.Microsecond)}

		return c.carryOut(ctx, reports, out)
	})

	return out, err
}

// judgeTrips answers the reports of tickets for other trips: one of a company whose trips the actor does not see is none of its business.
func (s *Store) judgeTrips(ctx context.Context, by db.Actor, trip uuid.UUID, reports []Report, out []Reported) error {
	known := map[uuid.UUID]models.CheckInStatus{uuid.Nil: "", trip: ""}

	for i, r := range reports {
		status, ok := known[r.Trip]
		if !ok {
			_, err := s.catalogue.GetProviderTrip(ctx, by, r.Trip)

			switch {
			case err == nil:
				status = models.CheckInOtherTrip
			case models.CodeOf(err) == models.CodeNotFound:
				status = models.CheckInInvalid
			default:
				return err
			}

			known[r.Trip] = status
		}

		if out[i].Status = status; status == "" && r.Passenger == uuid.Nil {
			out[i].Status = models.CheckInInvalid
		}
	}

	return nil
}

// boarding is the work on one request.
type boarding struct {
	tx   bun.Tx
	trip uuid.UUID
	by   uuid.UUID
	now  time.Time
}

// seat is where a passenger is.
type seat struct {
	booking  *models.Booking
	position int
}

// carryOut answers the reports that are not judged yet. It may run more than once.
func (c *boarding) carryOut(ctx context.Context, reports []Report, judged []Reported) error {
	out := slices.Clone(judged)

	seats, err := c.lock(ctx, reports, out)
	if err != nil {
		return err
	}

	var rows []models.CheckIn

	for i, r := range reports {
		if out[i].Status != "" {
			continue
		}

		at, ok := seats[r.Passenger]
		if !ok {
			out[i].Status = models.CheckInInvalid

			continue
		}

		moment, possible := models.CheckInTime(r.At, at.booking.CreatedAt, c.now)

		switch {
		case !possible:
			out[i].Status = models.CheckInInvalid
		case at.booking.PassengerAt(at.position) == models.PassengerCancelled:
			out[i].Status = models.CheckInCancelled
		default:
			rows = append(rows, models.CheckIn{
				BookingID: at.booking.ID, Position: at.position, TripID: c.trip, CheckedInAt: moment, DeviceID: r.Device, CheckedInBy: c.by,
				CreatedAt: c.now,
			})
		}
	}

	if err := c.insert(ctx, rows); err != nil {
		return err
	}

	checked, err := checkInsOf(ctx, c.tx, c.trip)
	if err != nil {
		return err
	}

	for i, r := range reports {
		if out[i].Status != "" {
			continue
		}

		first := checked[r.Passenger]
		out[i] = Reported{Status: models.CheckInAlready, At: &first.CheckedInAt}

		if first.IsOf(r.Device, r.At) {
			out[i].Status = models.CheckInDone
		}
	}

	copy(judged, out)

	return nil
}

// lock finds the passengers of the reports among the trip's bookings, and keeps those bookings from being cancelled until the transaction
// ends.
func (c *boarding) lock(ctx context.Context, reports []Report, out []Reported) (map[uuid.UUID]seat, error) {
	var all []models.Booking

	err := c.tx.NewSelect().Model(&all).Where("bk.trip_id = ?", c.trip).
		Where("bk.status IN (?)", bun.List([]models.BookingStatus{models.BookingConfirmed, models.BookingCancelled})).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read bookings of trip: %w", err)
	}

	of := map[uuid.UUID]uuid.UUID{}

	for i := range all {
		for position := range all[i].Passengers {
			of[models.PassengerID(all[i].ID, position+1)] = all[i].ID
		}
	}

	var ids []uuid.UUID

	for i, r := range reports {
		if booking, ok := of[r.Passenger]; ok && out[i].Status == "" {
			ids = append(ids, booking)
		}
	}

	seats := map[uuid.UUID]seat{}
	if len(ids) == 0 {
		return seats, nil
	}

	var locked []models.Booking

	err = c.tx.NewSelect().Model(&locked).Where("bk.id IN (?)", bun.List(ids)).Order("bk.id").For("SHARE").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock bookings of passengers: %w", err)
	}

	if err := WithCancelled(ctx, c.tx, locked); err != nil {
		return nil, err
	}

	for i := range locked {
		for position := range locked[i].Passengers {
			seats[models.PassengerID(locked[i].ID, position+1)] = seat{&locked[i], position + 1}
		}
	}

	return seats, nil
}

// insert writes check-ins in the order of their keys, so that devices that report the same passengers wait for each other and never
// form a circle. Of two for one passenger the first stays.
func (c *boarding) insert(ctx context.Context, rows []models.CheckIn) error {
	if len(rows) == 0 {
		return nil
	}

	slices.SortStableFunc(rows, func(a, b models.CheckIn) int {
		return cmp.Or(slices.Compare(a.BookingID[:], b.BookingID[:]), cmp.Compare(a.Position, b.Position))
	})

	if _, err := c.tx.NewInsert().Model(&rows).On("CONFLICT (booking_id, position) DO NOTHING").Exec(ctx); err != nil {
		return fmt.Errorf("insert check-ins: %w", err)
	}

	return nil
}
