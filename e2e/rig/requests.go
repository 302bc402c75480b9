package rig

import (
	"strconv"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/gateways/standardwebhook"
	"rihla/internal/config"
	"rihla/models"
)

// BookingRequest is a body for POST /bookings: seats of a trip for passengers without names of their own.
func BookingRequest(trip uuid.UUID, seats int, method models.PaymentMethod, email string) gen.BookingRequest {
	passengers := make([]gen.PassengerInput, seats)
	for i := range passengers {
		passengers[i].Name = "Passenger"
	}

	return gen.BookingRequest{
		TripID: trip, Passengers: passengers, PaymentMethod: method,
		Contact: gen.ContactInput{Name: "Customer", Email: email, Phone: "+966500000001"},
	}
}

// tripDays is how long a trip takes.
const tripDays = 3

// TripRequest is a body for POST /provider/trips: a trip to Makkah.
func TripRequest(title string, bus uuid.UUID, leaves time.Time, price models.Money, capacity int) gen.TripInput {
	return gen.TripInput{
		Type: gen.TripType(models.TripUmrah), Title: title, Origin: "Riyadh", Destination: "Makkah",
		DepartureAt: leaves, ReturnAt: Returns(leaves), BusID: bus, PricePerSeat: price, Capacity: capacity,
	}
}

// Returns is when a trip comes back.
func Returns(leaves time.Time) time.Time { return leaves.AddDate(0, 0, tripDays) }

// SignWebhook is the headers of a webhook with the body, signed at a time with the channel's secret.
func SignWebhook(channel models.Channel, id string, at time.Time, body []byte) (map[string]string, error) {
	secrets, err := standardwebhook.ParseSecrets(config.DevWebhookSecret(channel).Reveal())
	if err != nil {
		return nil, err
	}

	signature, err := standardwebhook.Sign(secrets, id, at, body)
	if err != nil {
		return nil, err
	}

	return map[string]string{
		standardwebhook.HeaderID: id, standardwebhook.HeaderSignature: signature,
		standardwebhook.HeaderTimestamp: strconv.FormatInt(at.Unix(), 10),
	}, nil
}
