package resources_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

var trips = resourceKind{
	path: "/api/v1/provider/trips", text: "title",
	body: func(s *harness.Stack, title string) object {
		leaves := s.World.Trip.DepartureAt

		return object{
			"type": "UMRAH", "title": title, "origin": "Riyadh", "destination": "Makkah",
			"departure_at": leaves.Format(time.RFC3339), "return_at": leaves.AddDate(0, 0, 3).Format(time.RFC3339),
			"hotel_id": s.World.Hotel.ID, "bus_id": s.World.Bus.ID, "rest_stop_ids": []uuid.UUID{s.World.RestStop.ID},
			"price_per_seat": 230.5, "capacity": 30,
		}
	},
	optional: object{"hotel_id": nil, "rest_stop_ids": []string{}},
	sorts:    []string{"departure_at", "price_per_seat", "title", "status", "created_at"},
}

const (
	tripsPath    = "/api/v1/trips"
	bookingsPath = "/api/v1/bookings"
)

func publish(t *testing.T, c *harness.Caller, id any) harness.Answer {
	t.Helper()

	return call(t, c, http.MethodPost, tripsPath+"/"+id.(string)+"/publish", nil)
}

// tripReferences must be live, and the company's own.
func tripReferences(t *testing.T, s *harness.Stack) {
	t.Helper()

	c, other := s.As(models.RoleProviderStaff), s.For(t)

	for field, foreign := range map[string]any{
		"bus_id": other.World.Bus.ID, "hotel_id": other.World.Hotel.ID,
		"rest_stop_ids": []uuid.UUID{s.World.RestStop.ID, other.World.RestStop.ID},
	} {
		body := trips.body(s, "Foreign")
		body[field] = foreign
		a := call(t, c, http.MethodPost, trips.path, body)
		refused(t, a, http.StatusUnprocessableEntity, models.CodeReferenceNotOwned)
		require.Equal(t, []string{field}, faults(t, a))

		// An admin cannot mix companies either.
		refused(t, call(t, s.As(models.RoleAdmin), http.MethodPost, trips.path+"?provider_id="+s.World.Provider.ID.String(), body),
			http.StatusUnprocessableEntity, models.CodeReferenceNotOwned)
	}

	hotel, location := hotels.create(t, s, c, "Short-lived")
	require.Equal(t, http.StatusNoContent, call(t, c, http.MethodDelete, location, nil).Status)

	body := trips.body(s, "Deleted")
	body["hotel_id"] = hotel["id"]
	refused(t, call(t, c, http.MethodPost, trips.path, body), http.StatusUnprocessableEntity, models.CodeReferenceNotOwned)

	body = trips.body(s, "Twice")
	body["rest_stop_ids"] = []uuid.UUID{s.World.RestStop.ID, s.World.RestStop.ID}
	invalid(t, call(t, c, http.MethodPost, trips.path, body), "rest_stop_ids")

	body = trips.body(s, "Wrong")
	body["type"], body["hotel_id"], body["capacity"] = "TOURISM", nil, 41
	body["return_at"] = body["departure_at"]
	invalid(t, call(t, c, http.MethodPost, trips.path, body), "hotel_id", "capacity", "return_at")

	body["price_per_seat"], body["type"] = 0.001, "CRUISE"
	invalid(t, call(t, c, http.MethodPost, trips.path, body), "price_per_seat", "type")
}

// tripSeats that are taken bound what can be changed and deleted.
func tripSeats(t *testing.T, s *harness.Stack) {
	t.Helper()

	c, customer := s.As(models.RoleProviderAdmin), s.As(models.RoleEndUser)
	resource, location := trips.create(t, s, c, "Seats")
	require.Equal(t, http.StatusOK, publish(t, c, resource["id"]).Status)

	request := s.BookingRequest(5)
	request["trip_id"] = resource["id"]
	booking := decoded[harness.Booking](t, http.StatusCreated, customer.Post(bookingsPath, request))
	require.Equal(t, "1152.50", booking.Amount.String())

	invalid(t, call(t, c, http.MethodPatch, location, object{"capacity": 4}), "capacity")
	after := data(t, http.StatusOK, call(t, c, http.MethodPatch, location, object{"capacity": 5, "price_per_seat": 300}))
	require.InDelta(t, 0, after["seats_left"], 0)
	require.Equal(t, "PUBLISHED", after["status"], "an update does not move the state")

	refused(t, call(t, c, http.MethodDelete, location, nil), http.StatusConflict, models.CodeInvalidState)
	require.Equal(t, models.BookingCancelled, cancelled(t, s, customer, booking).Status)
	require.Equal(t, http.StatusNoContent, call(t, c, http.MethodDelete, location, nil).Status)
	refused(t, s.Anybody().Get(tripsPath+"/"+resource["id"].(string)), http.StatusNotFound, models.CodeNotFound)
}

