package server

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"time"

	"rihla/models"
)

// Checkout states.
const (
	statusOpen     = "open"
	statusPaid     = "paid"
	statusFailed   = "failed"
	statusExpired  = "expired"
	statusCanceled = "canceled"
)

// Result codes of this gateway.
const (
	resultApproved  = "APPROVED"
	resultDeclined  = "DECLINED"
	resultCancelled = "CANCELLED" // by the customer on the page, or by the merchant
	resultExpired   = "EXPIRED"
)

const (
	defaultLifetime = 30 * time.Minute
	maxReference    = 64
	maxDescription  = 500
	maxURL          = 2048
)

// browserSchemes are those a browser runs or reads locally; no scheme at all is a relative address.
var browserSchemes = []string{"", "javascript", "data", "vbscript", "file", "blob", "about"}

// plainHost keeps what is special in a Content-Security-Policy out of it: the host becomes part of the page's.
var plainHost = regexp.MustCompile(`^[A-Za-z0-9.:\[\]-]+$`)

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// checkoutRequest is the body of POST /v1/checkouts.
type checkoutRequest struct {
	MerchantReference string               `json:"merchant_reference"`
	Amount            json.RawMessage      `json:"amount"`
	Currency          string               `json:"currency"`
	PaymentMethod     models.PaymentMethod `json:"payment_method"`
	Description       string               `json:"description"`
	ReturnURL         string               `json:"return_url"`
	ExpiresAt         *time.Time           `json:"expires_at"`
}

// checkoutView is a checkout as the merchant sees it.
type checkoutView struct {
	ID                string               `json:"id"`
	MerchantReference string               `json:"merchant_reference"`
	Status            string               `json:"status"`
	Amount            models.Money         `json:"amount"`
	Currency          string               `json:"currency"`
	RefundedAmount    models.Money         `json:"refunded_amount"`
	PaymentMethod     models.PaymentMethod `json:"payment_method"`
	CheckoutURL       string               `json:"checkout_url"`
	ExpiresAt         time.Time            `json:"expires_at"`
	PaidAt            *time.Time           `json:"paid_at"`
	ResultCode        *string              `json:"result_code"`
	FailureReason     *string              `json:"failure_reason"`
}

func (s *Server) viewOf(r *http.Request, c *checkoutRow, f *fault) checkoutView {
	amount, currency := f.wrong(c.Amount, c.Currency)

	return checkoutView{
		ID: c.ID, MerchantReference: c.MerchantReference, Status: c.Status, Amount: amount, Currency: currency,
		RefundedAmount: c.RefundedAmount, PaymentMethod: c.PaymentMethod, CheckoutURL: s.payURL(r, c.ID),
		ExpiresAt: c.ExpiresAt, PaidAt: c.PaidAt, ResultCode: orNull(c.ResultCode), FailureReason: orNull(c.FailureReason),
	}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}

	return &s
}

func (s *Server) payURL(r *http.Request, id string) string {
	if s.cfg.BaseURL != "" {
		return s.cfg.BaseURL + "/pay/" + id
	}

	return "http://" + r.Host + "/pay/" + id
}

func (s *Server) createCheckout(w http.ResponseWriter, r *http.Request, m *merchant) {
	var in checkoutRequest
	if refusal, ok := readJSON(w, r, &in); !ok {
		refusal.write(w)

		return
	}

	row, problem := in.check(m)
	if problem != "" {
		invalid(problem).write(w)

		return
	}

	s.faulty(w, r, opCreateCheckout, m, func(f *fault) answer {
		id, err := newID("co_")
		if err != nil {
			return s.internal(err)
		}

		return s.once(r, m, opCreateCheckout, in, func(t *tx) (answer, error) {
			if f.Mode == modeReject {
				return f.answer(), nil
			}

			fresh := *row
			fresh.ID = id

			return s.openCheckout(t, r, &fresh)
		})
	})
}

// check makes a row of the request, or says what is wrong with it. What depends on the time is left to
// openCheckout: a repeated request must get its stored answer even when its expiry has passed since.
func (in *checkoutRequest) check(m *merchant) (*checkoutRow, string) {
	amount, err := models.ParseMoney(string(in.Amount))

	switch {
	case in.MerchantReference == "" || !plainText(in.MerchantReference, maxReference):
		return nil, "merchant_reference must have 1 to 64 characters."
	case err != nil:
		return nil, "amount must be a number with at most 2 decimals."
	case !amount.IsPositive():
		return nil, "amount must be more than 0."
	case !currencyCode.MatchString(in.Currency):
		return nil, "currency must be a three-letter code in capitals."
	case !plainText(in.Description, maxDescription):
		return nil, "description must be at most 500 characters without control characters."
	case in.ReturnURL != "" && !usableURL(in.ReturnURL):
		return nil, "return_url must be an absolute URL."
	}

	if _, ok := m.channels[in.PaymentMethod]; !ok {
		return nil, "payment_method is not available to this merchant."
	}

	row := &checkoutRow{
		Merchant: m.name, MerchantReference: in.MerchantReference, Status: statusOpen, Amount: amount,
		Currency: in.Currency, PaymentMethod: in.PaymentMethod, Description: in.Description, ReturnURL: in.ReturnURL,
	}

	if in.ExpiresAt != nil {
		row.ExpiresAt = in.ExpiresAt.UTC()
	}

	return row, ""
}

// usableURL admits web addresses and the links of mobile apps, and nothing that a browser would run.
func usableURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxURL || !plainText(text, maxURL) {
		return false
	}

	if slices.Contains(browserSchemes, u.Scheme) {
		return false
	}

	switch u.Scheme {
	case "http", "https":
		return plainHost.MatchString(u.Host)
	default:
		return u.Opaque == ""
	}
}

