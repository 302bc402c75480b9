package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/api/ratelimit"
	"rihla/gateways"
	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/internal/store/db"
	"rihla/models"
)

var (
	tripID    = uuid.MustParse("019ab0c2-7000-7aaa-8bbb-000000000001")
	userID    = uuid.MustParse("019ab0c2-6d5e-7b1a-9a55-0c1f5a3c9d10")
	companyID = uuid.MustParse("019ab0c2-7000-7aaa-8bbb-000000000002")
)

const (
	requestIDHeader = "X-Request-Id"
	limitHeader     = "X-RateLimit-Limit"
	remainingHeader = "X-RateLimit-Remaining"
	resetHeader     = "X-RateLimit-Reset"

	bookingPath = "/api/v1/bookings"
	bookingBody = `{"trip_id":"019ab0c2-7000-7aaa-8bbb-000000000001","passengers":[{"name":"Traveller One"}],` +
		`"contact":{"name":"Traveller One","email":"traveller@rihla.test","phone":"+966501234567"},"payment_method":"credit_card"}`
)

// operations answers the few operations that the tests call; any other one panics, as a forgotten handler would.
type operations struct {
	gen.StrictServerInterface

	mu    sync.Mutex
	calls int
	// booking is the body that CreateBooking got, hook the body of the event that a webhook brought.
	booking *gen.BookingRequest
	hook    string
	// trips are the parameters that ListTrips got.
	trips gen.ListTripsParams
	// fail is what CreateBooking returns instead of a booking.
	fail error
	// gate holds CreateBooking until it is closed.
	gate chan struct{}
	seen struct {
		principal auth.Principal
		locale    models.Locale
		deadline  time.Duration
	}
}

func (o *operations) note(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()

	o.calls++
	o.seen.principal, o.seen.locale = middleware.Principal(ctx), middleware.Locale(ctx)

	if d, ok := ctx.Deadline(); ok {
		o.seen.deadline = time.Until(d)
	}
}

func (o *operations) GetMe(ctx context.Context, _ gen.GetMeRequestObject) (gen.GetMeResponseObject, error) {
	o.note(ctx)
	p := middleware.Principal(ctx)

	return gen.GetMe200JSONResponse{Data: gen.OwnAccount{ID: p.UserID, Role: p.Role, Locale: middleware.Locale(ctx)}}, nil
}

func (o *operations) GetTrip(context.Context, gen.GetTripRequestObject) (gen.GetTripResponseObject, error) {
	return nil, models.NotFound()
}

func (o *operations) ListTrips(_ context.Context, r gen.ListTripsRequestObject) (gen.ListTripsResponseObject, error) {
	o.trips = r.Params

	return gen.ListTrips200JSONResponse{Data: []gen.Trip{}, Meta: gen.Meta{PerPage: 20, CurrentPage: 1, LastPage: 1}}, nil
}

func (o *operations) CreateBooking(ctx context.Context, r gen.CreateBookingRequestObject) (gen.CreateBookingResponseObject, error) {
	o.note(ctx)

	if o.gate != nil {
		<-o.gate
	}

	if o.fail != nil {
		return nil, o.fail
	}

	o.booking = r.Body
	booking := gen.Booking{ID: tripID, Amount: models.MustMoney("1150"), VatRate: models.MustRate("0.15"), Seats: len(r.Body.Passengers)}

	return gen.CreateBooking201JSONResponse{
		Body:    gen.BookingAnswer{Data: booking},
		Headers: gen.CreateBooking201ResponseHeaders{Location: bookingPath + "/" + tripID.String()},
	}, nil
}

func (o *operations) GetPaymentStatus(ctx context.Context, _ gen.GetPaymentStatusRequestObject) (gen.GetPaymentStatusResponseObject, error) {
	o.note(ctx)

	return gen.GetPaymentStatus200JSONResponse{}, nil
}

func (o *operations) RefundBooking(context.Context, gen.RefundBookingRequestObject) (gen.RefundBookingResponseObject, error) {
	return gen.RefundBooking201JSONResponse{}, nil
}

func (o *operations) MarkRecordTransferred(ctx context.Context, r gen.MarkRecordTransferredRequestObject) (gen.MarkRecordTransferredResponseObject, error) {
	o.note(ctx)

	if r.Body == nil {
		return nil, errors.New("no body")
	}

	return gen.MarkRecordTransferred200JSONResponse{}, nil
}

