package access_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/internal/store/storetest"
	"rihla/models"
)

type object = map[string]any

// resources are what companies run.
var resources = []struct {
	name, path string
	text       string // a field to patch
	body       func(s *harness.Stack) object
}{
	{"Bus", "/api/v1/provider/buses", "model", func(*harness.Stack) object {
		return object{
			"plate_number": mark()[:12], "model": "Coach", "capacity": 49, "driver": object{"name": "Driver"}, "features": []string{"wifi"},
			"status": "ACTIVE",
		}
	}},
	{"Hotel", "/api/v1/provider/hotels", "name", func(*harness.Stack) object {
		return object{"name": "Hotel", "city": "AlUla", "stars": 5, "status": "ACTIVE"}
	}},
	{"RestStop", "/api/v1/provider/rest-stops", "name", func(*harness.Stack) object {
		return object{"name": "Rest stop", "city": "Hail", "status": "ACTIVE"}
	}},
	{"Trip", "/api/v1/provider/trips", "title", func(s *harness.Stack) object {
		leaves := s.World.Trip.DepartureAt

		return object{
			"type": "TOURISM", "title": "Trip", "origin": "Riyadh", "destination": "AlUla",
			"departure_at": leaves.Format(time.RFC3339), "return_at": leaves.AddDate(0, 0, 3).Format(time.RFC3339),
			"hotel_id": s.World.Hotel.ID, "bus_id": s.World.Bus.ID, "rest_stop_ids": []uuid.UUID{s.World.RestStop.ID},
			"price_per_seat": 230.5, "capacity": 30,
		}
	}},
	{"AdCampaign", "/api/v1/provider/ad-campaigns", "title", func(s *harness.Stack) object {
		today := models.DateIn(time.Now())

		return object{
			"trip_id": s.World.Trip.ID, "title": "Campaign", "price": 333.33,
			"starts_on": today.AddDays(3).String(), "ends_on": today.AddDays(10).String(),
		}
	}},
}

// request is what a cell sends: the ids of the path in their order, query, body and headers.
type request struct {
	ids     []string
	query   string
	body    any
	header  map[string]string
	creates bool            // something that belongs to a company
	caller  *harness.Caller // in place of the cell's, like whom they are
}

// about makes the request of a cell. A request that will be allowed gets a resource of its own; one that will be refused uses
// shared ones, so that their rows can be watched.
func (w *world) about(t *testing.T, c cell) request {
	t.Helper()

	fresh := c.want < http.StatusBadRequest

	for _, r := range resources {
		verb, isOf := strings.CutSuffix(strings.Replace(c.operation, "ProviderTrip", "Trip", 1), r.name)
		if !isOf {
			continue
		}

		switch verb {
		case "Create":
			company, query := w.named(c)

			return request{query: query, body: r.body(w.companies[company]), creates: true}
		case "Replace":
			return request{ids: w.of(t, c, r.name, fresh), body: r.body(w.companies[w.target(c)])}
		case "Patch":
			return request{ids: w.of(t, c, r.name, fresh), body: object{r.text: "Patched"}}
		case "Delete":
			return request{ids: w.of(t, c, r.name, fresh)}
		case "Get":
			if c.operation != "GetTrip" {
				return request{ids: w.of(t, c, r.name, false)}
			}
		}
	}

	return w.aboutOthers(t, c)
}

