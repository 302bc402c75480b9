package notify

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestSMSGateway(t *testing.T) {
	t.Parallel()

	const key = "0123456789abcdef-key"

	status := http.StatusAccepted
	seen := make(chan *http.Request, 20)
	bodies := make(chan map[string]string, 20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]string

		_ = json.NewDecoder(r.Body).Decode(&body)
		seen <- r
		bodies <- body

		w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)

	n, outbox := newTestNotifier(t, map[string]string{"SMS_DRIVER": "http", "SMS_URL": server.URL, "SMS_API_KEY": key})
	m := testMessage(models.NotifyPaymentSucceeded, models.NotifySMS, models.LocaleArabic)
	require.NoError(t, n.Send(t.Context(), m))

	r := <-seen
	require.Equal(t, "Bearer "+key, r.Header.Get("Authorization"))
	require.Equal(t, m.ID.String(), r.Header.Get("Idempotency-Key"))
	require.Equal(t, map[string]string{
		"id": m.ID.String(), "to": "+966501234567",
		"text": "رحلة: تم تأكيد حجزك \u2068RB-7XK010A\u2069 (عمرة من الرياض) واستلام \u20681,150.00 ر.س\u2069. المغادرة 28/11/2026 00:30.",
	}, <-bodies)
	require.NoDirExists(t, outbox)

	for code, permanent := range map[int]bool{400: true, 422: true, 401: false, 403: false, 404: false, 429: false, 500: false, 503: false, 302: false} {
		status = code
		err := n.Send(t.Context(), m)
		require.Error(t, err, code)
		require.Equal(t, permanent, IsPermanent(err), code)
		require.NotContains(t, err.Error(), key)
		require.NotContains(t, err.Error(), "966")
	}

	m.To = "nobody"
	require.True(t, IsPermanent(n.Send(t.Context(), m)))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	m.To = "0501234567"
	err := n.Send(ctx, m)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, IsPermanent(err))

	// Mail still goes where it is configured to go.
	require.NoError(t, n.Send(t.Context(), testMessage(models.NotifyPaymentSucceeded, models.NotifyEmail, models.LocaleArabic)))
	require.DirExists(t, outbox)
}
