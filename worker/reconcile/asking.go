package reconcile

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"

	"rihla/gateways"
	"rihla/models"
)

const (
	maxTries  = 4
	firstWait = 500 * time.Millisecond
	maxWait   = 30 * time.Second
	// callTime bounds one question, which may be several requests.
	callTime = 20 * time.Second
	// givesUpAfter is how many questions in a row a gateway leaves without an answer before it is not asked any more.
	givesUpAfter = 3
)

// asking is the questions to one gateway.
type asking struct {
	*run
	*Account

	sum     *AccountReport
	limiter *rate.Limiter
	silent  int // questions in a row without an answer
}

// call asks one question, at the rate of the account. It tries again when the gateway did not answer, or wants a pause. The error is the
// gateway's; answered is false when it did not say anything that can be believed.
func (a *asking) call(ctx context.Context, ask func(context.Context) error) (answered bool, err error) {
	if a.silent >= givesUpAfter {
		a.sum.Unanswered++

		return false, nil
	}

	a.sum.Asked++

	for try := 1; ; try++ {
		if err := a.limiter.Wait(ctx); err != nil {
			return false, err
		}

		limited, cancel := context.WithTimeout(ctx, callTime)
		err = ask(limited)

		cancel()

		if err != nil && !gateways.IsFromGateway(err) {
			return false, err
		}

		kind := gateways.KindOf(err)
		if err == nil || kind == gateways.KindNotFound || kind == gateways.KindRejected {
			a.silent = 0

			return true, err
		}

		if try == maxTries || kind == gateways.KindUnauthorized {
			a.silent++
			a.sum.Unanswered++
			a.Log.WarnContext(ctx, "gateway did not answer", "account", a.Name, "kind", kind.String())

			return false, nil
		}

		if err := wait(ctx, err, try); err != nil {
			return false, err
		}
	}
}

// wait is as long as the gateway asked for, within bounds.
func wait(ctx context.Context, err error, try int) error {
	pause := firstWait << try
	if e, ok := errors.AsType[*gateways.Error](err); ok && e.RetryAfter > pause {
		pause = e.RetryAfter
	}

	timer := time.NewTimer(min(pause, maxWait))
	defer timer.Stop()

	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// read reads the checkout of an attempt. answered is false when nothing is known of it; found when the gateway has one.
func (a *asking) read(ctx context.Context, ref gateways.CheckoutRef) (c gateways.Checkout, found, answered bool, err error) {
	answered, err = a.call(ctx, func(ctx context.Context) (err error) {
		c, err = a.Gateway.ReadCheckout(ctx, ref)

		return err
	})
	if err != nil && gateways.IsFromGateway(err) {
		return c, false, answered, nil
	}

	return c, answered && err == nil, answered, err
}

// find notes what the gateway and the books do not agree about, once: two accounts may be one at the company, and have the same list.
func (a *asking) find(f Finding) {
	key := string(f.Kind) + f.Subject + f.ID
	if a.seen[key] {
		return
	}

	a.seen[key] = true
	f.Account = a.Name
	a.report.Findings = append(a.report.Findings, f)
}

func (a *asking) amount(of models.Money, currency string) string {
	return of.String() + " " + models.CurrencyCode(currency)
}
