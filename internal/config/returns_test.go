package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/models"
)

func TestReturnRules(t *testing.T) {
	t.Parallel()

	c, err := config.Load(map[string]string{
		"RETURN_URL_HOSTS": "App.rihla.test, *.shop.test,app.rihla.test:443,[::1]:8443", "RETURN_URL_SCHEMES": "Rihla,sa.rihla.app",
	})
	require.NoError(t, err)
	require.Equal(t, models.ReturnRules{
		Hosts: []string{"app.rihla.test", "*.shop.test", "app.rihla.test", "[::1]:8443"}, Schemes: []string{"rihla", "sa.rihla.app"}, Loopback: true,
	}, c.ReturnRules())

	c.App.Env = config.Production
	require.False(t, c.ReturnRules().Loopback, "production sends nobody to this machine")

	// The console is at PUBLIC_URL, and companies that pay for a campaign come back to it.
	c.App.PublicURL = "https://Pay.rihla.test:443"
	require.Contains(t, c.ReturnRules().Hosts, "pay.rihla.test")

	c.Returns.Hosts = nil
	require.Empty(t, c.ReturnRules().Hosts, "any host")

	for name, values := range map[string][]string{
		"RETURN_URL_HOSTS":   {"https://app.rihla.test", "app.rihla.test/path", "*", "*.test", "a b", "*app.test"},
		"RETURN_URL_SCHEMES": {"https", "javascript", "data", "intent", "rihla://", "1x"},
	} {
		for _, value := range values {
			_, err := config.Load(map[string]string{name: value})
			require.ErrorContains(t, err, name, "%s", value)
		}
	}
}
