package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"rihla/api/middleware"
	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/models"
)

// TestOrderOfChecks sends requests with several faults at once and takes them away one by one, first to last.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()

	b := setup(t, withLimits(config.RateLimits{EndUser: 2, Admin: 2, Anonymous: 100}))
	path := "/api/v1/admin/bookings/nonsense/refund"
	huge := strings.Repeat("x", 1<<20+1)

	require.Equal(t, http.StatusRequestEntityTooLarge, b.call(t, http.MethodPost, path, "", huge).status)
	require.Equal(t, http.StatusUnauthorized, b.call(t, http.MethodPost, path, "", "{").status)
	require.Equal(t, http.StatusUnauthorized, b.call(t, http.MethodPost, path, "wrong", "{").status)

	for range 2 {
		a := b.call(t, http.MethodPost, path, "END_USER", "{")
		require.Equal(t, http.StatusForbidden, a.status)
		require.Empty(t, a.details)
	}

	require.Equal(t, http.StatusTooManyRequests, b.call(t, http.MethodPost, path, "END_USER", "{").status)

	free := setup(t)
	require.Equal(t, http.StatusBadRequest, free.call(t, http.MethodPost, path, "ADMIN", "{").status)
	require.Equal(t, http.StatusUnsupportedMediaType, free.call(t, http.MethodPost, path, "ADMIN", "{}", "Content-Type", "a/b").status)
	require.Equal(t, http.StatusUnprocessableEntity, free.call(t, http.MethodPost, path, "ADMIN", "{}").status)
	require.Equal(t, http.StatusNotFound, free.call(t, http.MethodPost, path, "ADMIN", `{"refund_type":"FULL"}`).status)
}

func TestAuthentication(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for _, header := range []string{"", "Bearer", "Bearer ", "Basic ADMIN", "ADMIN", "Bearer ADMIN SUPER_ADMIN"} {
		a := b.call(t, http.MethodGet, "/api/v1/me", "", "", "Authorization", header)
		require.Equal(t, "UNAUTHENTICATED", a.code, header)
		require.Equal(t, "Bearer", a.header.Get("WWW-Authenticate"))
	}

	a := b.call(t, http.MethodGet, "/api/v1/me", "", "", "Authorization", "bearer PROVIDER_ADMIN", "Accept-Language", "en-GB,fr;q=0.5")
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Equal(t, "en", a.header.Get("Content-Language"))
	require.Equal(t, models.RoleProviderAdmin, b.ops.seen.principal.Role)
	require.Equal(t, models.LocaleEnglish, b.ops.seen.locale)

	line := b.log.lines(t, "request")[6]
	require.Equal(t, userID.String(), line["user_id"])
	require.Equal(t, companyID.String(), line["provider_id"])
	require.Equal(t, "/api/v1/me", line["path"])
	require.Equal(t, a.get(requestIDHeader), line["request_id"])
	require.InDelta(t, 200, line["status"], 0)
}

