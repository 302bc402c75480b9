package workflows

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/models"
)

// The messages of a payment workflow.
const (
	UpdateCheckout = "checkout"      // waits until the customer can pay, or the attempt has ended
	UpdateCancel   = "cancel"        // closes the attempt, unless it has been paid
	SignalEvent    = "gateway-event" // a webhook event is stored; the payload is its id
)

// openAtMost bounds how long a gateway that is down keeps an attempt from being opened.
const openAtMost = 30 * time.Minute

// How long a gateway is asked about an attempt that is to end. An attempt never ends without its answer: money that was
// taken would be forgotten.
const (
	cancelAtMost = 30 * time.Second // then the cancellation is answered with GATEWAY_UNAVAILABLE
	askAtMost    = 5 * time.Minute  // unless Checkout.AskFor says otherwise; then an incident is opened, and polling goes on
	askPause     = time.Minute      // after this
	// askFloor is the shortest pause between two polls of a gateway that is silent about an expired attempt, however short it is asked for:
	// each poll is a dozen events.
	askFloor = 5 * time.Second
	// closeAtMost is longer than any attempt is open, but for one whose gateway does not answer.
	closeAtMost = 7 * 24 * time.Hour
)

// paymentRounds is after how many polls, events and requests to cancel an attempt goes on in a new run: each is about a dozen events.
const paymentRounds = 200

// Payment takes one payment attempt from its opening to its end (rules: payments.states). It completes with the attempt's outcome,
// declined ones included; it fails only when an operator has to look. Error types: the domain's codes.
func Payment(ctx workflow.Context, a models.Attempt) (models.Settled, error) {
	p := payment{attempt: a, id: a.ID()}
	if err := p.setup(ctx); err != nil {
		return models.Settled{}, err
	}

	return p.run(ctx)
}

type payment struct {
	attempt  models.Attempt
	id       uuid.UUID
	checkout models.Checkout
	opened   bool
	delayed  bool  // the gateway's circuit is open: callers should not wait for the checkout
	givenUp  bool  // the opening was given up, because the attempt is to be closed
	openErr  error // why there is no attempt at all
	settled  models.Settled
	cancel   bool // the attempt is to be closed
	unclosed bool // the gateway did not answer when the attempt was to be closed the last time
	outage   bool // an operator has been told that the gateway does not answer
	asked    int  // how often it was asked in vain about the expired attempt
	events   workflow.ReceiveChannel
}

func (p *payment) gateway() models.Gateway { return p.attempt.Method.Gateway() }

// setup registers everything that may be sent to the workflow before it first waits.
func (p *payment) setup(ctx workflow.Context) error {
	p.events = workflow.GetSignalChannel(ctx, SignalEvent)

	err := workflow.SetUpdateHandler(ctx, UpdateCheckout, func(ctx workflow.Context) (models.Checkout, error) {
		err := workflow.Await(ctx, func() bool { return p.opened || p.delayed || p.openErr != nil })
		if err == nil {
			err = p.openErr
		}

		return p.checkout, err
	})
	if err != nil {
		return err
	}

	return workflow.SetUpdateHandler(ctx, UpdateCancel, func(ctx workflow.Context) (models.Settled, error) {
		p.cancel = true

		err := workflow.Await(ctx, func() bool { return p.settled.Final() || p.openErr != nil || !p.cancel })
		if err == nil && !p.cancel && !p.settled.Final() && p.openErr == nil {
			err = temporal.NewNonRetryableApplicationError("The gateway does not answer: the attempt stays open.",
				string(models.CodeGatewayUnavailable), nil)
		}

		return p.settled, err
	})
}

// run is the process: open, wait for the gateway's event, settle, hand over.
func (p *payment) run(ctx workflow.Context) (models.Settled, error) {
	if p.attempt.Resumed != nil {
		p.resume()
	} else if err := p.open(ctx); err != nil {
		p.openErr = err
		setDetails(ctx, "No attempt was opened: "+errorText(err))

		return p.finish(ctx)
	}

	if err := p.awaitOutcome(ctx); err != nil {
		return p.settled, err
	}

	if p.openErr != nil {
		setDetails(ctx, "No attempt was opened: the database did not answer in time.")

		return p.finish(ctx)
	}

	if err := p.handOver(ctx); err != nil {
		return p.settled, err
	}

	return p.finish(ctx)
}

// open writes the PENDING row and creates the checkout at the gateway, for as long as a customer may wait for it. It
// fails only when there is no attempt at all; a gateway that does not answer leaves one that awaitOutcome ends.
func (p *payment) open(ctx workflow.Context) error {
	setDetails(ctx, "Opening a checkout at "+string(p.gateway())+".")

	began := workflow.Now(ctx)

	through, err := p.tryAtOnce(ctx)
	if !through {
		err = p.openBy(ctx, payments.OpenCheckout)
		p.checkout.GatewayTook = workflow.Now(ctx).Sub(began) // what did not come through at once waits for the gateway
	}

	if err == nil && p.checkout.Delayed {
		p.delayed = true
		setDetails(ctx, string(p.gateway())+": circuit open or rate-limited; the checkout is created when it recovers.")

		err = p.openBy(ctx, payments.AwaitCheckout)
	}

	if err != nil {
		return err
	}

	p.wasOpened()

	return nil
}

