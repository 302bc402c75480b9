package workflows

import "go.temporal.io/sdk/workflow"

// Versions of workflows whose older runs may still be waiting: one predicate per change, named
// for what new runs do. workflow.GetVersion is called here and nowhere else, and a change id is never used again.
//
// To make a change that old runs would not replay, add a predicate here and call it near the workflow's beginning, or where
// the change is, if few runs come there: each first call is an event. What it answers stays the same for the whole run.
// Record a history of the new way (docs/testing.md). Take predicate and old branch out when no run can be older than the
// change, which is after the longest life of its workflow (payment and refund: 72 hours and what a gateway's outage adds;
// campaign: months) and when `StartTime < "…" AND WorkflowType="…" AND ExecutionStatus="Running"`, of the moment when the last worker
// without the change was gone, finds no workflow.
// The histories that only the old branch replays move to testdata/histories/retired in the same commit, unchanged.

// opensAgain: an attempt whose opening was given up to close it, and that could not be closed, is opened after all. Called where
// that has happened, so that no other payment pays for it with an event. Since 1.1.0.
func opensAgain(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "payment-opens-again", workflow.DefaultVersion, 1) >= 1
}

// continuesPayments: a payment whose history has grown goes on in a new run. Called where one has. Since 1.1.0.
func continuesPayments(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "payment-continues-as-new", workflow.DefaultVersion, 1) >= 1
}

// continuesCampaigns: a campaign whose history has grown goes on in a new run. Called where one has. Since 1.1.0.
func continuesCampaigns(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "campaign-continues-as-new", workflow.DefaultVersion, 1) >= 1
}

// closesLater: the checkout of a booking that was cancelled while its gateway did not answer is closed by a workflow of its own.
// Called where that is so. Since 1.1.0.
func closesLater(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "cancelled-is-closed-later", workflow.DefaultVersion, 1) >= 1
}

// continuesWhilePollsDue: a poll goes on while questions are left whose turn it is. Called where some are, which no older run has heard of.
// Since 1.1.0.
func continuesWhilePollsDue(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "poll-goes-on-while-behind", workflow.DefaultVersion, 1) >= 1
}

// pollsAtTheGatewaysRate: a poll makes no pause between rounds that have asked for all of their time, and goes on in a new run while
// questions are left. Called where some are, of which no run before poll-goes-on-while-behind has heard. Since 1.1.0.
func pollsAtTheGatewaysRate(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "poll-at-the-gateways-rate", workflow.DefaultVersion, 1) >= 1
}

// splitsBacklogs: several deliverers share a backlog of messages. Called where there is one, of which no older run has heard. Since 1.1.0.
func splitsBacklogs(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "outbox-splits-backlogs", workflow.DefaultVersion, 1) >= 1
}

// showsCampaignState: operators find campaigns by PaymentStatus, CAMPAIGN_ and the state. Since 1.1.0.
func showsCampaignState(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "campaign-shows-its-state", workflow.DefaultVersion, 1) >= 1
}

// executesOrders: a refund reads its order instead of reserving, settles at once after its webhook, and goes on in a new run
// when its history has grown. Since 1.1.0.
func executesOrders(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "refund-executes-orders", workflow.DefaultVersion, 1) >= 1
}

// awaitsApproval: a refund that needs an approval waits for it. Called where one does, of which no older run has heard. Since 1.1.0.
func awaitsApproval(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "refund-awaits-approval", workflow.DefaultVersion, 1) >= 1
}

// ordersLateRefunds: the refund of late money is ordered before its workflow is started. Called where such money has come, so
// that no other payment pays for it with an event. Since 1.1.0.
func ordersLateRefunds(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "late-refund-is-ordered", workflow.DefaultVersion, 1) >= 1
}

// triesAtOnce: the first try at the gateway is part of the workflow's first task. Since 1.1.0.
func triesAtOnce(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "payment-tries-at-once", workflow.DefaultVersion, 1) >= 1
}

// pacesCancellations: the bookings of a trip that is called off are cancelled at a bounded rate. Called where one is. Since 1.1.0.
func pacesCancellations(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "trip-cancellation-at-a-rate", workflow.DefaultVersion, 1) >= 1
}

// refundsAtOnce: the first try of a refund at its gateway is part of the workflow's first task. Since 1.1.0.
func refundsAtOnce(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "refund-tries-at-once", workflow.DefaultVersion, 1) >= 1
}

// cancelsTogether: a few bookings of a trip that is called off are cancelled by one task. Called where some are. Since 1.1.0.
func cancelsTogether(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, "trip-cancellation-together", workflow.DefaultVersion, 1) >= 1
}
