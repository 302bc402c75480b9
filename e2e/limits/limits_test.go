// Package limits_test drives the rate limits (rules: input.rates) through the running service.
package limits_test

import (
	"maps"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/internal/store/storetest"
	"rihla/models"
)

const (
	tripsPath = "/api/v1/trips"
	mePath    = "/api/v1/me"
	loginPath = "/api/v1/auth/login"
	cardsPath = "/api/v1/payments/webhook/gateway_a"
	billsPath = "/api/v1/payments/webhook-bill_payment"
)

// proxied makes the API believe the test's X-Forwarded-For, so that each part has addresses of its own.
func proxied(more map[string]string) map[string]string {
	env := map[string]string{"TRUSTED_PROXIES": "127.0.0.1"}
	maps.Copy(env, more)

	return env
}

// TestLimits runs on the limits of a deployment that sets none, except that a webhook channel has a small one.
func TestLimits(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Limits: true, Env: proxied(map[string]string{"RATE_LIMIT_WEBHOOK": strconv.Itoa(webhookLimit)})})

	for name, test := range map[string]func(*testing.T, *harness.Stack){
		"documented": documented, "per address": perAddress, "IPv6 network": ipv6Network, "per user": perUser,
		"per account": perAccount, "login per address": loginPerAddress, "order of checks": order, "proxies": proxies,
		"webhooks": webhooks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s.For(t))
		})
	}
}

// from sends a request that came through the proxy from an address.
func from(t *testing.T, c *harness.Caller, address, method, path string, body any) harness.Answer {
	t.Helper()

	a, err := c.Do(method, path, body, map[string]string{"X-Forwarded-For": address})
	require.NoError(t, err)

	return a
}

// allowance is what the headers say.
type allowance struct{ limit, remaining, reset int64 }

// allowanceOf reads the three headers, which every answer of a limited route has.
func allowanceOf(t *testing.T, a harness.Answer) allowance {
	t.Helper()

	read := func(name string) int64 {
		n, err := strconv.ParseInt(a.Header.Get(name), 10, 64)
		require.NoError(t, err, "%d without %s", a.Status, name)

		return n
	}

	got := allowance{read("X-RateLimit-Limit"), read("X-RateLimit-Remaining"), read("X-RateLimit-Reset")}
	now := time.Now().Unix()

	require.GreaterOrEqual(t, got.reset, now-5, "Unix time")
	require.LessOrEqual(t, got.reset, now+61)

	return got
}

// loginLimit is RATE_LIMIT_LOGIN's default.
const loginLimit = 10

// limited checks a 429 of a limit.
func limited(t *testing.T, a harness.Answer, limit int64) {
	t.Helper()
	require.Equal(t, http.StatusTooManyRequests, a.Status, "%s", a.Body)
	require.Equal(t, models.CodeRateLimited, a.Code())

	got := allowanceOf(t, a)
	require.Equal(t, limit, got.limit)
	require.Zero(t, got.remaining)

	wait, err := strconv.ParseInt(a.Header.Get("Retry-After"), 10, 64)
	require.NoError(t, err)
	require.GreaterOrEqual(t, wait, int64(1))
	require.LessOrEqual(t, wait, 60/limit+1)
}

// spend calls until it is refused by the limit, and checks that as many got through as the limit and the time that passed allow.
// It returns the 429.
func spend(t *testing.T, limit int64, status int, call func() harness.Answer) harness.Answer {
	t.Helper()

	a := spendAny(t, limit, status, call)
	limited(t, a, limit)

	return a
}

// spendAny is spend, whatever refuses in the end.
func spendAny(t *testing.T, limit int64, status int, call func() harness.Answer) harness.Answer {
	t.Helper()

	began := time.Now()

	for passed := int64(0); ; passed++ {
		a := call()
		if a.Status == http.StatusTooManyRequests {
			require.GreaterOrEqual(t, passed, limit)

			return a
		}

		require.Equal(t, status, a.Status, "%s", a.Body)
		require.Empty(t, a.Header.Get("Retry-After"))
		require.LessOrEqual(t, passed, limit+refilled(limit, time.Since(began)), "too many got through")
	}
}

// loginRefused checks a 429 of the limit of tries or of the account's pause. On a slow machine the limit gives a try back before ten
// wrong passwords have been looked at, and the pause answers; TestSharedLimits has the limit alone.
func loginRefused(t *testing.T, a harness.Answer) {
	t.Helper()
	require.Equal(t, http.StatusTooManyRequests, a.Status, "%s", a.Body)
	require.Equal(t, models.CodeRateLimited, a.Code())
	require.Equal(t, int64(loginLimit), allowanceOf(t, a).limit)
	require.Zero(t, allowanceOf(t, a).remaining)
}

// spent calls until it is refused, of an allowance that has just been spent by others, and checks that no more got
// through than the time since began allows: an allowance of its own would let the whole limit through.
func spent(t *testing.T, limit int64, began time.Time, call func() harness.Answer) {
	t.Helper()

	for passed := int64(0); ; passed++ {
		a := call()
		if a.Status == http.StatusTooManyRequests {
			limited(t, a, limit)

			return
		}

		require.LessOrEqual(t, passed, refilled(limit, time.Since(began)), "%d: it has an allowance of its own", a.Status)
	}
}

