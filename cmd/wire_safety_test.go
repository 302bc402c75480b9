package cmd

import (
	"crypto/tls"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"rihla/internal/config"
)

func TestProductionReachesTemporalSafely(t *testing.T) {
	t.Parallel()

	key := client.NewAPIKeyStaticCredentials("key")
	certificate := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{}}}

	for name, tt := range map[string]struct {
		options client.Options
		want    string
	}{
		"plain":          {client.Options{Credentials: key}, "TEMPORAL_TLS"},
		"switched off":   {client.Options{Credentials: key, ConnectionOptions: client.ConnectionOptions{TLS: certificate, TLSDisabled: true}}, "TEMPORAL_TLS"},
		"any host":       {client.Options{Credentials: key, ConnectionOptions: client.ConnectionOptions{TLS: &tls.Config{InsecureSkipVerify: true}}}, "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION"},
		"no key":         {client.Options{ConnectionOptions: client.ConnectionOptions{TLS: &tls.Config{MinVersion: tls.VersionTLS12}}}, "TEMPORAL_API_KEY"},
		"key":            {client.Options{Credentials: key, ConnectionOptions: client.ConnectionOptions{TLS: &tls.Config{MinVersion: tls.VersionTLS12}}}, ""},
		"by certificate": {client.Options{ConnectionOptions: client.ConnectionOptions{TLS: certificate}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			production := config.Config{App: config.App{Env: config.Production}}

			err := checkTemporalSafety(production, &tt.options)
			if tt.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.want)
			}

			production.App.AllowInsecure = []config.Insecure{config.InsecureTemporal}
			require.NoError(t, checkTemporalSafety(production, &tt.options))
			require.NoError(t, checkTemporalSafety(config.Config{}, &tt.options))
		})
	}
}
