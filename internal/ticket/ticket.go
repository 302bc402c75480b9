package ticket

import (
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// Ticket is what the ticket of a booking shows.
type Ticket struct {
	Number              string // of the booking
	Trip                uuid.UUID
	Title               string
	Origin, Destination string
	Departure, Return   time.Time
	Company, Phone      string // who runs the trip
	Seats               int
	Passengers          []Passenger
}

// Passenger is one who travels, with the token of his code.
type Passenger struct {
	ID    uuid.UUID
	Name  string
	Token string
}

// Of makes the ticket of a booking that has one (models.Booking.Ticketable), of the passengers that are not cancelled. phone is the
// company's.
func (k *Keys) Of(b *models.Booking, t *models.Trip, phone string) (Ticket, error) {
	out := Ticket{
		Number: b.Number, Trip: t.ID, Title: t.Title, Origin: t.Origin, Destination: t.Destination, Departure: t.DepartureAt,
		Return: t.ReturnAt, Company: t.ProviderName, Phone: phone, Seats: b.Seats,
	}

	for _, position := range b.LivePositions() {
		p := Passenger{ID: models.PassengerID(b.ID, position), Name: b.Passengers[position-1].Name}

		var err error

		p.Token, err = k.Sign(Claims{
			BookingNumber: b.Number, Passenger: p.ID, Position: position, Name: p.Name, Trip: t.ID, Seats: b.Seats,
			Expires: t.ReturnAt.Add(keptFor),
		})
		if err != nil {
			return Ticket{}, err
		}

		out.Passengers = append(out.Passengers, p)
	}

	return out, nil
}
