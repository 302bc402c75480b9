package harness

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/rig"
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
	if err := s.conformance.Check(r, a); err != nil {
		s.tb.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
}

// NewTrip inserts a further trip of the World.
func (s *Stack) NewTrip(title string, capacity int) models.Trip {
	s.tb.Helper()

	trip := s.World.NewTrip(title, capacity)
	require.NoError(s.tb, seed.Of(s.Store).InsertDemo(s.tb.Context(), seed.DemoData{Trips: []models.Trip{trip}}))

	return trip
}

// NewTripAt inserts a trip like the World's at another price per seat.
func (s *Stack) NewTripAt(price string) models.Trip {
	s.tb.Helper()

	trip := s.World.NewTrip("Trip at "+price, 40)
	trip.PricePerSeat = models.MustMoney(price)
	require.NoError(s.tb, seed.Of(s.Store).InsertDemo(s.tb.Context(), seed.DemoData{Trips: []models.Trip{trip}}))

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

// Signed are the headers of a webhook with the body, signed now with the channel's secret.
func (s *Stack) Signed(channel models.Channel, id string, body []byte) map[string]string {
	s.tb.Helper()

	return s.SignedAt(channel, id, body, time.Now())
}

// SignedAt is Signed at another time.
func (s *Stack) SignedAt(channel models.Channel, id string, body []byte, at time.Time) map[string]string {
	s.tb.Helper()

	header, err := rig.SignWebhook(channel, id, at, body)
	require.NoError(s.tb, err)

	return header
}
