package engine

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

// Operation is what a fault can hit.
type Operation string

// The operations.
const (
	OpCreateCheckout Operation = "create_checkout"
	OpRefund         Operation = "refund"
	OpStatus         Operation = "status" // every read of checkouts and refunds
	OpCancel         Operation = "cancel"
	opWebhook        Operation = "webhook"
)

// Mode is what a fault does.
type Mode string

// The modes of a fault.
const (
	ModeError              Mode = "error"                // 5xx (or 429) without effect; a webhook: attempt not made, retried
	ModeTimeout            Mode = "timeout"              // no answer, no effect; a webhook: as error
	ModeTimeoutAfterEffect Mode = "timeout_after_effect" // the effect, no answer; a webhook: sent, but sent again as if unanswered
	ModeReject             Mode = "reject"               // a final 4xx without effect
	ModeSlow               Mode = "slow"                 // effect and answer after a delay, even if the client has left
	ModeDrop               Mode = "drop"                 // a webhook that is never sent
	ModeDuplicate          Mode = "duplicate"            // a webhook sent twice at once
	ModeReorder            Mode = "reorder"              // a webhook held back until the next one was sent
	ModeWrongAmount        Mode = "wrong_amount"         // 1.00 more than was charged
	ModeWrongCurrency      Mode = "wrong_currency"       // USD
	ModePending            Mode = "pending"              // a refund that is decided later
	ModeConflict           Mode = "conflict"             // 409 request_in_progress at once, and the effect after a delay
	ModeFindLag            Mode = "find_lag"             // a search by reference that does not find what is younger than a delay
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

// Fault is one entry of POST /sandbox/faults. The zero value is no fault.
type Fault struct {
	Operation Operation `json:"operation"`
	Mode      Mode      `json:"mode"`
	Times     int       `json:"times"`              // how many calls it hits; default 1
	Merchant  string    `json:"merchant,omitempty"` // only this merchant's calls; default everybody's
	// DelayMS is how long slow and conflict (default 2000) hold the effect back, reorder a webhook at most and pending the
	// decision; and the age up to which find_lag (default 5000) finds nothing.
	DelayMS    *int   `json:"delay_ms,omitempty"`
	Status     int    `json:"status,omitempty"`      // error: 429 or 5xx, default 500; reject: 4xx, default 422
	RetryAfter int    `json:"retry_after,omitempty"` // seconds, with status 429; default 1
	Outcome    string `json:"outcome,omitempty"`     // pending with delay_ms: succeed (default) or fail
}

// modesOf are the modes that mean something for an operation.
func modesOf(operation Operation) []Mode {
	common := []Mode{ModeError, ModeTimeout, ModeTimeoutAfterEffect, ModeSlow}

	switch operation {
	case OpCreateCheckout, OpCancel:
		return append(common, ModeReject, ModeConflict)
	case OpRefund:
		return append(common, ModeReject, ModeConflict, ModePending, ModeWrongAmount)
	case OpStatus:
		return append(common, ModeReject, ModeWrongAmount, ModeWrongCurrency, ModeFindLag)
	case opWebhook:
		return append(common, ModeDrop, ModeDuplicate, ModeReorder, ModeWrongAmount, ModeWrongCurrency)
	default:
		return nil
	}
}

// complete fills in defaults and says what is wrong with the fault, or nothing.
func (f *Fault) complete(timesGiven bool, traits Traits) string {
	if !timesGiven {
		f.Times = 1
	}

	if modes := modesOf(f.Operation); modes == nil {
		return "operation must be create_checkout, refund, status, cancel or webhook."
	} else if !slices.Contains(modes, f.Mode) {
		return fmt.Sprintf("mode of %s must be one of: %s.", f.Operation, joined(modes))
	} else if !traits.Has(f.Mode) {
		return fmt.Sprintf("%s has no %s.", traits.Name, f.Mode)
	}

	switch {
	case f.Times < 1 || f.Times > maxTimes:
		return fmt.Sprintf("times must be between 1 and %d.", maxTimes)
	case f.DelayMS != nil && (*f.DelayMS < 0 || *f.DelayMS > maxDelayMS):
		return fmt.Sprintf("delay_ms must be between 0 and %d.", maxDelayMS)
	case (f.Mode == ModeSlow || f.Mode == ModeConflict) && f.delay(0) > maxSlow:
		return "delay_ms of " + string(f.Mode) + " must be at most 60000."
	case f.RetryAfter < 0:
		return "retry_after must not be negative."
	case f.Outcome != "" && f.Outcome != outcomeSucceed && f.Outcome != outcomeFail:
		return "outcome must be succeed or fail."
	}

	return f.completeStatus()
}

func (f *Fault) completeStatus() string {
	switch f.Mode { //nolint:exhaustive // the others have no status
	case ModeError:
		if f.Status == 0 {
			f.Status = http.StatusInternalServerError
		}

		if f.Status != http.StatusTooManyRequests && (f.Status < 500 || f.Status > 599) {
			return "status of error must be 429 or 5xx."
		}

		if f.Status == http.StatusTooManyRequests && f.RetryAfter == 0 {
			f.RetryAfter = 1
		}
	case ModeReject:
		if f.Status == 0 {
			f.Status = http.StatusUnprocessableEntity
		}

		if f.Status < 400 || f.Status > 499 || f.Status == http.StatusTooManyRequests {
			return "status of reject must be 4xx, and not 429."
		}
	}

	return ""
}

func joined(modes []Mode) string {
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = string(m)
	}

	return strings.Join(names, ", ")
}

