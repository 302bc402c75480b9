package workflows

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"rihla/models"
)

// What follows is for books and an orchestrator that were restored to different moments, or of which one was lost.

// IsRunning reports whether a workflow runs.
func (c *Client) IsRunning(ctx context.Context, id string) (bool, error) {
	d, err := c.temporal.DescribeWorkflow(ctx, id, "")

	switch {
	case isNotFound(err):
		return false, nil
	case err != nil:
		return false, asDomainError(err)
	default:
		return d.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil
	}
}

// ResumePayment starts the workflow of an attempt that is open in the books, where none runs. It goes on where the attempt stands: one
// with a checkout waits for its outcome, another one gets its checkout, under the same key as before.
func (c *Client) ResumePayment(ctx context.Context, t *models.PaymentTransaction) error {
	a := models.Attempt{ProviderID: t.ProviderID, Number: t.Attempt, UserID: t.UserID, Method: t.PaymentMethod}

	if t.BookingID != nil {
		a.BookingID = *t.BookingID
	}

	if t.AdCampaignID != nil {
		a.CampaignID = *t.AdCampaignID
	}

	if t.OpenedFor != nil {
		a.Opener = *t.OpenedFor
	}

	if t.Reference != nil {
		a.Resumed = &models.ResumedAttempt{ExpiresAt: t.ExpiresAt}
	}

	o := paymentOptions(a)
	o.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE

	return c.start(ctx, o, Payment, a)
}

// RestartPayment is StartPayment for an attempt that its workflow says is open, and that the books do not have: they were restored to an
// earlier moment. That run is ended, and a new one opens the attempt again under the same id, and so with the checkout that there is.
func (c *Client) RestartPayment(ctx context.Context, a models.Attempt) (models.Checkout, error) {
	var out models.Checkout

	o := paymentOptions(a)
	if err := c.Terminate(ctx, o.ID, "the books do not have this attempt; it is opened again"); err != nil {
		return out, err
	}

	o.TaskQueue, o.WorkflowTaskTimeout = c.queue, TaskTimeout
	o.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
	o.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE

	err := c.startAndAsk(ctx, o, Payment, a, UpdateCheckout, UpdateCheckout+"/"+uuid.NewString(), &out)
	if errors.Is(err, errRunEnded) {
		err = unavailable()
	}

	return out, err
}

// Terminate ends a workflow; one that does not run is as good as ended.
func (c *Client) Terminate(ctx context.Context, id, reason string) error {
	err := c.temporal.TerminateWorkflow(ctx, id, "", reason)
	if isNotFound(err) {
		return nil
	}

	return asDomainError(err)
}

// RunningFor are the subjects of the running workflows of a type, Payment or Refund, on the queue, that were started before a moment.
func (c *Client) RunningFor(ctx context.Context, workflow string, before time.Time) (ids []uuid.UUID, err error) {
	query := `ExecutionStatus = "Running" AND WorkflowType = "` + workflow + `" AND TaskQueue = "` + c.queue +
		`" AND StartTime < "` + before.UTC().Format(time.RFC3339Nano) + `"`

	var token []byte

	for {
		page, err := c.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, NextPageToken: token})
		if err != nil {
			return nil, asDomainError(err)
		}

		for _, e := range page.GetExecutions() {
			_, subject, _ := strings.Cut(e.GetExecution().GetWorkflowId(), "/")
			if id, err := uuid.Parse(subject); err == nil {
				ids = append(ids, id)
			}
		}

		if token = page.GetNextPageToken(); len(token) == 0 {
			return ids, nil
		}
	}
}