// aboutOthers makes the requests of all operations that are no resource's create, read, update or delete, and need more
// than their path.
func (w *world) aboutOthers(t *testing.T, c cell) request {
	t.Helper()

	switch c.operation {
	case "Register":
		return request{body: object{
			"name": "Somebody", "email": mark() + "@rihla.test", "phone": "+966500000009", "password": "long-enough-password",
		}}
	case "Login":
		return request{body: object{"email": w.users[stranger].Email, "password": storetest.Password}}
	case "RefreshTokens", "Logout":
		return request{body: object{"refresh_token": w.refreshToken(t)}}

	case "ChangePassword":
		r := request{body: object{"current_password": storetest.Password, "new_password": "long-enough-password"}}
		if c.caller != nobody { // whose session it ends
			r.caller = w.newSelf(t, c.caller)
		}

		return r

	case "GetTrip":
		return request{ids: []string{w.publicTrip(c)}}
	case "CreateBooking":
		body := w.BookingRequest(1)
		body["trip_id"] = w.publicTrip(c)

		return request{body: body}

	case "CreateProvider":
		return request{body: company()}
	case "GetProvider", "ListStaff", "GetBalanceOfProvider":
		return request{ids: w.company(t, c, false)}
	case "ReplaceProvider":
		return request{ids: w.company(t, c, true), body: company()}
	case "PatchProvider":
		return request{ids: w.company(t, c, true), body: object{"city": "Jeddah"}}
	case "ActivateProvider", "DeactivateProvider":
		return request{ids: w.company(t, c, true)}
	case "CreateStaff":
		return request{ids: w.company(t, c, true), body: object{
			"name": "Somebody", "email": mark() + "@rihla.test", "phone": "+966500000009", "password": "long-enough-password",
			"role": models.RoleProviderStaff,
		}}
	case "GetStaff":
		return request{ids: w.staff(c)}
	case "DeleteStaff":
		ids := w.staff(c)
		if c.want < http.StatusBadRequest {
			ids[1] = w.newUser(t, c.kind).String()
		}

		return request{ids: ids}

	case "AddBusPhotos":
		body, header := photoForm(t)

		return request{ids: w.of(t, c, "Bus", c.want == http.StatusCreated), body: body, header: header}
	case "DeleteBusPhoto":
		return request{ids: w.photo(t, c)}
	case "GetPhoto":
		return w.photoFile(t, c)
	case "ListTripBookings", "ListCheckIns":
		return request{ids: w.of(t, c, "Trip", false)}
	case "GetManifest":
		return request{ids: w.of(t, c, "Trip", false), query: "?format=csv"} // weeks before departure
	case "ReportCheckIns":
		return request{ids: w.of(t, c, "Trip", false), body: []object{{
			"passenger_id": uuid.NewString(), "at": "2026-12-01T06:00:00Z", "device_id": "tablet",
		}}}
	case "PublishTrip":
		return request{ids: w.of(t, c, "Trip", c.want == http.StatusOK)}
	case "PauseAdCampaign":
		return request{ids: w.campaign(t, c, "ACTIVE")}
	case "ResumeAdCampaign":
		return request{ids: w.campaign(t, c, "PAUSED")}
	case "CreateCampaignIntent":
		return request{ids: w.campaign(t, c, "PENDING_PAYMENT"), body: object{"payment_method": "credit_card"}}
	default:
		return w.aboutTrips(t, c)
	}
}

// aboutBookings makes the requests of bookings, by their customers and by staff.
func (w *world) aboutBookings(t *testing.T, c cell) request {
	t.Helper()

	switch c.operation {
	case "GetBooking", "GetPaymentStatus", "ListCancellationRequests":
		return request{ids: w.booking(t, c, false)}
	case "CancelBooking":
		return request{ids: w.booking(t, c, true)}
	case "GetCancellationQuote", "GetTicket":
		return request{ids: w.paidBooking(t, c)}
	case "OpenTicket":
		return w.ticketLink(t, c)
	case "RequestCancellation":
		return request{ids: w.paidBooking(t, c), body: object{"reason": "We cannot come"}}
	case "WithdrawCancellation":
		return request{ids: w.requested(t, c)}
	case "CreateBookingIntent":
		return request{ids: w.booking(t, c, true), body: object{"payment_method": "credit_card"}}
	default:
		if r, ok := w.aboutIdentity(t, c); ok {
			return r
		}

		return w.aboutMoney(t, c)
	}
}

func company() object {
	return object{"name": "Somebody's Tours", "email": mark() + "@rihla.test", "phone": "+966500000009"}
}

func (w *world) refreshToken(t *testing.T) string {
	t.Helper()

	var tokens struct {
		Refresh string `json:"refresh_token"`
	}

	a := w.Anybody().Post("/api/v1/auth/login", object{"email": w.users[stranger].Email, "password": storetest.Password})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	require.NoError(t, a.Data(&tokens))

	return tokens.Refresh
}

