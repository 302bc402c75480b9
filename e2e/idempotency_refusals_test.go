package e2e_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api"
	"rihla/e2e/harness"
	"rihla/models"
)

// refusal is a request that is refused, what ends the cause, and what the same request with the same key is answered then.
type refusal struct {
	by     *harness.Caller
	path   string
	body   any
	status int
	code   models.Code
	end    func() // nil: the cause does not end
	then   int
}

// keysAfterRefusals: on every operation that takes an Idempotency-Key a refusal is not kept. The same request with the same key is judged
// anew, and is done once its cause is over (rules: idempotency.replay).
func keysAfterRefusals(t *testing.T, s *harness.Stack) {
	t.Helper()

	refusals := refusalsOf(t, s)

	doc, err := api.Document()
	require.NoError(t, err)

	keyed := map[string]bool{}

	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			if op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil {
				keyed[op.OperationID] = true
				require.Contains(t, refusals, op.OperationID)
			}
		}
	}

	for name, r := range refusals {
		t.Run(name, func(t *testing.T) {
			require.True(t, keyed[name], "it takes no key")

			key := uuid.NewString()

			for range 2 {
				a := post(r.by, r.path, r.body, key)
				refused(t, a, r.status, r.code)
				require.Empty(t, a.Header.Get("Idempotent-Replayed"))
			}

			if r.end == nil {
				return
			}

			r.end()

			done := post(r.by, r.path, r.body, key)
			require.Equal(t, r.then, done.Status, "%s", done.Body)
			require.Empty(t, done.Header.Get("Idempotent-Replayed"))

			again := post(r.by, r.path, r.body, key)
			require.Equal(t, r.then, again.Status)
			require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
			require.Equal(t, string(done.Body), string(again.Body))
		})
	}
}

