package engine

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"rihla/models"
)

// Checkout states.
const (
	StatusOpen     = "open"
	StatusPaid     = "paid"
	StatusFailed   = "failed"
	StatusExpired  = "expired"
	StatusCanceled = "canceled"
)

// Result codes of the books. A Protocol translates them.
const (
	ResultApproved  = "APPROVED"
	ResultDeclined  = "DECLINED"
	ResultCancelled = "CANCELLED" // by the customer on the page, or by the merchant
	ResultExpired   = "EXPIRED"
)

// Refusal is why something is not done; the zero value is no refusal.
type Refusal string

// The refusals.
const (
	RefusedNothing   Refusal = ""
	RefusedUnknown   Refusal = "unknown"   // there is no such checkout of the account
	RefusedDuplicate Refusal = "duplicate" // of a reference, where one names one thing
	RefusedPast      Refusal = "past"      // the time to pay is over before it begins
	RefusedNotOpen   Refusal = "not_open"
	RefusedNotPaid   Refusal = "not_paid"
	RefusedCurrency  Refusal = "currency"
	RefusedExceeds   Refusal = "exceeds" // more than is left of the payment
)

// PayURL is the address of the checkout's page.
func (s *Server) PayURL(r *http.Request, id string) string { return s.Base(r) + "/pay/" + id }

// Base is the address of the simulator, as the request came to it or as it is configured.
func (s *Server) Base(r *http.Request) string {
	if s.cfg.BaseURL != "" {
		return s.cfg.BaseURL
	}

	return "http://" + r.Host
}

// Now is the simulator's time, in UTC.
func (s *Server) Now() time.Time { return s.cfg.Clock().UTC() }

// Open stores a new checkout, which has an id and a time to pay.
func (s *Server) Open(t *Tx, row *Checkout) (Refusal, error) {
	now := s.Now()

	if s.traits.OneReference && len(t.CheckoutsOf(row.Merchant, row.MerchantReference)) > 0 {
		return RefusedDuplicate, nil
	}

	if !row.ExpiresAt.After(now) {
		return RefusedPast, nil
	}

	row.Status, row.CreatedAt = StatusOpen, now

	if err := t.PutCheckout(row); err != nil {
		return RefusedNothing, err
	}

	if err := t.putReference(bucketCheckoutRefs, row.Merchant, row.MerchantReference, row.ID); err != nil {
		return RefusedNothing, err
	}

	return RefusedNothing, t.remind(row.ID, row.ExpiresAt)
}

// Claim notes what the company says that it has taken, by a fault: that much can be refunded.
func (s *Server) Claim(row *Checkout, f *Fault) error {
	if row.Status != StatusPaid || f.Mode != ModeWrongAmount {
		return nil
	}

	return s.Commit(func(t *Tx) error { return t.claim(row.ID, f) })
}

func (t *Tx) claim(id string, f *Fault) error {
	row, err := t.Checkout(id)
	if err != nil || row == nil {
		return err
	}

	claimed, _ := f.Wrong(row.Amount, row.Currency)
	row.ClaimedAmount = &claimed

	return t.PutCheckout(row)
}

// refundable is how much of the checkout can be given back in all.
func (c *Checkout) refundable() models.Money {
	if c.ClaimedAmount != nil {
		return *c.ClaimedAmount
	}

	return c.Amount
}

// Cancel closes an open checkout of the account; of a canceled one it changes nothing. No webhook: the merchant knows.
func (s *Server) Cancel(t *Tx, m *Account, id string) (row *Checkout, refused Refusal, err error) {
	row, err = s.Current(t, id)

	switch {
	case err != nil:
		return nil, RefusedNothing, err
	case row == nil || row.Merchant != m.Name:
		return nil, RefusedUnknown, nil
	case row.Status == StatusCanceled:
		return row, RefusedNothing, nil
	case row.Status != StatusOpen:
		return row, RefusedNotOpen, nil
	}

	row.Status, row.ResultCode, row.FailureReason = StatusCanceled, ResultCancelled, "The merchant cancelled the checkout."

	return row, RefusedNothing, t.close(row)
}

