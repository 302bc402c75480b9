package server

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"rihla/models"
)

// pay is what the page's buttons do, and the same without a browser: outcome=succeed|decline|cancel as a form
// or as JSON. The effect is had once; afterwards a browser goes to the return_url, or sees the result when there
// is none, and a client that accepts JSON gets the checkout.
func (s *Server) pay(w http.ResponseWriter, r *http.Request) {
	outcome, refusal, ok := readOutcome(w, r)
	if !ok {
		refusal.write(w)

		return
	}

	row, applied, err := s.settle(r.PathValue("id"), outcome)

	switch {
	case err != nil:
		s.internal(err).write(w)
	case row == nil && wantsJSON(r):
		notFound("checkout").write(w)
	case row == nil:
		s.render(w, r, http.StatusNotFound, nil)
	case wantsJSON(r) && !applied:
		failure(http.StatusConflict, "checkout_not_open", "The checkout is "+row.Status+".").write(w)
	case wantsJSON(r):
		success(http.StatusOK, s.viewOf(r, row, &fault{})).write(w)
	case row.ReturnURL != "":
		w.Header().Set("Location", returnURL(row))
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusSeeOther)
	default:
		s.render(w, r, http.StatusOK, row)
	}
}

func readOutcome(w http.ResponseWriter, r *http.Request) (string, answer, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return "", failure(http.StatusRequestEntityTooLarge, "payload_too_large", "The body is too large."), false
	} else if err != nil {
		return "", failure(http.StatusBadRequest, "malformed_request", "The body could not be read."), false
	}

	var outcome string

	if contentType(r) == "application/json" {
		var in struct {
			Outcome string `json:"outcome"`
		}

		if json.Unmarshal(body, &in) != nil {
			return "", failure(http.StatusBadRequest, "malformed_request", "The body is not the JSON that is expected."), false
		}

		outcome = in.Outcome
	} else {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return "", failure(http.StatusBadRequest, "malformed_request", "The body is not a form."), false
		}

		outcome = form.Get("outcome")
	}

	switch outcome {
	case outcomeSucceed, outcomeDecline, outcomeCancel:
		return outcome, answer{}, true
	default:
		return "", invalid("outcome must be succeed, decline or cancel."), false
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
func (s *Server) settle(id, outcome string) (row *checkoutRow, applied bool, err error) {
	err = s.commit(func(t *tx) (err error) {
		row, err = s.current(t, id)
		if err != nil || row == nil || row.Status != statusOpen {
			return err
		}

		return s.choose(t, row, outcome)
	})
	if err != nil || row == nil {
		return nil, false, err
	}

	becomes := map[string]string{outcomeSucceed: statusPaid, outcomeDecline: statusFailed, outcomeCancel: statusCanceled}

	return row, row.Status == becomes[outcome], nil
}

func (s *Server) choose(t *tx, row *checkoutRow, outcome string) error {
	switch outcome {
	case outcomeSucceed:
		return s.take(t, row)
	case outcomeDecline:
		row.Status, row.ResultCode, row.FailureReason = statusFailed, resultDeclined, "The payment was declined."
	default:
		row.Status, row.ResultCode, row.FailureReason = statusCanceled, resultCancelled, "The customer cancelled the payment."
	}

	if err := t.close(row); err != nil {
		return err
	}

	// The protocol has no event for a cancelled checkout: to the merchant it is a payment that failed.
	return t.emit(eventOf(models.EventPaymentFailed, row), s.cfg.Clock())
}

// take makes the checkout paid.
func (s *Server) take(t *tx, row *checkoutRow) error {
	now := s.cfg.Clock().UTC()
	row.Status, row.ResultCode, row.FailureReason, row.PaidAt = statusPaid, resultApproved, "", &now

	if err := t.close(row); err != nil {
		return err
	}

	return t.emit(eventOf(models.EventPaymentSucceeded, row), now)
}

// returnURL is the merchant's address with what happened; the merchant believes only its webhook or a query.
func returnURL(row *checkoutRow) string {
	u, err := url.Parse(row.ReturnURL)
	if err != nil {
		return row.ReturnURL // it was checked when it came
	}

	query := u.Query()
	query.Set("transaction", row.MerchantReference)
	query.Set("status", row.Status)
	u.RawQuery = query.Encode()

	return u.String()
}
