package gatewaytest

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/models"
)

// Wire is a driver and the company's server, with a place between the two at which answers get lost.
type Wire struct {
	Company http.Handler
	// Open makes the driver talk to the address, with a timeout of its calls of WireTimeout.
	Open func(t *testing.T, url string) gateways.Gateway
	Pay  func(t *testing.T, c gateways.Checkout)
	// Method is that of the checkouts; credit_card when empty.
	Method models.PaymentMethod
	// Secrets are the keys that the driver was opened with: no error may have one.
	Secrets []string
}

// WireTimeout is how long a call of a driver under test takes at most.
const WireTimeout = time.Second

// RunWire tests what a driver makes of answers that are none.
func RunWire(t *testing.T, wire func(t *testing.T) Wire) {
	t.Helper()

	for name, broken := range brokenAnswers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newBrokenWire(t, wire(t)).requireUnknown(t, broken)
		})
	}

	for name, test := range map[string]func(*testing.T, *brokenWire){
		"429 without a word":                  testRateLimit,
		"429 with a time":                     testRateLimitWithTime,
		"nobody listens":                      testUnreachable,
		"nobody listens any more":             testGoneAfterEffect,
		"no more requests after the effect":   testRefusedAfterEffect,
		"a lost answer to a creation":         testLostCheckout,
		"a lost answer to a refund":           testLostRefund,
		"a server's error after its creation": testErrorAfterCheckout,
		"a server's error after its refund":   testErrorAfterRefund,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newBrokenWire(t, wire(t)))
		})
	}
}

// answerer answers a request in the company's place, or has the company do so.
type answerer func(w http.ResponseWriter, r *http.Request, company http.Handler)

// brokenAnswers leave it open whether there was an effect.
func brokenAnswers() map[string]answerer {
	say := func(status int, kind, body string) answerer {
		return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}

	return map[string]answerer{
		"500 in HTML":         say(http.StatusInternalServerError, "text/html", "<html>oops</html>"),
		"502 of a proxy":      say(http.StatusBadGateway, "text/html", "<html>bad gateway</html>"),
		"503 in JSON":         say(http.StatusServiceUnavailable, "application/json", `{"message":"away"}`),
		"404 of a proxy":      say(http.StatusNotFound, "text/html", "<html>no such page</html>"),
		"a redirect":          say(http.StatusFound, "text/html", ""),
		"a page":              say(http.StatusOK, "text/html", "<html>sign in to the network</html>"),
		"nothing":             say(http.StatusOK, "application/json", ""),
		"foreign JSON":        say(http.StatusOK, "application/json", `{"hello":"world"}`),
		"a number":            say(http.StatusOK, "application/json", "42"),
		"null":                say(http.StatusOK, "application/json", "null"),
		"an endless answer":   say(http.StatusOK, "application/json", `{"id":"`+strings.Repeat("x", 3<<20)+`"}`),
		"a truncated answer":  truncated,
		"a cut connection":    func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) },
		"no answer at all":    silent,
		"half of a header":    hijacked("HTTP/1.1 200 OK\r\nContent-Le"),
		"another protocol":    hijacked("220 smtp.example.com ESMTP\r\n"),
		"two lengths of body": hijacked("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\n{}"),
	}
}

// silent reads the request, since a server sees only then that its client has gone.
func silent(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// truncated passes on the first half of what the company answers.
func truncated(w http.ResponseWriter, r *http.Request, company http.Handler) {
	answer := httptest.NewRecorder()
	company.ServeHTTP(answer, r)

	maps.Copy(w.Header(), answer.Header())

	w.Header().Set("Content-Length", strconv.Itoa(answer.Body.Len()))
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
}

func hijacked(raw string) answerer {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		conn, _, err := w.(http.Hijacker).Hijack() //nolint:forcetypeassert // a server's writer is one
		if err != nil {
			return
		}
		defer conn.Close()

		_, _ = conn.Write([]byte(raw))
	}
}

