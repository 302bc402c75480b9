package actors

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/chaos/schedule"
	"rihla/e2e/rig"
	"rihla/models"
)

// Repeat sends every request that carried an Idempotency-Key and was done once more, now that all is over: it has to be answered as it
// was (rules: idempotency.replay), whatever has become of its subject since. One that was refused would be tried again.
func (p *Run) Repeat(ctx context.Context) {
	done := map[string]bool{}

	for _, a := range p.Journal.Answers() {
		if a.Status >= http.StatusOK && a.Status < http.StatusMultipleChoices {
			done[a.Key] = true
		}
	}

	for _, r := range p.Journal.keyed {
		if !done[r.key] {
			continue
		}

		c := p.customer.named("repeated")
		c.token = r.token
		// Any refusal will do, as long as it is the one that was given before: the invariants compare.
		c.retryUntilDecided(ctx, r, refusals...)
		p.Journal.Count("requests repeated at the end", 1)
	}
}

var refusals = []models.Code{
	models.CodeTripCapacityReached, models.CodeBookingNotPayable, models.CodeCampaignNotPayable, models.CodeInvalidState,
	models.CodeRefundExceedsRemaining, models.CodeBookingNotRefundable, models.CodeRecordNotTransferable,
	models.CodePaymentInSuspense,
}

// Statuses are what the success pages of all bookings say, now that all is over.
func (p *Run) Statuses(ctx context.Context) map[uuid.UUID]models.TransactionStatus {
	all := map[uuid.UUID]models.TransactionStatus{}

	for i, b := range p.Bookings {
		if b == nil {
			continue
		}

		s := &story{Run: p, caller: p.customer.named(fmt.Sprintf("customer %d", i+1)), booking: b}
		all[b.ID] = s.settled(ctx)
	}

	return all
}

// promptly is long for a webhook to be handed over, and less than a long hold. When that is over the gateway is polled, and the
// sweep comes still later: then a lost delivery would not be noticed.
const promptly = 6 * time.Second

// BookAgain has two customers come when all is over: for them everything has to go as it should, and at once. One pays and gets
// all of it back, the other cancels.
func (p *Run) BookAgain(ctx context.Context) {
	trip, err := p.putOnSale(ctx, "afterwards", schedule.Trip{Capacity: 2, Price: models.Halalas(23_457)})
	if err != nil {
		p.note(err)

		return
	}

	if pays := p.latecomer(ctx, trip, "pays again"); pays != nil {
		pays.press("succeed")

		pressed := time.Now()

		pays.is(ctx, models.TransactionPaid)

		if took := time.Since(pressed); took > promptly && p.env.Hold > promptly {
			p.Journal.Problemf(pays.caller.who, "the payment of booking %s was settled %s after it was made, although nothing is broken",
				pays.booking.ID, took.Round(time.Millisecond))
		}

		pays.refund(ctx, 1, map[string]any{"refund_type": models.RefundFull})
		pays.is(ctx, models.TransactionRefunded)
	}

	if cancels := p.latecomer(ctx, trip, "cancels again"); cancels != nil {
		cancels.cancel(ctx)

		if p.env.Company.Can.Cancel {
			cancels.closedAtGateway(ctx)
		}
	}
}

// latecomer books one seat of the trip, and is nil if that cannot be paid at once.
func (p *Run) latecomer(ctx context.Context, trip uuid.UUID, who string) *story {
	s := &story{Run: p, caller: p.customer.named(who), booking: &Booking{}}

	a, ok := s.caller.retryUntilDecided(ctx, request{
		method: http.MethodPost, path: "/api/v1/bookings", key: newKey(),
		body: rig.BookingRequest(trip, 1, models.MethodCreditCard, uuid.NewString()+"@rihla.test"),
	})
	if !ok {
		return nil
	}

	p.note(a.Data(s.booking))

	if s.open = text(s.booking.Payment.Reference); s.open == "" {
		p.Journal.Problemf(who, "booking %s cannot be paid at once, although nothing is broken", s.booking.ID)

		return nil
	}

	return s
}

func (s *story) is(ctx context.Context, want models.TransactionStatus) {
	if got := s.settled(ctx); got != want {
		s.Journal.Problemf(s.caller.who, "the payment of booking %s is %s and not %s, although nothing is broken", s.booking.ID, got, want)
	}
}

// closedAtGateway waits until the checkout cannot be paid any more. The end of its time is too late.
func (s *story) closedAtGateway(ctx context.Context) {
	for {
		books, err := s.env.Gateway.Ledger()
		s.note(err)

		i := slices.IndexFunc(books.Checkouts, func(c rig.Checkout) bool { return c.ID == s.open })

		switch {
		case err != nil || i < 0 || books.Checkouts[i].Status == "canceled":
			return
		case books.Checkouts[i].Status != "open" || !pause(ctx, retryPause):
			s.Journal.Problemf(s.caller.who, "checkout %s of a cancelled booking is %s at the gateway", s.open, books.Checkouts[i].Status)

			return
		}
	}
}

// Summary reads the platform's cards of this month.
func (p *Run) Summary(ctx context.Context) (gen.FinancialReportCards, bool) {
	var s gen.FinancialReport

	a, ok := p.finance.named("auditor").retryUntilDecided(ctx, request{
		method: http.MethodGet, path: "/api/v1/admin/financial-reports/summary?period=this_month",
	})
	if ok {
		p.note(a.Data(&s))
	}

	return s.Cards, ok
}

// ExportedEntries counts the ledger entries of a whole export.
func (p *Run) ExportedEntries(ctx context.Context) (int, bool) {
	a, ok := p.finance.named("auditor").retryUntilDecided(ctx, request{
		method: http.MethodGet, path: "/api/v1/admin/financial-records/export?format=csv",
	})
	if !ok {
		return 0, false
	}

	rows, err := csv.NewReader(strings.NewReader(string(a.Body))).ReadAll()
	p.note(err)

	return len(rows) - 1, ok && err == nil // without the heading
}