func (o *operations) ListFinancialRecords(context.Context, gen.ListFinancialRecordsRequestObject) (gen.ListFinancialRecordsResponseObject, error) {
	return gen.ListFinancialRecords200JSONResponse{}, nil
}

func (o *operations) ReceiveGatewayAWebhook(ctx context.Context, _ gen.ReceiveGatewayAWebhookRequestObject) (gen.ReceiveGatewayAWebhookResponseObject, error) {
	middleware.LogPayment(ctx, tripID)

	w := middleware.WebhookOf(ctx)
	o.hook = w.Event.Body

	return gen.ReceiveGatewayAWebhook200JSONResponse{Data: gen.WebhookReceipt{Received: true}}, w.Err
}

// tokens knows one token per role, the role's name.
type tokens struct{}

func (tokens) Verify(_ context.Context, token string) (auth.Principal, error) {
	for _, role := range models.Roles() {
		if token == string(role) {
			p := auth.Principal{UserID: userID, Role: role}
			if role.IsProvider() {
				p.ProviderID = companyID
			}

			return p, nil
		}
	}

	return auth.Principal{}, &models.Error{Code: models.CodeUnauthenticated, Text: models.Verbatim("The access token is invalid.")}
}

// answers is an idempotency store in memory.
type answers struct {
	mu   sync.Mutex
	keys []*keptKey
	away bool // keeps nothing
}

type keptKey struct {
	scope  db.KeyScope
	id     uuid.UUID
	answer db.Answer // Status is 0 until there is one
}

func (a *answers) Claim(_ context.Context, s db.KeyScope) (db.Claim, error) {
	a.mu.Lock()
	defer a.mu.Unlock()

	for _, k := range a.keys {
		if k.scope.UserID != s.UserID || k.scope.Method != s.Method || k.scope.Path != s.Path || k.scope.Key != s.Key {
			continue
		}

		switch {
		case !bytes.Equal(k.scope.BodyHash, s.BodyHash):
			return db.Claim{}, &models.Error{Code: models.CodeIdempotencyKeyReused, Text: models.Verbatim("Reused.")}
		case k.id == uuid.Nil:
			k.id = uuid.New()

			return db.Claim{ID: k.id}, nil
		case k.answer.Status == 0:
			return db.Claim{}, &models.Error{Code: models.CodeIdempotencyKeyInProcess, Text: models.Verbatim("In progress.")}
		default:
			return db.Claim{Answer: k.answer}, nil
		}
	}

	k := &keptKey{scope: s, id: uuid.New()}
	a.keys = append(a.keys, k)

	return db.Claim{ID: k.id}, nil
}

func (a *answers) Complete(_ context.Context, claim uuid.UUID, answer db.Answer) error {
	a.mu.Lock()
	defer a.mu.Unlock()

	if a.away {
		return errors.New("the database is away")
	}

	for _, k := range a.keys {
		if k.id == claim {
			k.answer = answer
		}
	}

	return nil
}

func (a *answers) Release(_ context.Context, claim uuid.UUID) error {
	a.mu.Lock()
	defer a.mu.Unlock()

	for _, k := range a.keys {
		if k.id == claim && k.answer.Status == 0 {
			k.id = uuid.Nil // free, and still bound to its body
		}
	}

	return nil
}

// logBuffer collects log lines from several goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.b.Write(p)
}

func (l *logBuffer) lines(t *testing.T, message string) []map[string]any {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()

	var out []map[string]any

	for line := range strings.Lines(l.b.String()) {
		var entry map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &entry))

		if entry["msg"] == message {
			out = append(out, entry)
		}
	}

	return out
}

// anySignature takes every delivery with the headers of a signature for signed, with an event whose body is the request's.
func anySignature() middleware.WebhookPath {
	return middleware.WebhookPath{
		Headers: []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"},
		Verify: func(_ http.Header, body []byte) (middleware.Webhook, error) {
			return middleware.Webhook{Event: gateways.Event{Body: string(body)}}, nil
		},
	}
}

type bundle struct {
	app *fiber.App
	ops *operations
	log *logBuffer
}

