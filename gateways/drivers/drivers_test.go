package drivers_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/gateways/drivers"
	"rihla/models"
)

func TestOpen(t *testing.T) {
	t.Parallel()

	gateway, err := drivers.Open(models.AccountGatewayA, drivers.Config{Driver: "sandbox", URL: "http://127.0.0.1:8090", APIKey: "key"})
	require.NoError(t, err)
	require.NotNil(t, gateway)

	_, err = drivers.Open(models.AccountWalletB, drivers.Config{Driver: "cash"})
	require.EqualError(t, err, `gateway wallet_b: unknown driver "cash", known are: `+strings.Join(drivers.Names(), ", "))

	_, err = drivers.Open(models.AccountGatewayA, drivers.Config{Driver: "sandbox", URL: "127.0.0.1:8090", APIKey: "secret-key"})
	require.ErrorContains(t, err, "gateway gateway_a")
	require.NotContains(t, err.Error(), "secret-key")
}
