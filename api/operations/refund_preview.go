package operations

import (
	"context"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/models"
)

// PreviewRefund says what a refund would do, and writes nothing.
func (o *Operations) PreviewRefund(ctx context.Context, r gen.PreviewRefundRequestObject) (gen.PreviewRefundResponseObject, error) {
	amount, err := previewedAmount(r.Params.Amount)
	if err != nil {
		return nil, err
	}

	if err := checkRefund(r.Params.RefundType, amount, r.Params.PaymentTransactionID); err != nil {
		return nil, err
	}

	who := middleware.Principal(ctx)

	request := models.RefundRequest{
		BookingID: r.ID, TransactionID: valueOf(r.Params.PaymentTransactionID), Type: r.Params.RefundType, Amount: amount,
		RequestedBy: &who.UserID, Role: who.Role,
	}

	o.compare(ctx, request)

	p, err := o.Store.Refunds.PreviewRefund(ctx, request, o.Now())
	if err != nil {
		return nil, err
	}

	return gen.PreviewRefund200JSONResponse{Data: previewOf(&p)}, nil
}

// PreviewOrderedRefund says what a refund that waits will do, and writes nothing.
func (o *Operations) PreviewOrderedRefund(
	ctx context.Context, r gen.PreviewOrderedRefundRequestObject,
) (gen.PreviewOrderedRefundResponseObject, error) {
	p, err := o.Store.Refunds.PreviewOrdered(ctx, r.ID, o.Now())
	if err != nil {
		return nil, err
	}

	return gen.PreviewOrderedRefund200JSONResponse{Data: previewOf(&p)}, nil
}

func previewedAmount(s *string) (*models.Money, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // no amount is asked for
	}

	amount, err := models.ParseMoney(*s)
	if err != nil {
		return nil, models.Invalid("amount", "field.decimals", "n", 2)
	}

	return &amount, nil
}

func previewOf(p *models.RefundPreview) gen.RefundPreview {
	out := gen.RefundPreview{
		BookingID: p.BookingID, PaymentTransactionID: p.TransactionID, RefundType: p.Type, Channel: p.Channel,
		Amount: p.Amount, Currency: p.Currency, RemainingAmount: p.Remaining, OutsideRefundedAmount: p.Outside,
		NeedsApproval: p.NeedsApproval, ExpectedBy: toDateOrNil(p.ExpectedBy), FeeAmount: p.Fee,
		PolicyPercent: p.PolicyPercent, ReasonCode: p.Reason,
		Lines:         []gen.PreviewedLine{},
		BookingStatus: p.Booking, BookingStatusAfter: p.BookingAfter, SeatsFreed: p.SeatsFreed,
		Transfers: mapEach(p.Split.Transfers, func(t *models.LedgerTransfer) gen.PreviewedTransfer {
			return gen.PreviewedTransfer{
				Kind: string(t.Kind), DebitAccount: string(t.DebitAccount), CreditAccount: string(t.CreditAccount), Amount: t.Amount,
				Currency: sar(),
			}
		}),
	}

	out = labelled(out)

	if p.Line == nil {
		return out
	}

	line := previewedLine(p.Line)
	out.Line = &line

	for _, l := range []*models.FinancialRecord{&p.Split.Refunded, p.Split.Rest, p.Split.Clawback, p.Split.Adjustment} {
		if l != nil {
			out.Lines = append(out.Lines, previewedLine(l))
		}
	}

	return out
}

func previewedLine(l *models.FinancialRecord) gen.PreviewedLine {
	return labelled(gen.PreviewedLine{
		TransactionNumber: optional(l.TransactionNumber), Kind: l.Kind, BalanceStatus: l.BalanceStatus,
		GrossAmount: l.GrossAmount, PlatformCommissionAmount: l.PlatformCommissionAmount, NetAmount: l.NetAmount,
		VatAmount: l.VATAmount, RefundedAmount: l.RefundedAmount, Currency: sar(),
	})
}

// checkRefund refuses fields that do not go together.
func checkRefund(kind models.RefundType, amount *models.Money, payment *uuid.UUID) error {
	switch partial := kind == models.RefundPartial; {
	case partial && amount == nil:
		return models.Invalid("amount", "refund.amount_required")
	case !partial && amount != nil: // or all of the money would go where a part was meant
		return models.Invalid("amount", "refund.amount_only_partial")
	case payment != nil && *payment == uuid.Nil: // which would name none
		return models.Invalid("payment_transaction_id", "refund.foreign_payment")
	}

	return nil
}
