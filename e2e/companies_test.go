package e2e_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/e2e/rig"
	"rihla/gateways"
	"rihla/gateways/drivers"
	"rihla/gateways/simulator"
	"rihla/gateways/simulator/engine"
	"rihla/models"
)

// TestCompanies tells the story of payments and refunds with every driver, against the simulator of its company.
func TestCompanies(t *testing.T) {
	t.Parallel()

	for _, driver := range drivers.Names() {
		if driver == drivers.Sandbox { // which all other tests are about
			continue
		}

		t.Run(driver, func(t *testing.T) {
			t.Parallel()

			s := harness.Start(t, harness.Options{Driver: driver})
			can := capabilities(t, driver)

			for name, story := range map[string]func(*testing.T, *harness.Stack, gateways.Capabilities){
				"what can be paid with":           offeredMethods,
				"a full refund":                   func(t *testing.T, s *harness.Stack, _ gateways.Capabilities) { t.Helper(); fullRefundOf(t, s) },
				"refunds in parts":                func(t *testing.T, s *harness.Stack, _ gateways.Capabilities) { t.Helper(); refundsAdd(t, s) },
				"a declined card, then another":   declinedThenPaid,
				"refunds of one payment at once":  refundsAtOnce,
				"a refund whose answer is lost":   lostRefundAnswer,
				"a checkout whose answer is lost": lostCheckoutAnswer,
				"a booking that is cancelled":     cancelledAtCompany,
				"a webhook without its proof":     unprovenWebhook,
				"a page of ours":                  pageOfOurs,
				"a refund that comes back":        returnedRefund,
				"a payment that is disputed":      disputedPayment,
				"a refund in the dashboard":       refundedInDashboard,
				"a checkout that is paid twice":   paidTwice,
				"paid by another method":          paidOtherwise,
			} {
				t.Run(name, func(t *testing.T) { story(t, s.For(t), can) })
			}
		})
	}
}

func capabilities(t *testing.T, driver string) gateways.Capabilities {
	t.Helper()

	d, err := drivers.Of(driver)
	require.NoError(t, err)

	company, err := simulator.Of(driver)
	require.NoError(t, err)

	var with drivers.Config
	if company.Entities != nil {
		with.EntityIDs = company.Entities("")
	}

	return d.Capabilities(with)
}

// offeredMethods: only what the company has can be paid with, and what it has not is refused before anything is held.
func offeredMethods(t *testing.T, s *harness.Stack, can gateways.Capabilities) {
	t.Helper()

	var offers []struct {
		Method models.PaymentMethod `json:"method"`
	}

	require.NoError(t, s.Anybody().Get("/api/v1/payment-methods").Data(&offers))

	offered := map[models.PaymentMethod]bool{}
	for _, o := range offers {
		offered[o.Method] = true
	}

	for _, m := range models.PaymentMethods() {
		_, has := can.Of(m)
		require.Equal(t, has, offered[m], m)

		if !has {
			body := s.BookingRequest(1)
			body["payment_method"] = m
			refused(t, s.As(models.RoleEndUser).Post(bookingsPath, body), http.StatusConflict, models.CodeMethodNotAvailable)
		}
	}
}

func fullRefundOf(t *testing.T, s *harness.Stack) {
	t.Helper()

	b := s.As(models.RoleEndUser).BookPaid(1)
	r := decoded[refund](t, http.StatusCreated, s.As(models.RoleFinanceAdmin).Post(refundPath(b.ID), fully()))
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, s.As(models.RoleFinanceAdmin), r.ID).Status)
	require.Equal(t, models.BookingCancelled, statusOf(t, s.As(models.RoleEndUser), b.ID).BookingStatus)
}

func refundsAdd(t *testing.T, s *harness.Stack) {
	t.Helper()

	finance := s.As(models.RoleFinanceAdmin)
	b := s.As(models.RoleEndUser).BookPaid(1)

	for _, part := range []string{"33.00", "1.00", "81.00"} {
		r := decoded[refund](t, http.StatusCreated, finance.Post(refundPath(b.ID), partly(part)))
		require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, r.ID).Status)
		requireEntriesAddUp(t, s, b)
	}

	refused(t, finance.Post(refundPath(b.ID), partly("0.01")), http.StatusConflict, models.CodeBookingNotRefundable)
}

