package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

func partly(amount string) map[string]any {
	return map[string]any{"refund_type": models.RefundPartial, "amount": models.MustMoney(amount)}
}

func fully() map[string]any { return map[string]any{"refund_type": models.RefundFull} }

// entriesOf are a booking's ledger entries, oldest first.
func entriesOf(t *testing.T, s *harness.Stack, booking uuid.UUID) []record {
	t.Helper()

	return decoded[[]record](t, http.StatusOK,
		s.As(models.RoleFinanceAdmin).Get(adminRecords+"?sort=created_at&booking_id="+booking.String()))
}

func seatsTaken(s *harness.Stack) int {
	return s.Count("SELECT seats_taken FROM trips WHERE id = $1", s.World.Trip.ID)
}

func fullRefund(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	b := customer.BookPaid(2)
	require.Equal(t, 2, seatsTaken(s))

	contradiction := partly("5.00")
	contradiction["refund_type"] = models.RefundFull
	refused(t, finance.Post(refundPath(b.ID), contradiction), http.StatusUnprocessableEntity, models.CodeValidation)

	body := fully()
	body["reason"] = "The trip was called off"
	a := finance.Post(refundPath(b.ID), body)
	r := decoded[refund](t, http.StatusCreated, a)
	require.Equal(t, "/api/v1/admin/refunds/"+r.ID.String(), a.Header.Get("Location"))
	require.Equal(t, models.RefundSucceeded, r.Status)
	require.Equal(t, "230.00", r.Amount.String())
	require.Equal(t, "The trip was called off", *r.Reason)
	require.Equal(t, s.World.Users[models.RoleFinanceAdmin].ID, *r.RequestedBy)
	require.NotNil(t, r.CompletedAt)
	require.Equal(t, r, decoded[refund](t, http.StatusOK, finance.Get(a.Header.Get("Location"))))

	added := transactionByID(t, s, *r.Transaction)
	require.Equal(t, models.KindRefund, added.Kind)
	require.Equal(t, models.TransactionRefunded, added.Status)
	require.Equal(t, "230.00", added.Amount.String())
	require.Equal(t, models.TransactionPaid, transactionByID(t, s, b.Payment.TransactionID).Status, "what was paid stays paid")

	lines := entriesOf(t, s, b.ID)
	require.Len(t, lines, 1)
	require.Equal(t, models.BalanceRefunded, lines[0].Balance)
	require.Equal(t, lines[0].Gross, lines[0].Refunded)

	require.Equal(t, models.BookingCancelled, statusOf(t, customer, b.ID).BookingStatus)
	require.Equal(t, 0, seatsTaken(s))
	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM notifications WHERE transaction_id = $1 AND kind = 'REFUND_SUCCEEDED' AND status = 'SENT'", added.ID) == 2
	}, patience, refundPoll)

	refused(t, finance.Post(refundPath(b.ID), fully()), http.StatusConflict, models.CodeBookingNotRefundable)
	refused(t, customer.Post(intentPath(b.ID), byCard()), http.StatusConflict, models.CodeBookingNotPayable)
}

// partialRefunds gives a booking back in three parts: the first two leave it standing, the last one ends it.
func partialRefunds(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	b := customer.BookPaid(1)

	for i, part := range []string{"33.33", "0.01", "81.66"} {
		r := decoded[refund](t, http.StatusCreated, finance.Post(refundPath(b.ID), partly(part)))
		require.Equal(t, models.RefundSucceeded, r.Status)
		require.Equal(t, models.TransactionPartialRefund, transactionByID(t, s, *r.Transaction).Status)

		last := i == 2
		require.Equal(t, last, statusOf(t, customer, b.ID).BookingStatus == models.BookingCancelled)

		if last {
			require.Equal(t, 0, seatsTaken(s))
		} else {
			require.Equal(t, 1, seatsTaken(s))
		}

		requireEntriesAddUp(t, s, b)
	}

	lines := entriesOf(t, s, b.ID)
	require.Len(t, lines, 3)

	for i, want := range []string{"33.33", "0.01", "81.66"} {
		require.Equal(t, want, lines[i].Gross.String())
		require.Equal(t, want, lines[i].Refunded.String())
		require.Equal(t, models.BalanceRefunded, lines[i].Balance)

		if i > 0 {
			require.Equal(t, lines[i-1].ID, *lines[i].SplitFrom)
			require.NotEqual(t, lines[i-1].Number, lines[i].Number)
		}
	}
}

