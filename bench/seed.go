package main

import (
	"context"
	"fmt"
	"time"

	"rihla/internal/store/bookings"
	"rihla/internal/store/seed"
	"rihla/models"
)

// seatsPerTrip is the most that a trip may have.
const seatsPerTrip = 100

// seed makes a provider, a customer and enough trips for bookings of one seat each.
func (b *bench) seed(ctx context.Context, bookings int) error {
	p := models.Provider{
		ID: models.NewID(), Name: "Bench Tours", Email: "bench@rihla.test", Phone: "+966500000000",
		CommissionRate: models.MustRate("0.10"), Status: models.StatusActive,
	}
	u := models.User{
		ID: models.NewID(), Name: "Bench Customer", Email: "bench-customer@rihla.test", PasswordHash: "none",
		Role: models.RoleEndUser, Locale: models.LocaleEnglish,
	}
	bus := models.Bus{
		ID: models.NewID(), ProviderID: p.ID, PlateNumber: "BENCH 1", Model: "Coach", Capacity: seatsPerTrip,
		DriverName: "Driver", Features: []string{}, Status: models.StatusActive,
	}
	d := seed.DemoData{Providers: []models.Provider{p}, Users: []models.User{u}, Buses: []models.Bus{bus}}
	leaves := time.Now().Add(30 * 24 * time.Hour)

	for i := range bookings/seatsPerTrip + 1 {
		t := models.Trip{
			ID: models.NewID(), ProviderID: p.ID, Type: models.TripUmrah, Title: fmt.Sprintf("Bench trip %d", i),
			Origin: "Riyadh", Destination: "Makkah", DepartureAt: leaves, ReturnAt: leaves.Add(48 * time.Hour),
			BusID: bus.ID, PricePerSeat: models.MustMoney("115.00"), Capacity: seatsPerTrip, Status: models.TripPublished,
		}
		d.Trips = append(d.Trips, t)
		b.trips = append(b.trips, t.ID)
	}

	b.user = u.ID

	return seed.Of(b.store).InsertDemo(ctx, d)
}

// book takes the next seat. Neighbouring bookings are on different trips, as they are in life.
func (b *bench) book(ctx context.Context) (models.Attempt, error) {
	b.mu.Lock()
	trip := b.trips[b.booked%len(b.trips)]
	b.booked++
	b.mu.Unlock()

	booking, err := b.store.Bookings.CreateBooking(ctx, bookings.NewBooking{
		UserID: b.user, TripID: trip, Passengers: []models.Passenger{{Name: "Passenger"}},
		ContactName: "Customer", ContactEmail: "customer@rihla.test", ContactPhone: "+966500000001",
		Locale: models.LocaleEnglish, Method: models.MethodCreditCard,
	}, time.Now())
	if err != nil {
		return models.Attempt{}, err
	}

	return models.Attempt{
		BookingID: booking.ID, ProviderID: booking.ProviderID, Number: 1, UserID: b.user, Method: models.MethodCreditCard,
	}, nil
}
