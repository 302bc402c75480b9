package actors

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/chaos/schedule"
	"rihla/e2e/rig"
	"rihla/models"
)

// story is one customer's way through the service.
type story struct {
	*Run
	schedule.Customer

	caller  caller
	send    func(ctx context.Context, r request, refusals ...models.Code) (Answer, bool)
	booking *Booking
	open    string // the gateway's id of the checkout to pay
}

// serveCustomer is the whole story: book, pay or not, and perhaps get money back.
func (p *Run) serveCustomer(ctx context.Context, i int, c schedule.Customer) {
	s := &story{Run: p, Customer: c, caller: p.customer.named(fmt.Sprintf("customer %d", i+1))}

	s.send = s.caller.retryUntilDecided
	if c.Twice {
		s.send = s.caller.twice
	}

	if !s.book(ctx, i) {
		return
	}

	p.Journal.Count("customers: "+string(c.Ending), 1)

	if c.Ending == schedule.Cancels {
		s.cancel(ctx)
	} else if s.findCheckout(ctx, c.Method, false) {
		pause(ctx, c.Think)
		s.pay(ctx)
	}

	if s.settled(ctx) != models.TransactionPaid {
		if len(c.Refunds) > 0 {
			s.giveBackSuspense(ctx)
		}

		return
	}

	if c.Payout {
		s.payOut(ctx)
	}

	s.refundAll(ctx)
}

// book takes the seats; false when there are none.
func (s *story) book(ctx context.Context, i int) bool {
	email := fmt.Sprintf("customer-%d-%d-%s@rihla.test", s.schedule.Number, i+1, uuid.NewString())

	refusals := []models.Code{models.CodeTripCapacityReached}
	if s.schedule.WrongDay() { // a worker of tomorrow, which opens the payment when the API could not, finds the hold over
		refusals = append(refusals, models.CodeBookingNotPayable)
	}

	if s.isCalledOff(s.Trip) {
		refusals = append(refusals, models.CodeTripNotBookable)
	}

	a, ok := s.send(ctx, request{
		method: http.MethodPost, path: "/api/v1/bookings", key: newKey(), api: s.API,
		body: rig.BookingRequest(s.Trips[s.Trip], s.Seats, s.Method, email),
	}, refusals...)
	if ok && a.Code() == models.CodeTripCapacityReached {
		s.Journal.Count("bookings refused: sold out", 1)
		s.mu.Lock()
		s.SoldOut = append(s.SoldOut, i)
		s.mu.Unlock()
	}

	if a.Code() == models.CodeTripNotBookable {
		s.Journal.Count("bookings refused: called off", 1)
	}

	if !ok || a.Code() != "" {
		return false
	}

	s.booking = &Booking{Email: email}
	s.note(a.Data(s.booking))

	if want := s.schedule.Trips[s.Trip].Price; !s.booking.Amount.Equal(want.Times(s.Seats)) {
		s.Journal.Problemf(s.caller.who, "%d seats of %s cost %s", s.Seats, want, s.booking.Amount)
	}

	s.mu.Lock()
	s.Bookings[i] = s.booking
	s.mu.Unlock()

	s.open = text(s.booking.Payment.Reference)
	s.Journal.Count("bookings", 1)

	return true
}

// findCheckout asks for a place to pay at until there is one; false when the booking cannot be paid any more.
func (s *story) findCheckout(ctx context.Context, method models.PaymentMethod, replace bool) bool {
	for s.open == "" || replace {
		var t gen.PaymentTransaction

		a, ok := s.send(ctx, request{
			method: http.MethodPost, path: "/api/v1/payments/booking/" + s.booking.ID.String() + "/intent", key: newKey(), api: s.API,
			body: gen.IntentRequest{PaymentMethod: method, Replace: new(replace)},
		}, models.CodeBookingNotPayable, models.CodePaymentInSuspense)
		if !ok || a.Code() != "" {
			return false
		}

		s.Journal.Count("intents", 1)
		s.note(a.Data(&t))

		if s.open, replace = text(t.Reference), false; s.open == "" && !pause(ctx, retryPause) {
			return false
		}
	}

	return true
}

// pay does what the customer came for.
func (s *story) pay(ctx context.Context) {
	switch s.Ending {
	case schedule.DeclinedThenPays:
		s.press("decline")

		if !s.env.Gateway.Traits().Retryable || s.env.Gateway.AtBackup(s.open) { // else the page takes another card
			s.settled(ctx)
			s.open = ""
		}

		if s.findCheckout(ctx, s.Other, false) {
			s.press("succeed")
		}
	case schedule.Declined:
		s.press("decline")
	case schedule.LeavesThePage:
		s.press("cancel")
	case schedule.WalksAway:
	case schedule.PaysTooLate:
		s.payLate(ctx)
	case schedule.CancelsAndPays:
		paid := make(chan struct{})

		go func() {
			defer close(paid)

			s.press("succeed")
		}()

		s.cancel(ctx)
		<-paid
	case schedule.Replaces, schedule.PaysBoth:
		first := s.open
		if !s.findCheckout(ctx, s.Other, true) {
			return
		}

		s.press("succeed")

		if s.Ending == schedule.PaysBoth && s.open != first {
			s.takeLate(ctx, first)
		}
	case schedule.PaysTwice:
		s.press("succeed")
		s.debitAgain(ctx)
	case schedule.RefundedOutside:
		s.press("succeed")
		s.refundOutside(ctx)
	default:
		s.press("succeed")
	}
}

