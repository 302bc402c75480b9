package activities

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/errgroup"

	"rihla/gateways"
	"rihla/internal/store"
	"rihla/internal/store/payments"
	"rihla/internal/telemetry"
	"rihla/models"
)

// Polls asks gateways about attempts whose webhooks may be lost: about open ones whose customers wait, or while no webhook comes on
// their channel, and about those that ended without money at certain times after their end; checkouts that are still open then it
// closes. What it hears goes the way of a webhook: it is stored as an event, and the attempt's own workflow settles it, or the one
// for late events.
type Polls struct {
	Store          *store.Store
	Gateways       map[models.MerchantAccount]gateways.Gateway
	Deliver        func(context.Context, models.Delivery) error
	WebhookSilence time.Duration // after how long without a webhook a channel counts as silent
	Limiters       map[models.MerchantAccount]PollLimiters
	Now            func() time.Time
	Log            *slog.Logger
	// Asked is called for every query: open, news, error or not_sent; Silent of every round that found the channel silent.
	Asked  func(c models.Channel, outcome string)
	Silent func(c models.Channel)
}

// How much one round asks; the rounds come every five seconds while the channel is silent, and at once while questions are left. About
// open attempts of a silent channel it asks 28 times at most. About attempts whose customers wait, and about those that have ended, it
// asks until there are none or its time is over: about the former within a quarter of the gateway's rate, about the latter with what is
// left of it.
const (
	maxOpenPolls  = 7 * pollBatch
	pollBatch     = 4               // taken at once, and asked side by side
	lateBatch     = 16              // the same, of those that have ended
	pollTime      = 4 * time.Second // then the rest waits for the next round
	lateTime      = 9 * time.Second // the same, of those that have ended
	lateAtOnce    = time.Second     // until those are looked for again whose customers wait
	recheckTime   = 2 * time.Second // of one round, for payments that are compared
	waitedForTime = 2 * time.Second // of that, at most, for attempts whose customers wait
	pollPause     = 30 * time.Second
	checkLease    = 10 * time.Second // until an ended attempt is asked about again whose question was not answered
	pollTimeout   = 4 * time.Second
	closeFor      = time.Hour // after the end of an attempt; then it is left to the next time at which it is asked about
	// maxClockSkew is what the orchestrator's clock may be ahead of this machine's; the rounds are farther apart.
	maxClockSkew = time.Second
)

// Polled is what came of one round.
type Polled struct {
	Silent bool `json:"silent"`          // the channel is still silent
	Asked  int  `json:"asked,omitempty"` // questions that were answered
	News   int  `json:"news,omitempty"`  // attempts of which the gateway knew more than we did
	More   bool `json:"more,omitempty"`  // the gateway answers, and questions whose turn it is may be left
}

// PollStatus asks once about the attempts of a channel whose turn it is: those whose customers wait, the open ones if the channel is
// silent, and those that have ended. A gateway that does not answer either is left for the next round.
func (p *Polls) PollStatus(ctx context.Context, c models.Channel) (Polled, error) {
	defer heartbeat(ctx)()

	var (
		out Polled
		err error
	)

	if p.WebhookSilence > 0 { // else it is switched off
		if out.Silent, err = p.Store.Payments.ChannelSilent(ctx, c, p.WebhookSilence, p.Now()); err != nil {
			return out, asActivityError(err)
		}
	}

	if out.Silent {
		p.Silent(c)
	}

	return out, asActivityError(p.askRound(ctx, c, &out))
}

