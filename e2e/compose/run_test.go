// Package compose_test holds docker-compose.yml to what it promises, without Docker: the file is read as Compose reads it, and every
// command of ours in it runs with its environment against a real PostgreSQL, and a Temporal that runs by the file's arguments.
package compose_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestComposeServes starts every service in the order that the file asks for, each by its own command, environment and check of
// health, and takes a booking from the seat to the payment, as a new user would.
func TestComposeServes(t *testing.T) {
	t.Parallel()

	n := newNetwork(t)
	for name := range n.project.Services {
		n.start(name)
	}

	token := n.call(http.MethodPost, "/api/v1/auth/login", "", map[string]any{"email": "end_user@rihla.test", "password": "rihla-dev-password"},
		http.StatusOK)["access_token"].(string)

	var trips struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}

	require.NoError(t, json.Unmarshal(n.send(http.MethodGet, "/api/v1/trips", "", nil, http.StatusOK), &trips))
	require.NotEmpty(t, trips.Data)

	booking := n.call(http.MethodPost, "/api/v1/bookings", token, map[string]any{
		"trip_id": trips.Data[0].ID, "payment_method": "credit_card", "passengers": []map[string]string{{"name": "First Passenger"}},
		"contact": map[string]string{"name": "A Customer", "email": "end_user@rihla.test", "phone": "+966500000001"},
	}, http.StatusCreated)
	checkout, ok := booking["payment"].(map[string]any)["checkout_url"].(string)
	require.True(t, ok, booking)

	answer, err := http.PostForm(n.here.Replace(checkout), url.Values{"outcome": {"succeed"}})
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())

	status := n.call(http.MethodGet, fmt.Sprintf("/api/v1/bookings/%s/payment-status?wait=30", booking["id"]), token, nil, http.StatusOK)
	require.Equal(t, "PAID", status["payment_status"])
	require.Equal(t, "CONFIRMED", status["booking_status"])
}

// call sends JSON and returns the answer's data.
func (n *network) call(method, path, token string, body any, want int) map[string]any {
	n.t.Helper()

	var answer struct {
		Data map[string]any `json:"data"`
	}

	require.NoError(n.t, json.Unmarshal(n.send(method, path, token, body, want), &answer))

	return answer.Data
}

func (n *network) send(method, path, token string, body any, want int) []byte {
	n.t.Helper()

	text, err := json.Marshal(body)
	require.NoError(n.t, err)

	r, err := http.NewRequestWithContext(n.t.Context(), method, "http://"+n.api+path, bytes.NewReader(text))
	require.NoError(n.t, err)

	if body == nil {
		r.Body, r.ContentLength = http.NoBody, 0
	} else {
		r.Header.Set("Content-Type", "application/json")
	}

	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}

	answer, err := (&http.Client{Timeout: time.Minute}).Do(r)
	require.NoError(n.t, err)

	defer answer.Body.Close()

	got, err := io.ReadAll(answer.Body)
	require.NoError(n.t, err)
	require.Equal(n.t, want, answer.StatusCode, "%s %s: %s", method, path, strings.TrimSpace(string(got)))

	return got
}