// requireEntriesAddUp checks that a booking's entries are what was sold, on each gross = commission + net, and nothing is
// counted twice.
func requireEntriesAddUp(t *testing.T, s *harness.Stack, b harness.Booking) {
	t.Helper()

	var gross, commission models.Money

	for _, line := range entriesOf(t, s, b.ID) {
		require.True(t, line.Gross.Equal(line.Commission.Add(line.Net)))

		if line.Kind == models.RecordSale {
			gross, commission = gross.Add(line.Gross), commission.Add(line.Commission)
		}
	}

	require.Equal(t, b.Amount.String(), gross.String())
	require.Equal(t, "11.50", commission.String(), "10 % of one seat")
}

func refundRefused(t *testing.T, s *harness.Stack) {
	t.Helper()

	finance := s.As(models.RoleFinanceAdmin)
	unpaid, paid := s.As(models.RoleEndUser).Book(1), s.As(models.RoleEndUser).BookPaid(1)

	for amount, body := range map[string]any{
		"none":           map[string]any{"refund_type": "PARTIAL"},
		"null":           map[string]any{"refund_type": "PARTIAL", "amount": nil},
		"zero":           []byte(`{"refund_type":"PARTIAL","amount":0}`),
		"zero, decimals": []byte(`{"refund_type":"PARTIAL","amount":0.00}`),
		"negative":       []byte(`{"refund_type":"PARTIAL","amount":-10}`),
		"three decimals": []byte(`{"refund_type":"PARTIAL","amount":10.001}`),
		"tiny":           []byte(`{"refund_type":"PARTIAL","amount":1e-3}`),
		"a string":       []byte(`{"refund_type":"PARTIAL","amount":"10.00"}`),
		"huge":           []byte(`{"refund_type":"PARTIAL","amount":1e20}`),
		"no end":         []byte(`{"refund_type":"PARTIAL","amount":1e999999999}`),
		"of all":         []byte(`{"refund_type":"FULL","amount":10}`),
		"of the policy":  []byte(`{"refund_type":"POLICY","amount":10}`),
	} {
		a := finance.Post(refundPath(paid.ID), body)
		refused(t, a, http.StatusUnprocessableEntity, models.CodeValidation)
		require.Contains(t, errorDetails(t, a), "amount", amount)
	}

	refused(t, finance.Post(refundPath(paid.ID), map[string]any{"refund_type": "SOME"}), http.StatusUnprocessableEntity, models.CodeValidation)
	refused(t, finance.Post(refundPath(unpaid.ID), fully()), http.StatusConflict, models.CodeBookingNotRefundable)
	refused(t, finance.Post(refundPath(unpaid.ID), partly("1.00")), http.StatusConflict, models.CodeBookingNotRefundable)
	refused(t, finance.Post(refundPath(uuid.New()), fully()), http.StatusNotFound, models.CodeNotFound)
	refused(t, finance.Post(refundPath(paid.ID), partly("115.01")), http.StatusConflict, models.CodeRefundExceedsRemaining)
	require.Equal(t, 0, s.Count("SELECT count(*) FROM refunds WHERE booking_id = ANY($1)", []uuid.UUID{unpaid.ID, paid.ID}))

	// One halala is a refund, and 1e1 is ten.
	require.Equal(t, "0.01", decoded[refund](t, http.StatusCreated, finance.Post(refundPath(paid.ID), partly("0.01"))).Amount.String())
	require.Equal(t, "10.00", decoded[refund](t, http.StatusCreated,
		finance.Post(refundPath(paid.ID), []byte(`{"refund_type":"PARTIAL","amount":1e1}`))).Amount.String())
	refused(t, finance.Post(refundPath(paid.ID), partly("105.00")), http.StatusConflict, models.CodeRefundExceedsRemaining)

	// A key is good for one request.
	key := uuid.NewString()
	first := post(finance, refundPath(paid.ID), partly("5.00"), key)
	again := post(finance, refundPath(paid.ID), []byte(`{ "amount": 5, "refund_type": "PARTIAL" }`), key)
	require.Equal(t, http.StatusCreated, first.Status)
	refused(t, post(finance, refundPath(paid.ID), partly("6.00"), key), http.StatusUnprocessableEntity, models.CodeIdempotencyKeyReused)

	if again.Status == http.StatusCreated { // whether 5 and 5.00 are the same body is the service's to say
		require.Equal(t, decoded[refund](t, http.StatusCreated, first).ID, decoded[refund](t, http.StatusCreated, again).ID)
	} else {
		refused(t, again, http.StatusUnprocessableEntity, models.CodeIdempotencyKeyReused)
	}

	require.Equal(t, 3, s.Count("SELECT count(*) FROM refunds WHERE booking_id = $1", paid.ID))
}

