package stripe

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/stripe/stripe-go/v85"

	"rihla/gateways"
)

// wantedEvents are those without which the service hears of payments only when it asks.
var wantedEvents = []string{
	"checkout.session.completed", "checkout.session.async_payment_succeeded", "checkout.session.async_payment_failed",
	"checkout.session.expired", "refund.updated", "refund.failed", "charge.dispute.created",
	"charge.dispute.updated", "charge.dispute.closed",
}

// Check implements gateways.Checker with two requests that only read: a list of sessions, which the key must be able to make anyway, and
// the registered webhooks, which a restricted key may not see.
func (d *Driver) Check(ctx context.Context, webhook string) ([]gateways.Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	says := "The key is a test key."
	if d.live {
		says = "The key is a live key."
	}

	mode := gateways.Finding{OK: true, About: "mode", Says: says}

	err := d.call(ctx, gateways.KindRejected, func(ctx context.Context) error {
		params := &sdk.CheckoutSessionListParams{}
		params.Limit, params.Single = sdk.Int64(1), true

		for _, err := range d.client.V1CheckoutSessions.List(ctx, params).All(ctx) {
			return err
		}

		return nil
	})

	switch kind := gateways.KindOf(err); {
	case err == nil:
	case kind == gateways.KindUnauthorized || kind == gateways.KindRejected:
		return []gateways.Finding{{About: "key", Says: "The company refuses the key: " + err.Error() + "."}, mode}, nil
	default:
		return nil, err
	}

	hook, err := d.checkHooks(ctx, webhook)
	if err != nil {
		return nil, err
	}

	return []gateways.Finding{{OK: true, About: "key", Says: "The company takes the key."}, mode, hook}, nil
}

func (d *Driver) checkHooks(ctx context.Context, webhook string) (gateways.Finding, error) {
	var all []*sdk.WebhookEndpoint

	err := d.call(ctx, gateways.KindRejected, func(ctx context.Context) error {
		params := &sdk.WebhookEndpointListParams{}
		params.Limit = sdk.Int64(pageSize)

		for one, err := range d.client.V1WebhookEndpoints.List(ctx, params).All(ctx) {
			if err != nil {
				return err
			}

			all = append(all, one)
		}

		return nil
	})

	switch kind := gateways.KindOf(err); {
	case err == nil:
		return lookAtHooks(all, webhook), nil
	case kind == gateways.KindUnauthorized || kind == gateways.KindRejected:
		return gateways.Finding{
			About: "webhook", Says: "The company does not list webhooks to this key: it needs the right to read them.",
		}, nil
	default:
		return gateways.Finding{}, err
	}
}

// lookAtHooks finds our address among the registered ones. Their secrets cannot be compared.
func lookAtHooks(all []*sdk.WebhookEndpoint, webhook string) gateways.Finding {
	f := gateways.Finding{About: "webhook"}

	i := slices.IndexFunc(all, func(e *sdk.WebhookEndpoint) bool {
		return strings.TrimRight(e.URL, "/") == strings.TrimRight(webhook, "/")
	})
	if i < 0 {
		f.Says = "No webhook is registered for " + webhook + ": the service hears of payments only when it asks. " +
			"Add it in the dashboard with API version " + sdk.APIVersion + "."

		return f
	}

	hook := all[i]
	_, train, _ := strings.Cut(hook.APIVersion, ".")
	missing := slices.DeleteFunc(slices.Clone(wantedEvents), func(e string) bool {
		return slices.Contains(hook.EnabledEvents, e) || slices.Contains(hook.EnabledEvents, "*")
	})

	switch {
	case hook.Status == "disabled":
		f.Says = "The webhook is registered and disabled. Enable it in the dashboard."
	case train != sdk.APIMajorVersion:
		f.Says = "The webhook has another API version, and no message of it can be read. Register it with " + sdk.APIVersion + "."
	case len(missing) > 0:
		f.Says = "The webhook is registered without " + strings.Join(missing, ", ") + ". Add them in the dashboard."
	default:
		f.OK, f.Says = true, "The webhook is registered. Whether its secret is ours is seen with its first message."
	}

	return f
}
