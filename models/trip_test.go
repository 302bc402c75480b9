package models_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestTripCheck(t *testing.T) {
	t.Parallel()

	hotel := uuid.New()
	leaves := march(10, 6, 0)

	tests := map[string]struct {
		edit  func(*models.Trip)
		field string // none: nothing is wrong
	}{
		"as it should be":         {func(*models.Trip) {}, ""},
		"umrah without a hotel":   {func(x *models.Trip) { x.Type, x.HotelID = models.TripUmrah, nil }, ""},
		"tourism without a hotel": {func(x *models.Trip) { x.HotelID = nil }, "hotel_id"},
		"back when it leaves":     {func(x *models.Trip) { x.ReturnAt = leaves }, "return_at"},
		"for nothing":             {func(x *models.Trip) { x.PricePerSeat = models.Money{} }, "price_per_seat"},
		"as many as the bus has":  {func(x *models.Trip) { x.Capacity = 40 }, ""},
		"more than the bus has":   {func(x *models.Trip) { x.Capacity = 41 }, "capacity"},
		"as many as are taken":    {func(x *models.Trip) { x.Capacity, x.SeatsTaken = 7, 7 }, ""},
		"fewer than are taken":    {func(x *models.Trip) { x.Capacity, x.SeatsTaken = 6, 7 }, "capacity"},
		"no seats":                {func(x *models.Trip) { x.Capacity = 0 }, "capacity"},
	}
	for name, tt := range tests {
		trip := models.Trip{
			Type: models.TripTourism, HotelID: &hotel, DepartureAt: leaves, ReturnAt: leaves.Add(time.Hour),
			PricePerSeat: models.MustMoney("0.01"), Capacity: 10,
		}
		tt.edit(&trip)

		err := trip.Check(40)
		if tt.field == "" {
			require.NoError(t, err, name)
		} else {
			requireField(t, tt.field, err)
		}
	}

	var all *models.Error

	require.ErrorAs(t, new(models.Trip).Check(40), &all)
	require.Len(t, all.Details, 4, "everything that is wrong is said at once")
}