func (p *payment) wasOpened() {
	p.opened = true
	p.settled = models.Settled{Status: p.checkout.Status, Failure: p.checkout.Failure}
}

// tryAtOnce has the checkout created within the task that starts the attempt, which is all that most attempts need: through says that
// it was, or was refused, or that the gateway is not asked now. What does not come through at the first try is left to activities
// that show every try, on the gateway's own queue.
func (p *payment) tryAtOnce(ctx workflow.Context) (through bool, err error) {
	if !triesAtOnce(ctx) {
		return false, nil
	}

	lctx := withFirstTry(ctx, "Create the checkout at "+string(p.gateway())+", first try")
	if err = workflow.ExecuteLocalActivity(lctx, payments.TryCheckout, p.attempt).Get(ctx, &p.checkout); err != nil && !isRefusal(err) {
		p.checkout = models.Checkout{}

		return false, nil
	}

	return true, err
}

// openBy has the checkout created, until that is done, takes too long, or the attempt is to be closed.
func (p *payment) openBy(ctx workflow.Context, activity any) error {
	gctx, giveUp := workflow.WithCancel(withGateway(ctx, p.gateway(), "Create the checkout at "+string(p.gateway()), openAtMost))
	opening := workflow.ExecuteActivity(gctx, activity, p.attempt)

	if err := workflow.Await(ctx, func() bool { return opening.IsReady() || p.cancel }); err != nil {
		return err
	}

	if p.givenUp = !opening.IsReady(); p.givenUp {
		giveUp()
	}

	var checkout models.Checkout

	if err := opening.Get(ctx, &checkout); err != nil {
		if isRefusal(err) {
			return err
		}

		checkout = models.Checkout{Status: models.TransactionPending, ExpiresAt: workflow.Now(ctx)}
	}

	p.checkout = checkout

	return nil
}

// isRefusal tells an answer of the domain from an activity that ran out of time or was given up.
func isRefusal(err error) bool {
	e, ok := errors.AsType[*temporal.ApplicationError](err)

	return ok && e.NonRetryable()
}

// awaitOutcome waits for the gateway's event, a request to cancel, or the expiry, whatever comes first, until the
// attempt has ended.
func (p *payment) awaitOutcome(ctx workflow.Context) error {
	expiry := p.firstTimer(ctx)

	for rounds := 0; !p.settled.Final() && p.openErr == nil; rounds++ {
		if p.hasGrown(ctx, rounds) && continuesPayments(ctx) {
			return p.goOn(ctx)
		}

		p.showWaiting(ctx)

		err := workflow.Await(ctx, func() bool { return p.events.Len() > 0 || p.cancel || expiry.IsReady() })
		if err != nil {
			return err
		}

		switch {
		case p.events.Len() > 0:
			err = p.settle(ctx)
		case p.cancel:
			if expiry, err = p.close(ctx, expiry); err != nil {
				return err
			}
		default:
			if err = p.end(ctx, models.FailureExpired, p.askFor()); err == nil && !p.settled.Final() && p.openErr == nil {
				expiry, err = p.reportAndPoll(ctx)
			}
		}

		if err != nil {
			return err
		}
	}

	return nil
}

// showWaiting says for whom the attempt waits: the customer, or a gateway that does not answer about an expired one.
func (p *payment) showWaiting(ctx workflow.Context) {
	if p.outage {
		setDetails(ctx, string(p.gateway())+" does not report whether the expired attempt was paid. The attempt stays open "+
			"and polling continues; an incident is open.")

		return
	}

	setDetails(ctx, "Waiting for the customer to pay until "+p.checkout.ExpiresAt.UTC().Format(time.RFC3339)+".")
}

func (p *payment) startTimer(ctx workflow.Context) workflow.Future {
	return workflow.NewTimerWithOptions(ctx, p.checkout.ExpiresAt.Sub(workflow.Now(ctx)),
		workflow.TimerOptions{Summary: "Time to pay"})
}

// settle applies every stored event. The signals only say that there are some: a hundred of them cost one settlement.
func (p *payment) settle(ctx workflow.Context) error {
	drain(p.events)

	dctx := withDatabase(ctx, "Settle: state, booking, ledger entry and notifications in one transaction")

	var settled models.Settled
	if err := workflow.ExecuteLocalActivity(dctx, payments.SettlePayment, p.id).Get(ctx, &settled); err != nil {
		return err
	}

	p.settled = settled // as a whole: decoded into the old one, it would keep what the new one leaves out

	return nil
}

