package middleware

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"rihla/api/admission"
	"rihla/api/contract"
	"rihla/api/ratelimit"
	"rihla/internal/auth"
	"rihla/models"
)

// Authenticator turns an access token into the caller. An error that is not UNAUTHENTICATED means that it could not
// find out.
type Authenticator interface {
	Verify(ctx context.Context, token string) (auth.Principal, error)
}

// Deps are the parts that the chain is made of; every field is needed unless it says otherwise.
type Deps struct {
	Auth Authenticator
	// MayWrite refuses provider staff that may not change their company's data at the moment: those of an INACTIVE one. It is
	// asked before the request is looked at, on writing operations that provider roles are named for. May be nil.
	MayWrite func(ctx context.Context, staff auth.Principal) error
	// SteppedUp refuses callers who have a second factor and have typed no code lately, on operations with x-step-up. May be nil.
	SteppedUp func(ctx context.Context, caller auth.Principal) error
	// ReadPeople counts rows about people that a caller is about to read, most of them; read gets the number of those in the answer. May be
	// nil. Error: STEP_UP_REQUIRED.
	ReadPeople func(ctx context.Context, caller auth.Principal, operation string, most int) (read func(context.Context, int), err error)
	// Webhooks verify the bodies of the operations with x-raw-body, by operationId. They run before the channel's
	// limit, so that only the gateway uses it up.
	Webhooks map[string]WebhookPath
	// Limits count requests.
	Limits *ratelimit.Limits
	// Admission bounds payments that are under way to their checkouts. May be nil.
	Admission *admission.Limits
	// Idempotency keeps the answers of operations that accept Idempotency-Key.
	Idempotency IdempotencyStore
	Log         *slog.Logger
	// Observe is called for every answered request; the route is its pattern, empty when none matched. May be nil.
	Observe func(route, method string, status int, took time.Duration)
	// PublicURL is where clients reach the API; when it is https, plain HTTP is redirected there. May be empty.
	PublicURL string
	// PayURL is where customers reach pages on which they pay. On its host, when it is another one than PublicURL's, nothing else is
	// answered, and those pages nowhere else. May be empty.
	PayURL string
	// TrustedProxies are addresses and CIDR blocks whose X-Forwarded-* headers are believed. May be empty.
	TrustedProxies []string
}

// Chain is the middleware of one app.
type Chain struct {
	deps       Deps
	operations map[string]*contract.Operation
	proxies    proxies
	// httpsURL is where plain HTTP is redirected to; empty for no redirect.
	httpsURL string
	// pages is the host of the pages on which customers pay; its name is empty when it is that of everything else.
	pages    pageHost
	refused  refusals
	suspects *suspects
}

// New compiles the OpenAPI document that requests are checked against. It fails on an operation without x-roles or
// x-limit, on a parameter or body that the checks cannot handle, and on an operation with x-raw-body that nothing verifies.
func New(doc *openapi3.T, deps Deps) (*Chain, error) {
	if doc == nil || deps.Auth == nil || deps.Limits == nil || deps.Idempotency == nil || deps.Log == nil {
		return nil, errors.New("middleware: document, authenticator, limits, idempotency store and logger are required")
	}

	operations, err := contract.Compile(doc)
	if err != nil {
		return nil, err
	}

	if err = checkWebhooks(operations, deps.Webhooks); err != nil {
		return nil, err
	}

	trusted, err := parseProxies(deps.TrustedProxies)
	if err != nil {
		return nil, err
	}

	c := &Chain{
		deps: deps, operations: operations, proxies: trusted, suspects: newSuspects(time.Now), pages: pagesOf(deps.PayURL, deps.PublicURL),
	}
	if strings.HasPrefix(deps.PublicURL, "https://") {
		c.httpsURL = strings.TrimRight(deps.PublicURL, "/")
	}

	return c, nil
}

// Limited puts the limit of callers without a token in front of a handler that is no operation of the document.
func (c *Chain) Limited(handler fiber.Handler) fiber.Handler {
	return func(f *fiber.Ctx) error {
		if err := c.deps.Limits.Anonymous(f, requestOf(f.UserContext()).ip); err != nil {
			return err
		}

		return handler(f)
	}
}

// LimitedFiles is Limited for the files of a page, of which a browser opens many at once.
func (c *Chain) LimitedFiles(handler fiber.Handler) fiber.Handler {
	return func(f *fiber.Ctx) error {
		if err := c.deps.Limits.Media(f, requestOf(f.UserContext()).ip); err != nil {
			return err
		}

		return handler(f)
	}
}

// LimiterFailed logs that a request was not counted, with the request's trace id.
func LimiterFailed(log *slog.Logger) func(ctx context.Context, err error) {
	return func(ctx context.Context, err error) {
		log.LogAttrs(ctx, slog.LevelWarn, "rate limiter failed, request let through",
			slog.String("request_id", RequestID(ctx)), slog.String("error", err.Error()))
	}
}

// Requests is the outermost middleware: trace id, language, security headers, panics, errors, and the log line of
// the request (rules: privacy.logs).
func (c *Chain) Requests(f *fiber.Ctx) error {
	start := time.Now()
	ctx := c.begin(f)

	var err error
	switch {
	case c.redirectPlain(f):
	case !c.pages.serves(f):
		err = c.HandleError(f, models.NotFound())
	default:
		err = recovered(f)
		if errors.Is(err, errContinue) {
			return nil
		}

		if err != nil {
			err = c.HandleError(f, err)
		}
	}

	closeUnread(f)
	setCharset(f)

	took := time.Since(start)
	c.logRequest(ctx, f, took)

	if c.deps.Observe != nil {
		c.deps.Observe(strings.TrimSuffix(f.Route().Path, "/"), f.Method(), f.Response().StatusCode(), took)
	}

	return err
}

