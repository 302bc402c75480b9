package operations

import (
	"context"

	"rihla/api/gen"
	"rihla/models"
)

// RefundAdCampaign gives back what a company has paid for a campaign (rules: campaigns.refund): all that is left before it begins, else a
// part.
func (o *Operations) RefundAdCampaign(
	ctx context.Context, r gen.RefundAdCampaignRequestObject,
) (gen.RefundAdCampaignResponseObject, error) {
	if err := checkRefund(r.Body.RefundType, r.Body.Amount, nil); err != nil {
		return nil, err
	}

	paid, err := o.Store.Payments.PaidCampaign(ctx, r.ID, r.Body.RefundType, o.Now())
	if err != nil {
		return nil, err
	}

	request := ownRequest(ctx, paid, r.Params.IdempotencyKey)
	request.TransactionID, request.Type, request.Amount = paid, r.Body.RefundType, r.Body.Amount
	request.Expected, request.Reason = r.Body.ExpectedAmount, valueOf(r.Body.Reason)

	refund, err := o.refund(ctx, request)
	if err != nil {
		return nil, err
	}

	answer, location := gen.RefundAnswer{Data: refundOf(&refund)}, refundPath(&refund)
	if refund.Status == models.RefundPending {
		return gen.RefundAdCampaign202JSONResponse{Body: answer, Headers: gen.RefundAdCampaign202ResponseHeaders{Location: location}}, nil
	}

	return gen.RefundAdCampaign201JSONResponse{Body: answer, Headers: gen.RefundAdCampaign201ResponseHeaders{Location: location}}, nil
}