// end closes the attempt without money, but asks the gateway first: a payment whose webhook was lost still counts. When
// the gateway does not answer within atMost, the attempt stays as it is.
func (p *payment) end(ctx workflow.Context, why models.FailureCode, atMost time.Duration) error {
	setDetails(ctx, "Closing the attempt ("+string(why)+"): reading at "+string(p.gateway())+" whether it was paid.")

	asked := closeCheckout(ctx, p.id, p.gateway(), atMost)
	p.unclosed = asked != nil

	err := p.settle(ctx)
	if isMissing(err) {
		p.openErr, p.settled = err, models.Settled{} // the opening never got as far as writing its row

		return nil
	}

	if err != nil || p.settled.Final() || asked != nil {
		return err
	}

	return endPayment(ctx, p.id, why, &p.settled)
}

// askFor is how long the gateway is queried about the expired attempt before an incident is opened.
func (p *payment) askFor() time.Duration {
	if p.checkout.AskFor > 0 {
		return p.checkout.AskFor
	}

	return askAtMost
}

// reportAndPoll leaves an expired attempt open because its gateway does not answer, and tells an operator, once.
func (p *payment) reportAndPoll(ctx workflow.Context) (workflow.Future, error) {
	if !p.outage {
		p.outage = true

		dctx := withDatabase(ctx, "Open an incident: the gateway does not answer")
		if err := workflow.ExecuteLocalActivity(dctx, payments.ReportOutage, p.id).Get(ctx, nil); err != nil {
			return nil, err
		}

		if err := workflow.UpsertTypedSearchAttributes(ctx, attrNeedsReview.ValueSet(true)); err != nil {
			return nil, err
		}
	}

	pause := nextPoll(p.askFor(), p.asked)
	p.asked++

	return workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{Summary: "Poll the gateway again"}), nil
}

// nextPoll is the pause before a silent gateway is asked again: as long as it was asked for, at least askFloor, and twice as
// long each time,
// up to askPause.
func nextPoll(askFor time.Duration, asked int) time.Duration {
	return min(max(askFor, askFloor)<<min(asked, 10), askPause)
}

// errorText is what a refusal says, without the orchestrator's words around it.
func errorText(err error) string {
	if e, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return e.Message()
	}

	return err.Error()
}

// isMissing reports that there is no such attempt.
func isMissing(err error) bool {
	e, ok := errors.AsType[*temporal.ApplicationError](err)

	return ok && e.Type() == string(models.CodeNotFound)
}

func closeCheckout(ctx workflow.Context, id uuid.UUID, gateway models.Gateway, atMost time.Duration) error {
	gctx := withGateway(ctx, gateway, "Close the checkout, or read that it was paid", atMost)

	return workflow.ExecuteActivity(gctx, payments.CloseCheckout, id).Get(ctx, nil)
}

func endPayment(ctx workflow.Context, id uuid.UUID, why models.FailureCode, settled *models.Settled) error {
	dctx := withDatabase(ctx, "End the attempt unpaid: "+string(why))

	return workflow.ExecuteLocalActivity(dctx, payments.EndPayment, activities.End{TransactionID: id, Why: why}).Get(ctx, settled)
}

// handOver records the outcome where operators search for it, and starts what follows from it.
func (p *payment) handOver(ctx workflow.Context) error {
	setDetails(ctx, outcomeText(p.settled))

	attrs := []temporal.SearchAttributeUpdate{attrPaymentStatus.ValueSet(string(p.settled.Status))}
	if p.settled.NeedsReview || p.outage {
		attrs = append(attrs, attrNeedsReview.ValueSet(true))
	}

	if err := workflow.UpsertTypedSearchAttributes(ctx, attrs...); err != nil {
		return err
	}

	return followUp(ctx, subject{
		transaction: p.id, booking: p.attempt.BookingID, provider: p.attempt.ProviderID, gateway: p.gateway(),
	}, p.settled)
}

// finish answers everybody who still waits, and leaves no signal unread: the sweep knows the rest.
func (p *payment) finish(ctx workflow.Context) (models.Settled, error) {
	drain(p.events)

	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return p.settled, err
	}

	return p.settled, nil
}

// drain empties a signal channel.
func drain(c workflow.ReceiveChannel) {
	for c.ReceiveAsync(nil) {
		continue
	}
}

// setDetails shows in Temporal's UI what the workflow is doing.
func setDetails(ctx workflow.Context, what string) { workflow.SetCurrentDetails(ctx, what) }

func outcomeText(s models.Settled) string {
	switch {
	case s.RefundOwed:
		return "Late payment: it is refunded. An incident is open."
	case s.Mismatch != "":
		return fmt.Sprintf("%s (%s): %s The money is in suspense. An incident is open; finance refunds it.", s.Status, s.Failure, s.Mismatch)
	case s.NeedsReview:
		return fmt.Sprintf("%s (%s). An incident is open.", s.Status, s.Failure)
	case s.Failure != "":
		return fmt.Sprintf("Ended as %s: %s.", s.Status, s.Failure)
	default:
		return "Paid and booked."
	}
}
