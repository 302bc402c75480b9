package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"rihla/models"
)

// The operations a fault can hit.
const (
	opCreateCheckout = "create_checkout"
	opRefund         = "refund"
	opStatus         = "status" // every read of checkouts and refunds
	opCancel         = "cancel"
	opWebhook        = "webhook"
)

// The modes of a fault.
const (
	modeError              = "error"                // 5xx (or 429) without effect; a webhook: attempt not made, retried
	modeTimeout            = "timeout"              // no answer, no effect; a webhook: as error
	modeTimeoutAfterEffect = "timeout_after_effect" // the effect, no answer; a webhook: sent, but sent again as if unanswered
	modeReject             = "reject"               // a final 4xx without effect
	modeSlow               = "slow"                 // effect and answer after a delay, even if the client has left
	modeDrop               = "drop"                 // a webhook that is never sent
	modeDuplicate          = "duplicate"            // a webhook sent twice at once
	modeReorder            = "reorder"              // a webhook held back until the next one was sent
	modeWrongAmount        = "wrong_amount"         // 1.00 more than was charged
	modeWrongCurrency      = "wrong_currency"       // USD
	modePending            = "pending"              // a refund that is decided later
	modeConflict           = "conflict"             // 409 request_in_progress at once, and the effect after a delay
	modeFindLag            = "find_lag"             // a search by reference that does not find what is younger than a delay
)

const (
	defaultSlow  = 2 * time.Second
	defaultLag   = 5 * time.Second
	maxSlow      = time.Minute
	maxHold      = 30 * time.Second // of a connection that gets no answer
	reorderLimit = 5 * time.Second  // how long a webhook waits for a next one
	maxDelayMS   = 7 * 24 * 3600 * 1000
	maxTimes     = 1_000_000
)

// fault is one entry of POST /sandbox/faults. The zero value is no fault.
type fault struct {
	Operation string `json:"operation"`
	Mode      string `json:"mode"`
	Times     int    `json:"times"`              // how many calls it hits; default 1
	Merchant  string `json:"merchant,omitempty"` // only this merchant's calls; default everybody's
	// DelayMS is how long slow and conflict (default 2000) hold the effect back, reorder a webhook at most and pending the
	// decision; and the age up to which find_lag (default 5000) finds nothing.
	DelayMS    *int   `json:"delay_ms,omitempty"`
	Status     int    `json:"status,omitempty"`      // error: 429 or 5xx, default 500; reject: 4xx, default 422
	RetryAfter int    `json:"retry_after,omitempty"` // seconds, with status 429; default 1
	Outcome    string `json:"outcome,omitempty"`     // pending with delay_ms: succeed (default) or fail
}

// modesOf are the modes that mean something for an operation.
func modesOf(operation string) []string {
	common := []string{modeError, modeTimeout, modeTimeoutAfterEffect, modeSlow}

	switch operation {
	case opCreateCheckout, opCancel:
		return append(common, modeReject, modeConflict)
	case opRefund:
		return append(common, modeReject, modeConflict, modePending, modeWrongAmount)
	case opStatus:
		return append(common, modeReject, modeWrongAmount, modeWrongCurrency, modeFindLag)
	case opWebhook:
		return append(common, modeDrop, modeDuplicate, modeReorder, modeWrongAmount, modeWrongCurrency)
	default:
		return nil
	}
}

// complete fills in defaults and says what is wrong with the fault, or nothing.
func (f *fault) complete(timesGiven bool) string {
	if !timesGiven {
		f.Times = 1
	}

	if modes := modesOf(f.Operation); modes == nil {
		return "operation must be create_checkout, refund, status, cancel or webhook."
	} else if !slices.Contains(modes, f.Mode) {
		return fmt.Sprintf("mode of %s must be one of: %s.", f.Operation, strings.Join(modes, ", "))
	}

	switch {
	case f.Times < 1 || f.Times > maxTimes:
		return fmt.Sprintf("times must be between 1 and %d.", maxTimes)
	case f.DelayMS != nil && (*f.DelayMS < 0 || *f.DelayMS > maxDelayMS):
		return fmt.Sprintf("delay_ms must be between 0 and %d.", maxDelayMS)
	case (f.Mode == modeSlow || f.Mode == modeConflict) && f.delay(0) > maxSlow:
		return "delay_ms of " + f.Mode + " must be at most 60000."
	case f.RetryAfter < 0:
		return "retry_after must not be negative."
	case f.Outcome != "" && f.Outcome != outcomeSucceed && f.Outcome != outcomeFail:
		return "outcome must be succeed or fail."
	}

	return f.completeStatus()
}

