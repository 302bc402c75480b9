package payments

import (
	"context"
	"maps"

	"github.com/uptrace/bun"

	"rihla/models"
)

func (t *timeline) refunded(context.Context, bun.IDB) error {
	for i := range t.refunds {
		t.refund(&t.refunds[i])
	}

	return nil
}

// refund tells of one from the order to its end. What it has closed of the ledger is part of its end (refundedEntries).
func (t *timeline) refund(r *models.Refund) {
	details := map[string]any{
		"refund_id": r.ID, "refund_type": r.RefundType, "amount": r.Amount, "currency": r.Currency, "status": r.Status,
	}
	facts := TimelineFacts{
		TransactionID: &r.PaymentTransactionID, RefundID: &r.ID, RefundType: string(r.RefundType), Channel: string(r.Channel), Amount: &r.Amount,
		Currency: r.Currency, ToStatus: string(r.Status),
	}

	if r.FailureCode != nil {
		details["failure_code"], facts.FailureCode = *r.FailureCode, *r.FailureCode
	}

	if r.GatewayRefundID != nil {
		details["gateway_refund_id"], facts.GatewayRefundID = *r.GatewayRefundID, *r.GatewayRefundID
	}

	t.addf(r.CreatedAt, EventRefundRequested, facts, details, "A %s refund of %s %s was requested", r.RefundType, r.Amount, r.Currency)
	t.refundDecisions(r, facts)

	if r.CompletedAt != nil {
		event := EventRefundSucceeded
		if r.Status == models.RefundFailed {
			event = EventRefundFailed
		}

		ended, closed := facts, details

		if line, found := t.refundedEntries[r.ID]; found {
			closed = recordDetails(&line)
			maps.Copy(closed, details)

			ended.RecordID, ended.TransactionNumber, ended.RecordKind = &line.ID, line.TransactionNumber, string(line.Kind)
		}

		t.addf(*r.CompletedAt, event, ended, closed, "The refund of %s %s %s", r.Amount, r.Currency, refundBecame(r))
	}

	if r.ReturnedAt != nil {
		t.addf(*r.ReturnedAt, EventRefundReturned, facts, details, "The refund of %s %s came back: it is owed", r.Amount, r.Currency)
	}
}

// refundDecisions tells what people have decided about the refund.
func (t *timeline) refundDecisions(r *models.Refund, facts TimelineFacts) {
	if d := r.Approval; d != nil {
		facts.Decision, facts.DecidedBy = string(d.Decision), d.DecidedBy
		t.addf(d.DecidedAt, EventRefundApproval, facts, map[string]any{"refund_id": r.ID, "decision": d.Decision, "decided_by": d.DecidedBy},
			"The refund of %s %s, which needs an approval: %s", r.Amount, r.Currency, d.Decision)
	}

	if d := r.Payout; d != nil {
		facts.Decision, facts.DecidedBy = string(d.Decision), &d.DecidedBy
		t.addf(d.DecidedAt, EventRefundPayout, facts, map[string]any{"refund_id": r.ID, "decision": d.Decision, "decided_by": d.DecidedBy},
			"Finance staff decided about the manual payout of %s %s: %s", r.Amount, r.Currency, d.Decision)
	}
}

func refundBecame(r *models.Refund) string {
	if d := r.Approval; d != nil && d.Decision != models.ApprovalApproved {
		return "was not approved"
	}

	if d := r.Payout; d != nil && d.Decision == models.PayoutRejected {
		return "was not paid out"
	}

	return refundWords[r.Status]
}

var refundWords = map[models.RefundStatus]string{
	models.RefundPending:   "is running",
	models.RefundSucceeded: "succeeded",
	models.RefundFailed:    "was rejected by the gateway",
}