// close stores a checkout that is no longer open and drops its expiry.
func (t *Tx) close(row *Checkout) error {
	if err := t.forget(row.ID); err != nil {
		return err
	}

	return t.PutCheckout(row)
}

// Checkout reads a checkout as it is now; nil when there is none.
func (s *Server) Checkout(id string) (*Checkout, error) {
	var row *Checkout

	err := s.store.view(func(t *Tx) (err error) {
		row, err = t.Checkout(id)

		return err
	})
	if err != nil || row == nil || !row.due(s.cfg.Clock()) {
		return row, err
	}

	err = s.Commit(func(t *Tx) (err error) {
		row, err = s.Current(t, id)

		return err
	})

	return row, err
}

// Find reads the account's checkouts of a reference as they are now, the oldest first, without those that the fault hides.
func (s *Server) Find(m *Account, reference string, f *Fault) ([]*Checkout, error) {
	var ids []string

	err := s.store.view(func(t *Tx) error {
		ids = t.CheckoutsOf(m.Name, reference)

		return nil
	})
	if err != nil {
		return nil, err
	}

	found := make([]*Checkout, 0, len(ids))

	for _, id := range ids {
		row, err := s.Checkout(id)
		if err != nil {
			return nil, err
		}

		if row == nil || f.Hides(row.CreatedAt, s.cfg.Clock()) {
			continue
		}

		if err := s.Claim(row, f); err != nil {
			return nil, err
		}

		found = append(found, row)
	}

	return found, nil
}

// All reads the account's checkouts as they are now, the newest first, without those that the fault hides.
func (s *Server) All(m *Account, f *Fault) ([]*Checkout, error) {
	var ids []string

	err := s.store.view(func(t *Tx) error {
		ids = nil

		for _, raw := range t.each(bucketCheckouts) {
			var row Checkout
			if err := json.Unmarshal(raw, &row); err != nil {
				return err
			}

			if row.Merchant == m.Name && !f.Hides(row.CreatedAt, s.cfg.Clock()) {
				ids = append(ids, row.ID)
			}
		}

		return nil
	})
	if err != nil {
		return nil, err
	}

	all := make([]*Checkout, 0, len(ids))

	for _, id := range ids {
		row, err := s.Checkout(id)
		if err != nil {
			return nil, err
		}

		if err := s.Claim(row, f); err != nil {
			return nil, err
		}

		all = append(all, row)
	}

	slices.SortStableFunc(all, func(a, b *Checkout) int { return b.CreatedAt.Compare(a.CreatedAt) })

	return all, nil
}

func (c *Checkout) due(now time.Time) bool {
	return c.Status == StatusOpen && !now.Before(c.ExpiresAt)
}

// Current reads a checkout to change it, and expires it first when its time is over: a request that comes before the
// timer does must not find it open. nil when there is none.
func (s *Server) Current(t *Tx, id string) (*Checkout, error) {
	row, err := t.Checkout(id)
	if err != nil || row == nil || !row.due(s.cfg.Clock()) {
		return row, err
	}

	row.Status, row.ResultCode, row.FailureReason = StatusExpired, ResultExpired, "The checkout was not paid in time."
	if err := t.close(row); err != nil {
		return nil, err
	}

	return row, s.Emit(t, Event{Type: models.EventPaymentExpired, Checkout: *row})
}

// AnswerStatus answers a question about one checkout of the account: a fault first, then what say makes of it.
func (s *Server) AnswerStatus(
	w http.ResponseWriter, r *http.Request, m *Account, id string, say func(*Checkout, *Fault) Answer,
) {
	s.Asked(w, r, OpStatus, m, func(f *Fault) Answer {
		row, err := s.Checkout(id)

		switch {
		case err != nil:
			return s.Internal(err)
		case row == nil || row.Merchant != m.Name:
			return s.notFound("checkout")
		}

		if err := s.Claim(row, f); err != nil {
			return s.Internal(err)
		}

		return say(row, f)
	})
}
