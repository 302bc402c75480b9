package stripe

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	sdk "github.com/stripe/stripe-go/v85"

	"rihla/gateways"
	"rihla/gateways/httpcall"
	"rihla/models"
)

const (
	// pageSize is the most that a list gives (docs.stripe.com/api/pagination); maxListed bounds how many sessions one question looks at.
	pageSize  = 100
	maxListed = 3000
	// clockSkew is what our clock may differ from the company's.
	clockSkew = 5 * time.Minute
	// openedAfter is how long after the creation of an attempt its session may be opened (gateways.CheckoutRequest).
	openedAfter = 30 * time.Minute
)

// expanded are the objects that an answer has in it: the charge has when the money was taken, and what of it went back.
var expanded = []string{"payment_intent.latest_charge"}

// ReadCheckout implements gateways.Gateway: by the session's id, or in the list of sessions by our reference, which has no search.
func (d *Driver) ReadCheckout(ctx context.Context, r gateways.CheckoutRef) (gateways.Checkout, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	if r.ID == "" {
		return d.find(ctx, r)
	}

	return d.readSession(ctx, r.ID)
}

func (d *Driver) readSession(ctx context.Context, id string) (gateways.Checkout, error) {
	s, err := d.session(ctx, id, expanded)
	if err != nil {
		return gateways.Checkout{}, err
	}

	return d.checkoutOf(s)
}

// session reads a session. Errors: KindNotFound, and those of a call.
func (d *Driver) session(ctx context.Context, id string, expand []string) (*sdk.CheckoutSession, error) {
	if !isID(id, "cs_") { // it would be another path
		return nil, notFound()
	}

	params := &sdk.CheckoutSessionRetrieveParams{}
	for _, what := range expand {
		params.AddExpand(what)
	}

	var s *sdk.CheckoutSession

	err := d.call(ctx, gateways.KindNotFound, func(ctx context.Context) (err error) {
		s, err = d.client.V1CheckoutSessions.Retrieve(ctx, id, params)

		return err
	})
	if err == nil && s.ID != id {
		return nil, httpcall.BadAnswer("the session in the answer is another one")
	}

	return s, err
}

// find looks through the sessions that were made while this one can have been.
func (d *Driver) find(ctx context.Context, r gateways.CheckoutRef) (gateways.Checkout, error) {
	params := &sdk.CheckoutSessionListParams{
		CreatedRange: &sdk.RangeQueryParams{
			GreaterThanOrEqual: r.CreatedAt.Add(-clockSkew).Unix(), LesserThanOrEqual: r.CreatedAt.Add(openedAfter + clockSkew).Unix(),
		},
	}
	params.Limit = sdk.Int64(pageSize)

	var best *sdk.CheckoutSession

	err := d.call(ctx, gateways.KindUnknown, func(ctx context.Context) error {
		looked := 0

		for s, err := range d.client.V1CheckoutSessions.List(ctx, params).All(ctx) {
			if err != nil {
				return err
			}

			if looked++; looked > maxListed {
				return errTooMany
			}

			if !isSession(s) {
				return errForeign
			}

			if s.ClientReferenceID == r.MerchantReference.String() && (best == nil || rank(s) > rank(best)) {
				best = s
			}
		}

		return nil
	})

	switch {
	case err != nil:
		return gateways.Checkout{}, err
	case best == nil:
		return gateways.Checkout{}, notFound()
	default:
		return d.readSession(ctx, best.ID)
	}
}

// rank orders sessions of one reference: a paid one counts, then one that can be paid.
func rank(s *sdk.CheckoutSession) int {
	switch {
	case s.PaymentStatus == sdk.CheckoutSessionPaymentStatusPaid:
		return 2
	case s.Status != sdk.CheckoutSessionStatusExpired:
		return 1
	default:
		return 0
	}
}

func isSession(s *sdk.CheckoutSession) bool {
	return s != nil && s.Object == "checkout.session" && isID(s.ID, "cs_")
}

