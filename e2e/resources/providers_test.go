package resources_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

const providersPath = "/api/v1/admin/providers"

func company(name string) object {
	return object{"name": name, "email": mark() + "@rihla.test", "phone": "+966500000009", "city": "Jeddah", "commission_rate": 0.125}
}

func providers(t *testing.T, s *harness.Stack) {
	t.Helper()

	admin, word := s.As(models.RoleAdmin), mark()
	body := company("شركة " + word)
	resource, location := made(t, call(t, admin, http.MethodPost, providersPath, body))
	holds(t, body, resource)
	require.Equal(t, "ACTIVE", resource["status"])

	detail := data(t, http.StatusOK, admin.Get(location))
	require.Contains(t, detail, "stats")
	delete(detail, "stats")
	require.Equal(t, resource, detail)

	for _, search := range []string{word, body["email"].(string)[:20]} {
		require.Equal(t, []string{resource["id"].(string)}, listIDs(t, admin, providersPath+"?sort=-name,status&search="+search))
	}

	require.Empty(t, listIDs(t, admin, providersPath+"?status=INACTIVE&search="+word))
	invalid(t, admin.Get(providersPath+"?status=GONE&sort=email"), "status", "sort")

	// Defaults.
	body = object{"name": "Plain", "email": mark() + "@rihla.test", "phone": "0500000000"}
	replaced := data(t, http.StatusOK, call(t, admin, http.MethodPut, location, body))
	holds(t, body, replaced)
	require.Nil(t, replaced["city"])
	require.InDelta(t, 0.10, replaced["commission_rate"], 0, "the configured rate")
	require.Equal(t, resource["created_at"], replaced["created_at"])

	patched := data(t, http.StatusOK, callAs(t, admin, http.MethodPatch, location, object{"commission_rate": 0, "city": "Hail"}, mergePatch))
	want := maps.Clone(replaced)
	want["commission_rate"], want["city"], want["updated_at"] = 0.0, "Hail", patched["updated_at"]
	require.Equal(t, want, patched)
	require.InDelta(t, 0.10, data(t, http.StatusOK, call(t, admin, http.MethodPatch, location, object{"commission_rate": nil}))["commission_rate"], 0)

	for field, values := range map[string][]any{
		"commission_rate": {-0.1, 1.01, 0.12345, "0.1"}, "email": {"x", nil, "a@b"}, "phone": {"12", nil}, "name": {"", nil, " "},
		"status": {"INACTIVE"},
	} {
		for _, value := range values {
			invalid(t, call(t, admin, http.MethodPatch, location, object{field: value}), field)
		}
	}

	invalid(t, call(t, admin, http.MethodPost, providersPath, object{}), "name", "email", "phone")

	for _, role := range []models.Role{
		models.RoleEndUser, models.RoleProviderStaff, models.RoleProviderAdmin, models.RoleSupportAgent, models.RoleFinanceAdmin,
	} {
		for _, path := range []string{providersPath, location, location + "/staff"} {
			refused(t, s.As(role).Get(path), http.StatusForbidden, models.CodeForbidden)
		}

		refused(t, call(t, s.As(role), http.MethodPost, location+"/deactivate", nil), http.StatusForbidden, models.CodeForbidden)
	}

	never := providersPath + "/" + uuid.NewString()
	refused(t, admin.Get(never), http.StatusNotFound, models.CodeNotFound)
	refused(t, call(t, admin, http.MethodPut, never, body), http.StatusNotFound, models.CodeNotFound)
	refused(t, call(t, admin, http.MethodPatch, never, object{}), http.StatusNotFound, models.CodeNotFound)
	refused(t, call(t, admin, http.MethodPost, never+"/activate", nil), http.StatusNotFound, models.CodeNotFound)
	require.Equal(t, http.StatusMethodNotAllowed, call(t, admin, http.MethodDelete, location, nil).Status)
}

// providerStatus is moved by its actions; doing one twice changes nothing.
func providerStatus(t *testing.T, s *harness.Stack) {
	t.Helper()

	admin := s.As(models.RoleSuperAdmin)
	resource, location := made(t, call(t, admin, http.MethodPost, providersPath, company("Status")))

	off := data(t, http.StatusOK, call(t, admin, http.MethodPost, location+"/deactivate", nil))
	require.Equal(t, "INACTIVE", off["status"])
	require.Equal(t, off, data(t, http.StatusOK, call(t, admin, http.MethodPost, location+"/deactivate", nil)))
	require.Contains(t, listIDs(t, admin, providersPath+"?per_page=100&sort=-created_at&status=INACTIVE"), resource["id"])
	require.Equal(t, "INACTIVE", data(t, http.StatusOK, call(t, admin, http.MethodPut, location, company("Renamed")))["status"])

	on := data(t, http.StatusOK, call(t, admin, http.MethodPost, location+"/activate", nil))
	require.Equal(t, "ACTIVE", on["status"])
	require.Equal(t, on, data(t, http.StatusOK, call(t, admin, http.MethodPost, location+"/activate", nil)))

	log := decoded[[]object](t, http.StatusOK, admin.Get("/api/v1/admin/audit-logs?entity=provider&entity_id="+resource["id"].(string)))
	actions := make([]any, len(log))

	for i, entry := range log {
		actions[i] = entry["action"]
	}

	require.Equal(t, []any{"PROVIDER_ACTIVATED", "PROVIDER_UPDATED", "PROVIDER_DEACTIVATED", "PROVIDER_CREATED"}, actions)
}

// providerFigures are those of the dashboard.
func providerFigures(t *testing.T, s *harness.Stack) {
	t.Helper()

	s.As(models.RoleEndUser).BookPaid(2)

	stats := data(t, http.StatusOK, s.As(models.RoleAdmin).Get(providersPath+"/"+s.World.Provider.ID.String()))["stats"]
	require.EqualValues(t, object{
		"buses_count": 1.0, "hotels_count": 1.0, "rest_stops_count": 1.0, "trips_count": 1.0, "bookings_count": 1.0,
		"gross_amount": 230.0, "net_amount": 207.0, "in_current_balance_amount": 207.0, "currency": "SAR",
	}, stats)
}
