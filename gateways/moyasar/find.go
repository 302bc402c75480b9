package moyasar

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/gateways/httpcall"
)

// read reads the invoice of a reference, by the payment that the reference names.
func (d *Driver) read(ctx context.Context, r gateways.CheckoutRef) (c reading, err error) {
	if r.ID == "" {
		c, err = d.find(ctx, r.MerchantReference)
	} else {
		c, err = d.readByID(ctx, r.ID)
	}

	if err == nil {
		c.choose(r.PaymentID)
	}

	return c, err
}

func (d *Driver) readByID(ctx context.Context, id string) (reading, error) {
	var v invoice

	err := d.call(ctx, request{method: http.MethodGet, path: "/v1/invoices/" + url.PathEscape(id), missing: gateways.KindNotFound}, &v)
	if err != nil {
		return reading{}, err
	}

	if v.ID != id {
		return reading{}, httpcall.BadAnswer("the answer is about another invoice")
	}

	return v.read()
}

// maxPages bounds a search: 400 invoices. A filter that the company did not honour would list all of the account.
const maxPages = 10

// find reads the invoice of our reference. Of several of them the one that was paid counts, then one that can be paid, then the
// newest.
func (d *Driver) find(ctx context.Context, reference uuid.UUID) (reading, error) {
	var found []reading

	for page := 1; page > 0; {
		if page > maxPages {
			return reading{}, &gateways.Error{Kind: gateways.KindUnknown, Code: "too_many_pages", Message: "the search has no end"}
		}

		items, next, err := d.page(ctx, reference, page)
		if err != nil {
			return reading{}, err
		}

		for _, item := range items {
			if item.reference() != reference {
				continue // the company does not promise that its filter is exact
			}

			c, err := d.readItem(ctx, item)
			if err != nil {
				return reading{}, err
			}

			found = append(found, c)
		}

		page = next
	}

	if len(found) == 0 {
		return reading{}, &gateways.Error{
			Kind: gateways.KindNotFound, Code: "not_found", Message: "the company has no invoice of reference " + reference.String(),
		}
	}

	return slices.MinFunc(found, func(a, b reading) int { return rank(a.Status) - rank(b.Status) }), nil
}

// readItem reads an item of a list. Lists may leave the payments out (docs.moyasar.com/list-invoices): then the invoice is asked for.
func (d *Driver) readItem(ctx context.Context, item invoice) (reading, error) {
	if c, err := item.read(); err == nil {
		return c, nil
	}

	return d.readByID(ctx, item.ID)
}

func rank(s gateways.CheckoutStatus) int {
	switch s {
	case gateways.CheckoutPaid:
		return 0
	case gateways.CheckoutOpen:
		return 1
	default:
		return 2
	}
}

// page is one page of the invoices of a reference, the newest first, and the number of the next one: 0 after the last.
func (d *Driver) page(ctx context.Context, reference uuid.UUID, page int) ([]invoice, int, error) {
	return d.invoices(ctx, url.Values{"metadata[" + metaReference + "]": {reference.String()}}, page)
}

// invoices is one page of those that the query is about.
func (d *Driver) invoices(ctx context.Context, query url.Values, page int) ([]invoice, int, error) {
	var answer struct {
		Invoices *[]invoice `json:"invoices"`
		Meta     struct {
			NextPage int `json:"next_page"`
		} `json:"meta"`
	}

	query.Set("page", strconv.Itoa(page))

	err := d.call(ctx, request{method: http.MethodGet, path: "/v1/invoices", query: query}, &answer)

	switch {
	case err != nil:
		return nil, 0, err
	case answer.Invoices == nil:
		return nil, 0, httpcall.BadAnswer("the list has no invoices")
	case answer.Meta.NextPage != 0 && answer.Meta.NextPage <= page:
		return nil, 0, httpcall.BadAnswer("the list leads back")
	default:
		return *answer.Invoices, answer.Meta.NextPage, nil
	}
}