// TestRoles is the access matrix as callers meet it (rules: scope.roles): 403 or anything else.
func TestRoles(t *testing.T) {
	t.Parallel()

	b := setup(t)
	staff := []models.Role{models.RoleProviderStaff, models.RoleProviderAdmin}
	money := []models.Role{models.RoleFinanceAdmin, models.RoleAdmin, models.RoleSuperAdmin}
	support := append([]models.Role{models.RoleSupportAgent}, money...)
	admins := []models.Role{models.RoleAdmin, models.RoleSuperAdmin}
	company := []models.Role{models.RoleProviderStaff, models.RoleProviderAdmin, models.RoleAdmin, models.RoleSuperAdmin}
	id := "/" + tripID.String()

	matrix := map[string][]models.Role{
		"GET /api/v1/me":                                                  models.Roles(),
		"GET /api/v1/my/bookings":                                         models.Roles(),
		"POST /api/v1/bookings":                                           models.Roles(),
		"POST /api/v1/payments/booking" + id + "/intent":                  models.Roles(),
		"POST /api/v1/payments/ad-campaign" + id + "/intent":              company,
		"GET /api/v1/admin/bookings":                                      support,
		"POST /api/v1/admin/bookings" + id + "/refund":                    money,
		"POST /api/v1/admin/bookings" + id + "/send-checkout":             support,
		"GET /api/v1/admin/bookings" + id + "/refund-quote":               support,
		"GET /api/v1/admin/bookings" + id + "/refund-preview":             support,
		"POST /api/v1/admin/refunds" + id + "/approve":                    money,
		"POST /api/v1/admin/refunds" + id + "/reject":                     money,
		"POST /api/v1/admin/refunds" + id + "/confirm-payout":             money,
		"POST /api/v1/admin/refunds" + id + "/reject-payout":              money,
		"GET /api/v1/admin/refunds":                                       support,
		"GET /api/v1/admin/refunds" + id:                                  support,
		"GET /api/v1/admin/payment-transactions":                          support,
		"GET /api/v1/admin/payment-transactions" + id:                     support,
		"GET /api/v1/admin/incidents":                                     support,
		"GET /api/v1/admin/incidents" + id:                                support,
		"POST /api/v1/admin/incidents" + id + "/assign":                   support,
		"GET /api/v1/admin/incidents" + id + "/notes":                     support,
		"POST /api/v1/admin/incidents" + id + "/notes":                    support,
		"GET /api/v1/admin/incident-assignees":                            support,
		"POST /api/v1/admin/incidents" + id + "/resolve":                  money,
		"GET /api/v1/admin/financial-records":                             money,
		"GET /api/v1/admin/provider-balances":                             money,
		"GET /api/v1/admin/providers" + id + "/balance":                   money,
		"GET /api/v1/admin/financial-records/export":                      money,
		"GET /api/v1/admin/financial-records/totals":                      money,
		"GET /api/v1/admin/exports":                                       money,
		"POST /api/v1/admin/financial-records" + id + "/mark-transferred": money,
		"POST /api/v1/admin/financial-records" + id + "/revert-transfer":  money,
		"GET /api/v1/provider/financial-records":                          staff,
		"GET /api/v1/admin/audit-logs":                                    money,
		"GET /api/v1/admin/audit-logs/export":                             {models.RoleSuperAdmin},
		"GET /api/v1/admin/providers":                                     admins,
		"POST /api/v1/admin/providers":                                    admins,
		"GET /api/v1/admin/providers" + id:                                admins,
		"PUT /api/v1/admin/providers" + id:                                admins,
		"PATCH /api/v1/admin/providers" + id:                              admins,
		"POST /api/v1/admin/providers" + id + "/activate":                 admins,
		"POST /api/v1/admin/providers" + id + "/deactivate":               admins,
		"GET /api/v1/admin/providers" + id + "/staff":                     admins,
		"POST /api/v1/admin/providers" + id + "/staff":                    admins,
		"GET /api/v1/admin/providers" + id + "/staff" + id:                admins,
		"POST /api/v1/trips" + id + "/publish":                            company,
		"GET /api/v1/provider/trips" + id + "/bookings":                   company,
		"POST /api/v1/ad-campaigns" + id + "/pause":                       company,
		"POST /api/v1/ad-campaigns" + id + "/resume":                      company,
		"POST /api/v1/bookings" + id + "/cancel":                          models.Roles(),
	}

	for _, resource := range []string{"buses", "hotels", "rest-stops", "trips", "ad-campaigns"} {
		path := "/api/v1/provider/" + resource
		matrix["GET "+path], matrix["POST "+path] = company, company

		for _, method := range []string{"GET ", "PUT ", "PATCH ", "DELETE "} {
			matrix[method+path+id] = company
		}
	}

	for path, allowed := range matrix {
		method, target, _ := strings.Cut(path, " ")
		require.Equal(t, http.StatusUnauthorized, b.call(t, method, target, "", "").status, path)

		for _, role := range models.Roles() {
			// page=0 and the missing bodies stop allowed calls at validation, where there is one.
			a := b.call(t, method, target+"?page=0&format=x", string(role), "")

			may := false
			for _, r := range allowed {
				may = may || r == role
			}

			require.Equal(t, may, a.status != http.StatusForbidden, "%s as %s: %d", path, role, a.status)
		}
	}
}

