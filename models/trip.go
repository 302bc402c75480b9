package models

// Check says whether the trip's own fields agree with each other and with the capacity of its bus (rules: companies.trips).
// Error: VALIDATION_ERROR that names every field which does not.
func (t *Trip) Check(busCapacity int) error {
	wrong := map[string][]Text{}

	if t.HotelID == nil && t.Type != TripUmrah {
		wrong["hotel_id"] = []Text{TextOf("trip.hotel_required")}
	}

	if !t.ReturnAt.After(t.DepartureAt) {
		wrong["return_at"] = []Text{TextOf("trip.returns_before_departure")}
	}

	if !t.PricePerSeat.IsPositive() {
		wrong["price_per_seat"] = []Text{TextOf("field.positive")}
	}

	switch {
	case t.Capacity > busCapacity:
		wrong["capacity"] = []Text{TextOf("trip.more_than_bus", "n", busCapacity)}
	case t.Capacity < t.SeatsTaken:
		wrong["capacity"] = []Text{TextOf("trip.less_than_taken", "n", t.SeatsTaken)}
	case t.Capacity < 1:
		wrong["capacity"] = []Text{TextOf("field.min", "min", 1)}
	}

	if len(wrong) == 0 {
		return nil
	}

	return InvalidFields("trip.invalid_fields", wrong)
}
