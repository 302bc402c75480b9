package operations

import (
	"context"

	"rihla/api/gen"
	"rihla/models"
)

// ReturnFromPayment redirects a customer who comes back from the gateway's page to the address that the app gave. It uses the
// stored address of that attempt only, and checks again whether customers may be sent there: the rules may have changed.
func (o *Operations) ReturnFromPayment(
	ctx context.Context, r gen.ReturnFromPaymentRequestObject,
) (gen.ReturnFromPaymentResponseObject, error) {
	t, err := o.Store.Bookings.PaymentReturn(ctx, r.ReturnID, o.Now())
	if err != nil {
		return nil, err
	}

	if o.Returns.Check(t.ReturnURL) != nil {
		return nil, models.NotFound()
	}

	return gen.ReturnFromPayment303Response{
		Headers: gen.ReturnFromPayment303ResponseHeaders{Location: t.ReturnTarget()},
	}, nil
}