// refilled is the most that a limit gives back in a time.
func refilled(limit int64, passed time.Duration) int64 {
	return int64(passed/(time.Minute/time.Duration(limit))) + 1
}

func documented(t *testing.T, s *harness.Stack) {
	t.Helper()

	for role, limit := range map[models.Role]int64{
		models.RoleEndUser: 120, models.RoleProviderStaff: 600, models.RoleProviderAdmin: 600, models.RoleSupportAgent: 600,
		models.RoleFinanceAdmin: 1200, models.RoleAdmin: 1200, models.RoleSuperAdmin: 1200,
	} {
		got := allowanceOf(t, s.As(role).Get(mePath))
		require.Equal(t, limit, got.limit, role)
		require.Equal(t, limit-1, got.remaining, role)
	}

	require.Equal(t, int64(60), allowanceOf(t, from(t, s.Anybody(), "192.0.2.1", http.MethodGet, tripsPath, nil)).limit)
	require.Equal(t, int64(60), allowanceOf(t, from(t, s.Anybody(), "192.0.2.1", http.MethodPost, loginPath, map[string]string{})).limit)

	usual := s.Replica(map[string]string{"RATE_LIMIT_WEBHOOK": ""})
	hook, err := usual.Anybody().Do(http.MethodPost, cardsPath, []byte("{}"), s.Signed(models.ChannelGatewayA, "msg_documented", []byte("{}")))
	require.NoError(t, err)
	require.Equal(t, http.StatusUnprocessableEntity, hook.Status)
	require.Empty(t, hook.Header.Values("X-Ratelimit-Limit"), "what is signed has no limit unless one is set")

	for _, path := range []string{"/docs", "/openapi.json"} {
		require.Equal(t, int64(60), allowanceOf(t, from(t, s.Anybody(), "192.0.2.2", http.MethodGet, path, nil)).limit, path)
	}

	for _, path := range []string{"/healthz", "/readyz", "/.well-known/jwks.json"} {
		require.Empty(t, s.Anybody().Get(path).Header.Values("X-Ratelimit-Limit"), path)
	}
}

func perAddress(t *testing.T, s *harness.Stack) {
	t.Helper()

	trips := func() harness.Answer { return from(t, s.Anybody(), "198.51.100.1", http.MethodGet, tripsPath, nil) }
	began := time.Now()

	spend(t, 60, http.StatusOK, trips)

	// All public routes share it, errors have its headers, and another address has its own.
	spent(t, 60, began, func() harness.Answer {
		return from(t, s.Anybody(), "198.51.100.1", http.MethodGet, "/api/v1/hotels?page=0", nil)
	})
	other := from(t, s.Anybody(), "198.51.100.2", http.MethodGet, "/api/v1/hotels?page=0", nil)
	require.Equal(t, http.StatusUnprocessableEntity, other.Status)
	require.Equal(t, int64(59), allowanceOf(t, other).remaining)

	// A request after the time of Retry-After is let through.
	require.Eventually(t, func() bool { return trips().Status == http.StatusOK }, time.Minute, 100*time.Millisecond)
}

func ipv6Network(t *testing.T, s *harness.Stack) {
	t.Helper()

	for i, address := range []string{"2001:db8:1:2::1", "2001:db8:1:2:ffff::7", "2001:db8:1:2:3:4:5:6"} {
		got := allowanceOf(t, from(t, s.Anybody(), address, http.MethodGet, tripsPath, nil))
		require.LessOrEqual(t, got.remaining, int64(59))

		if i > 0 {
			require.Less(t, got.remaining, int64(59), "one customer")
		}
	}

	require.Equal(t, int64(59), allowanceOf(t, from(t, s.Anybody(), "2001:db8:1:3::1", http.MethodGet, tripsPath, nil)).remaining)
}

func perUser(t *testing.T, s *harness.Stack) {
	t.Helper()

	c, again, neighbour := s.As(models.RoleEndUser), s.As(models.RoleEndUser), s.For(t).As(models.RoleEndUser)
	me := func(c *harness.Caller, address string) func() harness.Answer {
		return func() harness.Answer { return from(t, c, address, http.MethodGet, mePath, nil) }
	}

	began := time.Now()

	spend(t, 120, http.StatusOK, me(c, "198.51.100.3"))
	spent(t, 120, began, me(c, "198.51.100.4"))
	spent(t, 120, began, me(again, "198.51.100.5"))

	require.Equal(t, http.StatusOK, from(t, neighbour, "198.51.100.3", http.MethodGet, mePath, nil).Status)
	require.Equal(t, http.StatusOK, from(t, s.Anybody(), "198.51.100.3", http.MethodGet, tripsPath, nil).Status)
}

