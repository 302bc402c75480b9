package access_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

// lists says what is in each list: the ids that a query finds, written down without the code that lists them. $1 is
// the company or the user that the rows must belong to; NULL is any caller's. whose says what narrows the list: `company`
// is `?provider_id=`, within the caller's scope; `staff` is the caller's company, whatever the query says; `user` is the
// caller; `path` is the company in the path, `trip` a trip that the caller sees; nothing narrows `all`; of `audits` $1 is whether the
// caller sees exports of the audit log.
var lists = map[string]struct{ whose, rows string }{
	"ListBuses":         {"company", "SELECT id FROM buses WHERE deleted_at IS NULL AND coalesce(provider_id = $1, true)"},
	"ListHotels":        {"company", "SELECT id FROM hotels WHERE deleted_at IS NULL AND coalesce(provider_id = $1, true)"},
	"ListRestStops":     {"company", "SELECT id FROM rest_stops WHERE deleted_at IS NULL AND coalesce(provider_id = $1, true)"},
	"ListProviderTrips": {"company", "SELECT id FROM trips WHERE deleted_at IS NULL AND coalesce(provider_id = $1, true)"},
	"ListAdCampaigns":   {"company", "SELECT id FROM ad_campaigns WHERE deleted_at IS NULL AND coalesce(provider_id = $1, true)"},

	"ListProviderFinancialRecords": {"staff", "SELECT id FROM financial_records WHERE coalesce(provider_id = $1, true)"},
	"ListFinancialRecords":         {"company", "SELECT id FROM financial_records WHERE coalesce(provider_id = $1, true)"},

	"ListMyBookings": {"user", "SELECT id FROM bookings WHERE user_id = $1"},
	"ListBookings":   {"all", "SELECT id FROM bookings WHERE $1::uuid IS NULL"},

	"ListTripBookings":            {"trip", "SELECT id FROM bookings WHERE trip_id = $1"},
	"ListStaff":                   {"path", "SELECT id FROM users WHERE deleted_at IS NULL AND provider_id = $1"},
	"ListCompanyStaff":            {"staff", "SELECT id FROM users WHERE deleted_at IS NULL AND provider_id = $1"},
	"ListProviders":               {"all", "SELECT id FROM providers WHERE $1::uuid IS NULL"},
	"ListProviderBalances":        {"all", "SELECT id FROM providers WHERE $1::uuid IS NULL"},
	"ListPaymentTransactions":     {"all", "SELECT id FROM payment_transactions WHERE $1::uuid IS NULL"},
	"ListRefunds":                 {"all", "SELECT id FROM refunds WHERE $1::uuid IS NULL"},
	"ListCancellationRequests":    {"booking", "SELECT id FROM cancellation_requests WHERE booking_id = $1"},
	"ListAllCancellationRequests": {"all", "SELECT id FROM cancellation_requests WHERE $1::uuid IS NULL"},
	"ListTripCancellations":       {"all", "SELECT id FROM trip_cancellations WHERE $1::uuid IS NULL"},
	"ListIncidents":               {"all", "SELECT id FROM incidents WHERE $1::uuid IS NULL"},
	"ListUsers":                   {"all", "SELECT id FROM users WHERE deleted_at IS NULL AND $1::uuid IS NULL"},
	"ListAuditLogs":               {"all", "SELECT id FROM audit_log WHERE $1::uuid IS NULL"},

	"ListExports": {"audits", `SELECT id FROM audit_log
		WHERE action = 'FINANCIAL_RECORDS_EXPORT_STARTED' OR action = 'AUDIT_LOG_EXPORT_STARTED' AND $1::boolean`},

	"ListTrips": {"all", `SELECT t.id FROM trips AS t JOIN providers AS p ON p.id = t.provider_id
		WHERE t.deleted_at IS NULL AND t.status = 'PUBLISHED' AND t.departure_at > now() AND p.status = 'ACTIVE' AND $1::uuid IS NULL`},
	"ListCatalogueHotels": {"all", `SELECT r.id FROM hotels AS r JOIN providers AS p ON p.id = r.provider_id
		WHERE r.deleted_at IS NULL AND r.status = 'ACTIVE' AND p.status = 'ACTIVE' AND $1::uuid IS NULL`},
	"ListCatalogueBuses": {"all", `SELECT r.id FROM buses AS r JOIN providers AS p ON p.id = r.provider_id
		WHERE r.deleted_at IS NULL AND r.status = 'ACTIVE' AND p.status = 'ACTIVE' AND $1::uuid IS NULL`},
	"ListCatalogueRestStops": {"all", `SELECT r.id FROM rest_stops AS r JOIN providers AS p ON p.id = r.provider_id
		WHERE r.deleted_at IS NULL AND r.status = 'ACTIVE' AND p.status = 'ACTIVE' AND $1::uuid IS NULL`},
}

