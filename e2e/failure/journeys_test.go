package failure_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// journeys are the ways on which TestKillAtEveryBoundary kills. Between them they come through every activity.
func journeys() []journey {
	return []journey{
		{ // first, because it is the longest
			name: "audited", prepare: auditWrongBooks, tampered: "a seat is taken that nobody has", rule: "trip-seats",
			want: []string{"trip-seats does not hold: 1 incidents"},
		},
		{name: "paid", prepare: bookAndPay("succeed"), want: []string{"booking CONFIRMED 2 seats, held t 230.00", "message PAYMENT_SUCCEEDED SMS SENT"}},
		{
			name: "more messages than go at once", prepare: bookAndPayMany, customers: atOnce, smsTakes: 1500 * time.Millisecond,
			want: []string{"message PAYMENT_SUCCEEDED SMS SENT"},
		},
		{name: "declined", prepare: bookAndPay("decline"), want: []string{"transaction PAYMENT credit_card FAILED DECLINED 230.00 0.00 0.00"}},
		{name: "replaced", prepare: replaceAttempt, want: []string{
			"transaction PAYMENT credit_card FAILED CANCELLED 115.00 0.00 0.00", "transaction PAYMENT wallet_b PAID 115.00 0.00 0.00",
		}},
		{name: "webhook lost", prepare: loseWebhook, want: []string{"booking CONFIRMED 1 seats, held t 115.00"}},
		{name: "wrong amount", prepare: payWrongAmount, want: []string{"incident AMOUNT_MISMATCH OPEN"}},
		{
			name: "expired", prepare: expire, env: map[string]string{"BOOKING_HOLD": "6s"},
			want: []string{"booking PAYMENT_FAILED 1 seats, held f 115.00"},
		},
		{name: "refunded", prepare: refundPaid(nil), want: []string{"refund FULL SUCCEEDED 115.00", "booking CANCELLED 1 seats, held f 115.00"}},
		{
			name: "refund decided later", want: []string{"refund FULL SUCCEEDED 115.00"},
			prepare: refundPaid(map[string]any{"operation": "refund", "mode": "pending", "times": 1, "delay_ms": 700}),
		},
		{
			name: "refund refused", want: []string{"refund FULL FAILED 115.00", "incident REFUND_FAILED OPEN"},
			prepare: refundPaid(map[string]any{"operation": "refund", "mode": "reject", "times": 1}),
		},
		{name: "refund without an order", prepare: refundWithoutOrder, want: []string{"booking CONFIRMED 1 seats, held t 115.00"}},
		{name: "late money", prepare: payCancelled, want: []string{"incident LATE_PAYMENT OPEN", "refund FULL SUCCEEDED 115.00"}},
		{
			name: "late money unheard of", prepare: payCancelledUnheard, env: map[string]string{"LATE_PAYMENT_CHECKS": "1s,10s,30s", "SWEEP_INTERVAL": "2s"},
			want: []string{"incident LATE_PAYMENT OPEN", "refund FULL SUCCEEDED 115.00"},
		},
		{
			name: "gateway does not say", prepare: paySecretly, env: map[string]string{"BOOKING_HOLD": "4s", "EXPIRY_ASK_FOR": "2s"},
			want: []string{"booking CONFIRMED 1 seats, held t 115.00", "incident GATEWAY_OUTAGE OPEN"},
		},
		{name: "audit interrupted", prepare: auditInVain, cut: "begin isolation level repeatable read", want: []string{"audit does not hold: 1 incidents"}},
		{name: "campaign", prepare: payCampaign, want: []string{"campaign ACTIVE"}},
		{name: "paid out manually", prepare: payOutBill, want: []string{"refund FULL SUCCEEDED 115.00", "booking CANCELLED 1 seats, held f 115.00"}},
		{
			name: "approved", prepare: approveRefund, env: map[string]string{"REFUND_APPROVAL_ABOVE": "100.00"},
			want: []string{"refund FULL SUCCEEDED 115.00", "booking CANCELLED 1 seats, held f 115.00"},
		},
		{name: "gateway away at checkout", prepare: bookWhileAway, env: quickBreaker, want: []string{"booking CONFIRMED 2 seats, held t 230.00"}},
		{
			name: "gateway away at refund", env: quickBreaker, want: []string{"refund FULL SUCCEEDED 115.00"},
			prepare: refundPaid(map[string]any{"operation": "refund", "mode": "error", "times": 1}),
		},
		{
			name: "webhooks silent", prepare: payInSilence, env: map[string]string{"WEBHOOK_SILENCE": "2s", "SWEEP_INTERVAL": "2s"},
			want: []string{"booking CONFIRMED 1 seats, held t 115.00"},
		},
		{
			name: "cancellation decided", prepare: cancelRequested, env: map[string]string{"CANCELLATION_REMIND_AFTER": "2s"},
			want: []string{
				"refund POLICY SUCCEEDED 115.00", "booking CONFIRMED 1 seats, held t 230.00", "cancellation DONE 1 seats 115.00",
				"cancellation request APPROVED 1 seats 115.00",
			},
		},
		{
			name: "trip called off", prepare: callOff, env: map[string]string{"REFUND_APPROVAL_ABOVE": "200.00"},
			want: []string{"refund FULL SUCCEEDED 115.00", "booking CANCELLED 1 seats, held f 115.00", "cancellation DONE 1 seats 115.00"},
		},
		{name: "swept", prepare: sweepOrphan, want: []string{"transaction PAYMENT credit_card FAILED EXPIRED 115.00 0.00 0.00"}},
	}
}