func perAccount(t *testing.T, s *harness.Stack) {
	t.Helper()

	email, other := s.World.Users[models.RoleProviderAdmin].Email, s.World.Users[models.RoleProviderStaff].Email
	hosts := 0

	// From many addresses of one network.
	try := func(network, email, password string) harness.Answer {
		hosts++

		return from(t, s.Anybody(), network+strconv.Itoa(hosts%250+1), http.MethodPost, loginPath,
			map[string]string{"email": email, "password": password})
	}

	const owner, attacker, elsewhere = "192.0.2.", "203.0.113.", "198.18.7."

	for range 12 {
		require.Equal(t, http.StatusOK, try(owner, email, storetest.Password).Status, "successes do not count")
	}

	guess := func(email string) func() harness.Answer {
		return func() harness.Answer { return try(attacker, email, "not-the-password") }
	}

	loginRefused(t, spendAny(t, loginLimit, http.StatusUnauthorized, guess(email)))
	loginRefused(t, try(attacker, upperFirst(email), storetest.Password))

	// The account is paused for every network but those that it has logged in from.
	paused := try(elsewhere, upperFirst(email), storetest.Password)
	require.Equal(t, http.StatusTooManyRequests, paused.Status, "%s", paused.Body)

	wait, err := strconv.Atoi(paused.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.InDelta(t, 40, wait, 21)

	require.Equal(t, http.StatusOK, try(owner, email, storetest.Password).Status, "the owner gets in")
	require.Equal(t, http.StatusOK, try(attacker, other, storetest.Password).Status)

	// Whether there is such an account makes no difference.
	loginRefused(t, spendAny(t, loginLimit, http.StatusUnauthorized, guess("nobody."+email)))

	unknown := try(elsewhere, "nobody."+email, "not-the-password")
	require.Equal(t, http.StatusTooManyRequests, unknown.Status)
	require.Equal(t, string(paused.Body), string(unknown.Body))
}

func upperFirst(email string) string { return string(email[0]-'a'+'A') + email[1:] }

func loginPerAddress(t *testing.T, s *harness.Stack) {
	t.Helper()

	login := func(address string) harness.Answer {
		return from(t, s.Anybody(), address, http.MethodPost, loginPath, map[string]string{"email": "x"})
	}

	spend(t, 60, http.StatusUnprocessableEntity, func() harness.Answer { return login("198.51.100.6") })
	require.Equal(t, http.StatusUnprocessableEntity, login("198.51.100.7").Status)
	require.Equal(t, http.StatusOK, from(t, s.Anybody(), "198.51.100.6", http.MethodGet, tripsPath, nil).Status, "reading goes on")
}

// order sends a request with all faults, and takes them away one by one.
func order(t *testing.T, s *harness.Stack) {
	t.Helper()

	const address, path = "198.51.100.8", "/api/v1/admin/bookings/nonsense/refund"

	faulty := func(c *harness.Caller, body string) harness.Answer {
		return from(t, c, address, http.MethodPost, path, []byte(body))
	}
	check := func(a harness.Answer, status int, limit int64) {
		t.Helper()
		require.Equal(t, status, a.Status, "%s", a.Body)
		require.Equal(t, limit, allowanceOf(t, a).limit)
	}

	customer, admin := s.As(models.RoleEndUser), s.As(models.RoleAdmin)
	spend(t, 60, http.StatusOK, func() harness.Answer { return from(t, s.Anybody(), address, http.MethodGet, tripsPath, nil) })
	check(faulty(s.Anybody(), "{"), http.StatusUnauthorized, 60)
	check(faulty(s.With("nonsense"), "{"), http.StatusUnauthorized, 60)

	limited(t, spend(t, 120, http.StatusForbidden, func() harness.Answer { return faulty(customer, "{") }), 120)
	check(faulty(s.With("nonsense"), "{"), http.StatusUnauthorized, 60)

	check(faulty(admin, "{"), http.StatusBadRequest, 1200)
	check(faulty(admin, "{}"), http.StatusUnprocessableEntity, 1200)
	check(faulty(admin, `{"refund_type":"FULL"}`), http.StatusNotFound, 1200)
	check(faulty(admin, string(make([]byte, 2<<20))), http.StatusRequestEntityTooLarge, 60)
}

func proxies(t *testing.T, s *harness.Stack) {
	t.Helper()

	remaining := func(s *harness.Stack, address string) int64 {
		return allowanceOf(t, from(t, s.Anybody(), address, http.MethodGet, tripsPath, nil)).remaining
	}

	// Behind the proxy the nearest address counts: what stands left of it is the client's own claim.
	require.Equal(t, int64(59), remaining(s, "198.51.100.9"))

	for _, claim := range []string{"192.0.2.77, ", "198.51.100.1, 192.0.2.78, ", "nonsense, "} {
		require.Less(t, remaining(s, claim+"198.51.100.9"), int64(59), claim)
	}

	// Without a trusted proxy the header is a claim and no more: its sender is one client.
	open := s.Replica(map[string]string{"TRUSTED_PROXIES": ""})
	require.Equal(t, int64(59), remaining(open, "192.0.2.80"))

	for _, claim := range []string{"192.0.2.81", "192.0.2.82", "127.0.0.1"} {
		require.Less(t, remaining(open, claim), int64(59), claim)
	}
}
