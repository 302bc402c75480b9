package engine

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"rihla/models"
)

// Outcomes that a customer, an operator or a fault may choose.
const (
	outcomeSucceed = "succeed"
	outcomeDecline = "decline"
	outcomeCancel  = "cancel"
	outcomeFail    = "fail"
)

// retryTimer is the pause before a timer whose change could not be committed is tried again.
const retryTimer = time.Second

// fire does what a timer is for: expire a checkout or decide a refund.
func (s *Server) fire(_ context.Context, j job) {
	err := s.Commit(func(t *Tx) error {
		row, err := t.Refund(j.id)
		if err != nil {
			return err
		}

		if row == nil {
			_, err = s.Current(t, j.id)

			return err
		}

		_, err = s.decide(t, j.id, row.DecideAs != outcomeFail)

		return err
	})
	if err != nil && s.stopping.Err() == nil {
		s.log.Error("simulator: timer failed", "id", j.id, "error", err)

		j.at = s.cfg.Clock().Add(retryTimer)
		s.timers.add(j)
	}
}

func (s *Server) addFault(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Fault

		Times *int `json:"times"`
	}

	if refusal, ok := s.leverJSON(w, r, &in); !ok {
		refusal.Write(w)

		return
	}

	if in.Times != nil {
		in.Fault.Times = *in.Times
	}

	if problem := in.complete(in.Times != nil, s.traits); problem != "" {
		leverInvalid(problem).Write(w)

		return
	}

	if in.Merchant != "" && s.merchants[in.Merchant] == nil {
		leverInvalid("merchant is unknown.").Write(w)

		return
	}

	s.faults.add(in.Fault)
	Success(http.StatusCreated, in.Fault).Write(w)
}

func (s *Server) listFaults(w http.ResponseWriter, _ *http.Request) {
	leverList(s.faults.list()).Write(w)
}

// clearFaults forgets all faults, or with ?operation= those of one operation.
func (s *Server) clearFaults(w http.ResponseWriter, r *http.Request) {
	s.faults.clear(Operation(r.URL.Query().Get("operation")))
	Answer{Status: http.StatusNoContent}.Write(w)
}

func (s *Server) decideRefund(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Outcome string `json:"outcome"`
	}

	if refusal, ok := s.leverJSON(w, r, &in); !ok {
		refusal.Write(w)

		return
	}

	if in.Outcome != outcomeSucceed && in.Outcome != outcomeFail {
		leverInvalid("outcome must be succeed or fail.").Write(w)

		return
	}

	var row *Refund

	err := s.Commit(func(t *Tx) (err error) {
		row, err = s.decide(t, r.PathValue("id"), in.Outcome == outcomeSucceed)

		return err
	})

	switch {
	case err != nil:
		s.Internal(err).Write(w)
	case row == nil:
		leverNotFound("refund").Write(w)
	case (row.Status == RefundSucceeded) != (in.Outcome == outcomeSucceed):
		leverFailure(http.StatusConflict, "refund_decided", "The refund has "+row.Status+" already.").Write(w)
	default:
		Success(http.StatusOK, row).Write(w)
	}
}

// latePayment takes the money of a checkout that failed, expired or was cancelled: what happens at real
// gateways when a bank answers late (rules: late.accept).
func (s *Server) latePayment(w http.ResponseWriter, r *http.Request) {
	s.onCheckout(w, r, func(t *Tx, row *Checkout) (bool, error) {
		if row.Status == StatusPaid {
			return true, nil
		}

		return true, s.Take(t, row)
	})
}

// What a dispute comes to, for the merchant.
const (
	DisputeWon  = "won"
	DisputeLost = "lost"
)

// dispute has the customer's bank dispute a payment, or with ?outcome= end the dispute. Companies that say nothing of it send nothing.
func (s *Server) dispute(w http.ResponseWriter, r *http.Request) {
	outcome := r.URL.Query().Get("outcome")
	if outcome != "" && outcome != DisputeWon && outcome != DisputeLost {
		leverInvalid("outcome must be " + DisputeWon + " or " + DisputeLost + ".").Write(w)

		return
	}

	s.onCheckout(w, r, func(t *Tx, row *Checkout) (bool, error) {
		if row.Status != StatusPaid {
			return false, nil
		}

		e := Event{Type: models.EventPaymentDisputed, Checkout: *row}
		if outcome != "" {
			e.Type, e.Outcome = models.EventDisputeClosed, outcome
		}

		return true, s.Emit(t, e)
	})
}