// TestInactiveProvider refuses staff before it looks at what they send, and only where they write.
func TestInactiveProvider(t *testing.T) {
	t.Parallel()

	b := setup(t, func(d *Deps) {
		d.MayWrite = func(_ context.Context, staff auth.Principal) error {
			if staff.ProviderID != companyID {
				return errors.New("asked about somebody else")
			}

			return &models.Error{Code: models.CodeForbidden, Text: models.Verbatim("The provider is not active.")}
		}
	})
	id := "/" + tripID.String()

	for _, path := range []string{
		"POST /api/v1/provider/buses", "PUT /api/v1/provider/hotels" + id, "PATCH /api/v1/provider/trips/nonsense",
		"DELETE /api/v1/provider/rest-stops/nonsense", "POST /api/v1/trips/nonsense/publish", "POST /api/v1/ad-campaigns" + id + "/pause",
		"POST /api/v1/payments/ad-campaign" + id + "/intent",
	} {
		method, target, _ := strings.Cut(path, " ")
		require.Equal(t, http.StatusForbidden, b.call(t, method, target, "PROVIDER_STAFF", "{").status, path)
		require.NotEqual(t, http.StatusForbidden, b.call(t, method, target, "ADMIN", "{").status, path)
	}

	require.Equal(t, http.StatusUnprocessableEntity, b.call(t, http.MethodGet, "/api/v1/provider/buses?page=0", "PROVIDER_STAFF", "").status)
	require.Equal(t, http.StatusCreated, b.call(t, http.MethodPost, bookingPath, "PROVIDER_STAFF", bookingBody).status, "staff travel, too")
}

func TestRateLimits(t *testing.T) {
	t.Parallel()

	b := setup(t, withLimits(config.RateLimits{Anonymous: 3, EndUser: 2, LoginIP: 1, Webhook: 1}))

	for left := range 3 {
		a := b.call(t, http.MethodGet, "/api/v1/trips", "", "")
		require.Equal(t, http.StatusOK, a.status)
		require.Equal(t, "3", a.get(limitHeader))
		require.Equal(t, strconv.Itoa(2-left), a.get(remainingHeader))

		reset, err := strconv.ParseInt(a.get(resetHeader), 10, 64)
		require.NoError(t, err)
		require.InDelta(t, time.Now().Unix()+30, reset, 32)
	}

	a := b.call(t, http.MethodGet, "/api/v1/trips", "", "")
	require.Equal(t, "RATE_LIMITED", a.code)
	require.Equal(t, "0", a.get(remainingHeader))

	wait, err := strconv.Atoi(a.header.Get("Retry-After"))
	require.NoError(t, err)
	require.InDelta(t, 20, wait, 1)

	// 401 comes before 429, and has the headers too.
	a = b.call(t, http.MethodGet, "/api/v1/me", "", "")
	require.Equal(t, http.StatusUnauthorized, a.status)
	require.Equal(t, "0", a.get(remainingHeader))

	// A signed-in user has an allowance of its own, and health is never limited.
	require.Equal(t, "1", b.call(t, http.MethodGet, "/api/v1/me", "END_USER", "").get(remainingHeader))
	require.Empty(t, b.call(t, http.MethodGet, "/healthz", "", "").get(limitHeader))

	require.Equal(t, http.StatusBadRequest, b.call(t, http.MethodPost, "/api/v1/auth/login", "", "").status)
	require.Equal(t, http.StatusTooManyRequests, b.call(t, http.MethodPost, "/api/v1/auth/login", "", "").status)
}