// home is the company of the caller's, A for those who have none.
func home(caller string) string {
	if strings.HasSuffix(caller, idle) {
		return "C"
	}

	return "A"
}

// isStaff reports whether the caller works for a company.
func isStaff(caller string) bool { return strings.HasPrefix(caller, "PROVIDER_") }

// target is the company that a cell's thing belongs to.
func (w *world) target(c cell) string {
	if _, is := w.companies[c.kind]; is {
		return c.kind
	}

	return home(c.caller)
}

// of is the id of a company's thing.
func (w *world) of(t *testing.T, c cell, resource string, fresh bool) []string {
	t.Helper()

	switch {
	case c.kind == "deleted":
		return []string{w.deleted[resource+" "+home(c.caller)].String()}
	case c.kind == "never" || c.kind == "odd":
		return kept(c, uuid.Nil)
	case fresh:
		return []string{w.make(t, resource, c.kind).String()}
	default:
		return []string{w.shared[resource+" "+c.kind].String()}
	}
}

// kept is the id, or one that nothing has.
func kept(c cell, id uuid.UUID) []string {
	switch c.kind {
	case "never":
		return []string{uuid.NewString()}
	case "odd":
		return []string{"42"}
	default:
		return []string{id.String()}
	}
}

// named is the company that something new will belong to, and the query that names it: staff create for their own,
// whatever they name.
func (w *world) named(c cell) (company, query string) {
	switch c.kind {
	case "unnamed":
	case "never", "odd":
		query = "?provider_id=" + kept(c, uuid.Nil)[0]
	default:
		query = "?provider_id=" + w.provider(c.kind).String()
	}

	if isStaff(c.caller) {
		return home(c.caller), query
	}

	return w.target(c), query
}

func (w *world) publicTrip(c cell) string {
	switch c.kind {
	case "draft":
		return w.shared["Trip A"].String()
	case "deleted":
		return w.deleted["Trip A"].String()
	default:
		return kept(c, w.shared["public trip "+c.kind])[0]
	}
}

// booking is the caller's own, or a stranger's; one that will be changed is made for it.
func (w *world) booking(t *testing.T, c cell, changes bool) []string {
	t.Helper()

	who := c.caller
	if c.kind == "foreign" {
		who = stranger
	}

	if changes && c.want < http.StatusBadRequest {
		return kept(c, w.newBooking(t, who))
	}

	return kept(c, w.bookings[who])
}

// company is a provider company; one that will be changed is made for it.
func (w *world) company(t *testing.T, c cell, changes bool) []string {
	t.Helper()

	id := w.provider(map[string]string{"ACTIVE": "B", "INACTIVE": "C", "never": "A", "odd": "A"}[c.kind])
	if changes && c.want < http.StatusBadRequest {
		id = w.make(t, "Provider", "B")
		w.exec(t, "UPDATE providers SET status = $2 WHERE id = $1", id, c.kind)
	}

	return kept(c, id)
}

// staff is an account, under the path of its company unless it is to be looked for elsewhere.
func (w *world) staff(c cell) []string {
	switch c.kind {
	case "A", "C":
		return []string{w.provider(c.kind).String(), w.shared["staff "+c.kind].String()}
	case "deleted":
		return []string{w.provider("A").String(), w.deleted["staff A"].String()}
	case "elsewhere":
		return []string{w.provider("A").String(), w.shared["staff B"].String()}
	default:
		return append([]string{w.provider("A").String()}, kept(c, uuid.Nil)...)
	}
}

// campaign is a company's campaign; one that will be changed is brought into the status first.
func (w *world) campaign(t *testing.T, c cell, status string) []string {
	t.Helper()

	fresh := c.want < http.StatusBadRequest
	ids := w.of(t, c, "AdCampaign", fresh)

	if fresh {
		w.exec(t, "UPDATE ad_campaigns SET status = $2 WHERE id = $1", ids[0], status)
	}

	return ids
}
