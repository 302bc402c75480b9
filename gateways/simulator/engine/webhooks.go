package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"rihla/models"
)

const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = 10 * time.Second
	// giveUpAfter is how long a webhook is retried.
	giveUpAfter = 3 * 24 * time.Hour
	// maxWebhookAnswer is how much of an answer is read, so that the connection can be used again.
	maxWebhookAnswer = 64 << 10
)

// doubling is the default pause after the n-th failed delivery: 0.5 s, 1 s, 2 s, 4 s, 8 s, then 10 s.
func doubling(n int) time.Duration {
	wait := firstRetry
	for range n - 1 {
		if wait *= 2; wait >= lastRetry {
			return lastRetry
		}
	}

	return wait
}

// delivery is a webhook until it has arrived. Its address and secret are not kept, so that a restart can
// change them.
type delivery struct {
	Event Event `json:"event"`
}

// Emit puts a webhook into the outbox; it is sent once the transaction is committed. Its id stays the same
// on every attempt.
func (s *Server) Emit(t *Tx, e Event) error {
	id, err := NewID(s.traits.EventPrefix)
	if err != nil {
		return err
	}

	if e.At.IsZero() {
		e.At = s.Now()
	}

	t.events = append(t.events, id)

	return t.put(bucketOutbox, id, delivery{e})
}

// counters are what this run did.
type counters struct {
	mu      sync.Mutex
	arrived int
	failed  int // attempts
	dropped int
}

func (c *counters) count(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()

	*n++
}

// heldBack are webhooks that wait for a next one (mode reorder).
type heldBack struct {
	mu   sync.Mutex
	jobs []job
}

func (h *heldBack) add(j job) {
	h.mu.Lock()
	defer h.mu.Unlock()

	h.jobs = append(h.jobs, j)
}

func (h *heldBack) release() []job {
	h.mu.Lock()
	defer h.mu.Unlock()

	jobs := h.jobs
	h.jobs = nil

	return jobs
}

// deliver makes one attempt at one webhook.
func (s *Server) deliver(ctx context.Context, j job) {
	if _, busy := s.underWay.LoadOrStore(j.id, true); busy {
		return // a job for a webhook that was held back and released
	}
	defer s.underWay.Delete(j.id)

	var (
		d     delivery
		found bool
	)

	err := s.store.view(func(t *Tx) (err error) {
		found, err = t.get(bucketOutbox, j.id, &d)

		return err
	})
	if err != nil {
		s.log.Error("simulator: webhook cannot be read", "event", j.id, "error", err)

		return
	}

	if !found {
		return // it has arrived
	}

	target, ok := s.target(&d)
	if !ok {
		s.log.Warn("simulator: webhook without an address is dropped", "event", j.id, "merchant", d.Event.Checkout.Merchant)
		s.leaveOutbox(j.id, &s.counters.dropped)

		return
	}

	f := Fault{}
	if !j.faulted {
		f = s.faults.take(opWebhook, d.Event.Checkout.Merchant)
	}

	j.faulted = true

	if s.divert(j, &d, &f) {
		return
	}

	s.attempt(ctx, j, &d, target, &f)

	for _, next := range s.held.release() {
		s.outbox.add(next)
	}
}

func (s *Server) target(d *delivery) (channel, bool) {
	m := s.merchants[d.Event.Checkout.Merchant]
	if m == nil {
		return channel{}, false
	}

	target, ok := m.channels[d.Event.Checkout.PaymentMethod]

	return target, ok && target.url != ""
}

