//go:build !production

package cmd

import (
	"context"
	"time"

	"rihla/models"
)

// soldSeats is a booking with its passengers.
type soldSeats struct {
	Passengers []struct {
		ID string `json:"id"`
	} `json:"passengers"`
}

// askToCancel leaves a customer's request to cancel one of three that waits, one that was approved and one that was rejected.
func (s *states) askToCancel(ctx context.Context) error {
	for _, decision := range []string{"approve", "reject", ""} {
		b, err := s.paid(ctx, models.MethodCreditCard, 3)
		if err != nil {
			return err
		}

		var sold soldSeats
		if err := s.customer.get(ctx, "/api/v1/bookings/"+b.ID, &envelope{&sold}); err != nil {
			return err
		}

		var request struct {
			ID string `json:"id"`
		}

		err = s.customer.post(ctx, "/api/v1/bookings/"+b.ID+"/cancellation-requests", map[string]any{
			"passenger_ids": []string{sold.Passengers[1].ID}, "reason": "One of us is ill",
		}, &envelope{&request})
		if err != nil {
			return err
		}

		if decision == "" {
			return s.finance.post(ctx, "/api/v1/admin/bookings/"+b.ID+"/notes",
				map[string]any{"note": "Called: the other two travel in any case."}, &struct{}{})
		}

		err = s.finance.post(ctx, "/api/v1/admin/cancellation-requests/"+request.ID+"/"+decision,
			map[string]any{"note": "As we have said on the telephone."}, &struct{}{})
		if err != nil {
			return err
		}
	}

	return nil
}

// boarding is a trip that leaves in some hours: one of its passengers has boarded, and one was cancelled.
func (s *states) boarding(ctx context.Context) error {
	trip, err := s.newTrip(ctx, "A trip that boards", time.Now().Add(5*time.Hour).Truncate(time.Hour)) //nolint:mnd // it can still be booked
	if err != nil {
		return err
	}

	was := s.trip
	s.trip = trip

	defer func() { s.trip = was }()

	for i := range 4 {
		b, err := s.paid(ctx, models.MethodCreditCard, 1+i%3)
		if err != nil {
			return err
		}

		var sold soldSeats
		if err := s.customer.get(ctx, "/api/v1/bookings/"+b.ID, &envelope{&sold}); err != nil {
			return err
		}

		switch i {
		case 0:
			err = s.company.post(ctx, "/api/v1/provider/trips/"+trip+"/check-ins", []map[string]any{{
				"passenger_id": sold.Passengers[0].ID, "at": time.Now().UTC(), "device_id": "demo",
			}}, &struct{}{})
		case 1:
			err = s.finance.post(ctx, "/api/v1/admin/bookings/"+b.ID+"/cancel", map[string]any{
				"passenger_ids": []string{sold.Passengers[1].ID}, "refund": models.CancelByPolicy, "cause": models.RefundCustomerCancelled,
			}, &struct{}{})
		}

		if err != nil {
			return err
		}
	}

	return nil
}
