package failure_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// smsCompany takes SMS as slowly as a real one does, so that a worker which is killed has some on their way.
type smsCompany struct {
	*httptest.Server

	mu       sync.Mutex
	messages map[string]int // how often each came, by its Idempotency-Key
}

// newSMSCompany needs so long for each message.
func newSMSCompany(t *testing.T, takes time.Duration) *smsCompany {
	t.Helper()

	c := &smsCompany{messages: map[string]int{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.messages[r.Header.Get("Idempotency-Key")]++
		c.mu.Unlock()

		if pause(r.Context(), takes) {
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(c.Close)

	return c
}

// env makes the service send through it.
func (c *smsCompany) env() map[string]string {
	return map[string]string{"SMS_DRIVER": "http", "SMS_URL": c.URL, "SMS_API_KEY": "failure-test-sms-api-key"}
}

// counts are the messages that came, and how many of them came again.
func (c *smsCompany) counts() (messages, again int) {
	c.mu.Lock()
	defer c.mu.Unlock()

	for _, n := range c.messages {
		again += n - 1
	}

	return len(c.messages), again
}
