package middleware

import (
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
)

func TestClientAddress(t *testing.T) {
	t.Parallel()

	app := fiber.New()

	for _, tt := range []struct {
		trusted   []string
		forwarded string
		want      string
	}{
		{nil, "203.0.113.9", "0.0.0.0"},
		{[]string{"10.0.0.0/8"}, "203.0.113.9", "0.0.0.0"},
		{[]string{"0.0.0.0"}, "203.0.113.9", "203.0.113.9"},
		{[]string{"0.0.0.0"}, "", "0.0.0.0"},
		{[]string{"0.0.0.0"}, "198.51.100.1, 203.0.113.9", "203.0.113.9"},
		{[]string{"0.0.0.0", "10.0.0.0/8"}, "198.51.100.1, 203.0.113.9, 10.1.2.3", "203.0.113.9"},
		{[]string{"0.0.0.0"}, "203.0.113.9, nonsense", "0.0.0.0"},
		{[]string{"0.0.0.0"}, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"},
		{[]string{"0.0.0.0"}, "203.0.113.9:443", "203.0.113.9"},
		{[]string{"0.0.0.0"}, "[2001:db8::1]:65535", "2001:db8::1"},
		{[]string{"0.0.0.0"}, "[2001:db8::1]", "2001:db8::1"},
		{[]string{"0.0.0.0"}, "2001:db8::1", "2001:db8::1"},
		{[]string{"0.0.0.0"}, "::ffff:203.0.113.9", "203.0.113.9"},
		{[]string{"0.0.0.0", "10.0.0.0/8"}, "203.0.113.9:1, 10.1.2.3:8080", "203.0.113.9"},
		{[]string{"0.0.0.0"}, "203.0.113.9:x", "0.0.0.0"},
		{[]string{"0.0.0.0"}, "203.0.113.9, 198.51.100.1:70000", "0.0.0.0"},
	} {
		trusted, err := parseProxies(tt.trusted)
		require.NoError(t, err)

		f := app.AcquireCtx(&fasthttp.RequestCtx{})
		f.Request().Header.Set("X-Forwarded-For", tt.forwarded)
		require.Equal(t, tt.want, trusted.clientAddr(f).String(), tt.forwarded)
		app.ReleaseCtx(f)
	}

	_, err := parseProxies([]string{"proxy.local"})
	require.ErrorContains(t, err, "neither an address nor a CIDR block")
}

func TestNetwork(t *testing.T) {
	t.Parallel()

	for ip, network := range map[string]string{
		"203.0.113.77": "203.0.113.0/24", "2001:db8:1:2::3": "2001:db8:1::/48", "0.0.0.0": "0.0.0.0/24", "": "",
	} {
		require.Equal(t, network, Network(withRequest(t.Context(), &request{ip: ip})), ip)
	}
}
