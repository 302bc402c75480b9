package harness

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways/standardwebhook"
	"rihla/internal/config"
	"rihla/internal/store/seed"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// For is the same running service as another test sees it: with a World of its own, so that tests which share a
// service share no rows, and failures that are its own.
func (s *Stack) For(tb testing.TB) *Stack {
	tb.Helper()

	view := *s
	view.tb = tb
	view.World = storetest.Fixture(tb, s.Store)

	return &view
}

// Tampered leaves rules out of the audit at the end, all of them when none is named: the test has put rows into states
// that the service cannot bring about. reason says which.
func (s *Stack) Tampered(reason string, rules ...string) {
	s.tb.Helper()
	s.ending.Tampered(s.tb, reason, rules...)
}

// conforms makes the test fail on every answer that is not as the API's document says.
func (s *Stack) conforms(r *http.Request, a Answer) {
	if s.conformance == nil { // the gateway, which has no such document
		return
	}

	if err := s.conformance.Check(r, a); err != nil {
		s.tb.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
}

// NewTrip inserts a further trip of the World.
func (s *Stack) NewTrip(title string, capacity int) models.Trip {
	s.tb.Helper()

	trip := s.World.NewTrip(title, capacity)
	require.NoError(s.tb, s.Store.Seed.InsertDemo(s.tb.Context(), seed.DemoData{Trips: []models.Trip{trip}}))

	return trip
}

// NewCampaign inserts an unpaid campaign for the World's trip, from so many days from today in Riyadh on, for a week.
// price is without VAT.
func (s *Stack) NewCampaign(price string, startsIn int) uuid.UUID {
	s.tb.Helper()

	id, today := models.NewID(), models.DateIn(time.Now())
	_, err := s.DB.ExecContext(s.tb.Context(), `
		INSERT INTO ad_campaigns (id, provider_id, trip_id, created_by, title, starts_on, ends_on, price)
		VALUES ($1, $2, $3, $4, 'Campaign', $5, $6, $7)`,
		id, s.World.Provider.ID, s.World.Trip.ID, s.World.Users[models.RoleProviderAdmin].ID,
		today.AddDays(startsIn).String(), today.AddDays(startsIn+7).String(), price)
	require.NoError(s.tb, err)

	return id
}

// Fault makes the sandbox gateway misbehave; f has operation, mode and what they need.
func (s *Stack) Fault(f map[string]any) {
	s.tb.Helper()
	s.sandbox(http.MethodPost, "/sandbox/faults", f, http.StatusCreated)
}

// ClearFaults ends all misbehaviour of the sandbox gateway.
func (s *Stack) ClearFaults() {
	s.tb.Helper()
	s.sandbox(http.MethodDelete, "/sandbox/faults", nil, http.StatusNoContent)
}

// DecideRefund decides a refund that the sandbox gateway holds, by the gateway's id; outcome is succeed or fail.
func (s *Stack) DecideRefund(gatewayID, outcome string) {
	s.tb.Helper()
	s.sandbox(http.MethodPost, "/sandbox/refunds/"+gatewayID+"/decide", map[string]string{"outcome": outcome}, http.StatusOK)
}

// GatewayLedger is what the sandbox gateway knows of its checkouts and refunds.
type GatewayLedger struct {
	Checkouts []struct {
		ID                string       `json:"id"`
		MerchantReference string       `json:"merchant_reference"`
		Status            string       `json:"status"`
		Amount            models.Money `json:"amount"`
		RefundedAmount    models.Money `json:"refunded_amount"`
	} `json:"checkouts"`
	Refunds []struct {
		ID                string       `json:"id"`
		CheckoutID        string       `json:"checkout_id"`
		MerchantReference string       `json:"merchant_reference"`
		Amount            models.Money `json:"amount"`
		Status            string       `json:"status"`
	} `json:"refunds"`
}

// GatewayLedger asks the sandbox gateway for its books.
func (s *Stack) GatewayLedger() GatewayLedger {
	s.tb.Helper()

	var l GatewayLedger

	require.NoError(s.tb, s.sandbox(http.MethodGet, "/sandbox/ledger", nil, http.StatusOK).Into(&l))

	return l
}

// sandbox calls one of the gateway's own controls.
func (s *Stack) sandbox(method, path string, body any, want int) Answer {
	s.tb.Helper()

	gateway := Caller{stack: &Stack{URL: s.Sandbox, tb: s.tb}}
	a, err := gateway.Do(method, path, body, nil)
	require.NoError(s.tb, err)
	require.Equal(s.tb, want, a.Status, "%s", a.Body)

	return a
}

// Signed are the headers of a webhook with the body, signed now with the channel's secret.
func (s *Stack) Signed(channel models.Channel, id string, body []byte) map[string]string {
	s.tb.Helper()

	return s.SignedAt(channel, id, body, time.Now())
}

// SignedAt is Signed at another time.
func (s *Stack) SignedAt(channel models.Channel, id string, body []byte, at time.Time) map[string]string {
	s.tb.Helper()

	secrets, err := standardwebhook.ParseSecrets(config.DevWebhookSecret(channel).Reveal())
	require.NoError(s.tb, err)

	signature, err := standardwebhook.Sign(secrets, id, at, body)
	require.NoError(s.tb, err)

	return map[string]string{
		standardwebhook.HeaderID: id, standardwebhook.HeaderSignature: signature,
		standardwebhook.HeaderTimestamp: strconv.FormatInt(at.Unix(), 10),
	}
}
