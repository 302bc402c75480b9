package refunds

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/internal/store/incidents"
	"rihla/internal/store/ledger"
	"rihla/internal/store/outbox"
	"rihla/models"
)

// refundSettlement carries one SettleRefund through its steps, under the lock of the paid transaction.
type refundSettlement struct {
	tx          bun.Tx
	t           *models.PaymentTransaction // the payment whose money goes back
	r           *models.Refund
	now         time.Time
	queued      int
	needsReview bool          // an incident was opened
	withdrawn   uuid.UUID     // models.SettledRefund
	done        refundEffects // for the audit log
}

func (st *refundSettlement) succeed(ctx context.Context, result models.RefundResult) error {
	was := st.state()

	split, err := st.split(ctx)
	if err != nil {
		return err
	}

	added, err := st.addTransaction(ctx, result)
	if err != nil {
		return err
	}

	st.r.Status, st.r.RefundTransactionID, st.r.CompletedAt = models.RefundSucceeded, &added.ID, &st.now
	st.r.VATOfAmount = true
	st.r.FailureReason = "" // of a sending that had been refused, or met another one
	if result.GatewayRefundID != "" {
		st.r.GatewayRefundID = &result.GatewayRefundID
	}

	if err := st.transition(ctx); err != nil {
		return err
	}

	if err := st.releaseReserve(ctx, st.r.Amount); err != nil {
		return err
	}

	if err := st.postLedger(ctx, split); err != nil {
		return err
	}

	if err := st.settleBooking(ctx, added); err != nil {
		return err
	}

	if err := st.auditOutcome(ctx, was); err != nil {
		return err
	}

	return markEvents(ctx, st.tx, st.t, st.r, models.OutcomeApplied, st.now)
}

// transition is the guarded UPDATE out of PENDING.
func (st *refundSettlement) transition(ctx context.Context) error {
	res, err := st.tx.NewUpdate().Model(st.r).
		Column("status", "refund_transaction_id", "failure_code", "failure_reason", "gateway_refund_id", "completed_at", "approval_pending",
			"vat_of_amount").
		Set("updated_at = ?", st.now).WherePK().Where(db.Still, bun.Ident("status"), models.RefundPending).Exec(ctx)
	if err != nil {
		return fmt.Errorf("move refund: %w", err)
	}

	return db.AffectedOne(res, "refund")
}

// releaseReserve turns the reservation into a refund of done, or into nothing when done is zero.
func (st *refundSettlement) releaseReserve(ctx context.Context, done models.Money) error {
	st.t.RefundReservedAmount = st.t.RefundReservedAmount.Sub(st.r.Amount)
	st.t.RefundedAmount = st.t.RefundedAmount.Add(done)

	_, err := st.tx.NewUpdate().Model(st.t).Column("refund_reserved_amount", "refunded_amount").
		Set("updated_at = ?", st.now).WherePK().Exec(ctx)
	if err != nil {
		return fmt.Errorf("release reservation: %w", err)
	}

	if done.Equal(st.r.Amount) {
		return nil
	}

	// What the gateway has given back besides counts against what is free again.
	outside, err := outsideTotal(ctx, st.tx, st.t.ID)
	if err != nil {
		return err
	}

	return holdOutside(ctx, st.tx, st.t, outside)
}

// addTransaction writes the transaction of a refund (rules: refunds.transaction), the document of it: its VAT is right by itself. That
// of the ledger's entries adds up over all of them.
func (st *refundSettlement) addTransaction(ctx context.Context, result models.RefundResult) (*models.PaymentTransaction, error) {
	taken, currency := st.t.Taken()
	last := st.t.GivenBack().Add(st.r.Amount).Cmp(taken) >= 0
	added := models.PaymentTransaction{
		ID: models.RefundTransactionID(st.r.ID), Kind: models.KindRefund, ParentID: &st.t.ID, Attempt: st.t.Attempt,
		UserID: st.t.UserID, ProviderID: st.t.ProviderID, BookingID: st.t.BookingID, AdCampaignID: st.t.AdCampaignID,
		Amount: st.r.Amount, Currency: currency, VATRate: st.t.VATRate, VATAmount: models.RefundVAT(st.t, st.r.Amount),
		CommissionRate: st.t.CommissionRate, PaymentMethod: st.t.PaymentMethod, PaidBy: st.t.PaidBy, Gateway: st.t.Gateway, Channel: st.t.Channel,
		Status: models.RefundTransactionStatus(st.r.RefundType, last), ExpiresAt: st.now,
	}
	if result.GatewayRefundID != "" {
		added.Reference = &result.GatewayRefundID
	}

	if _, err := st.tx.NewInsert().Model(&added).Exec(ctx); err != nil {
		return nil, fmt.Errorf("insert refund transaction: %w", err)
	}

	return &added, nil
}

// payer is the account that the money leaves.
func (st *refundSettlement) payer() models.Account {
	return models.RefundAccount(st.r.Channel, st.t.Gateway)
}

// wasSold tells a payment from money that came too late or is in suspense: that was never a sale and has no ledger entry.
func (st *refundSettlement) wasSold() bool { return st.t.Status == models.TransactionPaid }

