package moyasar

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"rihla/gateways"
	"rihla/gateways/httpcall"
)

// wantedEvents are those without which the service hears of payments only when it asks.
var wantedEvents = []string{"payment_paid", "payment_refunded", "payment_expired"}

// hook is a registered webhook (docs.moyasar.com/fetch-webhook). Its secret is never shown.
type hook struct {
	URL        string   `json:"url"`
	HTTPMethod string   `json:"http_method"`
	Events     []string `json:"events"`
}

// Check implements gateways.Checker with two requests that only read. Which methods and currencies the account has is shown by
// the dashboard only.
func (d *Driver) Check(ctx context.Context, webhook string) ([]gateways.Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	mode := gateways.Finding{OK: true, About: "mode", Says: "The key is a " + string(Mode(d.key)) + " key."}

	_, _, err := d.page(ctx, [16]byte{}, 1)

	switch kind := gateways.KindOf(err); {
	case err == nil:
	case kind == gateways.KindUnauthorized || kind == gateways.KindRejected:
		return []gateways.Finding{{About: "key", Says: "The company refuses the key: " + err.Error() + "."}, mode}, nil
	default:
		return nil, err
	}

	found := []gateways.Finding{{OK: true, About: "key", Says: "The company takes the key."}, mode}

	var answer struct {
		Webhooks *[]hook `json:"webhooks"`
	}

	err = d.call(ctx, request{method: http.MethodGet, path: "/v1/webhooks"}, &answer)

	switch kind := gateways.KindOf(err); {
	case err == nil && answer.Webhooks != nil:
		return append(found, lookAtHooks(*answer.Webhooks, webhook)), nil
	case err == nil:
		return nil, httpcall.BadAnswer("the list has no webhooks")
	case kind == gateways.KindUnauthorized || kind == gateways.KindRejected:
		return append(found, gateways.Finding{
			About: "webhook", Says: "The company does not list webhooks to this key: " + err.Error() + ".",
		}), nil
	default:
		return nil, err
	}
}

// lookAtHooks finds our address among the registered ones. Their secrets cannot be compared.
func lookAtHooks(all []hook, webhook string) gateways.Finding {
	f := gateways.Finding{About: "webhook"}

	i := slices.IndexFunc(all, func(h hook) bool { return sameAddress(h.URL, webhook) })
	if i < 0 {
		f.Says = "No webhook is registered for " + webhook + ": the service hears of payments only when it asks. " +
			"Add it in the dashboard under Settings, Webhooks, with the method POST."

		return f
	}

	missing := slices.DeleteFunc(slices.Clone(wantedEvents), func(e string) bool { return slices.Contains(all[i].Events, e) })

	switch {
	case all[i].HTTPMethod != "" && !strings.EqualFold(all[i].HTTPMethod, http.MethodPost):
		f.Says = "The webhook is registered with another method than POST, and every message is refused. Change it in the dashboard."
	case len(all[i].Events) > 0 && len(missing) > 0:
		f.Says = "The webhook is registered without " + strings.Join(missing, ", ") + ". Add them in the dashboard."
	default:
		f.OK, f.Says = true, "The webhook is registered. Whether its secret is ours is seen with its first message."
	}

	return f
}

// sameAddress compares addresses without regard to a slash at the end.
func sameAddress(a, b string) bool {
	one, err := url.Parse(a)
	if err != nil {
		return false
	}

	other, err := url.Parse(b)

	return err == nil && one.Host == other.Host && one.Scheme == other.Scheme && one.RawQuery == other.RawQuery &&
		strings.TrimRight(one.Path, "/") == strings.TrimRight(other.Path, "/")
}