// quickBreaker leaves a gateway alone after one failure, and not for long.
var quickBreaker = map[string]string{"GATEWAY_A_BREAKER_FAILURES": "1", "GATEWAY_A_BREAKER_OPEN_FOR": "3s"}

// insisting is a client of the service who tries again what did not come through.
func insisting(t *testing.T, s *harness.Stack, role models.Role) *load {
	t.Helper()

	return &load{stack: s, caller: s.As(role), trips: []models.Trip{s.World.Trip}}
}

// failure is the first answer that no client should ever see.
func (l *load) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()

	if len(l.broken) == 0 {
		return nil
	}

	return errors.New(l.broken[0])
}

// bookAndPay is the way of most: a booking, its checkout, and what the customer does there.
func bookAndPay(outcome string) func(*testing.T, *harness.Stack) act {
	return func(t *testing.T, s *harness.Stack) act {
		t.Helper()

		l := insisting(t, s, models.RoleEndUser)
		c := l.newCustomer(0)

		return func(ctx context.Context) (string, error) {
			if !c.book(ctx) || !c.findCheckout(ctx) {
				return "", l.failure()
			}

			return c.booking.ID.String(), s.Pay(*c.booking.Payment.CheckoutURL, outcome)
		}
	}
}

// atOnce is how many customers bookAndPayMany has.
const atOnce = 8

// bookAndPayMany has several customers pay; the last one's messages wait for those of the others.
func bookAndPayMany(t *testing.T, s *harness.Stack) act {
	t.Helper()

	l := insisting(t, s, models.RoleEndUser)

	customers := make([]*customer, atOnce)
	for i := range customers {
		customers[i] = l.newCustomer(0)
	}

	return func(ctx context.Context) (subject string, err error) {
		for _, c := range customers {
			if !c.book(ctx) || !c.findCheckout(ctx) {
				return "", l.failure()
			}
		}

		for _, c := range customers {
			subject = c.booking.ID.String()
			if err = s.Pay(*c.booking.Payment.CheckoutURL, "succeed"); err != nil {
				return "", err
			}
		}

		return subject, nil
	}
}

// replaceAttempt has a customer change the method and pay.
func replaceAttempt(t *testing.T, s *harness.Stack) act {
	t.Helper()

	l := insisting(t, s, models.RoleEndUser)
	c := l.newCustomer(0)
	c.booking = l.caller.Book(1)

	return func(ctx context.Context) (string, error) {
		body := map[string]any{"payment_method": models.MethodWalletB, "replace": true}

		a, ok := l.retryUntilDecided(ctx, intentPath(c.booking.ID), body, map[string]string{"Idempotency-Key": c.key})
		if !ok || !l.expect(a.Data(&c.booking.Payment)) || !c.findCheckout(ctx) {
			return "", l.failure()
		}

		return c.booking.ID.String(), s.Pay(*c.booking.Payment.CheckoutURL, "succeed")
	}
}

// loseWebhook has a customer change the method although the payment was made: the gateway is asked, and says so.
func loseWebhook(t *testing.T, s *harness.Stack) act {
	t.Helper()

	l := insisting(t, s, models.RoleEndUser)
	b := l.caller.Book(1)

	fault(s, "webhook", "drop", 1)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))

	return func(ctx context.Context) (string, error) {
		return b.ID.String(), l.until(ctx, http.StatusConflict, func() (harness.Answer, error) {
			return l.caller.Do(http.MethodPost, intentPath(b.ID), map[string]any{"payment_method": models.MethodWalletB, "replace": true}, nil)
		})
	}
}

// until sends a request until it is answered with a status. Only what says "try again" may come between.
func (l *load) until(ctx context.Context, status int, send func() (harness.Answer, error)) error {
	for {
		a, err := send()

		switch {
		case err == nil && a.Status == status:
			return nil
		case err == nil && a.Status != http.StatusServiceUnavailable && a.Status != http.StatusBadGateway:
			return fmt.Errorf("%d %s", a.Status, a.Body)
		case !pause(ctx, retryPause):
			return fmt.Errorf("given up at %d %s: %w", a.Status, a.Body, err)
		}
	}
}

func payWrongAmount(t *testing.T, s *harness.Stack) act {
	t.Helper()

	b := s.As(models.RoleEndUser).Book(1)

	fault(s, "webhook", "wrong_amount", 1)

	return func(context.Context) (string, error) { return b.ID.String(), s.Pay(*b.Payment.CheckoutURL, "succeed") }
}

