package hyperpay

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/google/uuid"

	"rihla/gateways"
)

// Mode is what an access token is for. It does not tell: test and live tokens look alike, and differ in the system that knows them.
func Mode(string) gateways.Mode { return gateways.ModeUnknown }

// Check implements gateways.Checker. It asks the report of every entity for a reference that is not used: "cannot find transaction" says
// that the token, the entity and the right to read reports are good, which is what finds payments whose messages were lost.
func (d *Driver) Check(ctx context.Context, webhook string) ([]gateways.Finding, error) {
	var findings []gateways.Finding

	for _, method := range slices.Sorted(maps.Keys(d.entities)) {
		f, err := d.checkEntity(ctx, d.entities[method])
		if err != nil {
			return findings, err
		}

		f.Says = string(method) + ": " + f.Says
		findings = append(findings, f)
	}

	says := "The address is that of the test system: no money is taken."
	if d.live {
		says = "The account is used with real money. A test system would answer with successes that are refused here."
	}

	return append(findings,
		gateways.Finding{OK: true, About: "mode", Says: says},
		gateways.Finding{OK: true, About: "currency", Says: "HyperPay does not tell which currencies an entity takes; checkouts ask for SAR."},
		gateways.Finding{OK: true, About: "webhook", Says: "HyperPay does not tell which addresses are registered. Ask for " + webhook +
			", which is inactive until its test message got a 2xx answer."},
	), nil
}

// checkEntity asks one report. Its error is that the company could not be asked.
func (d *Driver) checkEntity(ctx context.Context, entity string) (gateways.Finding, error) {
	var answer reportAnswer

	err := d.call(ctx, request{
		method: http.MethodGet, path: "/v1/query", query: url.Values{"entityId": {entity}, "merchantTransactionId": {uuid.NewString()}},
	}, &answer)

	f := gateways.Finding{About: "key"}

	switch {
	case gateways.KindOf(err) == gateways.KindUnauthorized:
		f.Says = "The access token or the entity is refused, or it may not read the transaction report; HyperPay's support enables that."
	case err != nil:
		return f, err
	case answer.outcome() == noPayment:
		f.OK, f.Says = true, "The access token and the entity are good, and the transaction report can be read."
	default:
		f.Says = "The transaction report answers with " + answer.Result.Code + " about a transaction that nobody has made."
	}

	return f, nil
}
