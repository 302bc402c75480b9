package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnknownVariablesThatLookLikeOurs(t *testing.T) {
	t.Parallel()

	environ := complete()

	for _, name := range []string{
		"PATH", "HOME", "TEMPORAL_NAMESPACE", "TEMPORAL_TLS", "TEMPORAL_API_KEY", "TEMPORAL_TLS_CLIENT_CERT_PATH", "AWS_ACCESS_KEY_ID",
		"DATABASE_HOST", "DATA", "REDIS_PORT", "WALLET_B_SERVICE_HOST", "GATEWAY_A_PORT_8080_TCP_ADDR", "PUBLIC", "LOGNAME", "LANG",
	} {
		environ[name] = sentinel
	}

	require.Empty(t, Unknown(environ))

	for name, meant := range map[string]string{
		"DATABSE_URL": "DATABASE_URL", "DATABASE_URI": "DATABASE_URL", "SMS_ULR": "SMS_URL", "TRUSTED_PROXY": "",
		"WEBHOOK_SECRET_GATEWAY_A": "WEBHOOK_SECRETS_GATEWAY_A", "TEMPRAL_ADDRESS": "TEMPORAL_ADDRESS", "RATE_LIMIT_LOGINS": "RATE_LIMIT_LOGIN",
		"GATEWAY_A_RETRIES": "", "JWT_ISSUERS": "JWT_ISSUER",
	} {
		got := Unknown(map[string]string{name: sentinel})
		if name == "TRUSTED_PROXY" { // three letters away, and no name of ours begins so
			require.Empty(t, got)

			continue
		}

		require.Equal(t, []UnknownVariable{{Name: name, Meant: meant}}, got)
	}
}