// declinedThenPaid: at companies whose page takes another card a declined one ends nothing.
func declinedThenPaid(t *testing.T, s *harness.Stack, _ gateways.Capabilities) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "decline"))
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)
}

// refundsAtOnce: however the company tells refunds apart, each part goes back once.
func refundsAtOnce(t *testing.T, s *harness.Stack, _ gateways.Capabilities) {
	t.Helper()

	finance := s.As(models.RoleFinanceAdmin)
	b := s.As(models.RoleEndUser).BookPaid(1)

	const parts = 5

	refunds := make([]refund, parts)

	var all sync.WaitGroup

	for i := range parts {
		all.Go(func() {
			if a, err := finance.Do(http.MethodPost, refundPath(b.ID), partly("23.00"), nil); err == nil {
				_ = a.Data(&refunds[i])
			}
		})
	}

	all.Wait()

	for _, r := range refunds {
		require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, r.ID).Status)
	}

	require.Equal(t, "115.00", checkoutOf(t, s, b).RefundedAmount.String())
	require.Equal(t, models.BookingCancelled, statusOf(t, s.As(models.RoleEndUser), b.ID).BookingStatus)
}

func lostRefundAnswer(t *testing.T, s *harness.Stack, _ gateways.Capabilities) {
	t.Helper()

	finance := s.As(models.RoleFinanceAdmin)
	b := s.As(models.RoleEndUser).BookPaid(1)

	s.Fault(map[string]any{"operation": "refund", "mode": "timeout_after_effect"})

	var r refund

	a := finance.Post(refundPath(b.ID), partly("15.00"))
	require.NoError(t, a.Data(&r), "%s", a.Body)
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, r.ID).Status)
	require.Equal(t, "15.00", checkoutOf(t, s, b).RefundedAmount.String())
}

// lostCheckoutAnswer: whatever the company has made of it, there is one checkout that the customer is sent to.
func lostCheckoutAnswer(t *testing.T, s *harness.Stack, _ gateways.Capabilities) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	s.Fault(map[string]any{"operation": "create_checkout", "mode": "timeout_after_effect"})

	b := customer.Book(1)

	require.Eventually(t, func() bool {
		if b.Payment.CheckoutURL == nil {
			_ = customer.Post(intentPath(b.ID), byCard()).Data(&b.Payment)
		}

		return b.Payment.CheckoutURL != nil
	}, patience, 200*time.Millisecond)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)
}

// cancelledAtCompany: the checkout of a booking that was given up cannot be paid any more, where the company can close one.
func cancelledAtCompany(t *testing.T, s *harness.Stack, can gateways.Capabilities) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)
	a, err := customer.Do(http.MethodPost, bookingsPath+"/"+b.ID.String()+"/cancel", nil, nil)
	require.NoError(t, err)
	require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, a.Status, "%s", a.Body)

	if can.Cancel {
		require.Eventually(t, func() bool { return checkoutOf(t, s, b).Status == "canceled" }, patience, 50*time.Millisecond)
	} else {
		require.Equal(t, "open", checkoutOf(t, s, b).Status)
	}
}

// unprovenWebhook: what any sender could say has no effect and is not kept.
func unprovenWebhook(t *testing.T, s *harness.Stack, _ gateways.Capabilities) {
	t.Helper()

	before := s.Count("SELECT count(*) FROM webhook_events")

	for _, path := range companyPaths {
		for _, body := range []string{"", "{}", `{"type":"payment_paid","secret_token":"guess"}`, strings.Repeat("00", 40)} {
			a, err := s.Anybody().Do(http.MethodPost, "/api/v1/payments/"+path, []byte(body), nil)
			require.NoError(t, err)
			require.Equal(t, http.StatusUnauthorized, a.Status, "%s: %s: %s", path, body, a.Body)
		}
	}

	a, err := s.Anybody().Do(http.MethodPost, "/api/v1/payments/webhook/gateway_a/backup", []byte("{}"), nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, a.Status, "there is no backup account: %s", a.Body)

	require.Equal(t, before, s.Count("SELECT count(*) FROM webhook_events"))
}

// checkoutOf is the booking's checkout in the company's books.
func checkoutOf(t *testing.T, s *harness.Stack, b harness.Booking) (found rig.Checkout) {
	t.Helper()

	var reference string

	require.NoError(t, s.DB.QueryRowContext(t.Context(), "SELECT reference FROM payment_transactions WHERE id = $1",
		b.Payment.TransactionID).Scan(&reference))

	for _, c := range s.GatewayLedger().Checkouts {
		if c.ID == reference {
			return c
		}
	}

	require.Fail(t, "the company has no such checkout", reference)

	return found
}