// split takes the refunded part out of the payment's live ledger entry, which it locks.
func (st *refundSettlement) split(ctx context.Context) (models.RefundSplit, error) {
	if st.t.SuspenseAt != nil { // it has paid for nothing, so there is no VAT in it
		return models.RefundSplit{
			Transfers: []models.LedgerTransfer{models.SuspenseRefundTransfer(st.t, st.r.ID, st.r.Amount, st.payer())},
		}, nil
	}

	if !st.wasSold() {
		return models.RefundSplit{
			Transfers: []models.LedgerTransfer{models.LateRefundTransfer(st.t, st.r.ID, st.r.Amount, st.payer())},
		}, nil
	}

	var line models.FinancialRecord

	err := st.tx.NewSelect().Model(&line).
		Where("payment_transaction_id = ?", st.t.ID).Where("kind IN (?)", bun.List(models.PaymentRecordKinds())).
		Where("balance_status <> ?", models.BalanceRefunded).For("NO KEY UPDATE").Scan(ctx)
	if err != nil {
		return models.RefundSplit{}, fmt.Errorf("lock ledger entry: %w", err)
	}

	st.done.line = &line

	split := models.SplitForRefund(line, st.r.ID, st.r.Amount, st.payer(), st.now)
	split.BearBy(st.r.Bearer, st.now)

	return split, nil
}

// postLedger writes the split: entries and transfers.
func (st *refundSettlement) postLedger(ctx context.Context, split models.RefundSplit) error {
	if st.wasSold() {
		if err := st.bookEntries(ctx, split); err != nil {
			return err
		}

		st.done.split = split
	}

	return ledger.PostTransfers(ctx, st.tx, split.Transfers)
}

func (st *refundSettlement) bookEntries(ctx context.Context, split models.RefundSplit) error {
	// The old entry goes first: only one live entry per payment may exist at any moment.
	_, err := st.tx.NewUpdate().Model(&split.Refunded).
		Column("balance_status", "refund_id", "gross_amount", "platform_commission_amount", "net_amount", "vat_amount", "refunded_amount").
		Set("updated_at = ?", st.now).WherePK().Exec(ctx)
	if err != nil {
		return fmt.Errorf("close ledger entry: %w", err)
	}

	for _, added := range []*models.FinancialRecord{split.Rest, split.Clawback, split.Adjustment} {
		if added == nil {
			continue
		}

		if err := ledger.InsertRecord(ctx, st.tx, added); err != nil {
			return err
		}
	}

	return nil
}

// cancels says whether the booking falls with the refund: nothing is left of the sale, refunded_amount being that after it.
func (st *refundSettlement) cancels(b *models.Booking) bool {
	return st.wasSold() && st.t.WentBack() && b.Status == models.BookingConfirmed
}

// settleBooking cancels a booking whose payment has gone back in full, and tells the customer.
func (st *refundSettlement) settleBooking(ctx context.Context, added *models.PaymentTransaction) error {
	if st.t.BookingID == nil {
		return st.settleCampaign(ctx, added)
	}

	var b models.Booking
	if err := st.tx.NewSelect().Model(&b).Where("id = ?", *st.t.BookingID).For("NO KEY UPDATE").Scan(ctx); err != nil {
		return fmt.Errorf("lock booking: %w", err)
	}

	st.done.bookingWas = b.Status

	if st.cancels(&b) {
		if err := bookings.TransitionBooking(ctx, st.tx, &b, models.BookingCancelled, st.now); err != nil {
			return err
		}

		if err := bookings.FreeSeats(ctx, st.tx, &b); err != nil {
			return err
		}

		ended, err := bookings.CloseRequest(ctx, st.tx, &b, uuid.Nil, st.now)
		if err != nil {
			return err
		}

		st.withdrawn = ended
	}

	st.done.booking = b.Status

	var trip models.Trip
	if err := st.tx.NewSelect().Model(&trip).Column("title", "departure_at").Where("id = ?", b.TripID).Scan(ctx); err != nil {
		return fmt.Errorf("read trip: %w", err)
	}

	b.Currency = st.r.Currency // which the message names; of money in suspense it may be another one

	facts := outbox.BookingFacts(&b, &trip, st.r.Amount)
	outbox.RefundFacts(facts, b.Status == models.BookingConfirmed, st.t, st.r)

	if st.wasSold() && b.Status == models.BookingConfirmed {
		facts["booking_stays"] = "true"
	}

	n, err := outbox.QueueForBooking(ctx, st.tx, &b, models.NotifyRefundSucceeded, added.ID, facts)
	st.queued += n

	if err != nil || !st.wasSold() {
		return err
	}

	return st.tellCompany(ctx, &b, &trip, added)
}

