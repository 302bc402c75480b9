package store

import (
	"time"

	"rihla/models"
)

// mayMove says whether the departure of a published trip, whose row is locked, can be changed as it is meant to be. Errors:
// INVALID_STATE for a trip that has left with customers, VALIDATION_ERROR on departure_at.
func mayMove(was, is *models.Trip, now time.Time) error {
	// Who has travelled would get a right to all of the money back.
	if was.SeatsTaken > 0 && !was.DepartureAt.After(now) {
		return models.Errorf(models.CodeInvalidState,
			"The trip left at %s with %d seats taken: its departure cannot be changed any more.", moment(was.DepartureAt), was.SeatsTaken)
	}

	// What departs in the past is out of sight: for a trip that has been sold that is no way to end it.
	if !is.DepartureAt.After(now) {
		return models.Invalid("departure_at", "must be in the future for a published trip")
	}

	return nil
}
