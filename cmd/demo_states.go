//go:build !production

package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// states leaves what else can become of a booking, a refund and a campaign, for those who look around after the story.
type states struct {
	*story

	company caller // the demo company's admin
	trip    string
	last    int // of the customers
}

// sale is a booking of the states.
type sale struct {
	ID      string  `json:"id"`
	Payment payment `json:"payment"`
}

// leaveStates brings about every other state once, by the same means as customers, companies and finance staff would.
func (s *story) leaveStates(ctx context.Context) error {
	all := &states{story: s, company: newCaller(s.env.cfg.App.PublicURL)}
	if err := all.company.signIn(ctx, "provider_admin@rihla.test", devPassword); err != nil {
		return err
	}

	trip, err := all.firstTrip(ctx)
	if err != nil {
		return err
	}

	all.trip = trip

	if err := all.callTripOff(ctx); err != nil {
		if _, enough := hasEnough(err); !enough {
			return fmt.Errorf("a trip that is called off: %w", err)
		}
	}

	s.began = time.Now()

	for _, c := range []struct {
		name  string
		bring func(context.Context) error
	}{
		{"a declined card", all.declined},
		{"a cancelled booking", all.cancelled},
		{"another amount than was asked for", all.otherAmount},
		{"a refund to pay out manually", all.byHand},
		{"a refund that waits for a second person", all.overTheLimit},
		{"a refund that the gateway refuses", all.refusedRefund},
		{"a claw-back", all.clawedBack},
		{"campaigns", all.campaigns},
		{"an unpaid bill", all.unpaid(models.MethodBillPayment)},
		{"an unpaid booking", all.unpaid(models.MethodCreditCard)},
	} {
		err := c.bring(ctx)

		// After many starts within an hour, or when the trip is sold out.
		if code, enough := hasEnough(err); enough {
			s.say("For looking around: what earlier starts have left; no more is booked now (" + string(code) + ")")

			return nil
		}

		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}

	s.say("For looking around: every other state of a booking, a refund and a campaign, once")

	return nil
}

// hasEnough reports whether earlier starts have used up what may be booked.
func hasEnough(err error) (models.Code, bool) {
	var refused *refusal
	if !errors.As(err, &refused) {
		return "", false
	}

	return refused.code, refused.code == models.CodeTooManyUnpaidBookings || refused.code == models.CodeTripCapacityReached
}

func (s *states) firstTrip(ctx context.Context) (string, error) {
	var trips struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := s.company.get(ctx, "/api/v1/provider/trips?status=PUBLISHED&search=Discover", &trips); err != nil {
		return "", err
	}

	if len(trips.Data) == 0 {
		return "", errors.New("the demo company has no trip to come")
	}

	return trips.Data[0].ID, nil
}

func (s *states) buy(ctx context.Context, method models.PaymentMethod, seats int) (sale, error) {
	s.last++

	passengers := make([]map[string]string, seats)
	for i := range passengers {
		passengers[i] = map[string]string{"name": fmt.Sprintf("Passenger %d", i+1)}
	}

	var b sale

	err := s.customer.post(ctx, "/api/v1/bookings", map[string]any{
		"trip_id":        s.trip,
		"passengers":     passengers,
		"contact":        s.contact(s.last + 1),
		"payment_method": method,
	}, &envelope{&b})

	return b, err
}

// settle presses a button of the gateway's page and waits until the payment has ended.
func (s *states) settle(ctx context.Context, b sale, outcome string) error {
	if err := s.customer.press(ctx, b.Payment.CheckoutURL, outcome); err != nil {
		return err
	}

	return s.customer.get(ctx, "/api/v1/bookings/"+b.ID+"/payment-status?wait=20", &struct{}{})
}

func (s *states) paid(ctx context.Context, method models.PaymentMethod, seats int) (sale, error) {
	b, err := s.buy(ctx, method, seats)
	if err != nil {
		return b, err
	}

	return b, s.settle(ctx, b, "succeed")
}

func (s *states) unpaid(method models.PaymentMethod) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := s.buy(ctx, method, 1)

		return err
	}
}

func (s *states) declined(ctx context.Context) error {
	b, err := s.buy(ctx, models.MethodCreditCard, 1)
	if err != nil {
		return err
	}

	return s.settle(ctx, b, "decline")
}

func (s *states) cancelled(ctx context.Context) error {
	b, err := s.buy(ctx, models.MethodCreditCard, 1)
	if err != nil {
		return err
	}

	return s.customer.post(ctx, "/api/v1/bookings/"+b.ID+"/cancel", nil, &struct{}{})
}