// returnedRefund: a company that says later that a refund was not made has the money again, and finance staff pay it out, once.
func returnedRefund(t *testing.T, s *harness.Stack, _ gateways.Capabilities) {
	t.Helper()

	finance := s.As(models.RoleFinanceAdmin)
	b := s.As(models.RoleEndUser).BookPaid(1)
	r := decoded[refund](t, http.StatusCreated, finance.Post(refundPath(b.ID), partly("23.00")))
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, r.ID).Status)

	var made string

	for _, one := range s.GatewayLedger().Refunds {
		if one.CheckoutID == *b.Payment.Reference {
			made = one.ID
		}
	}

	if !s.Gateway.Traits().Revises {
		require.Error(t, s.Gateway.Decide(made, "fail"), "it has never done so")

		return
	}

	require.NoError(t, s.Gateway.Decide(made, "fail"))

	path := "/api/v1/admin/refunds/" + r.ID.String()

	require.Eventually(t, func() bool {
		return decoded[refund](t, http.StatusOK, finance.Get(path)).ReturnedAt != nil
	}, patience, 50*time.Millisecond)

	owed := decoded[refund](t, http.StatusOK, finance.Get(path))
	require.True(t, owed.NeedsPayout)
	require.Equal(t, models.RefundSucceeded, owed.Status)
	refused(t, finance.Post(path+"/reject-payout", map[string]any{"reason": "no"}), http.StatusConflict, models.CodeInvalidState)

	payout := map[string]any{"payout_reference": "TRF-2026-1"}
	refused(t, finance.Post(path+"/confirm-payout", payout), http.StatusForbidden, models.CodeForbidden)

	for range 2 {
		require.False(t, decoded[refund](t, http.StatusOK, s.As(models.RoleAdmin).Post(path+"/confirm-payout", payout)).NeedsPayout)
	}

	require.Equal(t, 2, s.Count(`SELECT count(*) FROM ledger_transfers WHERE refund_id = '`+r.ID.String()+`' AND amount = 23
		AND kind IN ('REFUND_RETURNED', 'REFUND_REPAID')`))
	requireEntriesAddUp(t, s, b)
}

