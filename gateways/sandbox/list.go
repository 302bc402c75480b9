package sandbox

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"rihla/gateways"
	"rihla/gateways/httpcall"
)

var (
	_ gateways.CheckoutLister = (*Driver)(nil)
	_ gateways.RefundLister   = (*Driver)(nil)
)

// ListCheckouts implements gateways.CheckoutLister.
func (d *Driver) ListCheckouts(ctx context.Context, since time.Time, from string) ([]gateways.Checkout, string, error) {
	items, next, err := listSince[checkoutAnswer](ctx, d, "/v1/checkouts", since, from)
	if err != nil {
		return nil, "", err
	}

	page := make([]gateways.Checkout, len(items))

	for i, item := range items {
		if page[i], err = item.about(""); err != nil {
			return nil, "", err
		}
	}

	return page, next, nil
}

// ListRefunds implements gateways.RefundLister.
func (d *Driver) ListRefunds(ctx context.Context, since time.Time, from string) ([]gateways.ListedRefund, string, error) {
	items, next, err := listSince[refundAnswer](ctx, d, "/v1/refunds", since, from)
	if err != nil {
		return nil, "", err
	}

	page := make([]gateways.ListedRefund, len(items))

	for i, item := range items {
		if page[i].Refund, err = item.listed(); err != nil {
			return nil, "", err
		}
	}

	return page, next, nil
}

// listSince reads a page of a list by the time of creation.
func listSince[T any](ctx context.Context, d *Driver, path string, since time.Time, from string) (items []T, next string, err error) {
	var answer struct {
		Data *[]T   `json:"data"`
		Next string `json:"next"`
	}

	query := url.Values{"created_since": {since.UTC().Format(time.RFC3339Nano)}}
	if from != "" {
		query.Set("after", from)
	}

	err = d.call(ctx, request{method: http.MethodGet, path: path, list: query}, &answer)

	switch {
	case err != nil:
		return nil, "", err
	case answer.Data == nil:
		return nil, "", httpcall.BadAnswer("the list has no data")
	case answer.Next != "" && answer.Next == from:
		return nil, "", httpcall.BadAnswer("the list leads back")
	default:
		return *answer.Data, answer.Next, nil
	}
}