// fault has the gateway do something else than it should, once.
func (s *states) fault(ctx context.Context, operation, mode string) error {
	gateway := newCaller(s.env.cfg.Gateways.A.URL)

	return gateway.post(ctx, "/sandbox/faults", map[string]string{"operation": operation, "mode": mode}, &struct{}{})
}

func (s *states) otherAmount(ctx context.Context) error {
	if err := s.fault(ctx, "webhook", "wrong_amount"); err != nil {
		return err
	}

	_, err := s.paid(ctx, models.MethodCreditCard, 1)

	return err
}

func (s *states) ask(ctx context.Context, b sale, body map[string]any) error {
	return s.finance.post(ctx, "/api/v1/admin/bookings/"+b.ID+"/refund", body, &struct{}{})
}

func (s *states) byHand(ctx context.Context) error {
	b, err := s.paid(ctx, models.MethodBillPayment, 1)
	if err != nil {
		return err
	}

	return s.ask(ctx, b, map[string]any{"refund_type": models.RefundFull, "reason": "The customer is ill"})
}

// overTheLimit asks for more than one person may give back alone.
func (s *states) overTheLimit(ctx context.Context) error {
	b, err := s.paid(ctx, models.MethodCreditCard, 5)
	if err != nil {
		return err
	}

	return s.ask(ctx, b, map[string]any{"refund_type": models.RefundFull, "reason": "The group does not travel"})
}

func (s *states) refusedRefund(ctx context.Context) error {
	b, err := s.paid(ctx, models.MethodCreditCard, 1)
	if err != nil {
		return err
	}

	if err := s.fault(ctx, "refund", "reject"); err != nil {
		return err
	}

	return s.ask(ctx, b, map[string]any{"refund_type": models.RefundFull, "reason": "The customer is ill"})
}

// clawedBack is a part that goes back after the company was paid.
func (s *states) clawedBack(ctx context.Context) error {
	b, err := s.paid(ctx, models.MethodCreditCard, 1)
	if err != nil {
		return err
	}

	var lines struct {
		Data []struct {
			ID uuid.UUID `json:"id"`
		} `json:"data"`
	}
	if err := s.finance.get(ctx, "/api/v1/admin/financial-records?booking_id="+b.ID, &lines); err != nil {
		return err
	}

	for _, l := range lines.Data {
		err := s.finance.post(ctx, "/api/v1/admin/financial-records/"+l.ID.String()+"/mark-transferred",
			map[string]any{"payout_reference": "DEMO-1", "payout_date": models.DateIn(time.Now())}, &struct{}{})
		if err != nil {
			return err
		}
	}

	return s.ask(ctx, b, map[string]any{"refund_type": models.RefundPartial, "amount": models.MustMoney("150.00"), "reason": "One night less"})
}

// campaigns are one that is paid, one that is paused, and one that waits for its payment.
func (s *states) campaigns(ctx context.Context) error {
	today := models.DateIn(time.Now())

	for i, title := range []string{"Paid", "Paused", "Unpaid"} {
		var c struct {
			ID string `json:"id"`
		}

		err := s.company.post(ctx, "/api/v1/provider/ad-campaigns", map[string]any{
			"trip_id": s.trip, "title": title + " campaign", "starts_on": today, "ends_on": today.AddDays(6), "price": models.MustMoney("500.00"),
		}, &envelope{&c})
		if err != nil {
			return err
		}

		if i == 2 {
			return nil
		}

		if err := s.payCampaign(ctx, c.ID); err != nil {
			return err
		}

		if i == 1 {
			return s.pause(ctx, c.ID)
		}
	}

	return nil
}

// payCampaign pays for a campaign and waits until that is known.
func (s *states) payCampaign(ctx context.Context, campaign string) error {
	var intent struct {
		CheckoutURL string `json:"checkout_url"`
	}

	err := s.company.post(ctx, "/api/v1/payments/ad-campaign/"+campaign+"/intent",
		map[string]any{"payment_method": models.MethodCreditCard}, &envelope{&intent})
	if err != nil {
		return err
	}

	if err := s.company.press(ctx, intent.CheckoutURL, "succeed"); err != nil {
		return err
	}

	return s.company.await(ctx, "/api/v1/provider/ad-campaigns/"+campaign, string(models.CampaignActive))
}

func (s *states) pause(ctx context.Context, campaign string) error {
	return s.company.post(ctx, "/api/v1/ad-campaigns/"+campaign+"/pause", nil, &struct{}{})
}

// await reads a resource until it has the status.
func (c *caller) await(ctx context.Context, path, status string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()

	for {
		var now struct {
			Status string `json:"status"`
		}
		if err := c.get(ctx, path, &envelope{&now}); err != nil || now.Status == status {
			return err
		}

		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is %s and not %s", path, now.Status, status)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
