package e2e_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

// badQueries gives every query parameter of every list values that it does not take.
func badQueries(t *testing.T, w *targets) {
	t.Helper()

	for path, item := range w.doc.Paths.Map() {
		if item.Get == nil {
			continue
		}

		caller := w.As(roleFor(item.Get))
		base := strings.ReplaceAll(path, "{id}", w.booking.ID.String())

		for _, ref := range item.Get.Parameters {
			p := ref.Value
			if p.In != openapi3.ParameterInQuery {
				continue
			}

			values := absurd(p.Schema.Value)
			if p.Name == "sort" {
				values = append(values, "password_hash", "-password_hash")
			}

			for _, value := range values {
				query := needed(path)
				query.Set(p.Name, value)

				a := caller.Get(base + "?" + query.Encode())
				require.Equal(t, http.StatusUnprocessableEntity, a.Status, "%s?%s=%.60q: %s", base, p.Name, value, a.Body)
				require.Equal(t, models.CodeValidation, a.Code())
				require.Contains(t, errorDetails(t, a), p.Name)
			}

			twice := url.Values{p.Name: {"10", "10"}}
			refused(t, caller.Get(base+"?"+twice.Encode()), http.StatusUnprocessableEntity, models.CodeValidation)
		}

		if len(item.Get.Parameters) > 0 && path != "/api/v1/trips/{id}" && !strings.HasSuffix(path, "}") {
			refused(t, caller.Get(base+"?page=%zz"), http.StatusBadRequest, models.CodeMalformedRequest)
		}

		if !strings.HasSuffix(path, "/export") && !strings.Contains(path, "{") { // exports are noted
			a := caller.Get(base + "?nothing=1&Page=0&%00=%00")
			if item.Get.Security != nil && len(*item.Get.Security) == 0 {
				want := http.StatusOK
				if item.Get.Responses.Status(want) == nil { // single sign-on redirects, and there is no identity provider here
					want = http.StatusNotFound
				}

				require.Equal(t, want, a.Status, "%s: unknown parameters are ignored", base)
			} else {
				refused(t, a, http.StatusUnprocessableEntity, models.CodeValidation)
				require.ElementsMatch(t, []string{"nothing", "Page", "\x00"}, slices.Collect(maps.Keys(errorDetails(t, a))), base)
			}
		}
	}

	records := "/api/v1/admin/financial-records?period="
	admin := w.As(models.RoleAdmin)

	for query, field := range map[string]string{
		"custom": "date_from", "custom&date_from=2026-01-01": "date_to", "custom&date_to=2026-01-01": "date_from",
		"custom&date_from=2026-02-01&date_to=2026-01-31": "date_to", "custom&date_from=2026-01-01&date_to=2027-01-02": "date_to",
		"": "period", "TODAY": "period",
	} {
		a := admin.Get(records + query)
		refused(t, a, http.StatusUnprocessableEntity, models.CodeValidation)
		require.Contains(t, errorDetails(t, a), field, query)
	}

	require.Equal(t, http.StatusOK, admin.Get(records+"custom&date_from=2026-01-01&date_to=2027-01-01").Status, "366 days")
}

// absurd are values that a parameter of the schema does not take.
func absurd(s *openapi3.Schema) []string {
	values := []string{"\x00", "\xff\xfe", "a\x00b"}

	switch {
	case s.Type.Is("integer"):
		values = append(values, "", "x", "1.5", "1e3", "+1", "0x10", "NaN", "99999999999999999999999", "-9223372036854775809",
			strconv.Itoa(int(*s.Min)-1), strconv.Itoa(int(*s.Max)+1))
	case len(s.Enum) > 0:
		values = append(values, "", "BOGUS", strings.ToUpper(s.Enum[0].(string))+"x", "null", "' OR 1=1 --")
	case s.Format != "":
		values = append(values, "", "x", "2026-02-30", "2026-13-01", "20260101", "0000-01-01", strings.Repeat("1", 36), "{"+uuid.NewString()+"}")
	case s.Pattern == `\S`:
		values = append(values, "", " ", "\t\u3000")
	case s.Pattern != "":
		values = append(values, "", "-", ",", "Password_hash", "created_at;DROP TABLE users", "created_at,,", "1")
	}

	if s.MaxLength != nil {
		values = append(values, strings.Repeat("x", int(*s.MaxLength)+1))
	}

	return values
}