// brokenWire is a Wire whose next answers are answered otherwise.
type brokenWire struct {
	Subject

	server  *httptest.Server
	secrets []string
	next    atomic.Pointer[answerer] // nil: the company answers
	changes atomic.Int32             // requests that may change something, of which the company was told
}

func newBrokenWire(t *testing.T, w Wire) *brokenWire {
	t.Helper()

	b := &brokenWire{secrets: w.Secrets}
	counted := http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			b.changes.Add(1)
		}

		w.Company.ServeHTTP(out, r)
	})

	b.server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if answer := b.next.Load(); answer != nil {
			(*answer)(out, r, counted)

			return
		}

		counted.ServeHTTP(out, r)
	}))
	t.Cleanup(func() {
		b.server.CloseClientConnections()
		b.server.Close()
	})

	b.Subject = Subject{Gateway: w.Open(t, b.server.URL), Pay: w.Pay, Method: w.Method}.withDefaults()

	return b
}

// answer has all requests answered so until it is called with nil.
func (b *brokenWire) answer(a answerer) {
	if a == nil {
		b.next.Store(nil)
	} else {
		b.next.Store(&a)
	}
}

// calls are all calls of a driver, about a checkout that was paid and one that is open.
func (b *brokenWire) calls(t *testing.T) map[string]func(context.Context) error {
	t.Helper()

	unpaid, sold := open(t, b.Subject), paid(t, b.Subject)
	given := refundOf(sold, "10.00")
	refund, err := b.Gateway.CreateRefund(t.Context(), given)
	require.NoError(t, err)

	calls := map[string]func(context.Context) error{
		"create a checkout": func(ctx context.Context) error {
			_, err := b.Gateway.CreateCheckout(ctx, b.request())
			return err
		},
		"read a checkout by its id": func(ctx context.Context) error {
			_, err := b.Gateway.ReadCheckout(ctx, unpaid.ref())
			return err
		},
		"read a checkout by our reference": func(ctx context.Context) error {
			_, err := b.Gateway.ReadCheckout(ctx, unpaid.search())
			return err
		},
		"create a refund": func(ctx context.Context) error {
			request := refundOf(sold, "20.00")
			request.RefundedBefore = given.Amount
			_, err := b.Gateway.CreateRefund(ctx, request)
			return err
		},
		"read a refund by its id": func(ctx context.Context) error {
			_, err := b.Gateway.ReadRefund(ctx, refOfRefund(given, refund))
			return err
		},
		"read a refund by our reference": func(ctx context.Context) error {
			_, err := b.Gateway.ReadRefund(ctx, given.Ref())
			return err
		},
	}

	if b.Gateway.Capabilities().Cancel {
		calls["cancel a checkout"] = func(ctx context.Context) error {
			_, err := b.Gateway.CancelCheckout(ctx, unpaid.ref())
			return err
		}
	}

	return calls
}

func (b *brokenWire) requireUnknown(t *testing.T, broken answerer) {
	t.Helper()

	calls := b.calls(t)
	b.answer(broken)

	for name, call := range calls {
		err := call(t.Context())
		require.Error(t, err, name)
		require.Equal(t, gateways.KindUnknown, gateways.KindOf(err), "%s: %v", name, err)
		b.requireDiscreet(t, err)
	}
}

// requireDiscreet: errors are logged and kept in histories.
func (b *brokenWire) requireDiscreet(t *testing.T, err error) {
	t.Helper()

	for _, secret := range b.secrets {
		require.NotContains(t, err.Error(), secret)
	}
}

// afterEffect has the company do its work, and its answer get lost.
func afterEffect(lost answerer) answerer {
	return func(w http.ResponseWriter, r *http.Request, company http.Handler) {
		company.ServeHTTP(httptest.NewRecorder(), r)
		lost(w, r, company)
	}
}

