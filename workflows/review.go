package workflows

import (
	"context"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"rihla/models"
)

// SignalResolved tells a Review that its incident is resolved.
const SignalResolved = "resolved"

// Review shows an open incident among the workflows, and ends when it is resolved. The workflows that the incident is about
// have ended long before, and what has ended cannot be given other search attributes. It decides nothing.
func Review(ctx workflow.Context, i models.ShownIncident) error {
	setDetails(ctx, "The incident "+string(i.Kind)+" is open. What to do about it is in the operations guide under its kind; "+
		"resolving it in the API ends this workflow.")

	workflow.GetSignalChannel(ctx, SignalResolved).Receive(ctx, nil)

	setDetails(ctx, "The incident "+string(i.Kind)+" is resolved.")

	return workflow.UpsertTypedSearchAttributes(ctx, attrNeedsReview.ValueSet(false))
}

// Show starts the workflow that shows an incident, or ends it when the incident is resolved. Error: SERVICE_UNAVAILABLE.
func (c *Client) Show(ctx context.Context, i models.ShownIncident) error {
	if i.Status == models.IncidentResolved {
		err := c.temporal.SignalWorkflow(ctx, models.ReviewWorkflowID(i.ID), "", SignalResolved, nil)
		if isNotFound(err) { // it was resolved before it was shown, or an operator has terminated the workflow
			return nil
		}

		return asDomainError(err)
	}

	attrs := []temporal.SearchAttributeUpdate{attrNeedsReview.ValueSet(true)}
	if i.BookingID != uuid.Nil {
		attrs = append(attrs, attrBookingID.ValueSet(i.BookingID.String()))
	}

	if i.Gateway != "" {
		attrs = append(attrs, attrGateway.ValueSet(string(i.Gateway)))
	}

	return c.start(ctx, client.StartWorkflowOptions{
		ID: models.ReviewWorkflowID(i.ID), StaticSummary: "Incident " + string(i.Kind), StaticDetails: i.About(),
		TypedSearchAttributes: temporal.NewSearchAttributes(attrs...),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, Review, i)
}