// An unsigned webhook gets 401 however often it comes, and takes nothing from the channel's limit: otherwise any sender could
// lock the gateway out.
func TestWebhookLimitIsTheGateways(t *testing.T) {
	t.Parallel()

	b := setup(t, withLimits(config.RateLimits{Anonymous: 2, Webhook: 1}), func(d *Deps) {
		verify := func(h http.Header, body []byte) (middleware.Webhook, error) {
			if h.Get("Webhook-Signature") == "v1,"+string(body) {
				return middleware.Webhook{}, nil
			}

			return middleware.Webhook{}, &models.Error{Code: models.CodeInvalidSignature, Text: models.Verbatim("The webhook signature is missing or wrong.")}
		}
		d.Webhooks["ReceiveGatewayAWebhook"] = middleware.WebhookPath{
			Headers: []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"}, Verify: verify,
		}
	})
	call := func(headers ...string) answer {
		return b.call(t, http.MethodPost, "/api/v1/payments/webhook/gateway_a", "", "{}", headers...)
	}

	for range 3 {
		require.Equal(t, "INVALID_SIGNATURE", call().code)
		require.Equal(t, "INVALID_SIGNATURE", call("webhook-id", "1", "webhook-timestamp", "2", "webhook-signature", "v1,x").code)
	}

	signed := []string{"webhook-id", "1", "webhook-timestamp", "2", "webhook-signature", "v1,{}"}
	a := call(signed...)
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Equal(t, "1", a.get(limitHeader))
	require.Equal(t, "0", a.get(remainingHeader))

	lines := b.log.lines(t, "request")
	require.Equal(t, tripID.String(), lines[len(lines)-1]["payment_transaction_id"], "what the handler has found")
	require.Equal(t, "RATE_LIMITED", call(signed...).code)

	a = call()
	require.Equal(t, "INVALID_SIGNATURE", a.code, "401 comes before 429")
	require.Equal(t, "2", a.get(limitHeader), "the address's")
}

func TestUnknownRoutesAndMethods(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for _, path := range []string{"/nope", "/api/v1/", "/api/v1/Trips", "/api/v1/trips/", "/api/v2/trips", "/%00"} {
		a := b.call(t, http.MethodGet, path, "", "")
		require.Equal(t, "NOT_FOUND", a.code, path)
	}

	a := b.call(t, http.MethodDelete, "/api/v1/bookings", "ADMIN", "")
	require.Equal(t, "METHOD_NOT_ALLOWED", a.code)
	require.Equal(t, "POST", a.header.Get("Allow"))

	a = b.call(t, http.MethodPost, "/api/v1/trips", "", "{}")
	require.Equal(t, "GET, HEAD", a.header.Get("Allow"))
}

func TestFailures(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name   string
		fail   error
		status int
		code   string
	}{
		{"unexpected", errors.New("secret detail"), 500, "INTERNAL_ERROR"},
		{"framework", fiber.NewError(500, "secret detail"), 500, "INTERNAL_ERROR"},
		{"gateway", &models.Error{Code: models.CodeGatewayUnavailable, Text: models.Verbatim("The payment gateway does not answer.")}, 502, "GATEWAY_UNAVAILABLE"},
		{"orchestrator", &models.Error{Code: models.CodeServiceUnavailable, Text: models.Verbatim("Try again.")}, 503, "SERVICE_UNAVAILABLE"},
		{"conflict", &models.Error{Code: models.CodeTripCapacityReached, Text: models.Verbatim("The trip has no seats left.")}, 409, "TRIP_CAPACITY_REACHED"},
		{"unknown code", &models.Error{Code: "NEW_CODE", Text: models.Verbatim("secret detail")}, 500, "INTERNAL_ERROR"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.ops.fail = tt.fail
			a := b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody, "X-Request-Id", "trace-1")

			require.Equal(t, tt.status, a.status)
			require.Equal(t, tt.code, a.code)
			require.Equal(t, "trace-1", a.get(requestIDHeader))
			require.NotContains(t, a.body, "secret")

			failures := b.log.lines(t, "request failed")
			if tt.status < http.StatusInternalServerError {
				require.Empty(t, failures)

				return
			}

			require.Equal(t, []string{"trace-1"}, a.details["request_id"])
			require.Len(t, failures, 1)
			require.Equal(t, "trace-1", failures[0]["request_id"])
			require.Equal(t, tt.status == 503, a.header.Get("Retry-After") != "")
		})
	}
}