// debitAgain has the gateway take the money once more for what is settled, where companies do so. That is learned of by its message: one
// that is lost is only in the gateway's own statement, so that the actor waits as takeLate does.
func (s *story) debitAgain(ctx context.Context) {
	if s.settled(ctx) != models.TransactionPaid || !s.env.Gateway.Traits().PaysAgain {
		return
	}

	if !s.heard(ctx) {
		return
	}

	s.note(s.env.Gateway.PayAgain(s.open))
	s.Journal.Stepf(s.caller.who, "the gateway takes the money of %s once more", s.open)
	s.Journal.Count("second payments", 1)
}

// refundOutside has a person give a quarter back in the company's dashboard, before finance staff are asked for any refund.
func (s *story) refundOutside(ctx context.Context) {
	if s.settled(ctx) != models.TransactionPaid || !s.heard(ctx) {
		return
	}

	quarter := s.booking.Amount.AtRate(models.MustRate("0.25"))

	err := s.env.Gateway.RefundInDashboard(s.open, quarter)
	if errors.Is(err, rig.ErrNothingLeft) && s.isCalledOff(s.Trip) { // all of it has gone back meanwhile
		s.Journal.Count("refunds in a dashboard: nothing left", 1)

		return
	}

	s.note(err)
	s.Journal.Stepf(s.caller.who, "%s of %s go back in the company's dashboard", quarter, s.open)
	s.Journal.Count("refunds in a dashboard", 1)
}

// heard waits until webhooks are not lost any more; false when the story is over before.
func (s *story) heard(ctx context.Context) bool {
	if !s.schedule.LosesWebhooks() {
		return true
	}

	select {
	case <-s.healed:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *story) press(outcome string) {
	open, err := s.env.Gateway.Press(s.open, outcome)
	s.note(err)
	s.Journal.Stepf(s.caller.who, "presses %s at the gateway: still open: %v", outcome, open)
	s.Journal.Count("gateway's page: "+outcome, 1)

	if s.env.Gateway.AtBackup(s.open) {
		s.Journal.Count("gateway's page of the backup account: "+outcome, 1)
	}
}

// payLate waits until the attempt has ended, and has the gateway take the money then.
func (s *story) payLate(ctx context.Context) {
	s.settled(ctx)
	s.takeLate(ctx, s.open)
}

// takeLate is money for an attempt that has ended. The service learns of it by its webhook, or by the late check some
// time after the end. Money that comes still later, with a lost webhook, is only in the gateway's own statement: the actor pays
// when webhooks are not lost any more.
func (s *story) takeLate(ctx context.Context, checkout string) {
	if s.schedule.LosesWebhooks() && !s.env.WillBeAsked(ctx, checkout) {
		select {
		case <-s.healed:
		case <-ctx.Done():
			return
		}
	}

	s.note(s.env.Gateway.PayLate(checkout))
	s.Journal.Stepf(s.caller.who, "the gateway takes the money of %s, which had ended", checkout)
	s.Journal.Count("late payments", 1)
}

func (s *story) cancel(ctx context.Context) {
	a, ok := s.caller.retryUntilDecided(ctx, request{
		method: http.MethodPost, path: "/api/v1/bookings/" + s.booking.ID.String() + "/cancel", api: s.API,
	}, models.CodeInvalidState)
	if ok && a.Code() == "" {
		s.Journal.Count("bookings cancelled", 1)
	}
}

// settled polls, as the success page does, until the payment is decided.
func (s *story) settled(ctx context.Context) models.TransactionStatus {
	var now gen.PaymentStatus

	for {
		a, ok := s.caller.retryUntilDecided(ctx, request{
			method: http.MethodGet, path: "/api/v1/bookings/" + s.booking.ID.String() + "/payment-status?wait=2", api: s.API,
		})
		if !ok {
			return ""
		}

		s.note(a.Data(&now))

		if now.PaymentStatus != models.TransactionPending {
			return now.PaymentStatus
		}

		if !pause(ctx, 20*time.Millisecond) {
			s.Journal.Problemf(s.caller.who, "booking %s is still waiting for its payment", s.booking.ID)

			return now.PaymentStatus
		}
	}
}
