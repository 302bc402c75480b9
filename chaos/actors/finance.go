package actors

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"rihla/api/gen"
	"rihla/chaos/schedule"
	"rihla/models"
)

// payOut marks the booking's open ledger entry as transferred.
func (s *story) payOut(ctx context.Context) {
	var lines []gen.FinancialRecord

	finance := s.finance.named(s.caller.who + "'s")

	a, ok := finance.retryUntilDecided(ctx, request{
		method: http.MethodGet, path: "/api/v1/admin/financial-records?booking_id=" + s.booking.ID.String(), api: s.API,
	})
	if !ok || a.Data(&lines) != nil || len(lines) == 0 {
		s.Journal.Problemf(finance.who, "a paid booking has no ledger entry: %s", a.Body)

		return
	}

	a, ok = finance.twice(ctx, request{
		method: http.MethodPost, path: "/api/v1/admin/financial-records/" + lines[0].ID.String() + "/mark-transferred", key: newKey(),
		api: s.API, body: map[string]any{
			"payout_reference": "TRF-" + s.booking.ID.String()[24:], "payout_date": models.DateIn(time.Now()).String(),
		},
	}, models.CodeRecordNotTransferable)
	if ok && a.Code() == "" {
		s.Journal.Count("ledger entries paid out", 1)
	}
}

// refundAll asks for the customer's refunds, one after the other or all at once.
func (s *story) refundAll(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()

	for _, r := range s.Refunds {
		body := map[string]any{"refund_type": models.RefundFull}

		if r.Policy {
			body["refund_type"] = models.RefundPolicy
		}

		if r.Percent > 0 {
			part := s.booking.Amount.AtRate(models.MustRate(percent(r.Percent)))
			body = map[string]any{"refund_type": models.RefundPartial, "amount": part}
		}

		ask := func() {
			if r.Asks > 0 {
				s.askToCancel(ctx, min(r.Asks, s.Seats), r.API)

				return
			}

			if s.refund(ctx, r.API, body) {
				s.Journal.Count("refunds of a booking", 1)
			}
		}

		if s.Parallel {
			all.Go(ask)
		} else {
			ask()
		}
	}
}

// percent is a rate as text.
func percent(n int) string { return fmt.Sprintf("0.%02d", n) }

func (s *story) refund(ctx context.Context, api int, body map[string]any) bool {
	finance := s.finance.named(s.caller.who + "'s")

	send := finance.retryUntilDecided
	if s.Twice {
		send = finance.twice
	}

	s.env.Hooks.Run(schedule.BeforeOrder)

	a, ok := send(ctx, request{
		method: http.MethodPost, path: "/api/v1/admin/bookings/" + s.booking.ID.String() + "/refund", key: newKey(), api: api, body: body,
	}, models.CodeRefundExceedsRemaining, models.CodeBookingNotRefundable)
	if !ok || a.Code() != "" {
		return false
	}

	var r gen.Refund

	s.note(a.Data(&r))
	s.takeBack(ctx, r)

	return true
}

// takeBack has the customer's bank refuse some refunds after all, where the company says so later. Nothing but its webhook tells of it:
// it comes when webhooks are not lost any more.
func (s *story) takeBack(ctx context.Context, r gen.Refund) {
	const each = 3 // of so many refunds, by the last digits of their amounts

	if !s.env.Gateway.Traits().Revises || r.Amount.Halalas()%each != 0 || s.Journal.isCalm() { // then the clerks have gone home
		return
	}

	select {
	case <-s.healed:
	case <-ctx.Done():
		return
	}

	did, err := s.env.Gateway.TakeBack(r.ID.String())
	s.note(err)

	if did {
		s.Journal.Stepf(s.caller.who, "the bank refuses the refund %s after all", r.ID)
		s.Journal.Count("refunds that came back", 1)
	}
}

// giveBackSuspense has finance staff give back what the gateway has taken for the booking in another amount or currency than was
// asked for, as its incident asks them to.
func (s *story) giveBackSuspense(ctx context.Context) {
	var payments []gen.PaymentTransaction

	finance := s.finance.named(s.caller.who + "'s")

	a, ok := finance.retryUntilDecided(ctx, request{
		method: http.MethodGet, path: "/api/v1/admin/payment-transactions?booking_id=" + s.booking.ID.String(), api: s.API,
	})
	if !ok {
		return
	}

	s.note(a.Data(&payments))

	send := finance.retryUntilDecided
	if s.Twice {
		send = finance.twice
	}

	for _, t := range payments {
		if t.FailureCode == nil || !t.FailureCode.IsMismatch() || t.CapturedAmount == nil {
			continue
		}

		a, ok := send(ctx, request{
			method: http.MethodPost, path: "/api/v1/admin/payment-transactions/" + t.ID.String() + "/refund", key: newKey(),
			api: s.API, body: map[string]any{"reason": "another amount or currency"},
		})
		if ok && a.Code() == "" {
			s.Journal.Count("refunds of money in suspense", 1)
		}
	}
}
