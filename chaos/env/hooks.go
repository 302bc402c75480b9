package env

import (
	"net/http"
	"strings"
	"sync"

	"rihla/chaos/schedule"
)

// hooks is where failures wait for what they are to come in the middle of.
type hooks struct {
	mu      sync.Mutex
	waiting map[schedule.Trigger][]func()
}

// Once has f run in the next moment of its kind, inside of it: nothing goes on before f has returned. The returned function
// gives the wait up, and reports whether f has begun.
func (m *hooks) Once(t schedule.Trigger, f func()) (giveUp func() bool) {
	var (
		once  sync.Once
		begun bool
	)

	m.mu.Lock()
	defer m.mu.Unlock()

	if m.waiting == nil {
		m.waiting = map[schedule.Trigger][]func(){}
	}

	m.waiting[t] = append(m.waiting[t], func() { once.Do(func() { begun = true; f() }) })

	return func() bool {
		once.Do(func() {})

		return begun
	}
}

// Run runs the actions that wait for the trigger.
func (m *hooks) Run(t schedule.Trigger) {
	if t == "" {
		return
	}

	m.mu.Lock()
	due := m.waiting[t]
	delete(m.waiting, t)
	m.mu.Unlock()

	for _, f := range due {
		f()
	}
}

// around lets the moments of the gateway's calls come.
func (m *hooks) around(gateway http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before, after := triggersOf(r)

		m.Run(before)
		gateway.ServeHTTP(w, r)
		m.Run(after) // the handler has had its effect; its answer is still in a buffer
	})
}

// isRefund: companies call it …/refunds, …/payments/{id}/refund or …/payments/{id}.
func isRefund(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/refunds") || strings.Contains(r.URL.Path, "/payments/")
}

func triggersOf(r *http.Request) (before, after schedule.Trigger) {
	switch {
	case r.Method == http.MethodGet:
		return "", schedule.AfterAsking
	case strings.HasSuffix(r.URL.Path, "/cancel"), strings.HasSuffix(r.URL.Path, "/expire"):
		return "", schedule.AfterCancel
	case isRefund(r):
		return schedule.BeforeRefund, schedule.AfterRefund
	default:
		return schedule.BeforeCheckout, schedule.AfterCheckout
	}
}
