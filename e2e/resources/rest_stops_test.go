package resources_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

var restStops = resourceKind{
	path: "/api/v1/provider/rest-stops", text: "name",
	body: func(_ *harness.Stack, name string) object {
		return object{
			"name": name, "city": "Hail", "latitude": 27.511411, "longitude": 41.720822, "amenities": []string{"mosque", "وقود"},
			"status": "INACTIVE",
		}
	},
	optional: object{"latitude": nil, "longitude": nil, "amenities": []string{}},
	sorts:    []string{"name", "city", "created_at"},
}

func coordinates(t *testing.T, s *harness.Stack) {
	t.Helper()

	c := s.As(models.RoleProviderStaff)

	for given, want := range map[string]float64{"90": 90, "-90.0": -90, "27.5114114999": 27.511411, "0.00000051": 0.000001, "2.4e1": 24} {
		body := restStops.body(s, "Place")
		body["latitude"] = json.Number(given)
		resource, location := made(t, call(t, c, http.MethodPost, restStops.path, body))
		require.InDelta(t, want, resource["latitude"], 0, given)
		require.Equal(t, resource, data(t, http.StatusOK, c.Get(location)))
	}

	body := restStops.body(s, "Place")
	body["latitude"], body["longitude"], body["amenities"] = 90.1, -180.1, []any{"", 5}
	invalid(t, call(t, c, http.MethodPost, restStops.path, body), "latitude", "longitude", "amenities.0", "amenities.1")

	require.Len(t, listIDs(t, c, restStops.path+"?status=INACTIVE&city=HAIL"), 5)
	require.Len(t, listIDs(t, c, restStops.path+"?status=ACTIVE"), 1, "the World's own")
}
