// Package api is the HTTP interface of the service. It is contract-first: openapi.yaml is hand-written, gen/ is
// generated from it, and middleware/ checks every request against it. Handlers authorize, decode, call one store method
// or one workflow, and encode; no SQL, no gateway and no rule about money lives here.
package api

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"rihla/api/contract"
	"rihla/api/docs"
	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/console"
)

const (
	// readTimeout bounds how long a request may take to arrive.
	readTimeout = 15 * time.Second
	// writeTimeout bounds how long an answer may take to leave, exports included; it starts when the handler is done.
	writeTimeout = 5 * time.Minute
	// idleTimeout is longer than that of usual load balancers (60 s), so that they close idle connections, not we.
	idleTimeout = 75 * time.Second
	// readBuffer bounds the request's headers; tokens of external issuers have a few thousand bytes.
	readBuffer = 16 << 10
	// bodyLimit is the largest body that Fiber calls ordinary; each operation's own limit is the middleware's.
	bodyLimit = 1 << 20
)

// Deps are the parts that the API is made of; every field is needed unless it says otherwise.
type Deps struct {
	middleware.Deps

	// Operations are the handlers of the document's operations, except those that the server answers itself: keys,
	// health, readiness, document, docs and metrics.
	Operations gen.StrictServerInterface
	// JWKS is the public key set as JSON.
	JWKS []byte
	// Metrics is what /metrics shows; nil: there is no /metrics.
	Metrics prometheus.Gatherer
	// Checks are what readiness asks, by name; each returns nil when its dependency can be reached.
	Checks map[string]func(context.Context) error
	// Accounts says which merchant accounts take no payments now, and why; the service is ready all the same. May be nil.
	Accounts func(context.Context) (map[string]string, error)
	// ApplePayDomain is the file by which Apple knows the host of our pages; empty: it is not served.
	ApplePayDomain []byte
	// CORSOrigins are the origins of web pages that may read answers; empty for none, and no CORS headers.
	CORSOrigins []string
	// PageSizes are the greatest pages of lists, by module (config.PageSizes).
	PageSizes map[string]int
}

// New builds the app. It fails when the document, its operations and their routes do not fit together.
func New(deps Deps) (*fiber.App, error) {
	if deps.Operations == nil || len(deps.JWKS) == 0 {
		return nil, errors.New("api: operations and keys are required")
	}

	sized, err := withPageSizes(source, deps.PageSizes)
	if err != nil {
		return nil, err
	}

	doc, err := documentOf(sized)
	if err != nil {
		return nil, err
	}

	served, err := servedDocument(sized, deps.PublicURL)
	if err != nil {
		return nil, err
	}

	chain, err := middleware.New(doc, deps.Deps)
	if err != nil {
		return nil, err
	}

	application, err := console.New()
	if err != nil {
		return nil, err
	}

	app := newApp(chain)
	app.Use(chain.Requests)

	if len(deps.CORSOrigins) > 0 {
		app.Use(middleware.CORS(deps.CORSOrigins))
	}

	if len(deps.ApplePayDomain) > 0 {
		app.Get(middleware.ApplePayPath, chain.Limited(func(f *fiber.Ctx) error {
			f.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)

			return f.Send(deps.ApplePayDomain)
		}))
	}

	app.Get(docs.ScriptPath, chain.Limited(docs.Script))
	app.Get(docs.MenuPath, chain.Limited(docs.Menu))
	app.Get(console.Path, chain.LimitedFiles(application.Serve))
	app.Get(console.Path+"/*", chain.LimitedFiles(application.Serve))

	router := chain.Router(app)
	gen.RegisterHandlers(router, gen.NewStrictHandler(&handlers{
		StrictServerInterface: deps.Operations, index: indexOf(doc), document: served, jwks: deps.JWKS,
		checks: deps.Checks, accounts: deps.Accounts,
		metrics: metricsHandler(deps.Metrics),
	}, nil))

	return app, router.Err()
}

// indexOf is what `/` and `/api/v1` answer.
func indexOf(doc *openapi3.T) gen.ServiceIndex {
	return gen.ServiceIndex{
		Name: doc.Info.Title, Version: doc.Info.Version,
		Links: map[string]string{"docs": "/docs", "openapi": "/openapi.json", "ready": "/readyz", "console": console.Path},
	}
}

// Listener wraps a listener that the app is served on. A new connection may stay silent for as long as one between two
// requests, and is then closed without an answer; the time for a request counts from its first byte.
func Listener(l net.Listener) net.Listener {
	return middleware.Listener(l, middleware.ConnTimes{FirstByte: idleTimeout, Request: readTimeout})
}

func newApp(chain *middleware.Chain) *fiber.App {
	app := fiber.New(fiber.Config{
		AppName: "rihla",
		// Strings that outlive a request must not point into its recycled buffers.
		Immutable:     true,
		CaseSensitive: true,
		StrictRouting: true,
		BodyLimit:     bodyLimit,
		// The handler runs before a large body has arrived, so that it is refused in our envelope.
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  idleTimeout,
		ReadBufferSize:               readBuffer,
		ErrorHandler:                 chain.HandleError,
		JSONEncoder:                  contract.EncodeJSON,
		DisableStartupMessage:        true,
	})

	refuseEarly(app, chain)

	return app
}

// refuseEarly answers, before any middleware, requests that are ambiguous and methods that Fiber does not know (it would
// write plain text), and before their body those that ask whether to send it and may not. Nothing of their body is read, and the
// connection is closed.
func refuseEarly(app *fiber.App, chain *middleware.Chain) {
	server := app.Server()
	next := server.Handler
	known := map[string]bool{}

	for _, method := range app.Config().RequestMethods {
		known[method] = true
	}

	server.Handler = func(ctx *fasthttp.RequestCtx) {
		switch {
		case ambiguous(&ctx.Request.Header):
			refuse(app, chain, ctx, fiber.ErrBadRequest)
		case !known[string(ctx.Method())]:
			refuse(app, chain, ctx, fiber.ErrMethodNotAllowed)
			ctx.Response.Header.Set(fiber.HeaderAllow, "GET, HEAD, POST, PUT, PATCH, DELETE")
		default:
			next(ctx)
		}
	}
	server.ExpectHandler = func(ctx *fasthttp.RequestCtx) int { return middleware.Expect(ctx, server.Handler) }
}

func refuse(app *fiber.App, chain *middleware.Chain, ctx *fasthttp.RequestCtx, because *fiber.Error) {
	f := app.AcquireCtx(ctx)
	defer app.ReleaseCtx(f)

	if err := chain.HandleError(f, because); err != nil {
		ctx.SetStatusCode(because.Code)
	}

	ctx.SetConnectionClose()
}
