//go:build !production

package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rihla/models"
)

// calledOff is how far the cancellation of a trip is.
type calledOff struct {
	Status    string       `json:"status"`
	Bookings  int          `json:"bookings"`
	Cancelled int          `json:"cancelled"`
	Succeeded int          `json:"refunds_succeeded"`
	Pending   int          `json:"refunds_pending"`
	ByHand    int          `json:"refunds_by_hand"`
	Refunded  models.Money `json:"refunded_total"`
}

// callTripOff has the company call off a trip of its own, with paid and unpaid bookings, of which the gateway refuses one refund.
func (s *states) callTripOff(ctx context.Context) error {
	s.began = time.Now()

	trip, err := s.newTrip(ctx)
	if err != nil {
		return err
	}

	was := s.trip
	s.trip = trip

	defer func() { s.trip = was }()

	for i := range 5 {
		if _, err := s.paid(ctx, models.MethodCreditCard, 1+i%2); err != nil {
			return err
		}
	}

	if _, err := s.buy(ctx, models.MethodCreditCard, 1); err != nil {
		return err
	}

	if err := s.fault(ctx, "refund", "reject"); err != nil {
		return err
	}

	path := "/api/v1/provider/trips/" + trip

	var preview struct {
		Total models.Money `json:"refund_total"`
	}
	if err := s.company.get(ctx, path+"/cancel-preview", &envelope{&preview}); err != nil {
		return err
	}

	order := map[string]any{"reason": "The bus broke down", "expected_refund_total": preview.Total}
	if err := s.company.post(ctx, path+"/cancel", order, &struct{}{}); err != nil {
		return err
	}

	done, err := s.awaitCalledOff(ctx, path+"/cancellation")
	if err != nil {
		return err
	}

	s.say(fmt.Sprintf("A company calls a trip off: %d of %d bookings are cancelled and %s of %s SAR are back", done.Cancelled, done.Bookings,
		done.Refunded, preview.Total),
		fmt.Sprintf("refunds   %d succeeded, %d refused by the gateway, which finance pays out manually", done.Succeeded, done.ByHand),
		"workflow  "+s.workflow("trip-cancellation/"+trip))

	return nil
}

// newTrip publishes a trip by the bus and with the hotel of the one that others are booked on.
func (s *states) newTrip(ctx context.Context) (string, error) {
	var like struct {
		BusID   string  `json:"bus_id"`
		HotelID *string `json:"hotel_id"`
		Type    string  `json:"type"`
	}
	if err := s.company.get(ctx, "/api/v1/provider/trips/"+s.trip, &envelope{&like}); err != nil {
		return "", err
	}

	var trip struct {
		ID string `json:"id"`
	}

	leaves := time.Now().AddDate(0, 0, 20).Truncate(time.Hour)

	err := s.company.post(ctx, "/api/v1/provider/trips", map[string]any{
		"type": like.Type, "title": "A weekend that is called off", "origin": "Riyadh", "destination": "AlUla", "bus_id": like.BusID,
		"hotel_id": like.HotelID, "departure_at": leaves, "return_at": leaves.AddDate(0, 0, 2), "price_per_seat": models.MustMoney("149.95"),
		"capacity": 20,
	}, &envelope{&trip})
	if err != nil {
		return "", err
	}

	return trip.ID, s.company.post(ctx, "/api/v1/trips/"+trip.ID+"/publish", nil, &struct{}{})
}

// awaitCalledOff waits until the trip is CANCELLED and no gateway has a refund of it to decide.
func (s *states) awaitCalledOff(ctx context.Context, path string) (done calledOff, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()

	for {
		if err := s.company.get(ctx, path, &envelope{&done}); err != nil {
			return done, err
		}

		if done.Status == string(models.TripCancellationDone) && done.Pending == 0 {
			return done, nil
		}

		select {
		case <-ctx.Done():
			return done, errors.New("the trip is not called off within a minute")
		case <-time.After(100 * time.Millisecond):
		}
	}
}
