package engine

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"rihla/models"
)

// pay is what the page's buttons do, and the same without a browser: outcome=succeed|decline|cancel as a form or as JSON, with
// payment_method where the customer pays by another method than was asked for. The effect is had once; afterwards a browser goes to the
// return_url, or sees the result when there is none, and a client that accepts JSON gets the checkout.
func (s *Server) pay(w http.ResponseWriter, r *http.Request) {
	chosen, refusal, ok := s.readChoice(w, r)
	if !ok {
		refusal.Write(w)

		return
	}

	row, applied, err := s.settle(r.PathValue("id"), chosen)

	switch {
	case err != nil:
		s.Internal(err).Write(w)
	case row == nil && wantsJSON(r):
		leverNotFound("checkout").Write(w)
	case row == nil:
		s.render(w, r, http.StatusNotFound, nil)
	case wantsJSON(r) && !applied:
		leverFailure(http.StatusConflict, "checkout_not_open", "The checkout is "+row.Status+".").Write(w)
	case wantsJSON(r):
		Success(http.StatusOK, row).Write(w)
	case row.Status == StatusOpen && chosen.Outcome == outcomeDecline: // another card may do
		s.render(w, r, http.StatusOK, row)
	case s.protocol.ReturnURL(row) != "":
		w.Header().Set("Location", s.protocol.ReturnURL(row))
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusSeeOther)
	default:
		s.render(w, r, http.StatusOK, row)
	}
}

// choice is what the customer does on the page.
type choice struct {
	Outcome string               `json:"outcome"`
	Method  models.PaymentMethod `json:"payment_method"` // empty: the one that was asked for
}

func (s *Server) readChoice(w http.ResponseWriter, r *http.Request) (choice, Answer, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return choice{}, leverFailure(http.StatusRequestEntityTooLarge, CodeTooLarge, "The body is too large."), false
	} else if err != nil {
		return choice{}, leverFailure(http.StatusBadRequest, CodeMalformed, "The body could not be read."), false
	}

	var in choice

	if contentType(r) == "application/json" {
		if json.Unmarshal(body, &in) != nil {
			return choice{}, leverFailure(http.StatusBadRequest, CodeMalformed, "The body is not the JSON that is expected."), false
		}
	} else {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return choice{}, leverFailure(http.StatusBadRequest, CodeMalformed, "The body is not a form."), false
		}

		in = choice{Outcome: form.Get("outcome"), Method: models.PaymentMethod(form.Get("payment_method"))}
	}

	switch {
	case in.Outcome != outcomeSucceed && in.Outcome != outcomeDecline && in.Outcome != outcomeCancel:
		return choice{}, leverInvalid("outcome must be succeed, decline or cancel."), false
	case in.Method != "" && !slices.Contains(models.PaymentMethods(), in.Method):
		return choice{}, leverInvalid("payment_method must be one of the service's."), false
	default:
		return in, Answer{}, true
	}
}

func contentType(r *http.Request) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}

	return kind
}

func wantsJSON(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "application/json") || contentType(r) == "application/json"
}

// settle does what the customer chose, if the checkout is open. applied tells whether the checkout is now what
// the choice makes of it, be it by this call or by one before.
func (s *Server) settle(id string, chosen choice) (row *Checkout, applied bool, err error) {
	var wasOpen bool

	err = s.Commit(func(t *Tx) (err error) {
		row, err = s.Current(t, id)
		if err != nil || row == nil {
			return err
		}

		if wasOpen = row.Status == StatusOpen; !wasOpen {
			return nil
		}

		return s.choose(t, row, chosen)
	})
	if err != nil || row == nil {
		return nil, false, err
	}

	if s.traits.Retryable && chosen.Outcome != outcomeSucceed {
		return row, wasOpen, nil
	}

	becomes := map[string]string{outcomeSucceed: StatusPaid, outcomeDecline: StatusFailed, outcomeCancel: StatusCanceled}

	return row, row.Status == becomes[chosen.Outcome], nil
}

func (s *Server) choose(t *Tx, row *Checkout, chosen choice) error {
	const declined = "The payment was declined."

	switch outcome := chosen.Outcome; {
	case outcome == outcomeSucceed:
		if chosen.Method != row.PaymentMethod {
			row.PaidBy = chosen.Method
		}

		return s.Take(t, row)
	case outcome == outcomeCancel && s.traits.Retryable:
		return nil
	case outcome == outcomeDecline && s.traits.Retryable:
		return s.decline(t, row, Attempt{ResultCode: ResultDeclined, Reason: declined})
	case outcome == outcomeDecline:
		row.Status, row.ResultCode, row.FailureReason = StatusFailed, ResultDeclined, declined
	default:
		row.Status, row.ResultCode, row.FailureReason = StatusCanceled, ResultCancelled, "The customer cancelled the payment."
	}

	if err := t.close(row); err != nil {
		return err
	}

	// There is no event for a customer who leaves: to the merchant it is a payment that failed.
	return s.Emit(t, Event{Type: models.EventPaymentFailed, Checkout: *row})
}

// decline notes a try that failed; the checkout waits for another one.
func (s *Server) decline(t *Tx, row *Checkout, a Attempt) (err error) {
	if a.ID, err = NewID(""); err != nil {
		return err
	}

	a.At = s.Now()
	row.Attempts = append(row.Attempts, a)

	if err := t.PutCheckout(row); err != nil {
		return err
	}

	return s.Emit(t, Event{Type: models.EventPaymentFailed, Checkout: *row, Attempt: &a})
}

// Take makes the checkout paid.
func (s *Server) Take(t *Tx, row *Checkout) error {
	now := s.Now()
	row.Status, row.ResultCode, row.FailureReason, row.PaidAt = StatusPaid, ResultApproved, "", &now

	if err := t.close(row); err != nil {
		return err
	}

	return s.Emit(t, Event{Type: models.EventPaymentSucceeded, At: now, Checkout: *row})
}
