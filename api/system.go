package api

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/singleflight"

	"rihla/api/docs"
	"rihla/api/gen"
	"rihla/models"
)

// checkTimeout bounds one readiness check; load balancers give up after a few seconds.
const checkTimeout = 2 * time.Second

// handlers are the operations with those on top that the server answers itself.
type handlers struct {
	gen.StrictServerInterface

	index    gen.ServiceIndex
	document []byte
	jwks     []byte
	checks   map[string]func(context.Context) error
	accounts func(context.Context) (map[string]string, error)
	metrics  fiber.Handler

	checking singleflight.Group
}

// GetIndex answers a request for the server's address with links to the documentation and the API.
func (h *handlers) GetIndex(context.Context, gen.GetIndexRequestObject) (gen.GetIndexResponseObject, error) {
	return gen.GetIndex200JSONResponse(h.index), nil
}

// GetVersionIndex is the same for the address that all operations have in common.
func (h *handlers) GetVersionIndex(context.Context, gen.GetVersionIndexRequestObject) (gen.GetVersionIndexResponseObject, error) {
	return gen.GetVersionIndex200JSONResponse(h.index), nil
}

// GetHealth says that the process serves requests.
func (h *handlers) GetHealth(context.Context, gen.GetHealthRequestObject) (gen.GetHealthResponseObject, error) {
	return gen.GetHealth200JSONResponse{Data: gen.Health{Status: "ok"}}, nil
}

// GetReadiness asks every dependency at once; SERVICE_UNAVAILABLE names those that do not answer. The cause of a failure is
// logged by the check; the caller sees it only where it has a text of its own. The number of calls is not limited:
// concurrent requests share one check.
func (h *handlers) GetReadiness(ctx context.Context, _ gen.GetReadinessRequestObject) (gen.GetReadinessResponseObject, error) {
	answer, err, _ := h.checking.Do("", func() (any, error) { return h.readiness(context.WithoutCancel(ctx)) })
	if err != nil {
		return nil, err
	}

	return answer.(gen.GetReadiness200JSONResponse), nil //nolint:forcetypeassert // it is what readiness returns
}

func (h *handlers) readiness(ctx context.Context) (gen.GetReadiness200JSONResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()

	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		states  = map[string]string{}
		missing = map[string][]models.Text{}
	)

	for name, check := range h.checks {
		wg.Go(func() {
			err := check(ctx)

			mu.Lock()
			defer mu.Unlock()

			states[name] = "ok"
			if err != nil {
				missing[name] = []models.Text{lacks(err)}
			}
		})
	}

	wg.Wait()

	if len(missing) > 0 {
		return gen.GetReadiness200JSONResponse{}, &models.Error{
			Code: models.CodeServiceUnavailable, Text: models.TextOf("health.not_ready"), Details: missing,
		}
	}

	// An account that takes no payments keeps the others from nothing: it is named, and the service is ready.
	if h.accounts != nil {
		accounts, err := h.accounts(ctx)
		if err != nil {
			return gen.GetReadiness200JSONResponse{}, err
		}

		maps.Copy(states, accounts)
	}

	return gen.GetReadiness200JSONResponse{Data: gen.Health{Status: "ok", Checks: states}}, nil
}

func lacks(err error) models.Text {
	if e, ok := errors.AsType[*models.Error](err); ok {
		return e.Text
	}

	return models.TextOf("health.unreachable")
}

// GetJWKS serves the public keys. Verifiers may keep them for five minutes.
func (h *handlers) GetJWKS(context.Context, gen.GetJWKSRequestObject) (gen.GetJWKSResponseObject, error) {
	return rawJSON{body: h.jwks, cache: "public, max-age=300"}, nil
}

// GetOpenAPI serves the document.
func (h *handlers) GetOpenAPI(context.Context, gen.GetOpenAPIRequestObject) (gen.GetOpenAPIResponseObject, error) {
	return rawJSON{body: h.document, cache: "no-cache"}, nil
}

// GetDocs serves the page on which people read the document.
func (h *handlers) GetDocs(context.Context, gen.GetDocsRequestObject) (gen.GetDocsResponseObject, error) {
	return served(docs.Page), nil
}

// GetMetrics serves the Prometheus text format.
func (h *handlers) GetMetrics(context.Context, gen.GetMetricsRequestObject) (gen.GetMetricsResponseObject, error) {
	if h.metrics == nil {
		return nil, models.NotFound()
	}

	return served(h.metrics), nil
}

func metricsHandler(g prometheus.Gatherer) fiber.Handler {
	if g == nil {
		return nil
	}

	return adaptor.HTTPHandler(promhttp.HandlerFor(g, promhttp.HandlerOpts{}))
}

// rawJSON is an answer that is JSON already.
type rawJSON struct {
	body  []byte
	cache string
}

func (r rawJSON) write(f *fiber.Ctx) error {
	f.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	f.Set(fiber.HeaderCacheControl, r.cache)

	return f.Send(r.body)
}

// VisitGetJWKSResponse implements the generated answer.
func (r rawJSON) VisitGetJWKSResponse(f *fiber.Ctx) error { return r.write(f) }

// VisitGetOpenAPIResponse implements the generated answer.
func (r rawJSON) VisitGetOpenAPIResponse(f *fiber.Ctx) error { return r.write(f) }

// served is an answer that another Fiber handler writes.
type served fiber.Handler

// VisitGetDocsResponse implements the generated answer.
func (s served) VisitGetDocsResponse(f *fiber.Ctx) error { return s(f) }

// VisitGetMetricsResponse implements the generated answer.
func (s served) VisitGetMetricsResponse(f *fiber.Ctx) error { return s(f) }
