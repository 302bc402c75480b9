package hyperpay_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/hyperpay"
	hyperpaysim "rihla/gateways/simulator/hyperpay"
	"rihla/models"
)

func TestCheck(t *testing.T) {
	t.Parallel()

	const hook = "https://api.rihla.test/api/v1/payments/webhook/gateway_a"

	says := func(d *hyperpay.Driver) (map[string]bool, string) {
		findings, err := d.Check(t.Context(), hook)
		require.NoError(t, err)

		var all strings.Builder

		good := map[string]bool{}

		for _, f := range findings {
			ok, seen := good[f.About]
			good[f.About] = f.OK && (ok || !seen)
			all.WriteString(f.Says + "\n")
		}

		require.NotContains(t, all.String(), token)

		return good, all.String()
	}

	b := setup(t, hyperpaysim.Settings{}, "")
	good, all := says(b.driver)
	require.Equal(t, map[string]bool{"key": true, "mode": true, "currency": true, "webhook": true}, good)
	require.Contains(t, all, "credit_card: ")
	require.Contains(t, all, "debit_network: ")
	require.Contains(t, all, hook)

	for name, change := range map[string]func(*hyperpay.Config){
		"another token": func(c *hyperpay.Config) { c.APIKey = "another" },
		"an entity of nobody": func(c *hyperpay.Config) {
			c.Entities = map[models.PaymentMethod]string{models.MethodCreditCard: payment}
		},
	} {
		cfg := config()
		cfg.BaseURL = b.URL
		change(&cfg)

		d, err := hyperpay.New(cfg)
		require.NoError(t, err)

		good, _ := says(d)
		require.False(t, good["key"], name)
	}

	good, _ = says(scripted(t, &script{answers: map[string]answer{reportPath: saying(400, "600.200.500")}}))
	require.False(t, good["key"])

	_, err := scripted(t, &script{answers: map[string]answer{reportPath: {502, "<html>", ""}}}).Check(t.Context(), hook)
	require.Error(t, err)

	require.Equal(t, gateways.ModeUnknown, hyperpay.Mode(token))
}
