package models

import "fmt"

// Check says whether the trip's own fields agree with each other and with the capacity of its bus (rules: companies.trips).
// Error: VALIDATION_ERROR that names every field which does not.
func (t *Trip) Check(busCapacity int) error {
	wrong := map[string][]string{}

	if t.HotelID == nil && t.Type != TripUmrah {
		wrong["hotel_id"] = []string{"is required unless type is UMRAH"}
	}

	if !t.ReturnAt.After(t.DepartureAt) {
		wrong["return_at"] = []string{"must be after departure_at"}
	}

	if !t.PricePerSeat.IsPositive() {
		wrong["price_per_seat"] = []string{"must be more than 0"}
	}

	switch {
	case t.Capacity > busCapacity:
		wrong["capacity"] = []string{fmt.Sprintf("must not exceed the %d seats of the bus", busCapacity)}
	case t.Capacity < t.SeatsTaken:
		wrong["capacity"] = []string{fmt.Sprintf("must not be below the %d seats that are taken", t.SeatsTaken)}
	case t.Capacity < 1:
		wrong["capacity"] = []string{"must be at least 1"}
	}

	if len(wrong) == 0 {
		return nil
	}

	return &Error{Code: CodeValidation, Message: "The trip has invalid fields.", Details: wrong}
}