// clawback refunds money that the provider has been paid already: its next payout is smaller.
func clawback(t *testing.T, s *harness.Stack) {
	t.Helper()

	finance := s.As(models.RoleFinanceAdmin)
	b := s.As(models.RoleEndUser).BookPaid(1)
	sold := entriesOf(t, s, b.ID)[0]

	body := map[string]string{"payout_reference": "TRF-7", "payout_date": models.DateIn(time.Now()).String()}
	require.Equal(t, http.StatusOK, finance.Post(markPath(sold.ID), body).Status)
	decoded[refund](t, http.StatusCreated, finance.Post(refundPath(b.ID), partly("23.00")))

	byKind := map[models.RecordKind][]record{}
	for _, line := range entriesOf(t, s, b.ID) {
		byKind[line.Kind] = append(byKind[line.Kind], line)
	}

	require.Len(t, byKind[models.RecordSale], 2)
	require.Len(t, byKind[models.RecordClawback], 1)

	for _, line := range byKind[models.RecordSale] { // both keep how they were paid out
		require.Equal(t, "TRF-7", *line.PayoutReference)
		require.Equal(t, models.DateIn(time.Now()).String(), *line.PayoutDate)
		require.NotNil(t, line.TransferredAt)
	}

	back := byKind[models.RecordClawback][0]
	require.Equal(t, "-20.70", back.Gross.String(), "the net of 23.00")
	require.Equal(t, "-20.70", back.Net.String())
	require.Equal(t, "0.00", back.Commission.String())
	require.Equal(t, models.BalanceInCurrent, back.Balance)
	requireEntriesAddUp(t, s, b)

	// It is netted with the next payout, and then is no longer owed.
	require.Equal(t, http.StatusOK, finance.Post(markPath(back.ID), map[string]string{"payout_reference": "TRF-8"}).Status)

	decoded[refund](t, http.StatusCreated, finance.Post(refundPath(b.ID), fully()))

	var owed models.Money

	for _, line := range entriesOf(t, s, b.ID) {
		if line.Balance == models.BalanceInCurrent {
			owed = owed.Add(line.Net)
		}
	}

	require.Equal(t, "-82.80", owed.String(), "90 % of 92.00")
}

func refundLists(t *testing.T, s *harness.Stack) {
	t.Helper()

	finance, support := s.As(models.RoleFinanceAdmin), s.As(models.RoleSupportAgent)
	b := s.As(models.RoleEndUser).BookPaid(1)

	for _, part := range []string{"20.00", "10.00", "30.00"} {
		decoded[refund](t, http.StatusCreated, finance.Post(refundPath(b.ID), partly(part)))
	}

	amounts := func(query string) (out []string) {
		for _, r := range decoded[[]refund](t, http.StatusOK, support.Get("/api/v1/admin/refunds?booking_id="+b.ID.String()+query)) {
			out = append(out, r.Amount.String())
		}

		return out
	}

	require.Equal(t, []string{"30.00", "10.00", "20.00"}, amounts(""), "newest first")
	require.Equal(t, []string{"10.00", "20.00", "30.00"}, amounts("&sort=amount"))
	require.Equal(t, []string{"20.00", "10.00", "30.00"}, amounts("&sort=created_at,-amount"))
	require.Len(t, amounts("&status=SUCCEEDED"), 3)
	require.Empty(t, amounts("&status=FAILED"))
	require.Empty(t, amounts("&page=2"))
	refused(t, support.Get("/api/v1/admin/refunds/"+uuid.NewString()), http.StatusNotFound, models.CodeNotFound)
}
