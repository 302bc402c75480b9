package e2e_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/gateways/drivers"
	"rihla/models"
)

// companyPaths are all at which the messages of gateway_a's company are taken.
var companyPaths = []string{"webhook/gateway_a", "webhook/wallet_a", "webhook-bill_payment"}

// TestCompanyAtEachOfItsPaths: a company whose address is the path of another method than the one that was paid by is heard there, and
// the same message at the other paths changes nothing (rules: webhooks.paths).
func TestCompanyAtEachOfItsPaths(t *testing.T) {
	t.Parallel()

	for driver, registered := range map[string]string{
		drivers.Stripe: "webhook/wallet_a", drivers.Moyasar: "webhook/wallet_a", drivers.HyperPay: "webhook-bill_payment",
	} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()

			at := &redirect{path: registered, seen: make(chan seenDelivery, 100)}
			server := httptest.NewServer(at)
			t.Cleanup(server.Close)

			// The gateway is not asked: only its message can confirm the booking.
			s := harness.Start(t, harness.Options{Driver: driver, WebhooksTo: server.URL, Env: map[string]string{"WEBHOOK_SILENCE": "0"}})
			at.api.Store(&s.URL)

			b := s.As(models.RoleEndUser).BookPaid(1)
			require.Equal(t, 1, s.Count("SELECT count(*) FROM financial_records WHERE booking_id = $1", b.ID))

			was := s.Count("SELECT count(*) FROM webhook_events")

			var d seenDelivery
			select {
			case d = <-at.seen:
			case <-time.After(patience):
				require.Fail(t, "no message of the company was taken")
			}

			for _, path := range companyPaths {
				status, answer := d.send(t, s.URL, path)
				require.Equal(t, http.StatusOK, status, "%s: %s", path, answer)
				require.JSONEq(t, `{"data": {"received": true, "duplicate": true}}`, answer, path)
			}

			require.Equal(t, was, s.Count("SELECT count(*) FROM webhook_events"), "one message is stored once")
			require.Equal(t, was, s.Count("SELECT count(*) FROM webhook_events WHERE channel = 'gateway_a'"))
			require.Zero(t, s.Count("SELECT count(*) FROM incidents"))
			require.Equal(t, 1, s.Count("SELECT count(*) FROM financial_records"))

			forged, _ := seenDelivery{header: http.Header{}, body: []byte("{}")}.send(t, s.URL, registered)
			require.Equal(t, http.StatusUnauthorized, forged, "what is not signed is not taken")
		})
	}
}

// redirect passes a company's deliveries on to one path of the API, and keeps those that were taken.
type redirect struct {
	path string
	api  atomic.Pointer[string]
	seen chan seenDelivery
}

type seenDelivery struct {
	header http.Header
	body   []byte
}

func (d *redirect) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	api := d.api.Load()

	if err != nil || api == nil {
		w.WriteHeader(http.StatusServiceUnavailable)

		return
	}

	got := seenDelivery{header: r.Header, body: body}

	response, err := got.request(*api, d.path)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)

		return
	}
	defer response.Body.Close()

	w.WriteHeader(response.StatusCode)

	if response.StatusCode == http.StatusOK {
		d.seen <- got
	}
}

func (d seenDelivery) request(api, path string) (*http.Response, error) {
	r, err := http.NewRequest(http.MethodPost, api+"/api/v1/payments/"+path, bytes.NewReader(d.body))
	if err != nil {
		return nil, err
	}

	r.Header = d.header.Clone()

	return http.DefaultClient.Do(r)
}

func (d seenDelivery) send(t *testing.T, api, path string) (status int, body string) {
	t.Helper()

	response, err := d.request(api, path)
	require.NoError(t, err)

	defer response.Body.Close()

	raw, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	return response.StatusCode, string(raw)
}
