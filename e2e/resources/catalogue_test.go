package resources_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// catalogue is what consumers see: live, ACTIVE rows of ACTIVE companies, and nothing that is personal.
func catalogue(t *testing.T, s *harness.Stack) {
	t.Helper()

	c, anybody, word := s.As(models.RoleProviderStaff), s.Anybody(), mark()[:16]
	bus, _ := buses.create(t, s, c, word)
	hotel, hotelPlace := hotels.create(t, s, c, word)
	stop, stopPlace := restStops.create(t, s, c, word)
	trip, _ := trips.create(t, s, c, word)
	require.Equal(t, http.StatusOK, publish(t, c, trip["id"]).Status)

	search := "?search=" + word
	require.Empty(t, listIDs(t, anybody, "/api/v1/rest-stops"+search), "it is INACTIVE itself")
	require.Equal(t, http.StatusOK, call(t, c, http.MethodPatch, stopPlace, object{"status": "ACTIVE"}).Status)

	shown := map[string]string{
		"/api/v1/buses": bus["id"].(string), "/api/v1/hotels": hotel["id"].(string),
		"/api/v1/rest-stops": stop["id"].(string), "/api/v1/trips": trip["id"].(string),
	}

	for path, id := range shown {
		require.Equal(t, []string{id}, listIDs(t, anybody, path+search), path)
	}

	a := anybody.Get("/api/v1/buses" + search)
	require.Equal(t, object{"name": "Driver"}, decoded[[]object](t, http.StatusOK, a)[0]["driver"])

	for _, secret := range []string{"phone", "license", "+966500000002", "L-1"} {
		require.NotContains(t, string(a.Body), secret)
	}

	require.Equal(t, []string{shown["/api/v1/hotels"]}, listIDs(t, anybody, "/api/v1/hotels"+search+"&stars=5&city=ALULA&sort=-stars,name"))
	require.Empty(t, listIDs(t, anybody, "/api/v1/hotels"+search+"&stars=4"))
	invalid(t, anybody.Get("/api/v1/hotels?stars=9&sort=address"), "stars", "sort")
	invalid(t, anybody.Get("/api/v1/buses?per_page=1"), "per_page")

	// Hidden with their company, and back with it.
	deactivate(t, s)

	for path := range shown {
		require.Empty(t, listIDs(t, anybody, path+search), path)
		require.Empty(t, listIDs(t, c, path+search), "for its own staff, too: %s", path)
	}

	refused(t, anybody.Get("/api/v1/trips/"+shown["/api/v1/trips"]), http.StatusNotFound, models.CodeNotFound)
	require.Equal(t, []string{hotel["id"].(string)}, listIDs(t, s.As(models.RoleAdmin), hotels.path+search), "admins see them all the time")

	activate(t, s)

	for path, id := range shown {
		require.Equal(t, []string{id}, listIDs(t, anybody, path+search), path)
	}

	other, _ := hotels.create(t, s, c, word+" other")
	require.Equal(t, http.StatusNoContent, call(t, c, http.MethodDelete, hotels.path+"/"+other["id"].(string), nil).Status)
	require.Equal(t, http.StatusOK, call(t, c, http.MethodPatch, hotelPlace, object{"stars": nil}).Status)
	require.Equal(t, []string{shown["/api/v1/hotels"]}, listIDs(t, anybody, "/api/v1/hotels"+search), "deleted ones are gone")
}
