package histories_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/devstack"
	"rihla/internal/telemetry"
)

// fields are all that workflows tell each other and their activities (rules: privacy.histories). Before a new one is added here:
// could it ever hold a name, an address, a document or a card? Then an activity has to load it by id instead.
var fields = []string{
	"amount", "approval", "approval_decided", "approval_until", "approvals", "ask_for", "asked", "booking_id", "campaign", "campaign_id", "campaigns", "channel", "delayed", "ended", "event_id", "expires_at", "failure",
	"failure_reason", // of a refund: the gateway's code; its words are in the database
	"gateway", "gateway_refund_id", "id", "index", "method", "needs_review", "news", "next_at", "number", "of", "provider_id", "queued", "refund_owed", "remind_at", "request_id",
	"requested_by", "role", "rules", "sent", "sibling", "sibling_gateway", "silent", "split", "status", "transaction_id", "type", "user_id",
	"why",                  // a failure code
	"currency", "mismatch", // amounts and currencies only
	"kind",           // of an incident
	"more",           // whether there is more to do
	"opener",         // an id
	"seats", "until", // a count; a departure
	// Of a trip that is called off: ids, counts, sums, and a code of the service.
	"after", "approval_pending", "attempt", "blocked", "booking", "bookings", "cancelled", "clawback_total", "open_checkouts", "passes", "paused",
	"refund", "refund_total", "refunded_total", "refunds_by_hand", "refunds_failed", "refunds_pending", "refunds_succeeded", "sums", "trip_id",
	"undecided",
	"replayed", // a count
}

// TestHistoriesNameNobody walks the histories that are kept: payloads, texts for operators, search attributes, failures.
func TestHistoriesNameNobody(t *testing.T) {
	t.Parallel()

	root, err := devstack.ModuleRoot()
	require.NoError(t, err)

	files, err := filepath.Glob(filepath.Join(root, "workflows", "testdata", "histories", "*.json"))
	require.NoError(t, err)
	require.Greater(t, len(files), 20)

	payloads := 0

	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)

		var history any

		require.NoError(t, json.Unmarshal(text, &history))
		walkHistory(t, filepath.Base(file), history, func(payload []byte) {
			payloads++

			var value any

			require.NoError(t, json.Unmarshal(payload, &value), "%s: a payload that is no JSON: %q", filepath.Base(file), payload)
			namesNobody(t, filepath.Base(file), value)
		})
	}

	require.Greater(t, payloads, 200)
}

// walkHistory calls look with every payload, decoded, and checks every other text where it stands.
func walkHistory(t *testing.T, file string, value any, look func(payload []byte)) {
	t.Helper()

	switch v := value.(type) {
	case map[string]any:
		if data, ok := v["data"].(string); ok && v["metadata"] != nil {
			payload, err := base64.StdEncoding.DecodeString(data)
			require.NoError(t, err)
			look(payload)

			return
		}

		for name, member := range v {
			// The orchestrator adds these for itself; they say nothing about a person.
			if name != "taskToken" && name != "metadata" {
				walkHistory(t, file, member, look)
			}
		}
	case []any:
		for _, item := range v {
			walkHistory(t, file, item, look)
		}
	case string:
		requireHarmless(t, file, v)
	}
}

// namesNobody checks a payload's value: its fields are known ones, and its texts are harmless.
func namesNobody(t *testing.T, file string, value any) {
	t.Helper()

	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			require.True(t, slices.Contains(fields, name) || marker.MatchString(name), "%s: the field %s", file, name)
			namesNobody(t, file, member)
		}
	case []any:
		for _, item := range v {
			namesNobody(t, file, item)
		}
	case string:
		requireHarmless(t, file, v)
	}
}

// marker are the names that the SDK itself writes: of local activities, versions and schedules.
var marker = regexp.MustCompile(`^[A-Z][A-Za-z]*$`)

// customers are words of what the recorded scenarios book with (harness.BookingRequest, storetest.World).
var customers = []string{"Passenger", "Customer", "A1234567", "966500000", "rihla.test", "Test User", "Test Driver"}

func requireHarmless(t *testing.T, file, text string) {
	t.Helper()
	require.Equal(t, telemetry.Scrub(text), text, file)

	for _, word := range customers {
		require.NotContains(t, text, word, file)
	}
}