// listsOf reads every list as every caller who may, and compares it with what is in the tables.
func listsOf(t *testing.T, w *world, operations map[string]operation) {
	t.Helper()

	there := map[string]operation{}

	for id, op := range operations {
		if !op.list {
			continue
		}

		there[id] = op

		t.Run(id, func(t *testing.T) {
			t.Parallel()

			for name := range w.callers {
				role := strings.TrimSuffix(name, idle)
				if name == stranger || len(op.roles) > 0 && !slices.Contains(op.roles, role) {
					continue
				}

				for query, owner := range w.owners(t, lists[id].whose, name) {
					w.requireList(t, id, op, name, query, owner)
				}

				w.requireNoNaming(t, op, lists[id].whose, name)
			}
		})
	}

	requireSame(t, there, lists)
}

// owners are the ways to ask for a list, and whose rows each must show: a company's or a user's id, or nil for all. Where
// the path has the company, that stands in place of a query.
func (w *world) owners(t *testing.T, whose, caller string) map[string]any {
	t.Helper()

	var (
		named = func(id uuid.UUID) string { return "?provider_id=" + id.String() }
		never = uuid.New()
		out   = map[string]any{}
	)

	switch whose {
	case "all":
		return map[string]any{"": nil}
	case "audits":
		return map[string]any{"": caller == string(models.RoleSuperAdmin)}
	case "user":
		return map[string]any{"": w.users[caller].ID}
	case "path":
		for name := range w.companies {
			out[w.provider(name).String()] = w.provider(name)
		}

		return out
	case "booking":
		return map[string]any{w.bookings[caller].String(): w.bookings[caller]}
	case "trip":
		for name, company := range w.companies {
			if !isStaff(caller) || home(caller) == name {
				out[company.World.Trip.ID.String()] = company.World.Trip.ID
			}
		}

		return out
	case "staff":
		return map[string]any{"": w.provider(home(caller))}
	}

	out = map[string]any{"": nil, named(never): never}

	for name := range w.companies {
		out[named(w.provider(name))] = w.provider(name)
	}

	if !isStaff(caller) {
		return out
	}

	// Naming a company narrows what staff see, and they see their own: nothing is left of another's.
	for query, company := range out {
		if company != w.provider(home(caller)) {
			out[query] = never
		}
	}

	out[""] = w.provider(home(caller))

	return out
}

// requireNoNaming checks that lists of one's own refuse the name of another account.
func (w *world) requireNoNaming(t *testing.T, op operation, whose, caller string) {
	t.Helper()

	query, ok := map[string]string{
		"user": "?user_id=" + w.users[stranger].ID.String(), "staff": "?provider_id=" + w.provider("B").String(),
	}[whose]
	if ok {
		require.Equal(t, http.StatusUnprocessableEntity, w.callers[caller].Get(op.path+query).Status, "%s as %s", op.path, caller)
	}
}

func (w *world) requireList(t *testing.T, id string, op operation, caller, query string, owner any) {
	t.Helper()

	path := op.path + query
	if strings.Contains(op.path, "{id}") {
		path = strings.Replace(op.path, "{id}", query, 1)
	}

	require.ElementsMatch(t, w.ids(t, lists[id].rows, owner), w.readAllPages(t, caller, path), "%s as %s: %s", id, caller, path)
}

// readAllPages reads all pages of a list.
func (w *world) readAllPages(t *testing.T, caller, path string) []string {
	t.Helper()

	var ids []string

	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}

	for page, last := 1, 1; page <= last; page++ {
		var list struct {
			Data []struct{ ID string }
			Meta struct {
				Total    int
				LastPage int `json:"last_page"`
			}
		}

		a := w.callers[caller].Get(path + separator + "per_page=100&page=" + strconv.Itoa(page))
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		require.NoError(t, a.Into(&list))

		for _, item := range list.Data {
			ids = append(ids, item.ID)
		}

		if last = list.Meta.LastPage; page == last {
			require.Len(t, ids, list.Meta.Total, path)
		}
	}

	return ids
}

func (w *world) ids(t *testing.T, query string, args ...any) []string {
	t.Helper()

	rows, err := w.DB.QueryContext(t.Context(), query, args...)
	require.NoError(t, err, query)

	defer rows.Close()

	var out []string

	for rows.Next() {
		var id string

		require.NoError(t, rows.Scan(&id))
		out = append(out, id)
	}

	require.NoError(t, rows.Err())

	return out
}
