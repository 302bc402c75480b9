package operations

import (
	"bytes"
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/gateways"
	"rihla/internal/store/payments"
	"rihla/models"
)

// PayPath is where pages of ours are on which customers pay; the page's id follows.
const PayPath = models.PayPath

// ShowCheckoutPage shows the page of a company whose form runs on ours. A customer who comes from the form sees what is known of the
// payment, and its gateway is asked: the query is no proof.
func (o *Operations) ShowCheckoutPage(
	ctx context.Context, r gen.ShowCheckoutPageRequestObject,
) (gen.ShowCheckoutPageResponseObject, error) {
	p, err := o.Store.Payments.PayPage(ctx, r.PageID, o.Now())
	if err != nil {
		return nil, err
	}

	write, ok := o.Pages[p.Channel.Account()]
	if !ok { // the account has another company now
		return nil, models.NotFound()
	}

	v := o.pageView(&p, o.Now())
	v.Lang = string(middleware.Locale(ctx))

	if r.Params.Lang != nil {
		v.Lang = string(*r.Params.Lang)

		if v.ReturnsHere { // the choice comes back from the form
			v.ReturnURL += "?lang=" + v.Lang
		}
	}

	if v.Status == gateways.CheckoutOpen {
		if err := o.afterTry(ctx, &v, p.ID, r.Params); err != nil {
			return nil, err
		}
	}

	var page bytes.Buffer

	policy, err := write(&page, v)
	if err != nil {
		return nil, err
	}

	return checkoutPage{html: page.Bytes(), lang: v.Lang, policy: policy}, nil
}

// declineBefore is how long before its customer comes back a try may have been declined: typing another card takes longer.
const declineBefore = 10 * time.Second

// afterTry says on the page what came of the customer's last try: that it was declined, at once and with the form for another one, or that
// it is not known yet, and asks the gateway then. Of a customer who comes from the form an older decline tells nothing: this try may have
// succeeded, and must not be made twice.
func (o *Operations) afterTry(ctx context.Context, v *gateways.PageView, attempt uuid.UUID, q gen.ShowCheckoutPageParams) error {
	last, err := o.Store.Payments.LastDecline(ctx, attempt)
	if err != nil {
		return err
	}

	if q.ID == nil {
		declined(v, last)

		return nil
	}

	now := o.Now()
	v.CheckingSince = now.Add(-declineBefore)

	// The page gives it: in its form what it has shown of the try before, and when it looks again what it began with.
	if q.Since != nil {
		if since := time.Unix(*q.Since, 0); !since.After(now.Add(time.Second)) {
			v.CheckingSince = since
		}
	}

	if last != nil && last.At.After(v.CheckingSince) {
		declined(v, last)

		return nil
	}

	v.Checking = true
	o.askGateways(ctx, []uuid.UUID{attempt})

	return nil
}

// declined has the page say a decline above its form. What comes back from that form is another try, of which this decline tells nothing,
// however soon: the form's address has its second, rounded up.
func declined(v *gateways.PageView, last *payments.Decline) {
	if last == nil {
		return
	}

	v.Declined = last.ResultCode

	if v.ReturnsHere {
		sep := "?"
		if strings.Contains(v.ReturnURL, sep) {
			sep = "&"
		}

		v.ReturnURL += sep + "since=" + strconv.FormatInt(last.At.Add(time.Second-1).Unix(), 10)
	}
}

func (o *Operations) pageView(p *models.PaymentTransaction, now time.Time) gateways.PageView {
	v := gateways.PageView{
		Checkout: p.PageData, Status: pageStatus(p, now), Amount: p.Amount, Currency: p.Currency, Method: p.PaymentMethod,
		Purchase: p.Purchase, ExpiresAt: p.ExpiresAt, ReturnURL: p.ReturnAddress(), Nonce: rand.Text(),
	}

	if p.Reference != nil {
		v.CheckoutID = *p.Reference
	}

	if v.ReturnURL == "" { // the page itself says what has become of it
		v.ReturnsHere, v.ReturnURL = true, o.PayURL+PayPath+p.PageData[gateways.DataPage]
	}

	return v
}

// pageStatus is how the attempt stands for its customer. One that we have ended is not shown as open, whatever it is at the company.
func pageStatus(t *models.PaymentTransaction, now time.Time) gateways.CheckoutStatus {
	switch {
	case t.TakenAt() != nil:
		return gateways.CheckoutPaid
	case t.Status == models.TransactionPending && now.Before(t.ExpiresAt):
		return gateways.CheckoutOpen
	case t.Status == models.TransactionPending, t.FailureCode != nil && *t.FailureCode == models.FailureExpired:
		return gateways.CheckoutExpired
	case t.FailureCode != nil && *t.FailureCode == models.FailureCancelled:
		return gateways.CheckoutCanceled
	default:
		return gateways.CheckoutFailed
	}
}

// checkoutPage is an answer for browsers, with a policy of its own.
type checkoutPage struct {
	html         []byte
	lang, policy string
}

// VisitShowCheckoutPageResponse implements the generated answer.
func (p checkoutPage) VisitShowCheckoutPageResponse(f *fiber.Ctx) error {
	f.Set(fiber.HeaderContentSecurityPolicy, p.policy)
	f.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	f.Set(fiber.HeaderContentLanguage, p.lang)

	return f.Send(p.html)
}