// divert obeys the faults by which a webhook is not sent now; the others change what is sent.
func (s *Server) divert(j job, d *delivery, f *Fault) bool {
	switch f.Mode { //nolint:exhaustive // the others send it
	case ModeDrop:
		s.leaveOutbox(j.id, &s.counters.dropped)

		return true
	case ModeSlow:
		j.at = time.Now().Add(f.delay(defaultSlow))
		s.outbox.add(j)

		return true
	case ModeReorder:
		now := time.Now()
		late := j
		j.at, late.at = now, now.Add(f.delay(reorderLimit))
		s.held.add(j)
		s.outbox.add(late) // whichever comes first sends it

		return true
	case ModeWrongAmount, ModeWrongCurrency:
		amount, currency := &d.Event.Checkout.Amount, &d.Event.Checkout.Currency
		if d.Event.Refund != nil {
			amount, currency = &d.Event.Refund.Amount, &d.Event.Refund.Currency
		}

		*amount, *currency = f.Wrong(*amount, *currency)
		// Kept, so that a retry tells the same lie.
		err := s.Commit(func(t *Tx) error {
			if err := t.put(bucketOutbox, j.id, d); err != nil || f.Mode != ModeWrongAmount || d.Event.Type != models.EventPaymentSucceeded {
				return err
			}

			return t.claim(d.Event.Checkout.ID, f)
		})
		if err != nil {
			s.log.Error("simulator: webhook cannot be changed", "event", j.id, "error", err)
		}
	}

	return false
}

// attempt sends the webhook and takes it out of the outbox, or schedules the next attempt.
func (s *Server) attempt(ctx context.Context, j job, d *delivery, target channel, f *Fault) {
	var err error

	switch f.Mode {
	case ModeError, ModeTimeout:
		err = fmt.Errorf("fault %s: not sent", f.Mode)
	case ModeDuplicate:
		var copies sync.WaitGroup

		copies.Go(func() { _ = s.send(ctx, j.id, d, target) }) // the other copy's outcome counts

		err = s.send(ctx, j.id, d, target)

		copies.Wait()
	case ModeTimeoutAfterEffect:
		_ = s.send(ctx, j.id, d, target)
		err = fmt.Errorf("fault %s: sent, answer ignored", f.Mode)
	default:
		err = s.send(ctx, j.id, d, target)
	}

	if err == nil {
		s.leaveOutbox(j.id, &s.counters.arrived)

		return
	}

	if ctx.Err() != nil {
		return // Close: the next run goes on
	}

	s.counters.count(&s.counters.failed)
	j.attempt++

	if s.cfg.Clock().Sub(d.Event.At) > giveUpAfter {
		s.log.Error("simulator: webhook given up", "event", j.id, "attempts", j.attempt, "error", err)
		s.leaveOutbox(j.id, &s.counters.dropped)

		return
	}

	level := slog.LevelDebug
	if j.attempt == 1 {
		level = slog.LevelWarn // once per webhook, or a receiver that is down floods the log
	}

	s.log.Log(ctx, level, "simulator: webhook not delivered, will be retried", "event", j.id, "attempt", j.attempt, "error", err)
	j.at = time.Now().Add(s.cfg.RetryBackoff(j.attempt))
	s.outbox.add(j)
}

func (s *Server) leaveOutbox(id string, counter *int) {
	if err := s.Commit(func(t *Tx) error { return t.b.Bucket(bucketOutbox).Delete([]byte(id)) }); err != nil {
		s.log.Error("simulator: webhook stays in the outbox", "event", id, "error", err)

		return
	}

	s.counters.count(counter)
}

// send posts the webhook, signed afresh: its timestamp is that of the attempt, or retries would be stale.
func (s *Server) send(ctx context.Context, id string, d *delivery, target channel) error {
	message, ok, err := target.signer.Message(d.Event, id, s.cfg.Clock())
	if err != nil || !ok {
		return err
	}

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.url, bytes.NewReader(message.Body))
	if err != nil {
		return fmt.Errorf("webhook request: %w", err)
	}

	req.Header = message.Header.Clone()
	req.Header.Set("User-Agent", "rihla-simulator/1")

	res, err := s.webhooks.Do(req)
	if err != nil {
		return fmt.Errorf("post webhook: %w", err)
	}
	defer res.Body.Close()

	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxWebhookAnswer)) // only the status counts

	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("webhook answered with status %d", res.StatusCode)
	}

	return nil
}
