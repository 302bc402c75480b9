package models

import "github.com/google/uuid"

// The ids of workflows and schedules. They are business ids, so that what is started twice runs once, and they are kept
// in histories and incidents: a format must never change.

// PaymentWorkflowID is the id of an attempt's workflow.
func PaymentWorkflowID(transaction uuid.UUID) string { return "payment/" + transaction.String() }

// RefundWorkflowID is the id of a refund's workflow.
func RefundWorkflowID(refund uuid.UUID) string { return "refund/" + refund.String() }

// CancellationWorkflowID is the id of the workflow that waits for the decision about a cancellation request.
func CancellationWorkflowID(request uuid.UUID) string { return "cancellation/" + request.String() }

// TripCancellationWorkflowID names the one that calls a trip off.
func TripCancellationWorkflowID(trip uuid.UUID) string { return "trip-cancellation/" + trip.String() }

// CampaignWorkflowID is the id of a paid campaign's workflow.
func CampaignWorkflowID(campaign uuid.UUID) string { return "campaign/" + campaign.String() }

// LatePaymentWorkflowID is the id of the workflow that handles a late event.
func LatePaymentWorkflowID(d Delivery) string {
	return "late-payment/" + string(d.Channel) + "/" + d.EventID.String()
}

// CompareWorkflowID is the id of the workflow that asks a gateway what it has given back of a payment.
func CompareWorkflowID(transaction uuid.UUID) string { return "compare/" + transaction.String() }

// ReconcileWorkflowID is the id of the workflow that ends an attempt whose own workflow is gone.
func ReconcileWorkflowID(transaction uuid.UUID) string { return "reconcile/" + transaction.String() }

// ReviewWorkflowID is the id of the workflow that shows an incident.
func ReviewWorkflowID(incident uuid.UUID) string { return "review/" + incident.String() }

// PollStatusWorkflowID is the id of the one workflow that polls for a channel of a task queue.
func PollStatusWorkflowID(queue string, channel Channel) string {
	return "poll-status/" + queue + "/" + string(channel)
}

// OutboxWorkflowID is the id of the one outbox workflow of a task queue.
func OutboxWorkflowID(queue string) string { return "outbox/" + queue }

// SweepScheduleID is the id of the sweep's schedule; one per task queue.
func SweepScheduleID(queue string) string { return "sweep/" + queue }

// AuditScheduleID is the id of the nightly audit's schedule; one per task queue.
func AuditScheduleID(queue string) string { return "audit/" + queue }
