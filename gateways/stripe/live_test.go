package stripe_test

import (
	"cmp"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/stripe"
	"rihla/models"
)

var live = flag.Bool("live", false, "run against the company, with the test account of STRIPE_SECRET_KEY")

// TestAccount goes through what an account is used for against the simulator, and with -live against the company:
//
//	STRIPE_SECRET_KEY=sk_test_… go test -v -timeout 30m -run TestAccount ./gateways/stripe -args -live
//
// STRIPE_AMOUNT is what is paid, 115.00 unless it is set. With STRIPE_WAIT, a duration, a person pays on the page with a test card
// meanwhile, and all of it is given back.
func TestAccount(t *testing.T) {
	t.Parallel()

	b := setup(t, nil)
	gatewaytest.RunLive(t, gatewaytest.Live{
		Gateway: b.driver, Webhook: "https://rihla.test/hook", Amount: models.MustMoney("115.00"), Wait: time.Minute, Pay: b.Pay,
	})

	if *live {
		t.Run("live", testLive)
	}
}

func testLive(t *testing.T) {
	t.Helper()
	t.Parallel()

	key := os.Getenv("STRIPE_SECRET_KEY")
	require.Equal(t, gateways.ModeTest, stripe.Mode(key), "STRIPE_SECRET_KEY must be the key of a test account")

	d, err := stripe.New(stripe.Config{APIKey: key, ReturnURL: "https://rihla.test/", Timeout: 30 * time.Second})
	require.NoError(t, err)

	wait, err := time.ParseDuration(cmp.Or(os.Getenv("STRIPE_WAIT"), "0"))
	require.NoError(t, err, "STRIPE_WAIT")

	gatewaytest.RunLive(t, gatewaytest.Live{
		Gateway: d, Webhook: os.Getenv("STRIPE_WEBHOOK"), Amount: models.MustMoney(cmp.Or(os.Getenv("STRIPE_AMOUNT"), "115.00")), Wait: wait,
	})
}