func testLostCheckout(t *testing.T, b *brokenWire) {
	t.Helper()
	b.requireOneCheckout(t, func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) })
}

func testErrorAfterCheckout(t *testing.T, b *brokenWire) {
	t.Helper()
	b.requireOneCheckout(t, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusBadGateway) })
}

// requireOneCheckout: after a lost answer the checkout that was made is found in the company's way, and no other is made.
func (b *brokenWire) requireOneCheckout(t *testing.T, lost answerer) {
	t.Helper()

	request := b.request()
	b.warm(t)
	b.changes.Store(0)
	b.answer(afterEffect(lost))

	_, err := b.Gateway.CreateCheckout(t.Context(), request)
	requireKind(t, gateways.KindUnknown, err)
	b.answer(nil)

	if b.Gateway.Capabilities().Checkouts != gateways.SettledByKey {
		require.EqualValues(t, 1, b.changes.Load(), "a second request would have made a second checkout")
	}

	found, err := b.Gateway.ReadCheckout(t.Context(), request.Ref())
	if b.Gateway.Capabilities().Checkouts == gateways.SettledHarmlessly {
		requireKind(t, gateways.KindNotFound, err)
		b.requirePayable(t, request)

		return
	}

	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutOpen, found.Status)

	if b.Gateway.Capabilities().Checkouts == gateways.SettledByKey {
		again, err := b.Gateway.CreateCheckout(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, found.ID, again.ID)
	}
}

// requirePayable: a checkout that was made after a lost one can be paid.
func (b *brokenWire) requirePayable(t *testing.T, request gateways.CheckoutRequest) {
	t.Helper()

	again, err := b.Gateway.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	b.Pay(t, again)
	require.Equal(t, gateways.CheckoutPaid, read(t, b.Subject, made{again, request}).Status)
}

// warm leaves a connection behind: HTTP clients repeat some requests by themselves when a used one breaks.
func (b *brokenWire) warm(t *testing.T) {
	t.Helper()

	_, err := b.Gateway.ReadCheckout(t.Context(), gateways.CheckoutRef{
		MerchantReference: uuid.New(), Method: b.Method, CreatedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour),
	})
	requireKind(t, gateways.KindNotFound, err)
}

func testLostRefund(t *testing.T, b *brokenWire) {
	t.Helper()
	b.requireOneRefund(t, func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) })
}

func testErrorAfterRefund(t *testing.T, b *brokenWire) {
	t.Helper()
	b.requireOneRefund(t, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusBadGateway) })
}

// requireOneRefund: likewise, and no money goes back twice.
func (b *brokenWire) requireOneRefund(t *testing.T, lost answerer) {
	t.Helper()

	c := paid(t, b.Subject)
	request := refundOf(c, "300.00")
	b.changes.Store(0)

	// Only the answer to what changes something is lost: a driver may have to read before.
	b.answer(func(w http.ResponseWriter, r *http.Request, company http.Handler) {
		if r.Method == http.MethodGet {
			company.ServeHTTP(w, r)
		} else {
			afterEffect(lost)(w, r, company)
		}
	})

	_, err := b.Gateway.CreateRefund(t.Context(), request)
	requireKind(t, gateways.KindUnknown, err)
	b.answer(nil)

	if b.Gateway.Capabilities().Refunds != gateways.SettledByKey {
		require.EqualValues(t, 1, b.changes.Load(), "a second request would have made a second refund")
	}

	found, err := b.Gateway.ReadRefund(t.Context(), request.Ref())
	require.NoError(t, err)
	require.Equal(t, "300.00", found.Amount.String())

	if b.Gateway.Capabilities().Refunds == gateways.SettledByKey {
		_, err = b.Gateway.CreateRefund(t.Context(), request)
		require.NoError(t, err)
	}

	require.Equal(t, "300.00", read(t, b.Subject, c).RefundedAmount.String())
}
