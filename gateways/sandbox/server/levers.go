package server

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
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
	err := s.commit(func(t *tx) error {
		if strings.HasPrefix(j.id, "co_") {
			_, err := s.current(t, j.id)

			return err
		}

		row, err := t.refund(j.id)
		if err != nil || row == nil {
			return err
		}

		_, err = s.decide(t, j.id, row.DecideAs != outcomeFail)

		return err
	})
	if err != nil && s.stopping.Err() == nil {
		s.log.Error("sandbox gateway: timer failed", "id", j.id, "error", err)

		j.at = s.cfg.Clock().Add(retryTimer)
		s.timers.add(j)
	}
}

func (s *Server) addFault(w http.ResponseWriter, r *http.Request) {
	var in struct {
		fault

		Times *int `json:"times"`
	}

	if refusal, ok := readJSON(w, r, &in); !ok {
		refusal.write(w)

		return
	}

	if in.Times != nil {
		in.fault.Times = *in.Times
	}

	if problem := in.complete(in.Times != nil); problem != "" {
		invalid(problem).write(w)

		return
	}

	if in.Merchant != "" && s.merchants[in.Merchant] == nil {
		invalid("merchant is unknown.").write(w)

		return
	}

	s.faults.add(in.fault)
	success(http.StatusCreated, in.fault).write(w)
}

func (s *Server) listFaults(w http.ResponseWriter, _ *http.Request) {
	listAnswer(s.faults.list()).write(w)
}

// clearFaults forgets all faults, or with ?operation= those of one operation.
func (s *Server) clearFaults(w http.ResponseWriter, r *http.Request) {
	s.faults.clear(r.URL.Query().Get("operation"))
	answer{status: http.StatusNoContent}.write(w)
}

func (s *Server) decideRefund(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Outcome string `json:"outcome"`
	}

	if refusal, ok := readJSON(w, r, &in); !ok {
		refusal.write(w)

		return
	}

	if in.Outcome != outcomeSucceed && in.Outcome != outcomeFail {
		invalid("outcome must be succeed or fail.").write(w)

		return
	}

	var row *refundRow

	err := s.commit(func(t *tx) (err error) {
		row, err = s.decide(t, r.PathValue("id"), in.Outcome == outcomeSucceed)

		return err
	})

	switch {
	case err != nil:
		s.internal(err).write(w)
	case row == nil:
		notFound("refund").write(w)
	case (row.Status == refundSucceeded) != (in.Outcome == outcomeSucceed):
		failure(http.StatusConflict, "refund_decided", "The refund has "+row.Status+" already.").write(w)
	default:
		success(http.StatusOK, row.view()).write(w)
	}
}

// latePayment takes the money of a checkout that failed, expired or was cancelled: what happens at real
// gateways when a bank answers late (rules: late.accept).
func (s *Server) latePayment(w http.ResponseWriter, r *http.Request) {
	if refusal, ok := drain(w, r); !ok {
		refusal.write(w)

		return
	}

	var given answer

	err := s.commit(func(t *tx) error {
		row, err := s.current(t, r.PathValue("id"))
		if err != nil {
			return err
		}

		if row == nil {
			given = notFound("checkout")

			return nil
		}

		if row.Status != statusPaid {
			if err := s.take(t, row); err != nil {
				return err
			}
		}

		given = success(http.StatusOK, s.viewOf(r, row, &fault{}))

		return nil
	})
	if err != nil {
		given = s.internal(err)
	}

	given.write(w)
}

// ledger lists every checkout and refund, oldest first, for tests that compare books.
func (s *Server) ledger(w http.ResponseWriter, _ *http.Request) {
	all := struct {
		Checkouts []json.RawMessage `json:"checkouts"`
		Refunds   []json.RawMessage `json:"refunds"`
	}{Checkouts: []json.RawMessage{}, Refunds: []json.RawMessage{}}

	var given answer

	// Encoded inside the transaction, whose memory the rows are.
	err := s.store.view(func(t *tx) error {
		for _, raw := range t.each(bucketCheckouts) {
			all.Checkouts = append(all.Checkouts, raw)
		}

		for _, raw := range t.each(bucketRefunds) {
			all.Refunds = append(all.Refunds, raw)
		}

		given = success(http.StatusOK, all)

		return nil
	})
	if err != nil {
		given = s.internal(err)
	}

	given.write(w)
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

	err := s.store.view(func(t *tx) error {
		sum = totals{}

		for range t.each(bucketOutbox) {
			sum.WebhooksPending++
		}

		return sum.count(t)
	})
	if err != nil {
		s.internal(err).write(w)

		return
	}

	s.counters.mu.Lock()
	sum.WebhooksDelivered, sum.WebhooksFailed, sum.WebhooksDropped = s.counters.arrived, s.counters.failed, s.counters.dropped
	s.counters.mu.Unlock()

	success(http.StatusOK, sum).write(w)
}

func (sum *totals) count(t *tx) error {
	for _, raw := range t.each(bucketCheckouts) {
		var row checkoutRow
		if err := json.Unmarshal(raw, &row); err != nil {
			return err
		}

		sum.Checkouts++

		switch row.Status {
		case statusOpen:
			sum.OpenCount++
		case statusPaid:
			sum.PaidCount++
			sum.PaidAmount = sum.PaidAmount.Add(row.Amount)
			sum.RefundedAmount = sum.RefundedAmount.Add(row.RefundedAmount)
		case statusFailed:
			sum.FailedCount++
		case statusExpired:
			sum.ExpiredCount++
		case statusCanceled:
			sum.CanceledCount++
		}
	}

	for _, raw := range t.each(bucketRefunds) {
		var row refundRow
		if err := json.Unmarshal(raw, &row); err != nil {
			return err
		}

		sum.Refunds++

		switch row.Status {
		case refundPending:
			sum.RefundsPending++
		case refundFailed:
			sum.RefundsFailed++
		}
	}

	return nil
}