func expire(t *testing.T, s *harness.Stack) act {
	t.Helper()

	b := s.As(models.RoleEndUser).Book(1)

	return func(context.Context) (string, error) { return b.ID.String(), nil }
}

// refundPaid gives a whole payment back, with the gateway at fault.
func refundPaid(f map[string]any) func(*testing.T, *harness.Stack) act {
	return func(t *testing.T, s *harness.Stack) act {
		t.Helper()

		b, l := s.As(models.RoleEndUser).BookPaid(1), insisting(t, s, models.RoleFinanceAdmin)

		if f != nil {
			s.Fault(f)
		}

		key := map[string]string{"Idempotency-Key": uuid.NewString()}

		return func(ctx context.Context) (string, error) {
			l.refund(ctx, b.ID, key)

			return b.ID.String(), l.failure()
		}
	}
}

// bookWhileAway books and pays although the gateway fails at first and its circuit is open then.
func bookWhileAway(t *testing.T, s *harness.Stack) act {
	t.Helper()
	fault(s, "create_checkout", "error", 1)

	return bookAndPay("succeed")(t, s)
}

// payInSilence pays, and no webhook comes: the gateway is asked while the customer waits.
func payInSilence(t *testing.T, s *harness.Stack) act {
	t.Helper()

	b := s.As(models.RoleEndUser).Book(1)

	fault(s, "webhook", "drop", 1)

	return func(context.Context) (string, error) { return b.ID.String(), s.Pay(*b.Payment.CheckoutURL, "succeed") }
}

// payOutBill gives a bill back, by the hands of finance staff.
func payOutBill(t *testing.T, s *harness.Stack) act {
	t.Helper()

	return refundByTwo(t, s, s.As(models.RoleEndUser).BookBilled(1), "confirm-payout", map[string]any{"payout_reference": "TRF-1"})
}

// approveRefund gives back what a second person has to approve.
func approveRefund(t *testing.T, s *harness.Stack) act {
	t.Helper()

	return refundByTwo(t, s, s.As(models.RoleEndUser).BookPaid(1), "approve", map[string]any{"note": "compared"})
}

// refundByTwo has finance staff ask for a refund, and an admin decide about it.
func refundByTwo(t *testing.T, s *harness.Stack, b harness.Booking, decision string, body map[string]any) act {
	t.Helper()

	l, admin := insisting(t, s, models.RoleFinanceAdmin), s.As(models.RoleAdmin)
	key := map[string]string{"Idempotency-Key": uuid.NewString()}

	return func(ctx context.Context) (string, error) {
		l.refund(ctx, b.ID, key)

		var refund string

		if err := s.DB.QueryRowContext(ctx, "SELECT id FROM refunds WHERE booking_id = $1", b.ID).Scan(&refund); err != nil {
			return "", errors.Join(err, l.failure())
		}

		confirmed := load{stack: s, caller: admin}
		_, ok := confirmed.retryUntilDecided(ctx, "/api/v1/admin/refunds/"+refund+"/"+decision, body, nil)

		if !ok {
			return "", confirmed.failure()
		}

		return b.ID.String(), nil
	}
}

// payCancelled pays at the gateway for a booking that was cancelled: the money goes back.
func payCancelled(t *testing.T, s *harness.Stack) act {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)
	a := customer.Post("/api/v1/bookings/"+b.ID.String()+"/cancel", nil)
	require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, a.Status, "%s", a.Body)

	return func(ctx context.Context) (string, error) {
		s.PayLate(*b.Payment.Reference)

		return b.ID.String(), awaitCount(ctx, s, "SELECT count(*) FROM refunds WHERE booking_id = $1", b.ID)
	}
}

// awaitCount waits until a query counts something.
func awaitCount(ctx context.Context, s *harness.Stack, query string, args ...any) error {
	for n := 0; n == 0; {
		if err := s.DB.QueryRowContext(ctx, query, args...).Scan(&n); err != nil {
			return err
		}

		if n == 0 && !pause(ctx, retryPause) {
			return fmt.Errorf("nothing within %s: %s", patience, query)
		}
	}

	return nil
}

func payCampaign(t *testing.T, s *harness.Stack) act {
	t.Helper()

	l := insisting(t, s, models.RoleAdmin)
	id := s.NewCampaign("1000.00", 0)

	return func(ctx context.Context) (string, error) {
		var p struct {
			URL string `json:"checkout_url"`
		}

		for p.URL == "" {
			a, ok := l.retryUntilDecided(ctx, "/api/v1/payments/ad-campaign/"+id.String()+"/intent", map[string]any{"payment_method": models.MethodWalletA}, nil)
			if !ok || !l.expect(a.Data(&p)) {
				return "", l.failure()
			}
		}

		if err := s.Pay(p.URL, "succeed"); err != nil {
			return "", err
		}

		return id.String(), awaitCount(ctx, s, "SELECT count(*) FROM ad_campaigns WHERE id = $1 AND status = 'ACTIVE'", id)
	}
}
