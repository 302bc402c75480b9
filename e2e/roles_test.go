package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api"
	"rihla/e2e/harness"
	"rihla/models"
)

var (
	everybody = []string{"public"}
	signedIn  = roleNames(models.Roles()...)
	admins    = roleNames(models.RoleAdmin, models.RoleSuperAdmin)
	finance   = roleNames(models.RoleFinanceAdmin, models.RoleAdmin, models.RoleSuperAdmin)
	support   = roleNames(models.RoleSupportAgent, models.RoleFinanceAdmin, models.RoleAdmin, models.RoleSuperAdmin)
	providers = roleNames(models.RoleProviderStaff, models.RoleProviderAdmin)
	owners    = append(slices.Clone(providers), admins...)
)

// access is contract §2, written down a second time: who may call what. It is compared with the document, and both with
// what the service does.
var access = map[string][]string{
	"Register": everybody, "Login": everybody, "RefreshTokens": everybody, "Logout": everybody, "GetJWKS": everybody,
	"GetMe":     signedIn,
	"ListTrips": everybody, "GetTrip": everybody,
	"CreateBooking": signedIn, "GetBooking": signedIn, "GetPaymentStatus": signedIn, "ListMyBookings": signedIn,
	"CreateBookingIntent": signedIn, "CreateCampaignIntent": owners,
	"ReceiveGatewayAWebhook": everybody, "ReceiveWalletAWebhook": everybody, "ReceiveWalletBWebhook": everybody,
	"ReceiveBillPaymentWebhook": everybody,
	"RefundBooking":             finance, "ListRefunds": support, "GetRefund": support,
	"ListPaymentTransactions": support, "GetPaymentTransaction": support, "ListIncidents": support, "ResolveIncident": finance,
	"ListFinancialRecords": finance, "ExportFinancialRecords": finance, "MarkRecordTransferred": finance,
	"ListProviderFinancialRecords": providers, "ListAuditLogs": admins,
	"ListProviders": admins, "CreateProvider": admins, "GetProvider": admins, "ReplaceProvider": admins, "PatchProvider": admins,
	"ActivateProvider": admins, "DeactivateProvider": admins, "ListStaff": admins, "CreateStaff": admins, "GetStaff": admins,
	"ListBuses": owners, "CreateBus": owners, "GetBus": owners, "ReplaceBus": owners, "PatchBus": owners, "DeleteBus": owners,
	"ListHotels": owners, "CreateHotel": owners, "GetHotel": owners, "ReplaceHotel": owners, "PatchHotel": owners,
	"DeleteHotel": owners, "ListRestStops": owners, "CreateRestStop": owners, "GetRestStop": owners, "ReplaceRestStop": owners,
	"PatchRestStop": owners, "DeleteRestStop": owners, "ListProviderTrips": owners, "CreateProviderTrip": owners,
	"GetProviderTrip": owners, "ReplaceProviderTrip": owners, "PatchProviderTrip": owners, "DeleteProviderTrip": owners,
	"PublishTrip": owners, "ListAdCampaigns": owners, "CreateAdCampaign": owners, "GetAdCampaign": owners,
	"ReplaceAdCampaign": owners, "PatchAdCampaign": owners, "DeleteAdCampaign": owners, "PauseAdCampaign": owners,
	"ResumeAdCampaign": owners, "ListCatalogueHotels": everybody, "ListCatalogueBuses": everybody,
	"ListCatalogueRestStops": everybody, "CancelBooking": signedIn,
	"GetHealth": everybody, "GetReadiness": everybody, "GetOpenAPI": everybody, "GetDocs": everybody, "GetMetrics": everybody,
}

func roleNames(roles ...models.Role) []string {
	out := make([]string, len(roles))
	for i, r := range roles {
		out[i] = string(r)
	}

	return out
}

// roleMatrix calls every operation as every role, and as nobody.
func roleMatrix(t *testing.T, s *harness.Stack) {
	t.Helper()

	doc, err := api.Document()
	require.NoError(t, err)

	callers := map[string]*harness.Caller{}
	for _, role := range models.Roles() {
		callers[string(role)] = s.As(role)
	}

	var seen []string

	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			seen = append(seen, op.OperationID)

			allowed, known := access[op.OperationID]
			require.True(t, known, "%s is missing in the table of this test", op.OperationID)
			require.ElementsMatch(t, allowed, rolesOf(op.Extensions["x-roles"]), op.OperationID)

			for role, caller := range callers {
				a := probe(t, caller, method, path)
				what := fmt.Sprintf("%s as %s: %s", op.OperationID, role, a.Body)

				if slices.Equal(allowed, everybody) || slices.Contains(allowed, role) {
					require.NotEqual(t, http.StatusForbidden, a.Status, what)

					continue
				}

				require.Equal(t, http.StatusForbidden, a.Status, what)
				require.JSONEq(t, `{"error":{"code":"FORBIDDEN","message":"Your role does not allow this operation."}}`, string(a.Body), what)
			}

			a := probe(t, s.Anybody(), method, path)
			require.Equal(t, !slices.Equal(allowed, everybody), a.Code() == models.CodeUnauthenticated, "%s as nobody: %s", op.OperationID, a.Body)
		}
	}

	require.ElementsMatch(t, seen, slices.Collect(maps.Keys(access)), "the table has operations that do not exist")
}

// probe calls an operation about nothing: whoever may call it hears 400, 404 or 422, or reads a list.
func probe(t *testing.T, c *harness.Caller, method, path string) harness.Answer {
	t.Helper()

	for _, name := range []string{"{id}", "{booking_id}", "{ad_campaign_id}", "{staff_id}"} {
		path = strings.Replace(path, name, uuid.NewString(), 1)
	}

	a, err := c.Do(method, path, nil, nil)
	require.NoError(t, err)

	return a
}

// rolesOf reads x-roles; authenticated is every role.
func rolesOf(extension any) []string {
	var out []string

	for _, name := range extension.([]any) {
		if name == "authenticated" {
			return signedIn
		}

		out = append(out, name.(string))
	}

	return out
}