// roleFor is a role that may call an operation.
func roleFor(op *openapi3.Operation) models.Role {
	name := op.Extensions["x-roles"].([]any)[0].(string)
	if !slices.Contains(models.Roles(), models.Role(name)) {
		return models.RoleEndUser
	}

	return models.Role(name)
}

// badRoutes asks for paths that do not exist.
func badRoutes(t *testing.T, w *targets) {
	t.Helper()

	admin := w.As(models.RoleSuperAdmin)

	for _, path := range []string{
		"/", "/api", "/api/v1", "/api/v1/", "/api/v2/trips", "/api/v1/trips/", "/API/V1/trips", "/api/v1/Trips", "//api/v1/trips",
		"/api/v1//trips", "/api/v1/trips/../../../etc/passwd", "/.env", "/favicon.ico", "/index.html",
		"/api/v1/bookings", "/api/v1/payments/webhook/", "/api/v1/payments/webhook/gateway_b", "/api/v1/payments/webhook/bill_payment",
		"/api/v1/admin", "/api/v1/admin/financial-records/export/x", "/debug/pprof/", "/%00", "/%ff", "/*", "/:id",
		"/" + strings.Repeat("x", 8000),
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			a, err := admin.Do(method, path, nil, nil)
			require.NoError(t, err)

			item := w.doc.Paths.Find(path)
			if item != nil && item.GetOperation(method) != nil {
				continue // `/` and `/api/v1` say where to go on
			}

			require.NotEmpty(t, a.Code(), "%s %.60s: %s", method, path, a.Body)

			if item == nil {
				require.Equal(t, http.StatusNotFound, a.Status, "%s %.60s: %s", method, path, a.Body)
			}
		}
	}
}

// badMethods calls every path with every method that it does not have.
func badMethods(t *testing.T, w *targets) {
	t.Helper()

	admin := w.As(models.RoleSuperAdmin)

	for path, item := range w.doc.Paths.Map() {
		concrete := strings.NewReplacer("{id}", w.booking.ID.String(), "{booking_id}", w.booking.ID.String(), "{ad_campaign_id}",
			w.booking.ID.String(), "{staff_id}", w.booking.ID.String(), "{photo_id}", w.booking.ID.String()).Replace(path)
		has := slices.Collect(maps.Keys(item.Operations()))

		for _, method := range []string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
			http.MethodTrace, "PROPFIND", "BREW",
		} {
			if slices.Contains(has, method) {
				continue
			}

			a, err := admin.Do(method, concrete, nil, nil)
			require.NoError(t, err)

			if method == http.MethodHead && item.Get != nil {
				require.Empty(t, a.Body)
				require.Equal(t, admin.Get(concrete).Status, a.Status, "HEAD %s", path)

				continue
			}

			require.Equal(t, http.StatusMethodNotAllowed, a.Status, "%s %s: %s", method, path, a.Body)
			require.NotEmpty(t, a.Header.Get("Allow"), "%s %s", method, path)

			if method != http.MethodHead {
				require.Equal(t, models.CodeMethodNotAllowed, a.Code())
			}

			for _, allowed := range has {
				require.Contains(t, a.Header.Get("Allow"), allowed, "%s %s", method, path)
			}
		}
	}
}

// needed is the query without which an operation does not answer.
func needed(path string) url.Values {
	switch {
	case strings.HasSuffix(path, "/export"), strings.HasSuffix(path, "/manifest"):
		return url.Values{"format": {"csv"}}
	case strings.HasSuffix(path, "/refund-preview"):
		return url.Values{"refund_type": {"FULL"}}
	case strings.HasSuffix(path, "/reschedule-preview"):
		return url.Values{"departure_at": {"2099-01-01T05:00:00Z"}}
	default:
		return url.Values{}
	}
}