func refusalsOf(t *testing.T, s *harness.Stack) map[string]refusal {
	t.Helper()

	customer, finance, admin := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin), s.As(models.RoleAdmin)

	change := func(query string, id uuid.UUID) func() {
		return func() {
			_, err := s.DB.ExecContext(t.Context(), query, id)
			require.NoError(t, err)
		}
	}
	// onTrip books on a trip of its own, which is called off until end is called.
	onTrip := func(pay func(harness.Booking)) (b harness.Booking, end func()) {
		trip := s.NewTrip("Called off for a while", 10)
		body := s.BookingRequest(1)
		body["trip_id"] = trip.ID
		b = decoded[harness.Booking](t, http.StatusCreated, customer.Post(bookingsPath, body))

		pay(b)
		change("UPDATE trips SET status = 'CANCELLED' WHERE id = $1", trip.ID)()

		return b, change("UPDATE trips SET status = 'PUBLISHED' WHERE id = $1", trip.ID)
	}

	full := s.NewTrip("Full for a while", 2)
	change("UPDATE trips SET seats_taken = capacity WHERE id = $1", full.ID)()

	crowded := s.BookingRequest(1)
	crowded["trip_id"] = full.ID

	declined, back := onTrip(func(b harness.Booking) {
		require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "decline"))
		require.Equal(t, models.TransactionFailed, customer.Await(b.ID).PaymentStatus)
	})
	open, again := onTrip(func(harness.Booking) {})

	campaign := s.NewCampaign("100.00", 1)
	change("UPDATE ad_campaigns SET deleted_at = now() WHERE id = $1", campaign)()

	unbought := s.NewCampaign("100.00", 2)
	unpaid, asked, cancelled, resent, noted := customer.Book(1), customer.Book(1), customer.Book(1), customer.Book(1), models.NewID()
	paid := func(b harness.Booking) func() {
		return func() {
			require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
			require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)
		}
	}

	// Asked for late, half of it goes back, and all of it once the trip is called off.
	half := s.NewTrip("Half of it", 2)
	change("UPDATE trips SET departure_at = now() + interval '30 hours' WHERE id = $1", half.ID)()

	request := s.BookingRequest(1)
	request["trip_id"] = half.ID
	late := decoded[harness.Booking](t, http.StatusCreated, customer.Post(bookingsPath, request))
	paid(late)()

	approval := decoded[cancelRequest](t, http.StatusCreated, customer.Post(bookingsPath+"/"+late.ID.String()+"/cancellation-requests", because()))

	line := func() uuid.UUID { return entriesOf(t, s, customer.BookPaid(1).ID)[0].ID }
	mark := func(id uuid.UUID) { decoded[record](t, http.StatusOK, finance.Post(markPath(id), nil)) }
	revert := func(id uuid.UUID) string { return adminRecords + "/" + id.String() + "/revert-transfer" }
	takeBack := func(id uuid.UUID) { decoded[record](t, http.StatusOK, admin.Post(revert(id), because())) }

	// An entry that was refunded and paid out is not transferable; one whose mark was taken back is.
	one, some, reverted := line(), line(), line()
	reference := map[string]any{"payout_reference": "AGAIN-1"}

	mark(one)
	mark(some)

	return map[string]refusal{
		"CreateBooking": {
			customer, bookingsPath, crowded, http.StatusConflict, models.CodeTripCapacityReached,
			change("UPDATE trips SET seats_taken = 0 WHERE id = $1", full.ID), http.StatusCreated,
		},
		"CreateBookingIntent": {
			customer, intentPath(declined.ID), byCard(), http.StatusConflict, models.CodeBookingNotPayable, back, http.StatusCreated,
		},
		"CreateCampaignIntent": {
			s.As(models.RoleProviderAdmin), "/api/v1/payments/ad-campaign/" + campaign.String() + "/intent", byCard(),
			http.StatusNotFound, models.CodeNotFound, change("UPDATE ad_campaigns SET deleted_at = NULL WHERE id = $1", campaign), http.StatusCreated,
		},
		"SendCheckoutLink": {
			s.As(models.RoleSupportAgent), "/api/v1/admin/bookings/" + open.ID.String() + "/send-checkout", nil,
			http.StatusConflict, models.CodeBookingNotPayable, again, http.StatusAccepted,
		},
		"RefundBooking": {
			finance, refundPath(unpaid.ID), partly("10.00"), http.StatusConflict, models.CodeBookingNotRefundable, paid(unpaid), http.StatusCreated,
		},
		"RequestCancellation": {
			customer, bookingsPath + "/" + asked.ID.String() + "/cancellation-requests", because(), http.StatusConflict, models.CodeInvalidState,
			paid(asked), http.StatusCreated,
		},
		"ApproveCancellation": {
			finance, "/api/v1/admin/cancellation-requests/" + approval.ID.String() + "/approve",
			map[string]any{"expected_amount": late.Amount},
			http.StatusConflict, models.CodeRefundAmountChanged,
			change("UPDATE trips SET status = 'CANCELLED' WHERE id = $1", half.ID), http.StatusOK,
		},
		"CancelPaidBooking": {
			finance, "/api/v1/admin/bookings/" + cancelled.ID.String() + "/cancel",
			map[string]any{"refund": "FULL"},
			http.StatusConflict,
			models.CodeInvalidState, paid(cancelled), http.StatusOK,
		},
		"RefundAdCampaign": {
			finance, "/api/v1/admin/ad-campaigns/" + unbought.String() + "/refund",
			map[string]any{"refund_type": models.RefundFull},
			http.StatusConflict, models.CodeInvalidState, func() {
				attempt := decoded[transaction](t, http.StatusCreated, s.As(models.RoleProviderAdmin).Post(campaignIntentPath(unbought), byCard()))
				require.NoError(t, s.Pay(*attempt.CheckoutURL, "succeed"))
				require.Equal(t, models.TransactionPaid, awaitTransaction(t, s, attempt.ID).Status)
			}, http.StatusCreated,
		},
		// Money that came late is ordered back by the service itself: what a person could order ends no sooner than the test.
		"RefundLatePayment": {
			by: finance, path: "/api/v1/admin/payment-transactions/" + declined.Payment.TransactionID.String() + "/refund",
			body: because(), status: http.StatusConflict, code: models.CodeInvalidState,
		},
		"ResendBookingMessage": {
			finance, "/api/v1/admin/bookings/" + resent.ID.String() + "/resend",
			map[string]any{"kind": models.ResendConfirmation},
			http.StatusConflict, models.CodeInvalidState, paid(resent), http.StatusAccepted,
		},
		// There is no booking that comes to be at an id.
		"AddBookingNote": {
			by: finance, path: "/api/v1/admin/bookings/" + noted.String() + "/notes", body: map[string]any{"note": "Called."},
			status: http.StatusNotFound, code: models.CodeNotFound,
		},
		"AddIncidentNote": {
			finance, incidentsPath + "/" + noted.String() + "/notes",
			map[string]any{"note": "Asked the company."},
			http.StatusNotFound, models.CodeNotFound,
			change("INSERT INTO incidents (id, kind, message) VALUES ($1, 'GATEWAY_OUTAGE', 'The gateway did not answer.')", noted), http.StatusCreated,
		},
		"MarkRecordTransferred": {
			finance, markPath(one), reference, http.StatusConflict, models.CodeRecordNotTransferable,
			func() { takeBack(one) }, http.StatusOK,
		},
		"MarkRecordsTransferred": {
			finance, adminRecords + "/mark-transferred",
			map[string]any{"ids": []uuid.UUID{some}, "payout_reference": "AGAIN-2"},
			http.StatusConflict, models.CodeRecordNotTransferable, func() { takeBack(some) }, http.StatusOK,
		},
		"RevertRecordTransfer": {
			admin, revert(reverted), because(), http.StatusConflict, models.CodeInvalidState, func() { mark(reverted) }, http.StatusOK,
		},
	}
}

func because() map[string]string { return map[string]string{"reason": "The bank returned it."} }