func (s *Server) openCheckout(t *tx, r *http.Request, row *checkoutRow) (answer, error) {
	now := s.cfg.Clock().UTC()

	if t.byReference(bucketCheckoutRefs, row.Merchant, row.MerchantReference) != "" {
		return failure(http.StatusUnprocessableEntity, "duplicate_reference", "The merchant_reference has a checkout already."), nil
	}

	if row.ExpiresAt.IsZero() {
		row.ExpiresAt = now.Add(defaultLifetime)
	}

	if !row.ExpiresAt.After(now) {
		return failure(http.StatusUnprocessableEntity, "expires_at_past", "expires_at is in the past."), nil
	}

	row.CreatedAt = now

	if err := t.putCheckout(row); err != nil {
		return answer{}, err
	}

	if err := t.putReference(bucketCheckoutRefs, row.Merchant, row.MerchantReference, row.ID); err != nil {
		return answer{}, err
	}

	if err := t.remind(row.ID, row.ExpiresAt); err != nil {
		return answer{}, err
	}

	return success(http.StatusCreated, s.viewOf(r, row, &fault{})), nil
}

func (s *Server) getCheckout(w http.ResponseWriter, r *http.Request, m *merchant) {
	s.faulty(w, r, opStatus, m, func(f *fault) answer {
		if f.Mode == modeReject {
			return f.answer()
		}

		row, err := s.checkout(r.PathValue("id"))

		switch {
		case err != nil:
			return s.internal(err)
		case row == nil || row.Merchant != m.name:
			return notFound("checkout")
		default:
			return s.answerStatus(r, row, f)
		}
	})
}

// answerStatus is the answer to a question about the checkout. What it says wrongly about money that was taken, the gateway stands by.
func (s *Server) answerStatus(r *http.Request, row *checkoutRow, f *fault) answer {
	if err := s.recordClaim(row, f); err != nil {
		return s.internal(err)
	}

	return success(http.StatusOK, s.viewOf(r, row, f))
}

// recordClaim notes what the gateway says that it has taken: that much can be refunded.
func (s *Server) recordClaim(row *checkoutRow, f *fault) error {
	if row.Status != statusPaid || f.Mode != modeWrongAmount {
		return nil
	}

	return s.commit(func(t *tx) error { return t.claim(row.ID, f) })
}

func (t *tx) claim(id string, f *fault) error {
	row, err := t.checkout(id)
	if err != nil || row == nil {
		return err
	}

	claimed, _ := f.wrong(row.Amount, row.Currency)
	row.ClaimedAmount = &claimed

	return t.putCheckout(row)
}

// refundable is how much of the checkout can be given back in all.
func (c *checkoutRow) refundable() models.Money {
	if c.ClaimedAmount != nil {
		return *c.ClaimedAmount
	}

	return c.Amount
}

func (s *Server) cancelCheckout(w http.ResponseWriter, r *http.Request, m *merchant) {
	if refusal, ok := drain(w, r); !ok {
		refusal.write(w)

		return
	}

	s.faulty(w, r, opCancel, m, func(f *fault) answer {
		if f.Mode == modeReject {
			return f.answer()
		}

		var given answer

		// No stored answer is needed to give the same key the same answer: cancelling twice is cancelling once,
		// and every other state is final.
		err := s.commit(func(t *tx) error {
			row, err := s.current(t, r.PathValue("id"))
			if err != nil {
				return err
			}

			switch {
			case row == nil || row.Merchant != m.name:
				given = notFound("checkout")

				return nil
			case row.Status == statusOpen:
				row.Status, row.ResultCode, row.FailureReason = statusCanceled, resultCancelled, "The merchant cancelled the checkout."
				// No webhook: the merchant knows.
				if err := t.close(row); err != nil {
					return err
				}
			case row.Status != statusCanceled:
				given = failure(http.StatusUnprocessableEntity, "checkout_not_open", "The checkout is "+row.Status+".")

				return nil
			}

			given = success(http.StatusOK, s.viewOf(r, row, &fault{}))

			return nil
		})
		if err != nil {
			return s.internal(err)
		}

		return given
	})
}

// close stores a checkout that is no longer open and drops its expiry.
func (t *tx) close(row *checkoutRow) error {
	if err := t.forget(row.ID); err != nil {
		return err
	}

	return t.putCheckout(row)
}

// checkout reads a checkout as it is now; nil when there is none.
func (s *Server) checkout(id string) (*checkoutRow, error) {
	var row *checkoutRow

	err := s.store.view(func(t *tx) (err error) {
		row, err = t.checkout(id)

		return err
	})
	if err != nil || row == nil || !row.due(s.cfg.Clock()) {
		return row, err
	}

	err = s.commit(func(t *tx) (err error) {
		row, err = s.current(t, id)

		return err
	})

	return row, err
}

func (c *checkoutRow) due(now time.Time) bool {
	return c.Status == statusOpen && !now.Before(c.ExpiresAt)
}

// current reads a checkout to change it, and expires it first when its time is over: a request that comes before the
// timer does must not find it open. nil when there is none.
func (s *Server) current(t *tx, id string) (*checkoutRow, error) {
	row, err := t.checkout(id)
	if err != nil || row == nil || !row.due(s.cfg.Clock()) {
		return row, err
	}

	row.Status, row.ResultCode, row.FailureReason = statusExpired, resultExpired, "The checkout was not paid in time."
	if err := t.close(row); err != nil {
		return nil, err
	}

	return row, t.emit(eventOf(models.EventPaymentExpired, row), s.cfg.Clock())
}
