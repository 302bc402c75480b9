package api

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"rihla/api/docs"
	"rihla/api/gen"
	"rihla/internal/config"
	"rihla/internal/testkit/cputime"
)

// TestScriptOfDocs: serving it unpacked costs about what serving it packed costs, and it is limited.
func TestScriptOfDocs(t *testing.T) {
	t.Parallel()

	serve := func(b *bundle, encoding string) *fasthttp.RequestCtx {
		var (
			request fasthttp.Request
			ctx     fasthttp.RequestCtx
		)

		request.SetRequestURI(docs.ScriptPath)
		request.Header.Set("Accept-Encoding", encoding)
		ctx.Init(&request, nil, nil)
		b.app.Handler()(&ctx)

		return &ctx
	}

	free := setup(t)
	plain := serve(free, "")
	require.Greater(t, len(plain.Response.Body()), len(serve(free, "gzip").Response.Body()))

	many := func(encoding string) func() {
		return func() {
			for range 200 {
				serve(free, encoding)
			}
		}
	}
	cputime.RequireInProportion(t, many(""), many("gzip"), "the script unpacked")

	limited := setup(t, withLimits(config.RateLimits{Anonymous: 1}))
	require.Equal(t, http.StatusOK, serve(limited, "").Response.StatusCode())
	require.Equal(t, http.StatusTooManyRequests, serve(limited, "gzip").Response.StatusCode())

	for _, path := range []string{"/docs", "/openapi.json"} {
		require.Equal(t, http.StatusTooManyRequests, limited.call(t, http.MethodGet, path, "", "").status, path)
	}
}

// TestReadinessIsAskedOnce: concurrent requests share one check of the dependencies.
func TestReadinessIsAskedOnce(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var (
			all    sync.WaitGroup
			asked  atomic.Int32
			answer = make(chan struct{})
		)

		h := &handlers{checks: map[string]func(context.Context) error{"database": func(context.Context) error {
			asked.Add(1)
			<-answer

			return nil
		}}}

		for range 20 {
			all.Go(func() {
				a, err := h.GetReadiness(t.Context(), gen.GetReadinessRequestObject{})
				require.NoError(t, err)
				require.Equal(t, "ok", a.(gen.GetReadiness200JSONResponse).Data.Checks["database"])
			})
		}

		synctest.Wait()
		require.EqualValues(t, 1, asked.Load())
		close(answer)
		all.Wait()

		_, err := h.GetReadiness(t.Context(), gen.GetReadinessRequestObject{})
		require.NoError(t, err)
		require.EqualValues(t, 2, asked.Load(), "nothing is kept")
	})
}
