package workflows

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"rihla/models"
)

// Client is the typed client of the workflows, for the API, the relay and the sweep.
type Client struct {
	temporal client.Client
	queue    string
}

// NewClient makes one; queue is the task queue that the workers serve.
func NewClient(c client.Client, queue string) *Client { return &Client{temporal: c, queue: queue} }

// ErrStillRunning says that the workflow was started and had not got there when the caller's time was over.
var ErrStillRunning = errors.New("the workflow is still running")

// TaskTimeout is how long a worker may be silent before another one takes its workflow task: the default of 10 s
// would make payments stand still for four times as long when a worker is killed. A task with a local activity that takes longer than
// 0.8 of it is kept alive by the SDK.
const TaskTimeout = 2500 * time.Millisecond

// StartPayment starts the attempt's workflow, or finds the one that runs, and waits until the customer can pay or the
// attempt has ended. ctx bounds the wait. Errors: the domain's, SERVICE_UNAVAILABLE, ErrStillRunning.
func (c *Client) StartPayment(ctx context.Context, a models.Attempt) (models.Checkout, error) {
	var out models.Checkout

	err := c.startWithUpdate(ctx, paymentOptions(a), Payment, a, UpdateCheckout, &out, nothingToPay)

	return out, err
}

func paymentOptions(a models.Attempt) client.StartWorkflowOptions {
	attrs := []temporal.SearchAttributeUpdate{
		attrPaymentStatus.ValueSet(string(models.TransactionPending)),
		attrGateway.ValueSet(string(a.Method.Gateway())),
		attrProviderID.ValueSet(a.ProviderID.String()),
	}

	summary := "Payment attempt " + strconv.Itoa(a.Number) + " for campaign " + a.CampaignID.String()
	if a.BookingID != uuid.Nil {
		attrs = append(attrs, attrBookingID.ValueSet(a.BookingID.String()))
		summary = "Payment attempt " + strconv.Itoa(a.Number) + " for booking " + a.BookingID.String()
	}

	return client.StartWorkflowOptions{
		ID:                    models.PaymentWorkflowID(a.ID()),
		StaticSummary:         summary,
		StaticDetails:         "Pays by " + string(a.Method) + " through " + string(a.Method.Gateway()) + ".",
		TypedSearchAttributes: temporal.NewSearchAttributes(attrs...),
	}
}

// nothingToPay reports an answer that a run which is over may have given about another time, or another method: the booking was taken
// back while no worker was there to open its payment, and has been made again since.
func nothingToPay(err error) bool {
	code := models.CodeOf(err)

	return isAlreadyStarted(err) ||
		code == models.CodeNotFound || code == models.CodeBookingNotPayable || code == models.CodeCampaignNotPayable ||
		code == models.CodeMethodNotAvailable || code == models.CodePaymentInSuspense
}

// CancelPayment asks a running attempt to close and waits for its outcome, which may be that it was paid after all.
// An attempt whose workflow has ended is NOT_FOUND.
func (c *Client) CancelPayment(ctx context.Context, transaction uuid.UUID) (models.Settled, error) {
	var out models.Settled

	handle, err := c.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: models.PaymentWorkflowID(transaction), UpdateName: UpdateCancel,
		// An id of its own: an earlier try that failed must not answer for this one.
		UpdateID:     UpdateCancel + "/" + uuid.NewString(),
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, &out)
	}

	return out, asDomainError(err)
}

// StartRefund starts the workflow of a refund that is ordered, or finds the one that runs, and waits for the gateway's
// decision. ctx bounds the wait. Errors: SERVICE_UNAVAILABLE, ErrStillRunning; the order stands all the same.
func (c *Client) StartRefund(ctx context.Context, r models.Refund) (models.SettledRefund, error) {
	var out models.SettledRefund

	err := c.startWithUpdate(ctx, refundOptions(r), Refund, r.Order(), UpdateDecision, &out, foundNoOrder)

	return out, err
}

