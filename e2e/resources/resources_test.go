// Package resources_test drives what providers and admins manage, over HTTP, on the running service.
package resources_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// subjects are what the service does, one test each. They share a running service, and each has a World of its own.
var subjects = map[string]func(*testing.T, *harness.Stack){
	"providers": providers, "provider status": providerStatus, "provider figures": providerFigures, "staff": staff,

	"hotels": hotels.test, "hotel stars": hotelStars,
	"rest stops": restStops.test, "coordinates": coordinates,
	"buses": buses.test, "plates": plates, "drivers": drivers,
	"a bus with photos": photosWithABus, "photos of a bus": photosOfABus, "photo links": photoLinks, "photo limits": photoLimits,
	"photo owners": photoOwners, "photos at once": photosAtOnce, "unread uploads": unreadUploads,
	"trips": trips.test, "trip references": tripReferences, "references": references, "trip seats": tripSeats, "publishing": publishing,
	"resources in use":   resourcesInUse,
	"campaigns":          campaigns.test,
	"unpaid campaigns":   unpaidCampaigns,
	"paid campaigns":     paidCampaigns,
	"racing campaigns":   racingCampaigns,
	"catalogue":          catalogue,
	"cancelled bookings": cancelledBookings, "who cancels": whoCancels, "cancelled and paid": cancelledAndPaid,
	"cancel while paying": cancelWhilePaying,
	"register":            register,
}

// patient makes the API wait longer for worker and gateway than it does by default: these tests keep a machine busy.
var patient = map[string]string{"REFUND_WAIT": "12s", "CHECKOUT_WAIT": "12s"}

func TestResources(t *testing.T) { //nolint:tparallel // the logs are looked at afterwards
	t.Parallel()

	service := harness.Start(t, harness.Options{Env: patient})

	t.Run("does", func(t *testing.T) {
		for name, test := range subjects {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, service.For(t))
			})
		}
	})

	for _, process := range []*harness.Process{service.API, service.Worker} {
		for line := range strings.Lines(process.Log()) {
			require.NotRegexp(t, `DATA RACE|panic|status=500|level=ERROR`, line)
		}
	}
}

const mergePatch = "application/merge-patch+json"

type object = map[string]any

// call sends a body as JSON, or none when it is nil.
func call(t *testing.T, c *harness.Caller, method, path string, body any) harness.Answer {
	t.Helper()

	return callAs(t, c, method, path, body, "application/json")
}

func callAs(t *testing.T, c *harness.Caller, method, path string, body any, contentType string) harness.Answer {
	t.Helper()

	header := map[string]string{}
	if body != nil {
		header["Content-Type"] = contentType
	}

	a, err := c.Do(method, path, body, header)
	require.NoError(t, err)

	return a
}

// data is the resource of an answer that must have the status.
func data(t *testing.T, want int, a harness.Answer) object {
	t.Helper()

	return decoded[object](t, want, a)
}

func decoded[T any](t *testing.T, want int, a harness.Answer) T {
	t.Helper()

	var v T

	require.Equal(t, want, a.Status, "%s", a.Body)
	require.NoError(t, a.Data(&v), "%s", a.Body)

	return v
}

// made is a resource that must have been created, with its place.
func made(t *testing.T, a harness.Answer) (resource object, location string) {
	t.Helper()

	resource = data(t, http.StatusCreated, a)
	location = a.Header.Get("Location")
	require.True(t, strings.HasSuffix(location, "/"+resource["id"].(string)), location)

	return resource, location
}

func refused(t *testing.T, a harness.Answer, status int, code models.Code) {
	t.Helper()
	require.Equal(t, status, a.Status, "%s", a.Body)
	require.Equal(t, code, a.Code(), "%s", a.Body)
}

// invalid checks that an answer refuses exactly these fields.
func invalid(t *testing.T, a harness.Answer, fields ...string) {
	t.Helper()
	refused(t, a, http.StatusUnprocessableEntity, models.CodeValidation)
	require.ElementsMatch(t, fields, faults(t, a), "%s", a.Body)
}

// faults are the fields that an error names.
func faults(t *testing.T, a harness.Answer) []string {
	t.Helper()

	var e struct {
		Error struct {
			Details map[string][]string `json:"details"`
		} `json:"error"`
	}

	require.NoError(t, a.Into(&e), "%s", a.Body)

	fields := make([]string, 0, len(e.Error.Details))
	for field := range e.Error.Details {
		fields = append(fields, field)
	}

	return fields
}

// listIDs is the ids of a collection, in its order.
func listIDs(t *testing.T, c *harness.Caller, path string) []string {
	t.Helper()

	items := decoded[[]object](t, http.StatusOK, c.Get(path))
	ids := make([]string, len(items))

	for i, item := range items {
		ids[i] = item["id"].(string)
	}

	return ids
}

func deactivate(t *testing.T, s *harness.Stack) {
	t.Helper()

	a := call(t, s.As(models.RoleAdmin), http.MethodPost, providersPath+"/"+s.World.Provider.ID.String()+"/deactivate", nil)
	require.Equal(t, "INACTIVE", data(t, http.StatusOK, a)["status"])
}

func activate(t *testing.T, s *harness.Stack) {
	t.Helper()

	a := call(t, s.As(models.RoleAdmin), http.MethodPost, providersPath+"/"+s.World.Provider.ID.String()+"/activate", nil)
	require.Equal(t, "ACTIVE", data(t, http.StatusOK, a)["status"])
}

// mark is a word that no other test uses.
func mark() string { return strings.ReplaceAll(uuid.NewString(), "-", "") }

func register(t *testing.T, s *harness.Stack) {
	t.Helper()

	a := call(t, s.Anybody(), http.MethodPost, "/api/v1/auth/register", object{
		"name": "Somebody", "email": mark() + "@rihla.test", "phone": "+966500000001", "password": "a-long-enough-password",
	})
	require.Equal(t, http.StatusCreated, a.Status)
	require.Equal(t, "/api/v1/me", a.Header.Get("Location"))
}
