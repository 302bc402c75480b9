package gateways_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/models"
)

// declining is the smallest driver: it asks a company for a checkout and says what its answer means. What may have happened is
// decided by the kind of the error, so that the caller knows whether to ask before it tries again.
type declining struct {
	gateways.Gateway // the calls that the example does not show

	url string
}

// CreateCheckout sends our reference as the idempotency key: a repeated call makes no second checkout.
func (d declining) CreateCheckout(ctx context.Context, r gateways.CheckoutRequest) (gateways.Checkout, error) {
	body := fmt.Sprintf(`{"amount": %d, "currency": %q}`, r.Amount.Halalas(), r.Currency)

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, strings.NewReader(body))
	if err != nil {
		return gateways.Checkout{}, &gateways.Error{Kind: gateways.KindRejected, Code: "bad_request", Err: err}
	}

	req.Header.Set("Idempotency-Key", r.MerchantReference.String())

	resp, err := http.DefaultClient.Do(req)
	if err != nil { // it may have arrived
		return gateways.Checkout{}, &gateways.Error{Kind: gateways.KindUnknown, Code: "connection", Err: err}
	}
	defer resp.Body.Close()

	switch {
	case resp.StatusCode == http.StatusConflict:
		return gateways.Checkout{}, &gateways.Error{Kind: gateways.KindInProgress, Code: "conflict"}
	case resp.StatusCode == http.StatusTooManyRequests:
		return gateways.Checkout{}, &gateways.Error{Kind: gateways.KindRateLimited, Code: "rate_limited"}
	case resp.StatusCode >= http.StatusInternalServerError:
		return gateways.Checkout{}, &gateways.Error{Kind: gateways.KindUnknown, Code: "server_error"}
	case resp.StatusCode >= http.StatusBadRequest:
		return gateways.Checkout{}, &gateways.Error{Kind: gateways.KindRejected, Code: "declined"}
	}

	return gateways.Checkout{MerchantReference: r.MerchantReference, Status: gateways.CheckoutOpen, Amount: r.Amount, Currency: r.Currency}, nil
}

func ExampleGateway() {
	company := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer company.Close()

	_, err := declining{url: company.URL}.CreateCheckout(context.Background(), gateways.CheckoutRequest{
		MerchantReference: uuid.New(), Amount: models.MustMoney("115.00"), Currency: models.Currency,
	})

	if e, ok := errors.AsType[*gateways.Error](err); ok {
		fmt.Println(e.Kind, "is final:", e.Kind == gateways.KindRejected)
	}
	// Output: rejected is final: true
}
