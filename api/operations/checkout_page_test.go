package operations_test

import (
	"io"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/api/operations"
	"rihla/gateways"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/payments"
	"rihla/models"
)

// TestPageAfterATry: a customer who comes back from the form reads at once that the card was declined, with the form for another one. A
// decline of an earlier try is not taken for that of this one, which may have succeeded.
func TestPageAfterATry(t *testing.T) {
	t.Parallel()

	b := bookstest.NewBooks(t)
	ctx, now := t.Context(), bookstest.Clock()
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	page := uuid.New()

	b.Exec(t, `UPDATE payment_transactions SET page_data = jsonb_build_object('page', $1::text),
		asked_at = now() + interval '1 hour' WHERE id = $2`, page.String(), tx.ID) // the gateway is not asked here

	var seen gateways.PageView

	o := operations.New(operations.Deps{
		Store: b.Store, Now: func() time.Time { return now }, PayURL: "https://pay.rihla.test",
		Pages: map[models.MerchantAccount]gateways.Page{
			tx.Channel.Account(): func(_ io.Writer, v gateways.PageView) (string, error) {
				seen = v

				return "policy", nil
			},
		},
	})
	show := func(back bool, since *time.Time) gateways.PageView {
		var q gen.ShowCheckoutPageParams

		if back {
			id := "1"
			q.ID = &id
		}

		if since != nil {
			at := since.Unix()
			q.Since = &at
		}

		_, err := o.ShowCheckoutPage(ctx, gen.ShowCheckoutPageRequestObject{PageID: page, Params: q})
		require.NoError(t, err)

		return seen
	}
	decline := func(try string, at time.Time) {
		require.NoError(t, b.Store.Inbox.StoreDecline(ctx, &tx, try, payments.Decline{At: at, ResultCode: "800.100.152", Reason: "no"}))
	}

	v := show(false, nil)
	require.Empty(t, v.Declined)
	require.False(t, v.Checking)

	v = show(true, nil)
	require.True(t, v.Checking, "nothing is known yet")
	require.Equal(t, now.Add(-10*time.Second), v.CheckingSince, "typing a card takes longer")

	back := v.CheckingSince
	now = now.Add(2 * time.Second)

	decline("one", now)
	v = show(true, &back)
	require.Equal(t, "800.100.152", v.Declined)
	require.False(t, v.Checking, "the form is there again")
	require.Equal(t, gateways.CheckoutOpen, v.Status)

	// The next try comes from that form, and may be a matter of a moment: the decline that the form was shown with is not its own.
	form, err := url.Parse(v.ReturnURL)
	require.NoError(t, err)

	second, err := strconv.ParseInt(form.Query().Get("since"), 10, 64)
	require.NoError(t, err)

	now = now.Add(500 * time.Millisecond)
	shown := time.Unix(second, 0)
	v = show(true, &shown)
	require.Empty(t, v.Declined)
	require.True(t, v.Checking)
	require.Equal(t, shown, v.CheckingSince)

	// Another card: what came of it is not known, whatever came of the first.
	now = now.Add(time.Minute)
	v = show(true, nil)
	back = v.CheckingSince
	require.True(t, v.Checking)
	require.Empty(t, v.Declined)

	later := now.Add(time.Hour)
	require.Equal(t, now.Add(-10*time.Second), show(true, &later).CheckingSince, "a time to come is not believed")

	now = now.Add(2 * time.Second)

	decline("two", back.Add(7*time.Second)) // while the customer was on the way back
	require.Equal(t, "800.100.152", show(true, &back).Declined)
	require.Equal(t, "800.100.152", show(false, nil).Declined, "who comes later reads it, too")
}
