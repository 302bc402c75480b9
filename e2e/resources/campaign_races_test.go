package resources_test

import (
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// together runs all at the same moment and waits for them.
func together(all ...func()) {
	var (
		running sync.WaitGroup
		start   = make(chan struct{})
	)

	for _, do := range all {
		running.Go(func() { <-start; do() })
	}

	close(start)
	running.Wait()
}

// racingCampaigns: prices, dates and the campaign itself change while a payment begins, and while it
// comes in. The payment is of the campaign's price, and the campaign runs on the dates that were paid for.
func racingCampaigns(t *testing.T, s *harness.Stack) {
	t.Helper()

	const rounds = 12

	changed, late := 0, 0

	for range rounds {
		before, during := raceOne(t, s)
		changed += before
		late += during
	}

	t.Logf("%d of %d changes came before the payment was begun; %d of %d while it came in", changed, 2*rounds, late, 3*rounds)
	require.Zero(t, late, "what is being paid for stays as it is")
}

// raceOne counts the changes that were taken before the payment was begun, and after.
func raceOne(t *testing.T, s *harness.Stack) (before, during int) {
	t.Helper()

	c := s.As(models.RoleProviderAdmin)
	body := campaigns.body(s, "Raced")
	body["price"] = 100
	resource, location := made(t, call(t, c, http.MethodPost, campaigns.path, body))

	var (
		attempt harness.Answer
		answers = make([]harness.Answer, 5)
		today   = models.DateIn(time.Now())
	)

	put := func(to *harness.Answer, change object) func() {
		with := maps.Clone(body)
		maps.Copy(with, change)

		return func() { *to, _ = c.Do(http.MethodPut, location, with, nil) }
	}

	together(
		func() {
			attempt, _ = c.Do(http.MethodPost, "/api/v1/payments/ad-campaign/"+resource["id"].(string)+"/intent",
				object{"payment_method": "credit_card"}, nil)
		},
		put(&answers[0], object{"price": 250}),
		put(&answers[1], object{"price": 175.55, "ends_on": today.AddDays(30).String()}),
	)

	agreed := data(t, http.StatusOK, c.Get(location))
	paying := data(t, http.StatusCreated, attempt)
	require.Equal(t, agreed["amount"], paying["amount"], "the attempt is about the price that stands")

	together(
		func() { require.NoError(t, s.Pay(paying["checkout_url"].(string), "succeed")) },
		put(&answers[2], object{"price": 1}),
		put(&answers[3], object{"starts_on": today.AddDays(90).String(), "ends_on": today.AddDays(91).String()}),
		func() { answers[4], _ = c.Do(http.MethodDelete, location, nil, nil) },
	)

	require.Eventually(t, func() bool {
		return data(t, http.StatusOK, c.Get(location))["status"] == "SCHEDULED"
	}, 30*time.Second, 50*time.Millisecond)

	paid := data(t, http.StatusOK, c.Get(location))
	for _, field := range []string{"price", "amount", "vat_amount", "starts_on", "ends_on", "title"} {
		require.Equal(t, agreed[field], paid[field], field)
	}

	require.Equal(t, 1, s.Count(`
		SELECT count(*) FROM financial_records AS r JOIN ad_campaigns AS c ON c.id = r.ad_campaign_id
		JOIN payment_transactions AS t ON t.id = r.payment_transaction_id
		WHERE c.id = $1 AND t.status = 'PAID' AND t.amount = r.gross_amount AND r.gross_amount = round(c.price * 1.20, 2)`, resource["id"]))

	for i, a := range answers {
		switch {
		case a.Status == http.StatusOK && i < 2:
			before++
		case a.Status < http.StatusBadRequest:
			during++
		default:
			refused(t, a, http.StatusConflict, models.CodeInvalidState)
		}
	}

	return before, during
}