// isID reports an id of the company, which is a part of paths.
func isID(id, prefix string) bool {
	return strings.HasPrefix(id, prefix) && len(id) <= 255 && !strings.ContainsFunc(id, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// checkoutOf reads a session (docs.stripe.com/api/checkout/sessions/object, …/payments/checkout/fulfillment).
func (d *Driver) checkoutOf(s *sdk.CheckoutSession) (gateways.Checkout, error) {
	if !isSession(s) {
		return gateways.Checkout{}, httpcall.BadAnswer("the answer is no session")
	}

	reference, err := uuid.Parse(s.ClientReferenceID)

	switch {
	case err != nil:
		return gateways.Checkout{}, httpcall.BadAnswer("the session has no reference of ours")
	case s.Livemode != d.live:
		return gateways.Checkout{}, httpcall.BadAnswer("the session is of the other mode than the key")
	}

	status, err := d.statusOf(s)
	if err != nil {
		return gateways.Checkout{}, err
	}

	c := gateways.Checkout{ID: s.ID, MerchantReference: reference, Status: status, URL: s.URL, ExpiresAt: time.Unix(s.ExpiresAt, 0).UTC()}
	c.Amount, c.Currency = fromMinor(s.AmountTotal, string(s.Currency))

	if status != gateways.CheckoutOpen {
		c.ResultCode = string(s.Status) + "/" + string(s.PaymentStatus)
	}

	if status == gateways.CheckoutFailed {
		c.FailureReason = "the customer's bank did not pay"
	}

	if status == gateways.CheckoutPaid {
		if s.PaymentIntent != nil && isID(s.PaymentIntent.ID, "pi_") {
			c.PaymentID = s.PaymentIntent.ID
		}

		return withCharge(c, s.PaymentIntent)
	}

	return c, nil
}

// statusOf is the table of states. What we have expired and what has expired by itself look the same but for the time.
func (d *Driver) statusOf(s *sdk.CheckoutSession) (gateways.CheckoutStatus, error) {
	switch s.Status {
	case sdk.CheckoutSessionStatusOpen: // also after a declined card
		return gateways.CheckoutOpen, nil
	case sdk.CheckoutSessionStatusExpired:
		if d.now().Unix() < s.ExpiresAt {
			return gateways.CheckoutCanceled, nil
		}

		return gateways.CheckoutExpired, nil
	case sdk.CheckoutSessionStatusComplete:
		return completeStatus(s)
	default:
		return "", httpcall.BadAnswer("the session has an unknown status")
	}
}

// completeStatus: a complete session says nothing of the money.
func completeStatus(s *sdk.CheckoutSession) (gateways.CheckoutStatus, error) {
	switch s.PaymentStatus {
	case sdk.CheckoutSessionPaymentStatusPaid:
		return gateways.CheckoutPaid, nil
	case sdk.CheckoutSessionPaymentStatusUnpaid:
		// It waits for a bank, until the payment intent has come to nothing.
		if pi := s.PaymentIntent; pi != nil &&
			(pi.Status == sdk.PaymentIntentStatusCanceled || pi.Status == sdk.PaymentIntentStatusRequiresPaymentMethod) {
			return gateways.CheckoutFailed, nil
		}

		return gateways.CheckoutOpen, nil
	case sdk.CheckoutSessionPaymentStatusNoPaymentRequired: // of an amount of 0, which is never ours
		return "", httpcall.BadAnswer("the session asks for no payment")
	default:
		return "", httpcall.BadAnswer("the session has an unknown payment status")
	}
}

// withCharge adds what the charge says, where the answer has it.
func withCharge(c gateways.Checkout, pi *sdk.PaymentIntent) (gateways.Checkout, error) {
	if pi == nil || pi.LatestCharge == nil || pi.LatestCharge.Created == 0 {
		return c, nil
	}

	charge := pi.LatestCharge
	if charge.AmountRefunded < 0 || charge.AmountCaptured <= 0 {
		return gateways.Checkout{}, httpcall.BadAnswer("the charge does not add up")
	}

	at := time.Unix(charge.Created, 0).UTC()
	c.PaidAt, c.RefundedAmount = &at, models.Halalas(charge.AmountRefunded)
	c.Amount, c.Currency = fromMinor(charge.AmountCaptured, string(charge.Currency))
	c.Method = methodOf(charge.PaymentMethodDetails)

	return c, nil
}

// methodOf is what a charge was paid by (docs.stripe.com/api/charges/object); empty where the answer does not say it in terms of the
// service. Messages do not say it at all.
func methodOf(d *sdk.ChargePaymentMethodDetails) models.PaymentMethod {
	switch {
	case d == nil || d.Type != sdk.ChargePaymentMethodDetailsTypeCard || d.Card == nil:
		return ""
	case d.Card.Wallet != nil && wallets[d.Card.Wallet.Type]:
		return models.MethodWalletA
	default:
		return models.MethodCreditCard
	}
}

// wallets are those of a telephone; others are a way to fill in a card's number.
var wallets = map[sdk.PaymentMethodCardWalletType]bool{
	sdk.PaymentMethodCardWalletTypeApplePay: true, sdk.PaymentMethodCardWalletTypeGooglePay: true,
	sdk.PaymentMethodCardWalletTypeSamsungPay: true,
}

func notFound() *gateways.Error {
	return &gateways.Error{Kind: gateways.KindNotFound, Code: "not_found", Message: "the gateway knows no such thing"}
}