// fail releases the reservation, and asks a person to look unless it was a person who refused a refund that is not owed.
func (st *refundSettlement) fail(ctx context.Context, result models.RefundResult) error {
	was, code := st.state(), RefundFailedAtGateway
	byPerson := st.r.Channel == models.RefundByHand

	switch {
	case !st.r.IsApproved():
		code, st.r.ApprovalPending = st.r.Approval.Decision.FailureCode(), false
		byPerson = st.r.Approval.Decision == models.ApprovalRejected
	case byPerson:
		code = PayoutRejected
	case st.r.AccountGoneAt != nil:
		code = AccountMissing
	case st.outside():
		code = RefundedOutside
	}

	owed, err := st.cancelled(ctx)
	if err != nil {
		return err
	}

	// Those that SaveRefundWords has kept; decisions of older histories bring them along.
	words := cmp.Or(st.r.FailureReason, result.FailureReason)

	if owed && !byPerson && !st.outside() {
		return st.turnManual(ctx, words)
	}

	st.r.Status, st.r.FailureCode, st.r.FailureReason, st.r.CompletedAt = models.RefundFailed, &code, words, &st.now

	if err := st.transition(ctx); err != nil {
		return err
	}

	if err := st.releaseReserve(ctx, models.Money{}); err != nil {
		return err
	}

	if err := st.auditOutcome(ctx, was); err != nil {
		return err
	}

	if !byPerson || !st.wasSold() || owed {
		if err := st.openIncident(ctx, words); err != nil {
			return err
		}
	}

	return markEvents(ctx, st.tx, st.t, st.r, models.OutcomeApplied, st.now)
}

// stillOwed tells an operator how late money goes back after all. The booking may have been paid otherwise: a refund that
// names no payment would take that one, and cancel it.
func (st *refundSettlement) stillOwed() models.Text {
	if st.t.AdCampaignID != nil {
		return models.TextOf("incident.still_owed_campaign")
	}

	return models.TextOf("incident.still_owed")
}

func (st *refundSettlement) openIncident(ctx context.Context, words string) error {
	st.needsReview = true

	var text models.Text

	payInstead := models.TextOf("incident.pay_instead") // how money goes back that the gateway does not give back

	switch byHand := st.r.Channel == models.RefundByHand; {
	case !st.r.IsApproved():
		text = st.unapproved()
	case st.r.AccountGoneAt != nil:
		text = models.TextOf("incident.account_gone", "then", payInstead)
		if st.r.Sends > 0 {
			text = models.TextOf("incident.account_gone_sent", "then", payInstead)
		}
	case st.outside():
		text = models.TextOf("incident.refund_no_room")
	case st.r.TurnedManualAt != nil && st.r.Status == models.RefundPending:
		text = models.TextOf("incident.cancelled_refund_manual")
	case byHand && st.wasSold():
		text = models.TextOf("incident.cancelled_payout_rejected")
	case st.t.SuspenseAt != nil:
		text = models.TextOf("incident.suspense_refund_failed")
	case st.wasSold():
		text = models.TextOf("incident.refund_rejected",
			"then", models.TextOf("incident.in_turn", "first", payInstead, "second", st.policyOfThen()))
	case byHand:
		text = models.TextOf("incident.late_payout_rejected", "then", st.stillOwed())
	default:
		text = models.TextOf("incident.late_refund_rejected", "owed", st.stillOwed(), "then", payInstead)
	}

	return incidents.Open(ctx, st.tx, models.Incident{
		ID:                   models.IncidentID(models.IncidentRefundFailed, st.r.ID.String()),
		Kind:                 models.IncidentRefundFailed,
		PaymentTransactionID: &st.t.ID,
		BookingID:            st.t.BookingID,
		AdCampaignID:         st.t.AdCampaignID,
		RefundID:             &st.r.ID,
		IncidentText:         models.SaidByIncident(text),
		WorkflowID:           models.RefundWorkflowID(st.r.ID),
	}, map[string]any{"amount": st.r.Amount, "currency": st.r.Currency, "failure_reason": words})
}

// outside reports a refund that was given up before it was sent: what the gateway gave back otherwise left no room for it.
func (st *refundSettlement) outside() bool {
	return st.r.Channel == models.RefundByGateway && st.r.RefusedAt != nil && st.r.Sends == 0
}

// unapproved is the message about a refund that was not approved.
func (st *refundSettlement) unapproved() models.Text {
	then := st.stillOwed()

	switch {
	case st.t.SuspenseAt != nil:
		then = models.TextOf("incident.still_in_suspense")
	case st.wasSold():
		then = models.TextOf("incident.in_turn", "first", models.TextOf("incident.order_again"), "second", st.policyOfThen())
	}

	if st.r.Approval.Decision == models.ApprovalExpired {
		return models.TextOf("incident.approval_expired", "then", then)
	}

	return models.TextOf("incident.approval_refused", "then", then)
}

// policyOfThen says how a refund by the policy comes to the same amount once more: the policy gives less as the departure comes near.
func (st *refundSettlement) policyOfThen() models.Text {
	if st.r.RefundType != models.RefundPolicy || st.r.PolicyPercent == nil {
		return models.Text{}
	}

	return models.TextOf("incident.policy_then",
		"percent", *st.r.PolicyPercent, "amount", st.r.Amount, "currency", models.InCurrency(st.r.Currency))
}
