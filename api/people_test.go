package api

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/api/contract"
	"rihla/internal/auth"
	"rihla/models"
)

// aboutPeople are names of fields that say something about a person, and who is called by them.
var aboutPeople = []string{
	"email", "phone", "document_number", "license_number", "customer_name", "customer_email", "customer_phone", "contact_name",
	"contact_email", "contact_phone", "user_agent",
}

// noPeople are schemas with such fields that are of no person, and answers whose schema says nothing, with the reason.
var noPeople = map[string]string{
	"Provider": "a company", "ProviderDetail": "a company", "Company": "a company", "OpenSession": "the caller's own sessions",
	"ExportFinancialRecords": "ledger entries have no customers", "ExportAuditLogs": "asks for a code itself, and is in the audit log",
	"GetTicket": "counted by its JSON", "GetManifest": "counts its rows itself",
	"StreamDashboardEvents": "sums of money", "StreamProviderDashboardEvents": "sums of money",
}

// TestPeopleAreMarked walks all answers of the document (rules: privacy.lists): what has fields about people is marked, and so counted.
func TestPeopleAreMarked(t *testing.T) {
	t.Parallel()

	used := map[string]bool{}

	for name, schema := range answered(t) {
		marked, _ := schema.Extensions["x-people"].(bool)

		for field := range properties(schema) {
			if !slices.Contains(aboutPeople, field) || marked {
				continue
			}

			used[name] = true
			require.Contains(t, noPeople, name, "%s.%s is about people: mark the schema with x-people, or give a reason", name, field)
		}
	}

	doc, err := Document()
	require.NoError(t, err)

	operations, err := contract.Compile(doc)
	require.NoError(t, err)

	counted := map[contract.People][]string{}
	for _, op := range operations {
		counted[op.People] = append(counted[op.People], op.ID)
	}

	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			roles, _ := op.Extensions["x-roles"].([]any)

			for status, answer := range op.Responses.Map() {
				for mediaType := range answer.Value.Content {
					if status == "200" && mediaType != "application/json" && !slices.Contains(roles, any("public")) {
						used[op.OperationID] = true
						require.Contains(t, noPeople, op.OperationID, "nothing says what is in it")
					}
				}
			}
		}
	}

	for exception := range noPeople {
		require.True(t, used[exception], "%s is no exception", exception)
	}

	require.ElementsMatch(t, []string{
		"ListBookings", "ListTripBookings", "ListRefunds", "ListUsers", "ListStaff", "ListBuses", "ListAuditLogs",
		"ListCheckIns", "ListCancellationRequests", "ListAllCancellationRequests", "ListBookingNotes", "ListCompanyStaff",
	}, counted[contract.ListOfPeople])
	require.Subset(t, counted[contract.OnePerson], []string{"GetBooking", "GetUser", "PatchUser", "GetStaff", "GetRefund", "GetPaymentTransaction", "GetCancellationRequest"})
	require.Subset(t, counted[contract.NoPeople], []string{"GetMe", "ListMyBookings", "ListTrips", "ListProviders"})
}

// TestPeopleAreCounted: as many as may be in an answer before it is made, and those that are in it after it; nothing of a refusal.
func TestPeopleAreCounted(t *testing.T) {
	t.Parallel()

	type call struct {
		operation  string
		most, read int
	}

	var (
		calls  []call
		refuse error
	)

	b := setup(t, func(d *Deps) {
		d.ReadPeople = func(_ context.Context, _ auth.Principal, operation string, most int) (func(context.Context, int), error) {
			calls = append(calls, call{operation: operation, most: most, read: -1})
			at := len(calls) - 1

			return func(_ context.Context, rows int) { calls[at].read = rows }, refuse
		}
	})
	last := func() call { return calls[len(calls)-1] }

	require.Equal(t, http.StatusInternalServerError, b.call(t, http.MethodGet, "/api/v1/admin/bookings?per_page=50", "ADMIN", "").status)
	require.Equal(t, call{"ListBookings", 50, 50}, last(), "a panic says nothing of what was read")

	require.Equal(t, http.StatusUnprocessableEntity, b.call(t, http.MethodGet, "/api/v1/admin/bookings?per_page=5000", "ADMIN", "").status)
	require.Len(t, calls, 1, "refused before")

	b.call(t, http.MethodGet, "/api/v1/bookings/"+tripID.String(), "END_USER", "")
	require.Len(t, calls, 1, "customers read their own")

	b.call(t, http.MethodGet, "/api/v1/bookings/"+tripID.String(), "SUPPORT_AGENT", "")
	require.Equal(t, call{"GetBooking", 1, 1}, last())

	b.ops.fail = &models.Error{Code: models.CodeTripCapacityReached, Text: models.Verbatim("It is full.")}
	require.Equal(t, http.StatusConflict, b.call(t, http.MethodPost, bookingPath, "ADMIN", bookingBody).status)
	require.Equal(t, call{"CreateBooking", 1, 0}, last(), "a refusal shows nobody")

	refuse = models.StepUpBy(models.StepUpByCode)
	a := b.call(t, http.MethodGet, "/api/v1/admin/bookings", "ADMIN", "")
	require.Equal(t, string(models.CodeStepUpRequired), a.code)
	require.Equal(t, call{"ListBookings", 20, -1}, last())
}