// foundNoOrder reports the answer of a run that was started before the refund was ordered: it is asked for once more.
func foundNoOrder(err error) bool {
	return isAlreadyStarted(err) || models.CodeOf(err) == models.CodeNotFound
}

func refundOptions(r models.Refund) client.StartWorkflowOptions {
	summary := string(r.RefundType) + " refund of payment " + r.PaymentTransactionID.String()

	var booking uuid.UUID

	if r.BookingID != nil {
		booking = *r.BookingID
		summary = string(r.RefundType) + " refund of booking " + booking.String()
	}

	return client.StartWorkflowOptions{
		ID: models.RefundWorkflowID(r.ID), StaticSummary: summary, StaticDetails: r.Amount.String() + " " + r.Currency + " go back.",
		TypedSearchAttributes: refundAttributes(booking, ""),
	}
}

// startWithUpdate starts a workflow, or finds it running, and waits for one of its updates. The update's name is its
// id too: everybody who asks waits for the same answer, and a closed run gives the answer that it gave before. When that
// is none (it never heard of the update) or stale says that it no longer holds, a new run looks at the database.
func (c *Client) startWithUpdate(
	ctx context.Context, o client.StartWorkflowOptions, workflow, arg any, update string, out any, stale func(error) bool,
) error {
	o.TaskQueue = c.queue
	o.WorkflowTaskTimeout = TaskTimeout
	o.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
	// A run that an operator terminated may be started again; the database keeps effects from happening twice.
	o.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY

	err := c.startAndAsk(ctx, o, workflow, arg, update, update, out)
	if stale(err) || errors.Is(err, errRunEnded) {
		o.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
		err = c.startAndAsk(ctx, o, workflow, arg, update, update+"/"+uuid.NewString(), out)
	}

	if errors.Is(err, errRunEnded) {
		return unavailable()
	}

	return err
}

// errRunEnded is the orchestrator's NOT_FOUND, not the domain's: the workflow has ended before the update reached it, and its
// result is not known.
var errRunEnded = errors.New("the workflow run ended before the update was accepted")

