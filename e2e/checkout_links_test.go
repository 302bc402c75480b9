package e2e_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

type checkoutSending struct {
	TransactionID uuid.UUID `json:"transaction_id"`
	Messages      []struct{ Channel, To string }
	SendingsLeft  int        `json:"sendings_left"`
	NextAt        *time.Time `json:"next_at"`
}

// checkoutLinks has support send a customer the link of a checkout: many at once send it once, the customer pays by it, and no log has it.
func checkoutLinks(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, support := s.As(models.RoleEndUser), s.As(models.RoleSupportAgent)
	b := customer.Book(1)
	path := "/api/v1/admin/bookings/" + b.ID.String() + "/send-checkout"

	refused(t, post(customer, path, nil, uuid.NewString()), http.StatusForbidden, models.CodeForbidden)
	refused(t, support.Post("/api/v1/admin/bookings/"+uuid.NewString()+"/send-checkout", nil), http.StatusNotFound, models.CodeNotFound)

	const requests = 10

	keys, answers := make([]string, requests), make([]harness.Answer, requests)

	var wg sync.WaitGroup

	for i := range requests {
		keys[i] = uuid.NewString()

		wg.Go(func() { answers[i] = post(support, path, nil, keys[i]) })
	}

	wg.Wait()

	sent := -1

	for i, a := range answers {
		if a.Status == http.StatusAccepted {
			require.Equal(t, -1, sent, "sent once")

			sent = i

			continue
		}

		refused(t, a, http.StatusTooManyRequests, models.CodeRateLimited)

		seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
		require.NoError(t, err)
		require.InDelta(t, 295, seconds, 5)
	}

	require.NotEqual(t, -1, sent)

	sending := decoded[checkoutSending](t, http.StatusAccepted, answers[sent])
	require.Equal(t, b.Payment.TransactionID, sending.TransactionID)
	require.Equal(t, 4, sending.SendingsLeft)
	require.NotNil(t, sending.NextAt)
	require.Equal(t, []struct{ Channel, To string }{{"EMAIL", "c***@rihla.test"}, {"SMS", "***001"}}, sending.Messages)

	again := post(support, path, nil, keys[sent])
	require.Equal(t, string(answers[sent].Body), string(again.Body))
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))

	require.Len(t, messagesWith(t, s, *b.Payment.CheckoutURL, 2), 2)

	for name, log := range s.Logs() {
		if name != "gateway" {
			require.NotContains(t, log, *b.Payment.CheckoutURL, name)
		}
	}

	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)
	refused(t, support.Post(path, nil), http.StatusConflict, models.CodeBookingNotPayable)
}

// messagesWith waits for so many messages with an address in them, and returns them.
func messagesWith(t *testing.T, s *harness.Stack, address string, n int) (found []string) {
	t.Helper()

	require.Eventually(t, func() bool {
		found = nil

		files, _ := filepath.Glob(filepath.Join(s.DataDir, "outbox", "*.*"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue
			}

			flat := strings.NewReplacer("=\r\n", "", "=\n", "", "=3D", "=").Replace(string(text))
			if strings.Contains(flat, address) {
				found = append(found, flat)
			}
		}

		return len(found) >= n
	}, patience, refundPoll, "no messages with the address")

	return found
}