func TestPanic(t *testing.T) {
	t.Parallel()

	b := setup(t)
	// No handler behind this operation: calling it dereferences nil.
	a := b.call(t, http.MethodGet, "/api/v1/my/bookings", "END_USER", "")

	require.Equal(t, http.StatusInternalServerError, a.status)
	require.Equal(t, []string{a.get(requestIDHeader)}, a.details["request_id"])
	require.NotContains(t, a.body, "nil pointer")

	failures := b.log.lines(t, "request failed")
	require.Len(t, failures, 1)
	require.Contains(t, failures[0]["stack"], "ListMyBookings")
	require.Len(t, b.log.lines(t, "request"), 1)
}

func TestDeadlines(t *testing.T) {
	t.Parallel()

	b := setup(t)
	require.Equal(t, http.StatusCreated, b.call(t, http.MethodPost, bookingPath, "END_USER", bookingBody).status)
	require.InDelta(t, 15, b.ops.seen.deadline.Seconds(), 1)

	path := bookingPath + "/" + tripID.String() + "/payment-status?wait=30"
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, path, "END_USER", "").status)
	require.InDelta(t, 45, b.ops.seen.deadline.Seconds(), 1)

	require.Equal(t, http.StatusUnprocessableEntity, b.call(t, http.MethodGet, path+"1", "END_USER", "").status)
}

func TestWebhookGetsItsBytes(t *testing.T) {
	t.Parallel()

	b := setup(t)
	path := "/api/v1/payments/webhook/gateway_a"
	body := "{ \"not\" : \"checked\", \x00 here"

	a := b.call(t, http.MethodPost, path, "", body, "webhook-id", "1", "webhook-timestamp", "2")
	require.Equal(t, "INVALID_SIGNATURE", a.code)

	a = b.call(t, http.MethodPost, path, "", body, "webhook-id", "1", "webhook-timestamp", "2", "webhook-signature", "v1,x")
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Equal(t, body, b.ops.hook)
}

// TestWebhookIsVerifiedOnce: the fault of a signed body travels with the request, and is answered after the limit.
func TestWebhookIsVerifiedOnce(t *testing.T) {
	t.Parallel()

	verified := 0
	b := setup(t, withLimits(config.RateLimits{Webhook: 1}), func(d *Deps) {
		d.Webhooks["ReceiveGatewayAWebhook"] = middleware.WebhookPath{Verify: func(http.Header, []byte) (middleware.Webhook, error) {
			verified++

			return middleware.Webhook{Err: models.Invalid("amount", "field.required")}, nil
		}}
	})

	for i, code := range []string{"VALIDATION_ERROR", "RATE_LIMITED"} {
		a := b.call(t, http.MethodPost, "/api/v1/payments/webhook/gateway_a", "", "{}",
			"webhook-id", "1", "webhook-timestamp", "2", "webhook-signature", "v1,x")
		require.Equal(t, code, a.code)
		require.Equal(t, i+1, verified)
	}
}

// TestNetworksOfOneSite: the 65,536 IPv6 networks of one site do not have as many allowances.
func TestNetworksOfOneSite(t *testing.T) {
	t.Parallel()

	b := setup(t, withLimits(config.RateLimits{Anonymous: 1}), func(d *Deps) { d.TrustedProxies = []string{"0.0.0.0/0"} })
	from := func(address string) answer {
		return b.call(t, http.MethodGet, "/api/v1/trips", "", "", "X-Forwarded-For", address)
	}

	for network := range 16 {
		require.Equal(t, http.StatusOK, from(fmt.Sprintf("2001:db8:1:%x::1", network)).status)
	}

	refused := from("2001:db8:1:ffff::1")
	require.Equal(t, http.StatusTooManyRequests, refused.status)
	require.Equal(t, "16", refused.get(limitHeader))
	require.Equal(t, http.StatusOK, from("2001:db8:2::1").status)

	// One network has one allowance, whatever the port and the host.
	require.Equal(t, http.StatusTooManyRequests, from("[2001:db8:2::2]:1234").status)
	require.Equal(t, http.StatusOK, from("203.0.113.9:1").status)
	require.Equal(t, http.StatusTooManyRequests, from("203.0.113.9:2").status)
	require.Equal(t, http.StatusOK, from("203.0.113.10:2").status)
}