func (c *Client) startAndAsk(
	ctx context.Context, o client.StartWorkflowOptions, workflow, arg any, update, updateID string, out any,
) error {
	handle, err := c.temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: c.temporal.NewWithStartWorkflowOperation(o, workflow, arg),
		UpdateOptions: client.UpdateWorkflowOptions{
			UpdateName: update, UpdateID: updateID, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err == nil {
		err = handle.Get(ctx, out)
	}

	if isNotFound(err) {
		return errRunEnded
	}

	return asDomainError(err)
}

// Deliver tells the workflow that waits for the event that it is stored. When none waits, the event is late, and
// another workflow deals with it.
func (c *Client) Deliver(ctx context.Context, d models.Delivery) error {
	if !d.Ended {
		id := models.PaymentWorkflowID(d.TransactionID)
		if d.RefundID != uuid.Nil {
			id = models.RefundWorkflowID(d.RefundID)
		}

		err := c.temporal.SignalWorkflow(ctx, id, "", SignalEvent, d.EventID)
		if err == nil || !isNotFound(err) {
			return asDomainError(err)
		}
	}

	attrs := []temporal.SearchAttributeUpdate{attrGateway.ValueSet(string(d.Channel.Gateway()))}
	if d.BookingID != uuid.Nil {
		attrs = append(attrs, attrBookingID.ValueSet(d.BookingID.String()))
	}

	return c.start(ctx, client.StartWorkflowOptions{
		ID: models.LatePaymentWorkflowID(d), StaticSummary: "Late event of payment " + d.TransactionID.String(),
		TypedSearchAttributes: temporal.NewSearchAttributes(attrs...),
		// Only an event that had no effect is delivered. If a run has applied it, the books were restored to a moment before that.
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, LatePayment, d)
}

// Reconcile starts the workflow that ends an attempt whose own workflow is gone. While that one runs, it is still
// asking the gateway, and nothing is started.
func (c *Client) Reconcile(ctx context.Context, transaction uuid.UUID, gateway models.Gateway) error {
	d, err := c.temporal.DescribeWorkflow(ctx, models.PaymentWorkflowID(transaction), "")
	if err != nil && !isNotFound(err) {
		return asDomainError(err)
	}

	if err == nil && d.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil
	}

	return c.start(ctx, client.StartWorkflowOptions{
		ID: models.ReconcileWorkflowID(transaction), StaticSummary: "Reconcile payment " + transaction.String(),
		TypedSearchAttributes: temporal.NewSearchAttributes(attrGateway.ValueSet(string(gateway))),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, Reconcile, Closing{TransactionID: transaction, Gateway: gateway, Why: models.FailureExpired})
}

// ResumeRefund starts a refund's workflow again, if none is running.
func (c *Client) ResumeRefund(ctx context.Context, r models.Refund) error {
	o := refundOptions(r)
	o.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE

	return c.start(ctx, o, Refund, r.Order())
}

// PollStatus starts the workflow that asks about attempts of a channel whose webhooks may be lost, unless it runs already.
func (c *Client) PollStatus(ctx context.Context, channel models.Channel) error {
	return c.start(ctx, client.StartWorkflowOptions{
		ID:                    models.PollStatusWorkflowID(c.queue, channel),
		StaticSummary:         "Poll payments of " + string(channel) + " whose webhooks may be lost",
		TypedSearchAttributes: temporal.NewSearchAttributes(attrGateway.ValueSet(string(channel.Gateway()))),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, PollStatus, channel)
}

// Compare has the gateway asked what it has given back of a payment, and waits until that is known. ctx bounds the wait.
// Errors: SERVICE_UNAVAILABLE, and what keeps the gateway from answering.
func (c *Client) Compare(ctx context.Context, t models.PaymentTransaction) error {
	run, err := c.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: models.CompareWorkflowID(t.ID), StaticSummary: "Compare payment " + t.ID.String() + " with " + string(t.Gateway),
		TaskQueue: c.queue, WorkflowTaskTimeout: TaskTimeout,
		TypedSearchAttributes:    temporal.NewSearchAttributes(attrGateway.ValueSet(string(t.Gateway))),
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, Compare, Comparison{TransactionID: t.ID, Gateway: t.Gateway})
	if err != nil {
		return asDomainError(err)
	}

	return asDomainError(run.Get(ctx, nil))
}

// ResumeCampaign has a campaign's workflow look at the campaign, and starts it again if none is running.
func (c *Client) ResumeCampaign(ctx context.Context, campaign models.AdCampaign) error {
	_, err := c.temporal.SignalWithStartWorkflow(ctx, models.CampaignWorkflowID(campaign.ID), SignalLook, nil, client.StartWorkflowOptions{
		TaskQueue: c.queue, WorkflowTaskTimeout: TaskTimeout,
		StaticSummary: "Dates of campaign " + campaign.ID.String(), StaticDetails: campaignDetails,
		TypedSearchAttributes: temporal.NewSearchAttributes(attrProviderID.ValueSet(campaign.ProviderID.String())),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, Campaign, campaign.ID)

	return asDomainError(err)
}

// LookAtCancellation has the workflow of a cancellation request look at it, and starts it where none is running.
// Error: SERVICE_UNAVAILABLE.
func (c *Client) LookAtCancellation(ctx context.Context, request uuid.UUID) error {
	_, err := c.temporal.SignalWithStartWorkflow(ctx, models.CancellationWorkflowID(request), SignalCancellationDecided, nil,
		client.StartWorkflowOptions{
			TaskQueue: c.queue, WorkflowTaskTimeout: TaskTimeout,
			StaticSummary: "Cancellation request " + request.String(), StaticDetails: "Waits until staff decide, and ends at departure.",
			WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		}, Cancellation, request)

	return asDomainError(err)
}

// LookAtCancellations is LookAtCancellation of each of them. Error: SERVICE_UNAVAILABLE.
func (c *Client) LookAtCancellations(ctx context.Context, requests []uuid.UUID) error {
	for _, id := range requests {
		if err := c.LookAtCancellation(ctx, id); err != nil {
			return err
		}
	}

	return nil
}

// LookAtTripCancellation has the workflow that calls a trip off look at it, and starts it where none is running. Error:
// SERVICE_UNAVAILABLE.
func (c *Client) LookAtTripCancellation(ctx context.Context, o models.TripCancellationOrder) error {
	_, err := c.temporal.SignalWithStartWorkflow(ctx, models.TripCancellationWorkflowID(o.TripID), SignalLook, nil,
		client.StartWorkflowOptions{
			TaskQueue: c.queue, WorkflowTaskTimeout: TaskTimeout,
			StaticSummary:         "Cancellation of trip " + o.TripID.String(),
			StaticDetails:         "Cancels each booking with its refund. Signal pause to stop before the next booking, resume to go on.",
			TypedSearchAttributes: temporal.NewSearchAttributes(attrProviderID.ValueSet(o.ProviderID.String())),
			WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		}, TripCancellation, o)

	return asDomainError(err)
}

// PayoutDecided tells a manual payout that finance staff have decided about it, and starts its workflow again if none is
// running. wait waits until the decision is applied. Error: SERVICE_UNAVAILABLE.
func (c *Client) PayoutDecided(ctx context.Context, r models.Refund) (wait func(context.Context) error, err error) {
	return c.refundDecided(ctx, SignalPayout, r)
}

// ApprovalDecided tells a refund that a second person decided about it, or that its time is over, and starts its workflow again if none
// is running. wait waits for the refund's end. Error: SERVICE_UNAVAILABLE.
func (c *Client) ApprovalDecided(ctx context.Context, r models.Refund) (wait func(context.Context) error, err error) {
	return c.refundDecided(ctx, SignalApproval, r)
}

func (c *Client) refundDecided(
	ctx context.Context, signal string, r models.Refund,
) (wait func(context.Context) error, err error) {
	o := refundOptions(r)
	o.TaskQueue = c.queue
	o.WorkflowTaskTimeout = TaskTimeout
	o.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE

	run, err := c.temporal.SignalWithStartWorkflow(ctx, o.ID, signal, nil, o, Refund, r.Order())
	if err != nil {
		return nil, asDomainError(err)
	}

	return func(ctx context.Context) error { return asDomainError(run.Get(ctx, nil)) }, nil
}

// WakeOutbox has queued notifications delivered.
func (c *Client) WakeOutbox(ctx context.Context) error {
	_, err := c.temporal.SignalWithStartWorkflow(ctx, models.OutboxWorkflowID(c.queue), SignalWake, nil, client.StartWorkflowOptions{
		TaskQueue: c.queue, WorkflowTaskTimeout: TaskTimeout, StaticSummary: "Deliver queued notifications",
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, Outbox)

	return asDomainError(err)
}

// start starts a workflow; one that runs, or that may not run again, is what was wanted.
func (c *Client) start(ctx context.Context, o client.StartWorkflowOptions, workflow any, args ...any) error {
	o.TaskQueue = c.queue
	o.WorkflowTaskTimeout = TaskTimeout
	o.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING

	if o.WorkflowIDReusePolicy == enumspb.WORKFLOW_ID_REUSE_POLICY_UNSPECIFIED {
		o.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
	}

	_, err := c.temporal.ExecuteWorkflow(ctx, o, workflow, args...)
	if isAlreadyStarted(err) {
		return nil
	}

	return asDomainError(err)
}

// Ping reports whether the orchestrator answers.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.temporal.CheckHealth(ctx, &client.CheckHealthRequest{})

	return asDomainError(err)
}
