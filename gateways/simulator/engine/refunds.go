package engine

import (
	"encoding/json"
	"slices"

	"rihla/models"
)

// Refund states.
const (
	RefundSucceeded = "succeeded"
	RefundPending   = "pending"
	RefundFailed    = "failed"
)

// PayBack makes a refund, which has an id: it checks and reserves in one transaction, so that refunds of any number at once
// never exceed what was paid.
func (s *Server) PayBack(t *Tx, row *Refund, f *Fault) (Refusal, error) {
	checkout, err := s.Current(t, row.CheckoutID)
	if err != nil {
		return RefusedNothing, err
	}

	switch {
	case checkout == nil || checkout.Merchant != row.Merchant:
		return RefusedUnknown, nil
	case s.traits.OneReference && len(t.RefundsOf(row.Merchant, row.MerchantReference)) > 0:
		return RefusedDuplicate, nil
	case checkout.Status != StatusPaid:
		return RefusedNotPaid, nil
	case checkout.Currency != row.Currency:
		return RefusedCurrency, nil
	case row.PaymentID != "" && checkout.Second(row.PaymentID) == nil:
		return RefusedUnknown, nil
	}

	took, back, refunds := checkout.givesBack(row)
	if back.Add(row.Amount).Cmp(took) > 0 {
		return RefusedExceeds, nil
	}

	*back, *refunds = back.Add(row.Amount), append(*refunds, row.ID)

	if err := t.PutCheckout(checkout); err != nil {
		return RefusedNothing, err
	}

	if err := t.putReference(bucketRefundRefs, row.Merchant, row.MerchantReference, row.ID); err != nil {
		return RefusedNothing, err
	}

	now := s.Now()
	row.Status, row.CreatedAt = RefundSucceeded, now

	if f.Mode == ModePending {
		err = t.leavePending(row, f)
	} else {
		row.DecidedAt = &now
		err = s.Emit(t, Event{Type: models.EventRefundSucceeded, Checkout: *checkout, Refund: row})
	}

	if err != nil {
		return RefusedNothing, err
	}

	return RefusedNothing, t.putRefund(row)
}

// leavePending leaves the decision to POST /sandbox/refunds/{id}/decide, or to a timer when the fault has a delay.
func (t *Tx) leavePending(row *Refund, f *Fault) error {
	row.Status, row.DecideAs = RefundPending, f.Outcome

	if f.DelayMS == nil {
		return nil
	}

	return t.remind(row.ID, row.CreatedAt.Add(f.delay(0)))
}

// Refund reads a refund of the account; nil when there is none.
func (s *Server) Refund(m *Account, id string) (row *Refund, err error) {
	err = s.store.view(func(t *Tx) (err error) {
		row, err = t.Refund(id)

		return err
	})
	if err != nil || row == nil || row.Merchant != m.Name {
		return nil, err
	}

	return row, nil
}

// FindRefunds reads the account's refunds of a reference, the oldest first, without those that the fault hides.
func (s *Server) FindRefunds(m *Account, reference string, f *Fault) ([]*Refund, error) {
	found := []*Refund{}

	err := s.store.view(func(t *Tx) error {
		for _, id := range t.RefundsOf(m.Name, reference) {
			row, err := t.Refund(id)
			if err != nil {
				return err
			}

			if row != nil && !f.Hides(row.CreatedAt, s.cfg.Clock()) {
				found = append(found, row)
			}
		}

		return nil
	})

	return found, err
}

// AllRefunds reads the account's refunds, the newest first, without those that the fault hides.
func (s *Server) AllRefunds(m *Account, f *Fault) ([]*Refund, error) {
	var all []*Refund

	err := s.store.view(func(t *Tx) error {
		all = nil

		for _, raw := range t.each(bucketRefunds) {
			var row Refund
			if err := json.Unmarshal(raw, &row); err != nil {
				return err
			}

			if row.Merchant == m.Name && !f.Hides(row.CreatedAt, s.cfg.Clock()) {
				all = append(all, &row)
			}
		}

		return nil
	})

	slices.SortStableFunc(all, func(a, b *Refund) int { return b.CreatedAt.Compare(a.CreatedAt) })

	return all, err
}

// decide ends a pending refund, or takes one back that succeeded, where the company does. Of any other it changes nothing; nil when there
// is none.
func (s *Server) decide(t *Tx, id string, succeed bool) (*Refund, error) {
	row, err := t.Refund(id)
	if err != nil || row == nil {
		return row, err
	}

	if takenBack := s.traits.Revises && row.Status == RefundSucceeded && !succeed; row.Status != RefundPending && !takenBack {
		return row, nil
	}

	checkout, err := t.Checkout(row.CheckoutID)
	if err != nil {
		return nil, err
	}

	now := s.Now()
	row.DecidedAt = &now

	kind := models.EventRefundSucceeded

	if succeed {
		row.Status = RefundSucceeded
	} else {
		kind = models.EventRefundFailed
		row.Status, row.FailureReason = RefundFailed, "The bank refused the refund."
		_, back, _ := checkout.givesBack(row)
		*back = back.Sub(row.Amount)

		if err := t.PutCheckout(checkout); err != nil {
			return nil, err
		}
	}

	if err := t.forget(id); err != nil {
		return nil, err
	}

	if err := s.Emit(t, Event{Type: kind, Checkout: *checkout, Refund: row}); err != nil {
		return nil, err
	}

	return row, t.putRefund(row)
}