func publishing(t *testing.T, s *harness.Stack) {
	t.Helper()

	c, stranger := s.As(models.RoleProviderStaff), s.For(t).As(models.RoleProviderAdmin)
	resource, location := trips.create(t, s, c, "Draft")
	public := tripsPath + "/" + resource["id"].(string)

	require.Equal(t, "DRAFT", resource["status"])
	require.Equal(t, "Umrah", resource["type_label_en"])
	refused(t, s.Anybody().Get(public), http.StatusNotFound, models.CodeNotFound)
	refused(t, publish(t, stranger, resource["id"]), http.StatusNotFound, models.CodeNotFound)
	refused(t, publish(t, s.As(models.RoleEndUser), resource["id"]), http.StatusForbidden, models.CodeForbidden)
	refused(t, publish(t, c, uuid.NewString()), http.StatusNotFound, models.CodeNotFound)

	deactivate(t, s)
	refused(t, publish(t, c, resource["id"]), http.StatusForbidden, models.CodeForbidden)
	activate(t, s)

	published := data(t, http.StatusOK, publish(t, c, resource["id"]))
	require.Equal(t, "PUBLISHED", published["status"])
	require.Equal(t, published, data(t, http.StatusOK, publish(t, s.As(models.RoleAdmin), resource["id"])), "twice is once")
	require.Equal(t, false, published["has_cancellation"])
	delete(published, "has_cancellation") // which the public is not shown
	require.Equal(t, published, data(t, http.StatusOK, s.Anybody().Get(public)))
	require.Len(t, listIDs(t, c, trips.path+"?status=PUBLISHED&type=UMRAH&origin=riyadh&search=draft"), 1)
	require.Empty(t, listIDs(t, c, trips.path+"?status=DRAFT"))

	past := trips.body(s, "Past")
	past["departure_at"] = time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	departed, _ := made(t, call(t, c, http.MethodPost, trips.path, past))
	refused(t, publish(t, c, departed["id"]), http.StatusConflict, models.CodeInvalidState)

	// The resources of a draft may be gone by the time it is published.
	hotel, place := hotels.create(t, s, c, "Short-lived")
	body := trips.body(s, "Gone")
	body["hotel_id"] = hotel["id"]
	draft, _ := made(t, call(t, c, http.MethodPost, trips.path, body))
	require.Equal(t, http.StatusNoContent, call(t, c, http.MethodDelete, place, nil).Status)
	refused(t, publish(t, c, draft["id"]), http.StatusUnprocessableEntity, models.CodeReferenceNotOwned)

	require.Equal(t, http.StatusNoContent, call(t, c, http.MethodDelete, location, nil).Status)
	refused(t, publish(t, c, resource["id"]), http.StatusNotFound, models.CodeNotFound)
}

// resourcesInUse cannot be deleted while a published trip that is to come needs them.
func resourcesInUse(t *testing.T, s *harness.Stack) {
	t.Helper()

	c := s.As(models.RoleProviderAdmin)
	bus, busPlace := buses.create(t, s, c, "Coach")
	hotel, hotelPlace := hotels.create(t, s, c, "Hotel")
	stop, stopPlace := restStops.create(t, s, c, "Stop")
	require.Equal(t, http.StatusOK, call(t, c, http.MethodPatch, stopPlace, object{"status": "ACTIVE"}).Status)

	body := trips.body(s, "Busy")
	body["bus_id"], body["hotel_id"], body["rest_stop_ids"] = bus["id"], hotel["id"], []any{stop["id"]}
	trip, tripPlace := made(t, call(t, c, http.MethodPost, trips.path, body))
	require.Equal(t, http.StatusOK, publish(t, c, trip["id"]).Status)

	places := []string{busPlace, hotelPlace, stopPlace}
	for _, place := range places {
		refused(t, call(t, c, http.MethodDelete, place, nil), http.StatusConflict, models.CodeResourceInUse)
		require.Equal(t, http.StatusOK, c.Get(place).Status)
	}

	require.Equal(t, http.StatusNoContent, call(t, c, http.MethodDelete, tripPlace, nil).Status)

	for _, place := range places {
		require.Equal(t, http.StatusNoContent, call(t, c, http.MethodDelete, place, nil).Status)
	}
}
