package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestRefundedOutside(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name, refunded, done, sent, known, outside string
		lags                                       bool
	}{
		{name: "nothing went back", refunded: "0.00", outside: "0.00"},
		{name: "all of it is ours", refunded: "150.00", done: "150.00", outside: "0.00"},
		{name: "the dashboard gave some back", refunded: "200.00", outside: "200.00"},
		{name: "both did", refunded: "350.00", done: "150.00", outside: "200.00"},
		{name: "the same once more", refunded: "350.00", done: "150.00", known: "200.00", outside: "200.00"},
		{name: "the dashboard went on", refunded: "400.00", done: "150.00", known: "200.00", outside: "250.00"},
		{name: "ours under way may be all of it", refunded: "375.00", sent: "375.00", outside: "0.00"},
		{name: "ours under way may be some of it", refunded: "400.00", sent: "375.00", outside: "25.00"},
		{name: "ours under way may not be made yet", refunded: "200.00", sent: "375.00", known: "200.00", outside: "200.00"},
		{name: "a refund of the dashboard failed", refunded: "150.00", done: "150.00", known: "200.00", outside: "0.00"},
		{name: "part of it failed", refunded: "250.00", done: "150.00", known: "200.00", outside: "100.00"},
		{name: "it may not be shown yet", refunded: "150.00", done: "150.00", known: "200.00", outside: "200.00", lags: true},
		{name: "while ours is under way nothing is taken back", refunded: "0.00", sent: "10.00", known: "200.00", outside: "200.00"},
		{name: "ours is not shown yet", refunded: "0.00", done: "150.00", outside: "0.00"},
	} {
		money := func(text string) models.Money {
			if text == "" {
				return models.Money{}
			}

			return models.MustMoney(text)
		}

		got := models.RefundedOutside(money(c.refunded), money(c.done), money(c.sent), money(c.known), !c.lags)
		require.Equal(t, c.outside, got.String(), c.name)
	}
}
