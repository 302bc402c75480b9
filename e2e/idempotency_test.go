package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// keyed is an operation that accepts an Idempotency-Key.
type keyed struct {
	path  string
	body  map[string]any
	other map[string]any // a body that is right, too, and another one
	by    *harness.Caller
	want  int
	count string // counts what one call brings about, of what is about the path
}

// idempotencyKeys tries keys on every operation that takes one (rules: idempotency.replay, idempotency.where).
func idempotencyKeys(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance, company := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin), s.As(models.RoleProviderAdmin)
	declined := customer.Book(1)
	require.NoError(t, s.Pay(*declined.Payment.CheckoutURL, "decline"))
	require.Equal(t, models.TransactionFailed, customer.Await(declined.ID).PaymentStatus)

	back, out := customer.BookPaid(2), customer.BookPaid(1)
	campaign := s.NewCampaign("100.00", 1)
	byWallet := map[string]any{"payment_method": models.MethodWalletB}

	for name, k := range map[string]keyed{
		"booking": {
			bookingsPath, s.BookingRequest(3), s.BookingRequest(4), customer, http.StatusCreated,
			"SELECT count(*) FROM bookings WHERE seats = 3 AND trip_id = '" + s.World.Trip.ID.String() + "'",
		},
		"booking intent": {
			intentPath(declined.ID), byCard(), byWallet, customer, http.StatusCreated,
			"SELECT count(*) FROM payment_transactions WHERE attempt = 2 AND booking_id = '" + declined.ID.String() + "'",
		},
		"campaign intent": {
			"/api/v1/payments/ad-campaign/" + campaign.String() + "/intent", byCard(), byWallet, company, http.StatusCreated,
			"SELECT count(*) FROM payment_transactions WHERE ad_campaign_id = '" + campaign.String() + "'",
		},
		"refund": {
			refundPath(back.ID), partly("10.00"), partly("11.00"), finance, http.StatusCreated,
			"SELECT count(*) FROM refunds WHERE booking_id = '" + back.ID.String() + "'",
		},
		"payout": {
			markPath(entriesOf(t, s, out.ID)[0].ID),
			map[string]any{"payout_reference": "TRF-9"},
			map[string]any{"payout_reference": "TRF-8"},
			finance, http.StatusOK,
			"SELECT count(*) FROM audit_log WHERE action = 'FINANCIAL_RECORD_TRANSFERRED' AND details ->> 'payout_reference' = 'TRF-9'",
		},
	} {
		t.Run(name, func(t *testing.T) { k.check(t, s) })
	}

	t.Run("an order without an answer", func(t *testing.T) { orderWithoutAnswer(t, s) })
}

// orderWithoutAnswer asks once more for a refund whose first request did not live to answer, and had found its id by another rule, as a
// process of another version would: it is that refund, and no second one.
func orderWithoutAnswer(t *testing.T, s *harness.Stack) {
	t.Helper()

	finance, paid := s.As(models.RoleFinanceAdmin), s.As(models.RoleEndUser).BookPaid(2)
	refunds := "SELECT count(*) FROM refunds WHERE booking_id = '" + paid.ID.String() + "'"
	before, key := uuid.NewString(), uuid.NewString()

	first := post(finance, refundPath(paid.ID), partly("10.00"), before)
	require.Equal(t, http.StatusCreated, first.Status, "%s", first.Body)

	_, err := s.DB.ExecContext(t.Context(), `INSERT INTO idempotency_keys (user_id, method, path, key, body_hash, resource_id, claim, locked_until)
		SELECT user_id, method, path, $2, body_hash, resource_id, gen_random_uuid(), now() FROM idempotency_keys WHERE key = $1`, before, key)
	require.NoError(t, err)

	again := post(finance, refundPath(paid.ID), partly("10.00"), key)
	require.Equal(t, http.StatusCreated, again.Status, "%s", again.Body)
	require.Empty(t, again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, first.Header.Get("Location"), again.Header.Get("Location"))
	require.Equal(t, 1, s.Count(refunds))
}

func (k keyed) check(t *testing.T, s *harness.Stack) {
	t.Helper()

	for _, bad := range []string{"", "x", "00000000-0000-0000-0000-000000000000", s.World.Trip.ID.String(), uuid.NewString() + " x"} {
		a := post(k.by, k.path, k.body, bad)
		refused(t, a, http.StatusUnprocessableEntity, models.CodeValidation)
		require.NotEmpty(t, errorDetails(t, a)["Idempotency-Key"], "%q", bad)
	}

	require.Zero(t, s.Count(k.count))

	// Twenty at once are one: the others wait, or get the first one's answer.
	key := uuid.NewString()

	var first harness.Answer

	for _, a := range atOnce(20, func(int) harness.Answer { return post(k.by, k.path, k.body, key) }) {
		switch {
		case a.Status == http.StatusConflict:
			refused(t, a, http.StatusConflict, models.CodeIdempotencyKeyInProcess)
		case first.Status == 0:
			first = a
		default:
			require.Equal(t, string(first.Body), string(a.Body))
		}
	}

	require.Equal(t, k.want, first.Status, "%s", first.Body)
	require.Equal(t, 1, s.Count(k.count))

	for _, same := range []string{key, strings.ToUpper(key)} {
		a := post(k.by, k.path, k.body, same)
		require.Equal(t, k.want, a.Status)
		require.Equal(t, "true", a.Header.Get("Idempotent-Replayed"))
		require.Equal(t, first.Header.Get("Location"), a.Header.Get("Location"))
		require.Equal(t, string(first.Body), string(a.Body))
	}

	refused(t, post(k.by, k.path, k.other, key), http.StatusUnprocessableEntity, models.CodeIdempotencyKeyReused)
	require.Equal(t, 1, s.Count(k.count))

	// The key is the caller's own. Another caller with the same key gets another answer.
	theirs := post(s.As(models.RoleAdmin), k.path, k.other, key)
	require.Empty(t, theirs.Header.Get("Idempotent-Replayed"))
	require.NotEqual(t, models.CodeIdempotencyKeyReused, theirs.Code())

	// A day later it is a key like any other.
	_, err := s.DB.ExecContext(t.Context(),
		"UPDATE idempotency_keys SET created_at = created_at - interval '24 hours' WHERE key = $1", key)
	require.NoError(t, err)

	later := post(k.by, k.path, k.body, key)
	require.Empty(t, later.Header.Get("Idempotent-Replayed"))
	require.NotEqual(t, models.CodeIdempotencyKeyReused, later.Code(), "%s", later.Body)
}