func (f *fault) completeStatus() string {
	switch f.Mode {
	case modeError:
		if f.Status == 0 {
			f.Status = http.StatusInternalServerError
		}

		if f.Status != http.StatusTooManyRequests && (f.Status < 500 || f.Status > 599) {
			return "status of error must be 429 or 5xx."
		}

		if f.Status == http.StatusTooManyRequests && f.RetryAfter == 0 {
			f.RetryAfter = 1
		}
	case modeReject:
		if f.Status == 0 {
			f.Status = http.StatusUnprocessableEntity
		}

		if f.Status < 400 || f.Status > 499 || f.Status == http.StatusTooManyRequests {
			return "status of reject must be 4xx, and not 429."
		}
	}

	return ""
}

func (f *fault) delay(otherwise time.Duration) time.Duration {
	if f.DelayMS == nil {
		return otherwise
	}

	return time.Duration(*f.DelayMS) * time.Millisecond
}

func (f *fault) answer() answer {
	a := failure(f.Status, "fault_injected", "The gateway was told to fail.")
	if f.Status == http.StatusTooManyRequests {
		a.retryAfter = f.RetryAfter
	}

	return a
}

// wrong changes amount or currency if that is the fault.
func (f *fault) wrong(amount models.Money, currency string) (models.Money, string) {
	switch f.Mode {
	case modeWrongAmount:
		return amount.Add(models.Halalas(100)), currency
	case modeWrongCurrency:
		return amount, "USD"
	default:
		return amount, currency
	}
}

// faults waits for calls to hit, first in first out per operation. It is not kept over a restart.
type faults struct {
	mu    sync.Mutex
	queue []fault
}

func (q *faults) add(f fault) {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.queue = append(q.queue, f)
}

// take uses up one of the oldest fault that hits the merchant's operation.
func (q *faults) take(operation, merchant string) fault {
	q.mu.Lock()
	defer q.mu.Unlock()

	for i := range q.queue {
		f := &q.queue[i]
		if f.Operation != operation || (f.Merchant != "" && f.Merchant != merchant) {
			continue
		}

		taken := *f
		if f.Times--; f.Times == 0 {
			q.queue = slices.Delete(q.queue, i, i+1)
		}

		return taken
	}

	return fault{}
}

func (q *faults) list() []fault {
	q.mu.Lock()
	defer q.mu.Unlock()

	return append([]fault{}, q.queue...)
}

func (q *faults) clear(operation string) {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.queue = slices.DeleteFunc(q.queue, func(f fault) bool { return operation == "" || f.Operation == operation })
}

// hides reports whether find_lag keeps what was made at the given time out of a search.
func (f *fault) hides(created, now time.Time) bool {
	return f.Mode == modeFindLag && now.Sub(created) < f.delay(defaultLag)
}

// faulty answers a call, or fails it as a waiting fault demands. Reject, pending, find_lag and wrong_… are effect's
// to obey, as they are part of what the call does. While a request with an Idempotency-Key runs, another one with it is
// answered 409, and uses no fault up.
func (s *Server) faulty(w http.ResponseWriter, r *http.Request, operation string, m *merchant, effect func(*fault) answer) {
	finished, free := s.begin(r, m, operation)
	if !free {
		inProgress().write(w)

		return
	}

	f := s.faults.take(operation, m.name)

	switch f.Mode {
	case modeError:
		finished()
		f.answer().write(w)
	case modeTimeout:
		finished()
		s.hold(r)
	case modeTimeoutAfterEffect:
		effect(&f)
		finished()
		s.hold(r)
	case modeSlow:
		s.pause(s.stopping, f.delay(defaultSlow))
		finishedWith(effect(&f), finished).write(w)
	case modeConflict:
		s.workers.Go(func() {
			s.pause(s.stopping, f.delay(defaultSlow))
			effect(&f)
			finished()
		})
		inProgress().write(w)
	default:
		finishedWith(effect(&f), finished).write(w)
	}
}

// finishedWith ends the request's hold on its key before the answer is written: a client that has the answer may send again.
func finishedWith(a answer, finished func()) answer {
	finished()

	return a
}

// hold leaves the client without an answer: until it goes away, at most 30 s; then the connection breaks.
func (s *Server) hold(r *http.Request) {
	s.pause(r.Context(), maxHold)
	panic(http.ErrAbortHandler)
}

// pause waits, but neither beyond ctx nor beyond Close.
func (s *Server) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-s.stopping.Done():
	}
}