// begin gives the request its identity and the answer the headers that every answer has.
func (c *Chain) begin(f *fiber.Ctx) context.Context {
	r := &request{
		id:     inboundID(f),
		locale: localeOf(f.Get(fiber.HeaderAcceptLanguage)),
		ip:     c.proxies.clientAddr(f).String(),
		agent:  strings.Clone(f.Get(fiber.HeaderUserAgent)),
	}
	if by, ok := c.deps.Auth.(halfAuthenticator); ok {
		r.identify = by.Identify
	}

	r.readCookies(f)

	ctx := withRequest(f.UserContext(), r)
	f.SetUserContext(ctx)

	h := &f.Response().Header
	h.Set("X-Request-Id", r.id)
	h.Set("Content-Language", string(r.locale))
	h.Set("Vary", "Accept-Language")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")

	if c.secure(f) {
		h.Set("Strict-Transport-Security", strictTransport)
	}

	return ctx
}

// maxRequestID bounds a trace id that a client sends.
const maxRequestID = 128

// inboundID is the client's X-Request-Id when it is harmless in logs and headers, else a new one.
func inboundID(f *fiber.Ctx) string {
	id := f.Request().Header.Peek("X-Request-Id")
	if len(id) == 0 || len(id) > maxRequestID || bytes.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return newRequestID()
	}

	return string(id)
}

func newRequestID() string {
	id, err := uuid.NewV7()
	if err != nil {
		// The system's randomness failed; a trace id is not worth a failed request.
		return uuid.Nil.String()
	}

	return id.String()
}

// recovered runs the rest of the chain and turns a panic into an error.
func recovered(f *fiber.Ctx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{value: p, stack: debug.Stack()}
		}
	}()

	return f.Next()
}

const (
	// drainTime is how long the server may read what is left of a body when the answer has left.
	drainTime = 5 * time.Second
	// chunksTime and chunksLimit bound what is read of a body in chunks before that.
	chunksTime  = 500 * time.Millisecond
	chunksLimit = 64 << 10
)

// closeUnread deals with a body that was not read to its end (413, 401, 404). When the answer has left, the server reads
// up to 256 KiB of the rest and throws it away, because it must never be taken for the next request on the connection;
// if there is more, the connection is closed. Of a body in chunks the end is not known beforehand: if it is not there
// soon, the answer says that the connection closes, or the client would send its next request on it.
func closeUnread(f *fiber.Ctx) {
	unread := f.Request().IsBodyStream()
	linger(f.Context().Conn(), unread || asksToContinue(f))

	if !unread {
		return
	}

	if f.Request().Header.ContentLength() < 0 && !endsSoon(f) {
		f.Response().SetConnectionClose()
	}

	// A broken connection shows when the answer is written.
	_ = f.Context().Conn().SetReadDeadline(time.Now().Add(drainTime))
}

// endsSoon reads a body in chunks to its end, unless that is far.
func endsSoon(f *fiber.Ctx) bool {
	if f.Context().Conn().SetReadDeadline(time.Now().Add(chunksTime)) != nil {
		return false
	}

	_, err := io.CopyN(io.Discard, f.Request().BodyStream(), chunksLimit)

	return errors.Is(err, io.EOF)
}

// setCharset completes the content type of JSON answers.
func setCharset(f *fiber.Ctx) {
	if string(f.Response().Header.ContentType()) == fiber.MIMEApplicationJSON {
		f.Response().Header.SetContentType(fiber.MIMEApplicationJSONCharsetUTF8)
	}
}

// logRequest writes the log line of a request (rules: privacy.logs). The query is left out: it may hold what people search for.
func (c *Chain) logRequest(ctx context.Context, f *fiber.Ctx, took time.Duration) {
	r := requestOf(ctx)
	attrs := make([]slog.Attr, 0, 10)
	attrs = append(attrs,
		slog.String("method", f.Method()), slog.String("path", logPath(f.Path())), slog.String("route", logRoute(f)),
		slog.Int("status", f.Response().StatusCode()), slog.String("request_id", r.id),
		slog.Float64("duration_ms", float64(took.Microseconds())/float64(time.Millisecond/time.Microsecond)),
	)

	if r.principal.UserID != uuid.Nil {
		attrs = append(attrs, slog.String("user_id", r.principal.UserID.String()))
	}

	if r.principal.ProviderID != uuid.Nil {
		attrs = append(attrs, slog.String("provider_id", r.principal.ProviderID.String()))
	}

	if r.payment != uuid.Nil {
		attrs = append(attrs, slog.String("payment_transaction_id", r.payment.String()))
	}

	c.deps.Log.LogAttrs(ctx, slog.LevelInfo, "request", attrs...)
}

// maxLogPath bounds the path in a log line.
const maxLogPath = 256

// logRoute is the route's pattern for log lines. A request that met none has its own path there.
func logRoute(f *fiber.Ctx) string {
	route := f.Route().Path
	if strings.ContainsAny(route, ":*") {
		return route
	}

	return logPath(route)
}

// logPath is a path for log lines, without what opens something, wherever in it that begins: the route says the rest.
func logPath(path string) string {
	for _, secret := range []string{models.ReturnPath, models.PayPath} {
		if at := strings.Index(strings.ToLower(path), secret); at >= 0 {
			path = path[:at] + secret
		}
	}

	if len(path) > maxLogPath {
		return path[:maxLogPath]
	}

	return path
}

// errNotAllowed is the one answer to a role that may not call an operation.
func errNotAllowed() error {
	return models.NewError(models.CodeForbidden, "access.role")
}
