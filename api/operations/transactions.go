package operations

import (
	"context"

	"rihla/api/gen"
	"rihla/internal/store/payments"
	"rihla/models"
)

// ListPaymentTransactions lists payment attempts and the transactions of refunds.
func (o *Operations) ListPaymentTransactions(
	ctx context.Context, r gen.ListPaymentTransactionsRequestObject,
) (gen.ListPaymentTransactionsResponseObject, error) {
	q := r.Params

	span, err := daysOf(q.Period, q.DateFrom, q.DateTo, o.Now())
	if err != nil {
		return nil, err
	}

	p := pageOf(q.Page, q.PerPage, q.Sort, q.Cursor)

	list, err := o.Store.Payments.ListTransactions(ctx, payments.TransactionFilter{
		Status: valueOf(q.Status), Gateway: valueOf(q.Provider), Method: valueOf(q.PaymentMethod),
		BookingID: valueOf(q.BookingID), AdCampaignID: valueOf(q.AdCampaignID), Reference: valueOf(q.Reference), Search: valueOf(q.Search),
		Days: span, Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListPaymentTransactions200JSONResponse{Data: mapEach(list.Items, adminTransactionOf), Meta: metaOf(p, list)}, nil
}

// GetPaymentTransaction is one transaction with all that happened to it.
func (o *Operations) GetPaymentTransaction(
	ctx context.Context, r gen.GetPaymentTransactionRequestObject,
) (gen.GetPaymentTransactionResponseObject, error) {
	t, err := o.Store.Payments.TransactionByID(ctx, r.ID)
	if err != nil {
		return nil, err
	}

	timeline, err := o.Store.Payments.Timeline(ctx, r.ID)
	if err != nil {
		return nil, err
	}

	return gen.GetPaymentTransaction200JSONResponse{Data: o.detailOf(&t, timeline)}, nil
}

// adminTransactionOf also shows the platform's share, which is between the platform and the company.
func adminTransactionOf(t *models.PaymentTransaction) gen.PaymentTransaction {
	shown := transactionOf(t)
	shown.CommissionRate = &t.CommissionRate

	return shown
}

func (o *Operations) detailOf(t *models.PaymentTransaction, timeline []payments.TimelineEntry) gen.PaymentTransactionDetail {
	d := transactionDetail(adminTransactionOf(t))
	d.WorkflowID, d.WorkflowURL = workflowOf(t), o.workflowURL(workflowOf(t))
	d.Timeline = mapEach(timeline, timelineEntryOf)

	return d
}

func timelineEntryOf(e *payments.TimelineEntry) gen.TimelineEntry {
	f := &e.Facts

	facts := gen.TimelineFacts{
		TransactionID: f.TransactionID, Amount: f.Amount, Currency: optional(f.Currency), FromStatus: optional(f.FromStatus),
		ToStatus: optional(f.ToStatus), FailureCode: optional(f.FailureCode), PaidBy: optional(models.PaymentMethod(f.PaidBy)),
		EventType: optional(f.EventType), Outcome: optional(f.Outcome),
		RecordID: f.RecordID, TransactionNumber: optional(f.TransactionNumber), RecordKind: optional(f.RecordKind), SplitFrom: f.SplitFrom,
		DebitAccount: optional(f.DebitAccount), CreditAccount: optional(f.CreditAccount), RefundID: f.RefundID,
		GatewayRefundID: optional(f.GatewayRefundID), RefundType: optional(f.RefundType), Decision: optional(f.Decision), DecidedBy: f.DecidedBy,
		NotificationID: f.NotificationID, NotificationKind: optional(f.NotificationKind), Channel: optional(f.Channel), Attempts: f.Attempts,
		DisputeKind: optional(f.DisputeKind), Reason: optional(f.Reason), Until: utcOrNil(f.Until),
		IncidentID: f.IncidentID, IncidentKind: optional(f.IncidentKind),
	}
	if f.Deliveries > 0 {
		facts.Deliveries = &f.Deliveries
	}

	return labelled(gen.TimelineEntry{
		At: utc(e.At), Kind: gen.TimelineKind(e.Kind), Event: gen.TimelineEvent(e.Event), Facts: labelled(facts), Message: e.Summary,
		Details: e.Details,
	})
}

// workflowOf is where an operator finds the transaction's process: a refund's transaction belongs to the refund's
// workflow, which carries the refund's id as its gateway reference does not; the parent payment leads there.
func workflowOf(t *models.PaymentTransaction) string {
	if t.ParentID != nil {
		return models.PaymentWorkflowID(*t.ParentID)
	}

	return models.PaymentWorkflowID(t.ID)
}
