package resources_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api"
	"rihla/e2e/harness"
	"rihla/models"
)

// reference is a field of a body that names something else.
type reference struct{ operation, field string }

// refusal is how a request whose reference is wrong is made and answered.
type refusal struct {
	method, path string
	by           *harness.Caller
	body         object
	wrong        []any // values of the field: unknown, of others, deleted
	status       int   // 422 unless given
	// put is the field with a wrong value, and fault what the answer names, where the field is inside a list.
	put   func(wrong any) object
	fault string
}

// answeredOneByOne are fields of lists whose entries each get an answer of their own, and where that is looked at.
var answeredOneByOne = map[reference]string{{"ReportCheckIns", "passenger_id"}: "internal/store/bookings: TestCheckIn"}

// references sends a wrong value in every field of every body that names something else, and wants that field to be named in the
// answer: what is merely "not found" leaves a client to guess. The document says which fields there are.
func references(t *testing.T, s *harness.Stack) {
	t.Helper()

	cases := referenceCases(t, s)
	named := append(slices.Collect(maps.Keys(cases)), slices.Collect(maps.Keys(answeredOneByOne))...)
	require.ElementsMatch(t, referencesOfDocument(t), named, "the document and this table differ")

	for at, c := range cases {
		for _, wrong := range c.wrong {
			fault := at.field

			var body object
			if c.put != nil {
				body, fault = c.put(wrong), c.fault
			} else {
				body = maps.Clone(c.body)
				body[at.field] = wrong
			}

			a := callAs(t, c.by, c.method, c.path, body, mediaType(&c))
			if c.status != 0 {
				require.Equal(t, c.status, a.Status, "%v %v: %s", at, wrong, a.Body)
			} else {
				require.Equal(t, http.StatusUnprocessableEntity, a.Status, "%v %v: %s", at, wrong, a.Body)
				require.Contains(t, []models.Code{models.CodeValidation, models.CodeReferenceNotOwned}, a.Code(), at)
				require.Regexp(t, `"ui_details":\{"`+fault+`":\["[^"]*\p{Arabic}`, string(a.Body), "%v: says so in Arabic", at)
			}

			require.Equal(t, []string{fault}, faults(t, a), "%v %v: %s", at, wrong, a.Body)
			require.NotContains(t, string(a.Body), "The resource does not exist", at)
		}
	}
}

func mediaType(c *refusal) string {
	if c.method == http.MethodPatch && c.put == nil { // a correction is no merge patch
		return mergePatch
	}

	return "application/json"
}

