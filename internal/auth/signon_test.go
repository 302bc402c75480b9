package auth

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/models"
)

// TestIdentityProviderThatHangs: however many want to log in, one call waits for it; who has waited long enough goes, and who comes just
// after it has failed does not wait at all. It is asked again later.
func TestIdentityProviderThatHangs(t *testing.T) {
	t.Parallel()

	var (
		calls atomic.Int32
		hangs atomic.Bool
		url   string
	)

	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)

		if hangs.Load() {
			<-stop

			return
		}

		_, _ = w.Write([]byte(`{"issuer":"` + url + `","authorization_endpoint":"` + url + `/a","token_endpoint":"` + url + `/t","jwks_uri":"` + url + `/k"}`))
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(stop) })

	url = server.URL
	s := &SignOn{settings: config.OIDC{Issuer: url}, log: slog.New(slog.DiscardHandler), provider: newProvider(url)}
	s.provider.calls.Timeout = 500 * time.Millisecond

	begin := func(patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()

		_, _, err := s.Begin(ctx, "/console", uuid.Nil)

		return err
	}

	hangs.Store(true)

	began := time.Now()

	var waiting sync.WaitGroup
	for i := range 40 {
		waiting.Go(func() {
			if err := begin([]time.Duration{50 * time.Millisecond, time.Minute}[i%2]); models.CodeOf(err) != models.CodeServiceUnavailable {
				t.Error(err)
			}
		})
	}

	waiting.Wait()
	require.Less(t, time.Since(began), 5*time.Second, "not one after another")
	require.EqualValues(t, 1, calls.Load())

	require.Equal(t, models.CodeServiceUnavailable, models.CodeOf(begin(time.Minute)))
	require.EqualValues(t, 1, calls.Load(), "it was asked a moment ago")

	hangs.Store(false)
	require.Eventually(t, func() bool { return begin(time.Minute) == nil }, 10*time.Second, 50*time.Millisecond)
	require.NoError(t, begin(time.Minute))
	require.EqualValues(t, 2, calls.Load())
}
