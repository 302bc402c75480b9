package operations

import (
	"context"

	"rihla/api/gen"
	"rihla/models"
)

// ReturnFromPayment sends a customer who comes back from the gateway's page to where the app wants them. It redirects to the
// stored address of that attempt only, and looks once more whether customers may be sent there: the rules may have changed.
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
