package resources_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

var buses = resourceKind{
	path: "/api/v1/provider/buses", text: "model",
	body: func(_ *harness.Stack, name string) object {
		return object{
			"plate_number": mark()[:12], "model": name, "capacity": 49,
			"driver":   object{"name": "Driver", "phone": "+966500000002", "license_number": "L-1"},
			"features": []string{"wifi", "usb"}, "status": "ACTIVE",
		}
	},
	optional: object{"features": []string{}},
	sorts:    []string{"plate_number", "model", "status", "created_at"},
}

func plates(t *testing.T, s *harness.Stack) {
	t.Helper()

	c, other := s.As(models.RoleProviderStaff), s.For(t)
	body := buses.body(s, "Coach")
	first, location := made(t, call(t, c, http.MethodPost, buses.path, body))
	require.Empty(t, first["photos"])

	refused(t, call(t, c, http.MethodPost, buses.path, body), http.StatusConflict, models.CodeBusPlateAlreadyExists)
	made(t, call(t, other.As(models.RoleProviderStaff), http.MethodPost, buses.path, body))

	_, second := buses.create(t, s, c, "Second")
	plate := object{"plate_number": body["plate_number"]}
	refused(t, call(t, c, http.MethodPatch, second, plate), http.StatusConflict, models.CodeBusPlateAlreadyExists)
	refused(t, call(t, c, http.MethodPut, second, body), http.StatusConflict, models.CodeBusPlateAlreadyExists)
	require.Equal(t, http.StatusOK, call(t, c, http.MethodPatch, location, plate).Status, "its own plate is no other's")

	// A deleted bus frees its plate.
	require.Equal(t, http.StatusNoContent, call(t, c, http.MethodDelete, location, nil).Status)
	require.Equal(t, http.StatusOK, call(t, c, http.MethodPatch, second, plate).Status)

	body["capacity"], body["status"], body["plate_number"] = 0, "BROKEN", ""
	invalid(t, call(t, c, http.MethodPost, buses.path, body), "capacity", "status", "plate_number")
	body["capacity"] = 101
	invalid(t, call(t, c, http.MethodPost, buses.path, body), "capacity", "status", "plate_number")
}

// drivers are objects within: what is named of them changes, the rest stays.
func drivers(t *testing.T, s *harness.Stack) {
	t.Helper()

	c := s.As(models.RoleProviderAdmin)
	resource, location := buses.create(t, s, c, "Coach")
	driver := func(a harness.Answer) object { return data(t, http.StatusOK, a)["driver"].(object) }

	require.Equal(t, object{"name": "Driver", "phone": "+966500000002", "license_number": "L-1"}, resource["driver"])
	require.Equal(t, object{"name": "Driver", "phone": "+966500000003", "license_number": "L-1"},
		driver(call(t, c, http.MethodPatch, location, object{"driver": object{"phone": "+966500000003"}})))
	require.Equal(t, object{"name": "سائق", "phone": nil, "license_number": "L-1"},
		driver(call(t, c, http.MethodPatch, location, object{"driver": object{"name": "سائق", "phone": nil}})))

	invalid(t, call(t, c, http.MethodPatch, location, object{"driver": object{"name": nil}}), "driver.name")
	invalid(t, call(t, c, http.MethodPatch, location, object{"driver": object{"age": 40}}), "driver.age")
	invalid(t, call(t, c, http.MethodPatch, location, object{"driver": nil}), "driver")
	invalid(t, call(t, c, http.MethodPatch, location, object{"driver": object{"phone": "x"}}), "driver.phone")

	body := buses.body(s, "Coach")
	body["driver"] = object{"phone": "+966500000002"}
	invalid(t, call(t, c, http.MethodPost, buses.path, body), "driver.name")

	body["driver"] = object{"name": "Third"}
	require.Equal(t, object{"name": "Third", "phone": nil, "license_number": nil}, driver(call(t, c, http.MethodPut, location, body)))
	require.Equal(t, []string{resource["id"].(string)}, listIDs(t, c, buses.path+"?search=tHIRD"), "a search looks at drivers too")

	maintained := data(t, http.StatusOK, call(t, c, http.MethodPatch, location, object{"status": "UNDER_MAINTENANCE"}))
	require.Equal(t, "Under maintenance", maintained["status_label_en"])
	require.Equal(t, "تحت الصيانة", maintained["status_label_ar"])
	require.Len(t, listIDs(t, c, buses.path+"?status=UNDER_MAINTENANCE"), 1)
}