// askRound asks about those first whose customers wait. A gateway that does not answer about them is not asked about others.
func (p *Polls) askRound(ctx context.Context, c models.Channel, out *Polled) error {
	began := time.Now()

	goOn, waited, err := p.askWaitedFor(ctx, c, out)

	if goOn && err == nil {
		goOn, err = p.recheck(ctx, c, out)
	}

	if goOn && err == nil && out.Silent {
		goOn, _, err = p.askUntil(ctx, c, out, pollLimits{
			until: began.Add(pollTime), atMost: maxOpenPolls,
			turns: func() int { return pollBatch },
			claim: func(limit int) ([]models.PaymentTransaction, error) {
				return p.Store.Payments.ClaimPaymentsToPoll(ctx, c, min(pollPause, p.WebhookSilence), earlierClaims(ctx), limit, p.Now())
			},
		})
	}

	if !goOn || err != nil {
		return err
	}

	late := true
	for end := began.Add(lateTime); goOn && err == nil && late && time.Now().Before(end); {
		if goOn, late, err = p.askLate(ctx, c, out, time.Now().Add(lateAtOnce)); goOn && err == nil && late {
			goOn, waited, err = p.askWaitedFor(ctx, c, out)
		}
	}

	out.More = goOn && (waited || late)

	return err
}

// askWaitedFor asks about attempts whose customers wait.
func (p *Polls) askWaitedFor(ctx context.Context, c models.Channel, out *Polled) (goOn, more bool, err error) {
	until, limiter := time.Now().Add(waitedForTime), p.Limiters[c.Account()].Waited

	return p.askUntil(ctx, c, out, pollLimits{
		until: until, atMost: math.MaxInt,
		turns: func() int { return takeTokens(ctx, limiter, until) },
		claim: func(limit int) ([]models.PaymentTransaction, error) {
			return p.Store.Payments.ClaimWaitedFor(ctx, c, limit, p.Now())
		},
	})
}

// recheck compares payments with the gateway of which something was heard: what it has given back of them.
func (p *Polls) recheck(ctx context.Context, c models.Channel, out *Polled) (goOn bool, err error) {
	g, ok := p.Gateways[c.Account()]
	if !ok {
		return true, nil
	}

	for end := time.Now().Add(recheckTime); time.Now().Before(end); {
		some, err := p.Store.Payments.ClaimRechecks(ctx, c, checkLease, pollBatch, p.Now())
		if err != nil {
			return false, err
		}

		for i := range some {
			limited, cancel := context.WithTimeout(ctx, pollTimeout)
			compared, err := comparePayment(limited, p.Store, g, &some[i])

			cancel()

			switch {
			case err != nil && gateways.IsFromGateway(err):
				p.Asked(c, askedError)

				return !gateways.KindOf(err).IsAway(), nil // it comes up again after its lease
			case err != nil:
				return false, err
			}

			p.Asked(c, askedOpen)

			if out.Asked++; compared.Outside.IsPositive() {
				out.News++
			}
		}

		if len(some) < pollBatch {
			break
		}
	}

	return true, nil
}

// askLate asks about attempts that have ended, with what the gateway has to spare.
func (p *Polls) askLate(ctx context.Context, c models.Channel, out *Polled, until time.Time) (goOn, more bool, err error) {
	return p.askUntil(ctx, c, out, pollLimits{
		until: until, atMost: math.MaxInt,
		turns: func() int { return takeSpare(ctx, p.Gateways[c.Account()], until) },
		claim: func(limit int) ([]models.PaymentTransaction, error) {
			return p.Store.Payments.ClaimLateChecks(ctx, c, checkLease, earlierClaims(ctx), limit, p.Now())
		},
	})
}

// earlierClaims is when earlier tries of this round took attempts. Their worker may have been killed before it asked.
func earlierClaims(ctx context.Context) payments.ClaimWindow {
	if !activity.IsActivity(ctx) || activity.GetInfo(ctx).Attempt == 1 {
		return payments.ClaimWindow{}
	}

	round := activity.GetInfo(ctx)

	return payments.ClaimWindow{From: round.ScheduledTime.Add(-maxClockSkew), To: round.StartedTime}
}

// pollLimits are those of one kind in a round.
type pollLimits struct {
	until  time.Time
	atMost int
	turns  func() int // how many may be asked now, side by side; 0: none in time
	claim  func(limit int) ([]models.PaymentTransaction, error)
}