// setup builds the app; change may alter its parts.
func setup(tb testing.TB, change ...func(*Deps)) *bundle {
	tb.Helper()

	b := &bundle{ops: &operations{}, log: &logBuffer{}}
	deps := Deps{
		Deps: middleware.Deps{
			Auth: tokens{}, Idempotency: &answers{},
			Log: slog.New(slog.NewJSONHandler(b.log, nil)), Webhooks: map[string]middleware.WebhookPath{
				"ReceiveGatewayAWebhook": anySignature(), "ReceiveWalletAWebhook": anySignature(),
				"ReceiveWalletBWebhook": anySignature(), "ReceiveBillPaymentWebhook": anySignature(),
				"ReceiveGatewayABackupWebhook": anySignature(), "ReceiveWalletBBackupWebhook": anySignature(),
			},
		},
		Operations: b.ops, JWKS: []byte(`{"keys":[]}`), Metrics: prometheus.NewRegistry(),
	}
	withLimits(config.RateLimits{})(&deps)

	for _, c := range change {
		c(&deps)
	}

	app, err := New(deps)
	require.NoError(tb, err)

	b.app = app

	return b
}

func withLimits(l config.RateLimits) func(*Deps) {
	return func(d *Deps) {
		d.Limits = ratelimit.New(ratelimit.NewMemory(), l, middleware.LimiterFailed(d.Log))
	}
}

// answer is what a client sees.
type answer struct {
	status  int
	header  http.Header
	body    string
	code    string
	details map[string][]string

	uiMessage string
	uiDetails map[string][]string
}

// get is one header, by the name that the specification gives it.
func (a answer) get(name string) string { return a.header.Get(name) }

// call sends one request. Headers are name, value, …; the role is the token, empty for none.
func (b *bundle) call(tb testing.TB, method, path, role, body string, headers ...string) answer {
	tb.Helper()

	response, err := b.app.Test(request(tb.Context(), method, path, role, body, headers...), 10_000)
	require.NoError(tb, err)

	return read(tb, response)
}

func request(ctx context.Context, method, path, role, body string, headers ...string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}

	if role != "" {
		r.Header.Set("Authorization", "Bearer "+role)
	}

	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}

	return r
}

func read(tb testing.TB, response *http.Response) answer {
	tb.Helper()

	defer response.Body.Close()

	raw, err := io.ReadAll(response.Body)
	require.NoError(tb, err)

	a := answer{status: response.StatusCode, header: response.Header, body: string(raw)}

	var envelope struct {
		Error struct {
			Code    string              `json:"code"`
			Message string              `json:"message"`
			Details map[string][]string `json:"details"`

			UIMessage string              `json:"ui_message"`
			UIDetails map[string][]string `json:"ui_details"`
		} `json:"error"`
	}

	if a.status >= http.StatusBadRequest {
		require.NoError(tb, json.Unmarshal(raw, &envelope), "every error is JSON: %q", raw)
		require.NotEmpty(tb, envelope.Error.Code)
		require.NotEmpty(tb, envelope.Error.Message)
		require.Equal(tb, "application/json; charset=utf-8", a.header.Get("Content-Type"))
		require.NotEmpty(tb, a.get(requestIDHeader))

		require.NotEmpty(tb, envelope.Error.UIMessage)
		require.NotContains(tb, envelope.Error.UIMessage, "لم ينجح الطلب", "every code has words of its own")

		if a.status == http.StatusUnprocessableEntity {
			require.Len(tb, envelope.Error.UIDetails, len(envelope.Error.Details))
		}

		a.code, a.details = envelope.Error.Code, envelope.Error.Details
		a.uiMessage, a.uiDetails = envelope.Error.UIMessage, envelope.Error.UIDetails
	}

	return a
}

// listen serves the app on a real port.
func (b *bundle) listen(t *testing.T) string {
	t.Helper()

	return b.listenOn(t, Listener)
}

// listenOn serves the app behind a wrapped listener.
func (b *bundle) listenOn(t *testing.T, wrap func(net.Listener) net.Listener) string {
	t.Helper()

	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	done := make(chan error, 1)
	go func() { done <- b.app.Listener(wrap(l)) }()

	t.Cleanup(func() {
		require.NoError(t, b.app.ShutdownWithTimeout(5*time.Second))
		require.NoError(t, <-done)
	})

	return l.Addr().String()
}
