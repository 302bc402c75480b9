package operations

import (
	"context"
	"strings"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/gateways"
	"rihla/models"
)

// Method is a payment method that can be paid with, and the accounts that take it.
type Method struct {
	Method   models.PaymentMethod
	Terms    gateways.MethodCapability // of the first account
	Accounts []models.MerchantAccount  // the preferred one first
}

// ListPaymentMethods shows what can be paid with. Whether it can be used now is what the workers have found out about the calls that
// open checkouts.
func (o *Operations) ListPaymentMethods(
	ctx context.Context, _ gen.ListPaymentMethodsRequestObject,
) (gen.ListPaymentMethodsResponseObject, error) {
	outages, err := o.Store.Incidents.GatewayOutages(ctx, o.Now())
	if err != nil {
		return nil, err
	}

	reasons := map[models.MerchantAccount]models.OutageReason{}

	for _, outage := range outages {
		if outage.Calls == string(gateways.CallsCheckout) {
			reasons[outage.Account] = outage.Reason
		}
	}

	offers := make([]gen.PaymentMethodOffer, 0, len(o.Methods))
	for i := range o.Methods {
		offers = append(offers, o.offer(ctx, &o.Methods[i], reasons))
	}

	return gen.ListPaymentMethods200JSONResponse{Data: offers}, nil
}

func (o *Operations) offer(ctx context.Context, m *Method, reasons map[models.MerchantAccount]models.OutageReason) gen.PaymentMethodOffer {
	offer := gen.PaymentMethodOffer{
		Method: m.Method, Label: m.Method.Label().In(middleware.Locale(ctx)), Provider: m.Method.Gateway(),
		Currencies: m.Terms.Currencies, Refunds: strings.ToUpper(string(m.Terms.Refunds)), Currency: sar(),
	}

	if !m.Terms.MinAmount.IsZero() {
		offer.MinAmount = &m.Terms.MinAmount
	}

	if !m.Terms.MaxAmount.IsZero() {
		offer.MaxAmount = &m.Terms.MaxAmount
	}

	seconds := int(o.Hold(m.Method).Seconds())
	offer.TimeToPaySeconds = &seconds

	for _, account := range m.Accounts {
		if _, out := reasons[account]; !out {
			offer.Available = true

			return labelled(offer)
		}
	}

	reason := strings.ToUpper(string(reasons[m.Accounts[0]]))
	offer.UnavailableReason = &reason

	return labelled(offer)
}