// refundedInDashboard: what the company's own dashboard gave back is found, named and not refunded again; FULL gives back what is left.
// No webhook is needed: the company is asked before a refund is shown.
func refundedInDashboard(t *testing.T, s *harness.Stack, _ gateways.Capabilities) {
	t.Helper()

	finance := s.As(models.RoleFinanceAdmin)
	b := s.As(models.RoleEndUser).BookPaid(1)
	require.NoError(t, s.Gateway.RefundInDashboard(*b.Payment.Reference, models.MustMoney("20.00")))

	var shown struct {
		Amount  models.Money `json:"amount"`
		Outside models.Money `json:"outside_refunded_amount"`
	}

	require.Eventually(t, func() bool {
		a := finance.Get(refundPath(b.ID) + "-preview?refund_type=FULL")

		return a.Status == http.StatusOK && a.Data(&shown) == nil && shown.Outside.String() == "20.00"
	}, patience, 200*time.Millisecond)
	require.Equal(t, "95.00", shown.Amount.String())
	require.Contains(t, incidentOf(t, s, models.IncidentOutsideRefund, b.Payment.TransactionID), "20.00 SAR")

	refused(t, finance.Post(refundPath(b.ID), partly("95.01")), http.StatusConflict, models.CodeRefundExceedsRemaining)

	r := decoded[refund](t, http.StatusCreated, finance.Post(refundPath(b.ID), fully()))
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, r.ID).Status)
	require.Equal(t, "115.00", checkoutOf(t, s, b).RefundedAmount.String())
	require.Equal(t, models.BookingCancelled, statusOf(t, s.As(models.RoleEndUser), b.ID).BookingStatus)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM ledger_transfers WHERE kind = 'OUTSIDE_REFUND' AND amount = 20
		AND transaction_id = '`+b.Payment.TransactionID.String()+`'`))
}

// disputedPayment: a bank's dispute, which names nothing of ours, opens an incident about the payment where the company tells of it. While
// it is open nothing of the payment is paid out, and each refusal names the incident; what it comes to is in the timeline.
func disputedPayment(t *testing.T, s *harness.Stack, _ gateways.Capabilities) {
	t.Helper()

	finance := s.As(models.RoleFinanceAdmin)
	b := s.As(models.RoleEndUser).BookPaid(1)
	require.NoError(t, s.Gateway.Dispute(*b.Payment.Reference))

	if !s.Gateway.Traits().Revises { // Stripe's simulator is the one that tells
		return
	}

	require.Eventually(t, func() bool {
		return s.Count(`SELECT count(*) FROM incidents WHERE kind = 'PAYMENT_DISPUTED'
			AND payment_transaction_id = '`+b.Payment.TransactionID.String()+`'`) == 1
	}, patience, 50*time.Millisecond)
	require.Equal(t, models.TransactionPaid, statusOf(t, s.As(models.RoleEndUser), b.ID).PaymentStatus)

	lines := recordsOf(t, s, "&booking_id="+b.ID.String())
	require.Len(t, lines, 1)

	incident := models.IncidentID(models.IncidentPaymentDisputed, b.Payment.TransactionID.String()).String()

	for what, a := range map[string]harness.Answer{
		"refund": finance.Post(refundPath(b.ID), partly("20.00")), "all of it": finance.Post(refundPath(b.ID), fully()),
		"preview":  finance.Get(refundPath(b.ID) + "-preview?refund_type=FULL"),
		"transfer": finance.Post(markPath(lines[0].ID), map[string]string{"payout_reference": "TRF-" + b.ID.String()}),
	} {
		refused(t, a, http.StatusConflict, models.CodePaymentDisputed)
		require.Contains(t, string(a.Body), incident, what)
	}

	require.NoError(t, s.Gateway.EndDispute(*b.Payment.Reference, engine.DisputeWon))
	require.Eventually(t, func() bool {
		return finance.Get(refundPath(b.ID)+"-preview?refund_type=FULL").Status == http.StatusOK
	}, patience, 50*time.Millisecond)

	r := decoded[refund](t, http.StatusCreated, finance.Post(refundPath(b.ID), partly("20.00")))
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, r.ID).Status)

	story := string(finance.Get("/api/v1/admin/payment-transactions/" + b.Payment.TransactionID.String()).Body)
	require.Contains(t, story, `"DISPUTE_OPENED"`)
	require.Contains(t, story, `"DISPUTE_CLOSED"`)
	requireEntriesAddUp(t, s, b)
}

// pageOfOurs: the customer sees the company's form while there is something to pay, and what has become of it afterwards, whatever the
// query says.
func pageOfOurs(t *testing.T, s *harness.Stack, _ gateways.Capabilities) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)

	path, ours := strings.CutPrefix(*b.Payment.CheckoutURL, s.URL)
	if !ours { // it is the company's: there is none here
		require.Equal(t, http.StatusNotFound, s.Anybody().Get("/pay/"+b.Payment.TransactionID.String()).Status)

		return
	}

	shows := func(query, text string) {
		t.Helper()

		a := s.Anybody().Get(path + query)
		require.Equal(t, http.StatusOK, a.Status)
		require.Contains(t, string(a.Body), text)
		require.Contains(t, a.Header.Get("Content-Security-Policy"), "default-src 'none'")
		require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
		require.Equal(t, strings.Contains(text, "paymentWidgets"), strings.Contains(string(a.Body), *b.Payment.Reference))
	}

	shows("?lang=en", `class="paymentWidgets"`)
	shows("?lang=en&id=made-up&resourcePath=/v1/elsewhere", "We are checking your payment")
	require.Equal(t, http.StatusUnprocessableEntity, s.Anybody().Get(path+"?lang=fr").Status)
	require.Equal(t, http.StatusNotFound, s.Anybody().Get("/pay/"+b.Payment.TransactionID.String()).Status, "it is in logs")

	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)
	shows("?lang=en", "Payment received")
	shows("?lang=en&id=made-up", "Payment received")

	b = customer.Book(1)
	path = strings.TrimPrefix(*b.Payment.CheckoutURL, s.URL)
	require.Equal(t, http.StatusOK, customer.Post("/api/v1/bookings/"+b.ID.String()+"/cancel", nil).Status)
	shows("?lang=ar", "أُلغي الدفع")
}
