package bookings_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookings"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// boarded is a report of a device about a passenger of the trip.
func boarded(booking uuid.UUID, position int, device string, at time.Time) bookings.Report {
	return bookings.Report{Passenger: models.PassengerID(booking, position), At: at, Device: device}
}

// checkIn reports to the trip of the books and returns what became of each.
func (b *books) checkIn(t *testing.T, by db.Actor, now time.Time, reports ...bookings.Report) []bookings.Reported {
	t.Helper()

	done, err := b.Store.Bookings.CheckIn(t.Context(), by, b.Trip.ID, reports, now)
	require.NoError(t, err)

	return done
}

func statuses(done []bookings.Reported) []models.CheckInStatus {
	out := make([]models.CheckInStatus, len(done))
	for i := range done {
		out[i] = done[i].Status
	}

	return out
}

// cancelOne cancels a passenger of a paid booking without money, as staff may.
func (b *books) cancelOne(t *testing.T, booking uuid.UUID, position int) {
	t.Helper()

	r := models.RefundRequest{
		ID: models.NewID(), BookingID: booking, RequestedBy: &b.Finance.UserID, Role: b.Finance.Role, Bearer: models.BearProportionally,
	}
	_, err := b.Store.Refunds.Cancel(t.Context(), r, models.CancelOrder{
		ID: models.NewID(), Passengers: []uuid.UUID{models.PassengerID(booking, position)}, RefundBy: models.CancelUnpaid,
		Cause: models.RefundGoodwill,
	}, time.Now())
	require.NoError(t, err)
}

func TestCheckIn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	staff := bookstest.As(b.World, models.RoleProviderStaff)
	paid, unpaid := b.Paid(t, 3), b.Book(t, b.Trip, 1)
	id := *paid.BookingID
	b.cancelOne(t, id, 3)

	own := b.InsertTrip(t, 10, nil)
	foreign := storetest.Fixture(t, b.Store)
	now := time.Now().Add(6 * time.Hour)
	hoursAgo := now.Add(-5 * time.Hour).Truncate(time.Microsecond)

	ofTrip := func(trip uuid.UUID) bookings.Report {
		return bookings.Report{Passenger: uuid.New(), Trip: trip, At: now, Device: "a"}
	}

	reports := []bookings.Report{
		boarded(id, 1, "a", hoursAgo), boarded(id, 3, "a", now), boarded(unpaid.ID, 1, "a", now), boarded(id, 2, "a", now.Add(time.Minute)),
		ofTrip(own.ID), ofTrip(foreign.Trip.ID), ofTrip(uuid.New()), ofTrip(b.Trip.ID),
		{At: now, Device: "a"},
		boarded(id, 2, "b", now.Add(time.Hour)), boarded(id, 2, "b", now.AddDate(-1, 0, 0)), boarded(id, 1, "b", now),
	}
	done := b.checkIn(t, staff, now, reports...)
	require.Equal(t, []models.CheckInStatus{
		models.CheckInDone, models.CheckInCancelled, models.CheckInInvalid, models.CheckInDone, models.CheckInOtherTrip, models.CheckInInvalid,
		models.CheckInInvalid, models.CheckInInvalid, models.CheckInInvalid, models.CheckInInvalid, models.CheckInInvalid, models.CheckInAlready,
	}, statuses(done))
	require.True(t, hoursAgo.Equal(*done[0].At), "a telephone without a network reports later")
	require.True(t, now.Truncate(time.Microsecond).Equal(*done[3].At), "a clock that is ahead")
	require.True(t, hoursAgo.Equal(*done[11].At), "the first time")
	require.Nil(t, done[1].At)

	again := b.checkIn(t, staff, now.Add(time.Minute), reports...)
	require.Equal(t, statuses(done), statuses(again), "the same request gets the same answer")
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM check_ins"))

	list, err := b.Store.Bookings.CheckIns(t.Context(), staff, b.Trip.ID)
	require.NoError(t, err)
	require.Len(t, list, 2, "the cancelled one does not travel")
	require.True(t, hoursAgo.Equal(*list[0].CheckedInAt))
	require.NotNil(t, list[1].CheckedInAt)

	for name, c := range map[string]struct {
		by   db.Actor
		trip uuid.UUID
		code models.Code
	}{
		"another company": {bookstest.As(foreign, models.RoleProviderStaff), b.Trip.ID, models.CodeNotFound},
		"a customer":      {bookstest.As(b.World, models.RoleEndUser), b.Trip.ID, models.CodeForbidden},
		"no trip":         {staff, uuid.New(), models.CodeNotFound},
	} {
		_, err := b.Store.Bookings.CheckIn(t.Context(), c.by, c.trip, reports, now)
		require.Equal(t, c.code, models.CodeOf(err), name)

		_, err = b.Store.Bookings.CheckIns(t.Context(), c.by, c.trip)
		require.Equal(t, c.code, models.CodeOf(err), name)
	}
}

