package moyasar

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/gateways/httpcall"
)

var _ gateways.CheckoutLister = (*Driver)(nil)

// ListCheckouts implements gateways.CheckoutLister. The list of invoices is the newest first and has no filter by time that is documented
// (docs.moyasar.com/api/invoices/03-list-invoices): it is read until an invoice is older. There is no list of refunds: a refund has no id.
func (d *Driver) ListCheckouts(ctx context.Context, since time.Time, from string) (listed []gateways.Checkout, next string, err error) {
	page := 1

	if from != "" {
		if page, err = strconv.Atoi(from); err != nil {
			return nil, "", httpcall.BadAnswer("there is no such page")
		}
	}

	items, following, err := d.invoices(ctx, url.Values{}, page)
	if err != nil {
		return nil, "", err
	}

	for _, item := range items {
		if made := moment(item.CreatedAt); !made.IsZero() && made.Before(since) {
			return listed, "", nil
		}

		one := gateways.Checkout{ID: item.ID}

		if item.reference() != uuid.Nil {
			c, err := d.readItem(ctx, item)
			if err != nil {
				return nil, "", err
			}

			c.choose("")
			one = c.Checkout
		}

		listed = append(listed, one)
	}

	if following > 0 {
		next = strconv.Itoa(following)
	}

	return listed, next, nil
}