func (f *Fault) delay(otherwise time.Duration) time.Duration {
	if f.DelayMS == nil {
		return otherwise
	}

	return time.Duration(*f.DelayMS) * time.Millisecond
}

// Refuse is the answer that an error or a refusal demands.
func (s *Server) Refuse(f *Fault) Answer {
	a := s.protocol.Failure(Failure{Status: f.Status, Code: CodeFault, Message: "The gateway was told to fail."})
	if f.Status == http.StatusTooManyRequests {
		a.RetryAfter = f.RetryAfter
	}

	return a
}

// Wrong changes amount or currency if that is the fault.
func (f *Fault) Wrong(amount models.Money, currency string) (models.Money, string) {
	switch f.Mode {
	case ModeWrongAmount:
		return amount.Add(models.Halalas(100)), currency
	case ModeWrongCurrency:
		return amount, "USD"
	default:
		return amount, currency
	}
}

// faults waits for calls to hit, first in first out per operation. It is not kept over a restart.
type faults struct {
	mu    sync.Mutex
	queue []Fault
}

func (q *faults) add(f Fault) {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.queue = append(q.queue, f)
}

// take uses up one of the oldest fault that hits the merchant's operation.
func (q *faults) take(operation Operation, merchant string) Fault {
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

	return Fault{}
}

func (q *faults) list() []Fault {
	q.mu.Lock()
	defer q.mu.Unlock()

	return append([]Fault{}, q.queue...)
}

func (q *faults) clear(operation Operation) {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.queue = slices.DeleteFunc(q.queue, func(f Fault) bool { return operation == "" || f.Operation == operation })
}

// Hides reports whether find_lag keeps what was made at the given time out of a search.
func (f *Fault) Hides(created, now time.Time) bool {
	return f.Mode == ModeFindLag && now.Sub(created) < f.delay(defaultLag)
}

// Faulty answers a call, or fails it as a waiting fault demands. Reject, pending, find_lag and wrong_… are effect's
// to obey, as they are part of what the call does. While a request with an Idempotency-Key runs, another one with it is
// answered 409, and uses no fault up. The request's body is read before.
func (s *Server) Faulty(w http.ResponseWriter, r *http.Request, operation Operation, m *Account, effect func(*Fault) Answer) {
	finished, free := s.begin(r, m, operation)
	if !free {
		s.inProgress().Write(w)

		return
	}

	f := s.faults.take(operation, m.Name)

	switch f.Mode {
	case ModeError:
		finished()
		s.Refuse(&f).Write(w)
	case ModeTimeout:
		finished()
		s.hold(r)
	case ModeTimeoutAfterEffect:
		effect(&f)
		finished()
		s.hold(r)
	case ModeSlow:
		s.pause(s.stopping, f.delay(defaultSlow))
		finishedWith(effect(&f), finished).Write(w)
	case ModeConflict:
		s.workers.Go(func() {
			s.pause(s.stopping, f.delay(defaultSlow))
			effect(&f)
			finished()
		})
		s.inProgress().Write(w)
	default:
		finishedWith(effect(&f), finished).Write(w)
	}
}

// Asked is Faulty for a call that a fault of mode reject refuses before anything is done.
func (s *Server) Asked(w http.ResponseWriter, r *http.Request, operation Operation, m *Account, answer func(*Fault) Answer) {
	s.Faulty(w, r, operation, m, func(f *Fault) Answer {
		if f.Mode == ModeReject {
			return s.Refuse(f)
		}

		return answer(f)
	})
}

// Changed is Asked for a call that changes something in one transaction.
func (s *Server) Changed(
	w http.ResponseWriter, r *http.Request, operation Operation, m *Account, change func(*Tx, *Fault) (Answer, error),
) {
	s.Asked(w, r, operation, m, func(f *Fault) Answer {
		var given Answer

		err := s.Commit(func(t *Tx) (err error) {
			given, err = change(t, f)

			return err
		})
		if err != nil {
			return s.Internal(err)
		}

		return given
	})
}

// finishedWith ends the request's hold on its key before the answer is written: a client that has the answer may send again.
func finishedWith(a Answer, finished func()) Answer {
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