// askUntil asks about what is claimed, until nothing is left, enough has been asked, the time is over or the turns are used up. It
// says whether the gateway is well enough to be asked about others, and whether some may be left.
func (p *Polls) askUntil(ctx context.Context, c models.Channel, out *Polled, q pollLimits) (goOn, more bool, err error) {
	for asked := 0; asked < q.atMost && time.Now().Before(q.until); {
		limit := q.turns()
		if limit == 0 {
			return true, true, nil
		}

		some, err := q.claim(limit)
		if err != nil {
			return false, false, err
		}

		asked += len(some)

		goOn, err := p.askAll(ctx, c, some, out)
		if err != nil || !goOn || len(some) < limit {
			return goOn, false, err
		}
	}

	return true, true, nil
}

// askAll asks about some attempts side by side. It says whether the gateway is well enough to be asked about others.
func (p *Polls) askAll(ctx context.Context, c models.Channel, some []models.PaymentTransaction, out *Polled) (goOn bool, err error) {
	var (
		group errgroup.Group
		mu    sync.Mutex
	)

	goOn = true

	for i := range some {
		group.Go(func() error {
			outcome, err := p.ask(ctx, &some[i])
			p.Asked(c, outcome)

			if err == nil && some[i].Status != models.TransactionPending && (outcome == askedOpen || outcome == askedNews) {
				err = p.Store.Payments.CompleteLateCheck(ctx, &some[i], p.Now())
			}

			mu.Lock()
			defer mu.Unlock()

			switch outcome {
			case askedOpen:
				out.Asked++
			case askedNews:
				out.Asked++
				out.News++
			default:
				goOn = false
			}

			return err
		})
	}

	return goOn, group.Wait()
}

// Outcomes of a query.
const (
	askedOpen    = "open" // the gateway knows no more than we do
	askedNews    = "news"
	askedError   = "error"
	askedNotSent = "not_sent"
)

// refOf names the attempt's checkout, whose id at the gateway we may have never heard of.
func refOf(t *models.PaymentTransaction) gateways.CheckoutRef {
	ref := gateways.CheckoutRef{
		MerchantReference: t.ID, Method: t.PaymentMethod, Amount: t.Amount, Currency: t.Currency,
		CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt,
	}
	if t.Reference != nil {
		ref.ID = *t.Reference
	}

	if t.OpenedAt != nil {
		ref.OpenedAt = *t.OpenedAt
	}

	if t.GatewayPaymentID != nil {
		ref.PaymentID = *t.GatewayPaymentID
	}

	if t.Kind == models.KindSecondDebit { // the company knows it by the reference of the payment
		ref.MerchantReference = *t.ParentID
	}

	return ref
}

// ask is one question. Its error is the database's: that the gateway does not answer is an outcome.
func (p *Polls) ask(ctx context.Context, t *models.PaymentTransaction) (outcome string, err error) {
	g, ok := p.Gateways[t.Channel.Account()]
	if !ok {
		return askedNotSent, nil
	}

	limited, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()

	checkout, err := g.ReadCheckout(limited, refOf(t))
	if err == nil && t.Status != models.TransactionPending {
		// The attempt may have ended without its checkout being closed: the gateway was silent, or the worker was killed. A gateway that
		// answers and closes nothing is not asked all the time for ever.
		now, closing := cancelOpenCheckout(limited, g, t, checkout)
		if closing == nil {
			checkout = now
		} else if p.Now().Sub(t.UpdatedAt) < closeFor {
			err = closing
		}
	}

	switch kind := gateways.KindOf(err); {
	case err == nil:
	case kind == gateways.KindNotFound, kind == gateways.KindRejected:
		return askedOpen, nil // it is for the end of the attempt to make something of that
	case kind.IsAway():
		return askedNotSent, nil
	default:
		return askedError, nil
	}

	if t.Status != models.TransactionPending && checkout.Status != gateways.CheckoutPaid {
		return askedOpen, nil // it has ended, and that it has is no news
	}

	stored, err := recordAnswer(ctx, p.Store, t, checkout, p.Now())

	switch {
	case err != nil:
		return askedError, err
	case stored.Deliver:
		if err := p.Deliver(ctx, stored.Delivery); err != nil {
			p.Log.WarnContext(ctx, "gateway answer not delivered to its workflow; the sweep retries", "error", telemetry.Scrub(err.Error()))
		}

		return askedNews, nil
	default:
		return askedOpen, nil
	}
}
