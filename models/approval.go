package models

import (
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// MaxApprovalWait is how long a refund waits for its approval at most (contract §16).
const MaxApprovalWait = 7 * 24 * time.Hour

// ApprovalRules say which refunds that a person orders need the approval of a second one (rules: approvals.needed).
type ApprovalRules struct {
	Above Money // of one payment: SAR, 2 decimals; 0.00: none
	// AlonePerDay bounds what one person orders without an approval within 24 hours, over all payments (rules: people.sums); 0.00: none.
	AlonePerDay Money
	Wait        time.Duration // how long an approval may come
}

// OrderedAlone is what was ordered back before, without an approval, and what has not FAILED.
type OrderedAlone struct {
	OfPayment Money // by all persons
	OfPerson  Money // over all payments, within 24 hours
	// TripCancelled: what is ordered back does not count towards the limit per person, because all customers of the trip have to get theirs.
	TripCancelled bool
}

// Needs reports whether a refund of amount needs an approval. alone is what of the same payment persons have already ordered
// without one, and what has not FAILED: so no amount gets past the limit in parts.
func (r ApprovalRules) Needs(alone, amount Money) bool {
	return r.Above.IsPositive() && alone.Add(amount).Cmp(r.Above) > 0
}

// ByPerson is the rule for what one person orders over all payments, with the sum of 24 hours in place of the payment's.
func (r ApprovalRules) ByPerson() ApprovalRules {
	return ApprovalRules{Above: r.AlonePerDay, Wait: r.Wait}
}

// Apply writes into a refund that is being ordered what it needs. A refund that the service owes by itself needs nothing. One in another
// currency is not counted for its requester, because there is no rate; it is paid out manually, which takes a second person anyway.
func (r ApprovalRules) Apply(f *Refund, before OrderedAlone, now time.Time) {
	if f.RequestedBy == nil {
		return
	}

	needs := false

	if above := r.Above; above.IsPositive() {
		f.ApprovalAbove, needs = &above, r.Needs(before.OfPayment, f.Amount)
	}

	if above := r.AlonePerDay; above.IsPositive() && !before.TripCancelled && f.Currency == Currency {
		f.AloneAbove, needs = &above, needs || r.ByPerson().Needs(before.OfPerson, f.Amount)
	}

	if needs {
		until := now.Add(r.Wait)
		f.ApprovalUntil, f.ApprovalPending = &until, true
	}
}

// NeedsCode reports whether an act on money asks for a code of its person: its amount and what they have done of the kind before come to
// more than atMost, in SAR. Another currency always does (rules: identity.step-up).
func NeedsCode(atMost, amount Money, currency string, before Money) bool {
	return currency != Currency || before.Add(amount).Cmp(atMost) > 0
}

// ApprovalDecision is what was decided about a refund that needs an approval.
type ApprovalDecision string

// The decisions.
const (
	ApprovalApproved ApprovalDecision = "APPROVED"
	ApprovalRejected ApprovalDecision = "REJECTED"
	ApprovalExpired  ApprovalDecision = "EXPIRED" // by the service: its time was over
)

// FailureCode is that of a refund which ends by the decision.
func (d ApprovalDecision) FailureCode() string { return "APPROVAL_" + string(d) }

// RefundApproval is what was decided about a refund that needs an approval; it is written once.
type RefundApproval struct {
	bun.BaseModel `bun:"table:refund_approvals,alias:ra"`

	RefundID  uuid.UUID        `bun:"refund_id,pk"`
	Decision  ApprovalDecision `bun:"decision"`
	DecidedBy *uuid.UUID       `bun:"decided_by"`                    // nil: EXPIRED
	Note      string           `bun:"note"`                          // of a rejection its reason; may name a person
	NoteText  Text             `bun:"note_text,type:jsonb,nullzero"` // of a note of the service
	DecidedAt time.Time        `bun:"decided_at"`

	AtMost      *Money `bun:"-"` // what its person may approve within an hour without a code of late; nil: there is no bound
	DeciderName string `bun:"-"` // read for people only
}

// NeedsApproval reports that the refund waits for the word of a second person.
func (r *Refund) NeedsApproval() bool { return r.ApprovalPending && r.Approval == nil }

// IsApproved reports that nothing keeps the refund from being sent or paid out: it was approved, or needs no approval.
func (r *Refund) IsApproved() bool {
	return r.ApprovalUntil == nil || r.Approval != nil && r.Approval.Decision == ApprovalApproved
}

// ApprovalTimeIsOver reports that the refund has waited for an approval in vain.
func (r *Refund) ApprovalTimeIsOver(now time.Time) bool {
	return r.NeedsApproval() && !now.Before(*r.ApprovalUntil)
}

// MayDecide says whether a person may decide so about the refund at now, under its lock (rules: approvals.two-people,
// approvals.once). own tells that this person has booked or paid. known is true for a decision that only repeats the one that
// is kept. Errors: FORBIDDEN for the approval by the requester or the payee; INVALID_STATE when the refund needs no approval,
// was decided otherwise or by another person, or has waited too long.
func (r *Refund) MayDecide(d *RefundApproval, own bool, now time.Time) (known bool, err error) {
	switch {
	case r.ApprovalUntil == nil:
		return false, NewError(CodeInvalidState, "refund.no_approval")
	case d.Decision == ApprovalApproved && r.RequestedBy != nil && *r.RequestedBy == *d.DecidedBy:
		return false, NewError(CodeForbidden, "refund.own_approval")
	case d.Decision == ApprovalApproved && own:
		return false, NewError(CodeForbidden, "refund.own_booking_approval")
	case r.Approval != nil && r.Approval.sameAs(d):
		return true, nil
	case r.Approval != nil:
		return false, NewError(CodeInvalidState, "refund.decided", "decision", r.Approval.Decision)
	case !r.ApprovalPending || r.ApprovalTimeIsOver(now):
		return false, NewError(CodeInvalidState, "refund.approval_over", "at", *r.ApprovalUntil)
	default:
		return false, nil
	}
}

// sameAs reports whether a decision only repeats the one that is kept; an approval that leaves its note out is not another one.
func (kept *RefundApproval) sameAs(d *RefundApproval) bool {
	return kept.Decision == d.Decision && kept.DecidedBy != nil && *kept.DecidedBy == *d.DecidedBy &&
		(d.Note == kept.Note || d.Note == "")
}