// onCheckout does something with the checkout that the path names, and answers what has become of it; ok is false for one that it cannot
// be done with.
func (s *Server) onCheckout(w http.ResponseWriter, r *http.Request, do func(t *Tx, row *Checkout) (ok bool, err error)) {
	if refusal, ok := s.drain(w, r); !ok {
		refusal.Write(w)

		return
	}

	given := leverNotFound("checkout")

	err := s.Commit(func(t *Tx) error {
		row, err := s.Current(t, r.PathValue("id"))
		if err != nil || row == nil {
			return err
		}

		ok, err := do(t, row)
		if ok {
			given = Success(http.StatusOK, row)
		}

		return err
	})
	if err != nil {
		given = s.Internal(err)
	}

	given.Write(w)
}

// ledger lists every checkout and refund, oldest first, for tests that compare books.
func (s *Server) ledger(w http.ResponseWriter, _ *http.Request) {
	all := struct {
		Checkouts []json.RawMessage `json:"checkouts"`
		Refunds   []json.RawMessage `json:"refunds"`
	}{Checkouts: []json.RawMessage{}, Refunds: []json.RawMessage{}}

	var given Answer

	// Encoded inside the transaction, whose memory the rows are.
	err := s.store.view(func(t *Tx) error {
		for _, raw := range t.each(bucketCheckouts) {
			all.Checkouts = append(all.Checkouts, raw)
		}

		for _, raw := range t.each(bucketRefunds) {
			all.Refunds = append(all.Refunds, raw)
		}

		given = Success(http.StatusOK, all)

		return nil
	})
	if err != nil {
		given = s.Internal(err)
	}

	given.Write(w)
}

// totals are the answer of GET /sandbox/stats. Amounts are over all currencies.
type totals struct {
	Checkouts         int          `json:"checkouts"`
	OpenCount         int          `json:"open_count"`
	PaidCount         int          `json:"paid_count"`
	FailedCount       int          `json:"failed_count"`
	ExpiredCount      int          `json:"expired_count"`
	CanceledCount     int          `json:"canceled_count"`
	PaidAmount        models.Money `json:"paid_amount"`
	RefundedAmount    models.Money `json:"refunded_amount"` // succeeded and pending
	Refunds           int          `json:"refunds"`
	RefundsPending    int          `json:"refunds_pending"`
	RefundsFailed     int          `json:"refunds_failed"`
	WebhooksPending   int          `json:"webhooks_pending"`
	WebhooksDelivered int          `json:"webhooks_delivered"` // since the start, as the next two
	WebhooksFailed    int          `json:"webhook_failures"`
	WebhooksDropped   int          `json:"webhooks_dropped"`
}

func (s *Server) stats(w http.ResponseWriter, _ *http.Request) {
	var sum totals

	err := s.store.view(func(t *Tx) error {
		sum = totals{}

		for range t.each(bucketOutbox) {
			sum.WebhooksPending++
		}

		return sum.count(t)
	})
	if err != nil {
		s.Internal(err).Write(w)

		return
	}

	s.counters.mu.Lock()
	sum.WebhooksDelivered, sum.WebhooksFailed, sum.WebhooksDropped = s.counters.arrived, s.counters.failed, s.counters.dropped
	s.counters.mu.Unlock()

	Success(http.StatusOK, sum).Write(w)
}

func (sum *totals) count(t *Tx) error {
	for _, raw := range t.each(bucketCheckouts) {
		var row Checkout
		if err := json.Unmarshal(raw, &row); err != nil {
			return err
		}

		sum.Checkouts++

		switch row.Status {
		case StatusOpen:
			sum.OpenCount++
		case StatusPaid:
			sum.PaidCount++
			sum.PaidAmount = sum.PaidAmount.Add(row.Amount)
			sum.RefundedAmount = sum.RefundedAmount.Add(row.RefundedAmount)

			for _, d := range row.SecondDebits {
				sum.PaidAmount, sum.RefundedAmount = sum.PaidAmount.Add(d.Amount), sum.RefundedAmount.Add(d.RefundedAmount)
			}
		case StatusFailed:
			sum.FailedCount++
		case StatusExpired:
			sum.ExpiredCount++
		case StatusCanceled:
			sum.CanceledCount++
		}
	}

	for _, raw := range t.each(bucketRefunds) {
		var row Refund
		if err := json.Unmarshal(raw, &row); err != nil {
			return err
		}

		sum.Refunds++

		switch row.Status {
		case RefundPending:
			sum.RefundsPending++
		case RefundFailed:
			sum.RefundsFailed++
		}
	}

	return nil
}