// TestOnePassengerOnTwoDevices: of devices that report the same passengers at once, in other orders, one gets each passenger.
func TestOnePassengerOnTwoDevices(t *testing.T) {
	t.Parallel()
	b := setup(t)
	staff := bookstest.As(b.World, models.RoleProviderStaff)
	now := time.Now().Add(time.Hour)

	const devices, passengers = 6, 4

	one, two := *b.Paid(t, passengers).BookingID, *b.Paid(t, passengers).BookingID

	var (
		answers [devices][]bookings.Reported
		errs    [devices]error
		all     sync.WaitGroup
	)

	for d := range devices {
		all.Go(func() {
			reports := make([]bookings.Report, 0, 2*passengers)

			for i := range passengers {
				position := i + 1
				if d%2 == 1 {
					position = passengers - i
				}

				reports = append(reports, boarded(one, position, string(rune('a'+d)), now), boarded(two, position, string(rune('a'+d)), now))
			}

			if d%2 == 1 {
				for i := range passengers {
					reports[2*i], reports[2*i+1] = reports[2*i+1], reports[2*i]
				}
			}

			answers[d], errs[d] = b.Store.Bookings.CheckIn(t.Context(), staff, b.Trip.ID, reports, now)
		})
	}

	all.Wait()

	counts := map[models.CheckInStatus]int{}

	for d := range devices {
		require.NoError(t, errs[d])

		for _, r := range answers[d] {
			counts[r.Status]++

			require.NotNil(t, r.At)
		}
	}

	require.Equal(t, map[models.CheckInStatus]int{
		models.CheckInDone: 2 * passengers, models.CheckInAlready: 2 * passengers * (devices - 1),
	}, counts)
	require.Equal(t, 2*passengers, b.Count(t, "SELECT count(*) FROM check_ins"))
}

// TestCheckInAgainstCancellation: either the passenger was cancelled first and has no check-in, or has one.
func TestCheckInAgainstCancellation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	staff := bookstest.As(b.World, models.RoleProviderStaff)

	for range 5 {
		id := *b.Paid(t, 2).BookingID

		var (
			done []bookings.Reported
			err  error
			both sync.WaitGroup
		)

		both.Go(func() { b.cancelOne(t, id, 1) })
		both.Go(func() {
			now := time.Now().Add(time.Minute)
			done, err = b.Store.Bookings.CheckIn(t.Context(), staff, b.Trip.ID, []bookings.Report{boarded(id, 1, "a", now)}, now)
		})
		both.Wait()
		require.NoError(t, err)

		want := 0
		if done[0].Status == models.CheckInDone {
			want = 1
		} else {
			require.Equal(t, models.CheckInCancelled, done[0].Status)
		}

		require.Equal(t, want, b.Count(t, "SELECT count(*) FROM check_ins WHERE booking_id = $1", id))
	}
}

// TestTheDatabaseGuardsCheckIns: rows that the service would not write are refused, and none changes.
func TestTheDatabaseGuardsCheckIns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	staff := bookstest.As(b.World, models.RoleProviderStaff)
	id, unpaid, other := *b.Paid(t, 2).BookingID, b.Book(t, b.Trip, 1).ID, b.InsertTrip(t, 10, nil)
	b.cancelOne(t, id, 2)

	now := time.Now().Add(time.Hour)
	b.checkIn(t, staff, now, boarded(id, 1, "a", now))

	const insert = `INSERT INTO check_ins (booking_id, position, trip_id, checked_in_at, device_id, checked_in_by, created_at)
		VALUES ($1, $2, $3, now(), 'a', $4, now())`

	for name, c := range map[string][]any{
		"not paid": {unpaid, 1, b.Trip.ID, staff.UserID}, "cancelled": {id, 2, b.Trip.ID, staff.UserID},
		"nobody": {id, 3, b.Trip.ID, staff.UserID}, "another trip": {id, 1, other.ID, staff.UserID},
		"no booking": {uuid.New(), 1, b.Trip.ID, staff.UserID}, "twice": {id, 1, b.Trip.ID, staff.UserID},
	} {
		_, err := b.DB.ExecContext(t.Context(), insert, c...)
		require.Error(t, err, name)
	}

	for _, change := range []string{"UPDATE check_ins SET device_id = 'b'", "DELETE FROM check_ins", "TRUNCATE check_ins"} {
		_, err := b.DB.ExecContext(t.Context(), change)
		require.ErrorContains(t, err, "never changes", change)
	}
}