func referenceCases(t *testing.T, s *harness.Stack) map[reference]refusal {
	t.Helper()

	staff, customer, finance := s.As(models.RoleProviderStaff), s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	other, unknown := s.For(t), uuid.New()

	_, trip := trips.create(t, s, staff, "References")
	_, campaign := campaigns.create(t, s, staff, "References")

	gone := func(k resourceKind) any {
		resource, location := k.create(t, s, staff, "Short-lived")
		require.Equal(t, http.StatusNoContent, call(t, staff, http.MethodDelete, location, nil).Status)

		return resource["id"]
	}
	goneBus, goneHotel, goneStop, goneTrip := gone(buses), gone(hotels), gone(restStops), gone(trips)

	idle := s.For(t)
	_, err := s.DB.ExecContext(t.Context(), "UPDATE providers SET status = 'INACTIVE' WHERE id = $1", idle.World.Provider.ID)
	require.NoError(t, err)

	paid, foreign := customer.BookPaid(1), customer.BookPaid(1)

	incident, passenger := models.NewID(), uuid.Nil
	_, err = s.DB.ExecContext(t.Context(), "INSERT INTO incidents (id, kind, message) VALUES ($1, 'GATEWAY_OUTAGE', 'Out')", incident)
	require.NoError(t, err)
	require.NoError(t, s.DB.QueryRowContext(t.Context(), "SELECT user_id FROM bookings WHERE id = $1", paid.ID).Scan(&passenger))

	cases := map[reference]refusal{
		{"CreateBooking", "trip_id"}: {
			method: http.MethodPost, path: bookingsPath, by: customer, body: s.BookingRequest(1),
			wrong: []any{unknown, goneTrip, idle.World.Trip.ID},
		},
		{"CreateAdCampaign", "trip_id"}: {
			method: http.MethodPost, path: campaigns.path, by: staff, body: campaigns.body(s, "References"),
			wrong: []any{unknown, goneTrip, other.World.Trip.ID},
		},
		{"ReplaceAdCampaign", "trip_id"}: {
			method: http.MethodPut, path: campaign, by: staff, body: campaigns.body(s, "References"),
			wrong: []any{unknown, goneTrip, other.World.Trip.ID},
		},
		{"PatchAdCampaign", "trip_id"}: {
			method: http.MethodPatch, path: campaign, by: staff, body: object{}, wrong: []any{unknown, goneTrip, other.World.Trip.ID},
		},
		{"RefundBooking", "payment_transaction_id"}: {
			method: http.MethodPost, path: "/api/v1/admin/bookings/" + paid.ID.String() + "/refund", by: finance,
			body: object{"refund_type": "FULL"}, wrong: []any{unknown, foreign.Payment.TransactionID},
		},
		{"CancelPaidBooking", "passenger_ids"}: {
			method: http.MethodPost, path: "/api/v1/admin/bookings/" + paid.ID.String() + "/cancel", by: finance,
			body: object{"refund": "POLICY", "reason": "References", "bearer": "PLATFORM"}, wrong: []any{[]uuid.UUID{unknown}, []any{foreign.Passengers[0].ID}},
		},
		{"RequestCancellation", "passenger_ids"}: {
			method: http.MethodPost, path: bookingsPath + "/" + paid.ID.String() + "/cancellation-requests", by: customer,
			body: object{"reason": "References"}, wrong: []any{[]uuid.UUID{unknown}, []any{foreign.Passengers[0].ID}},
		},
		{"CorrectBooking", "passengers.id"}: {
			method: http.MethodPatch, path: "/api/v1/admin/bookings/" + paid.ID.String(), by: s.As(models.RoleSupportAgent),
			wrong: []any{unknown, foreign.Passengers[0].ID}, fault: "passengers",
			put: func(wrong any) object { return object{"passengers": []object{{"id": wrong, "name": "Corrected"}}} },
		},
		{"AssignIncident", "assignee_id"}: {
			method: http.MethodPost, path: "/api/v1/admin/incidents/" + incident.String() + "/assign", by: finance, body: object{},
			wrong: []any{unknown, passenger},
		},
		// Of many ids the details name those that are unknown.
		{"MarkRecordsTransferred", "ids"}: {
			method: http.MethodPost, path: "/api/v1/admin/financial-records/mark-transferred", by: finance, body: object{},
			wrong: []any{[]uuid.UUID{unknown}}, status: http.StatusNotFound,
		},
	}

	for operation, c := range map[string]refusal{
		"CreateProviderTrip":  {method: http.MethodPost, path: trips.path, body: trips.body(s, "References")},
		"ReplaceProviderTrip": {method: http.MethodPut, path: trip, body: trips.body(s, "References")},
		"PatchProviderTrip":   {method: http.MethodPatch, path: trip, body: object{}},
	} {
		c.by = staff

		for field, wrong := range map[string][]any{
			"bus_id": {unknown, goneBus, other.World.Bus.ID}, "hotel_id": {unknown, goneHotel, other.World.Hotel.ID},
			"rest_stop_ids": {
				[]uuid.UUID{unknown}, []any{goneStop}, []uuid.UUID{s.World.RestStop.ID, other.World.RestStop.ID},
			},
		} {
			c.wrong = wrong
			cases[reference{operation, field}] = c
		}
	}

	return cases
}

// referencesOfDocument are the fields with ids in the bodies of all operations.
func referencesOfDocument(t *testing.T) []reference {
	t.Helper()

	doc, err := api.Document()
	require.NoError(t, err)

	found := map[reference]bool{}

	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			if op.RequestBody == nil || op.Extensions["x-raw-body"] == true {
				continue
			}

			for _, content := range op.RequestBody.Value.Content {
				eachID(content.Schema, "", func(field string) { found[reference{op.OperationID, field}] = true })
			}
		}
	}

	return slices.Collect(maps.Keys(found))
}

func eachID(schema *openapi3.SchemaRef, at string, found func(field string)) {
	if schema == nil || schema.Value == nil {
		return
	}

	if schema.Value.Format == "uuid" {
		found(at)
	}

	for name, property := range schema.Value.Properties {
		eachID(property, strings.TrimPrefix(at+"."+name, "."), found)
	}

	eachID(schema.Value.Items, at, found)

	for _, parts := range []openapi3.SchemaRefs{schema.Value.AllOf, schema.Value.AnyOf, schema.Value.OneOf} {
		for _, part := range parts {
			eachID(part, at, found)
		}
	}
}
