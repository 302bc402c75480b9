package config

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestStrictRoles(t *testing.T) {
	t.Parallel()

	production := Config{App: App{Env: Production}}
	require.Equal(t, []models.Role{models.RoleFinanceAdmin, models.RoleAdmin, models.RoleSuperAdmin}, production.StrictRoles())
	require.Empty(t, load(t, nil).StrictRoles())
	require.Equal(t, []models.Role{models.RoleEndUser}, load(t, map[string]string{"TOTP_ROLES": "END_USER"}).StrictRoles())

	production.Identity.TOTPRoles = []models.Role{"none"}
	require.Empty(t, production.StrictRoles())
}

func TestAccountPages(t *testing.T) {
	t.Parallel()

	require.Equal(t, "http://127.0.0.1:8080/console", load(t, nil).AccountPages())
	require.Equal(t, "http://x.example/console", load(t, map[string]string{"PUBLIC_URL": "http://x.example/"}).AccountPages())
	require.Equal(t, "http://y.example/pages", load(t, map[string]string{"ACCOUNT_URL": "http://y.example/pages/"}).AccountPages())

	worker := Config{App: App{Env: Production, PublicURL: "http://127.0.0.1:8080"}}
	require.ErrorContains(t, worker.RequireWorker(), "ACCOUNT_URL, or PUBLIC_URL, must be an https")

	worker.Identity.AccountURL = "https://y.example/console"
	require.NotContains(t, worker.RequireWorker().Error(), "ACCOUNT_URL")
}

func TestIdentitySettings(t *testing.T) {
	t.Parallel()

	key := base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))
	provider := map[string]string{"OIDC_ISSUER": "https://id.example", "OIDC_CLIENT_ID": "rihla", "OIDC_CLIENT_SECRET": "secret"}

	good := load(t, provider)
	require.Equal(t, models.MustMoney("1000.00"), good.Identity.StepUpAbove)
	require.Len(t, good.Identity.OIDC.Roles, 4)
	require.Len(t, load(t, map[string]string{"TOTP_KEYS": key + "," + key}).Identity.TOTPKeys, 2)

	for want, values := range map[string]map[string]string{
		`TOTP_ROLES has "BOSS"`:                     {"TOTP_ROLES": "ADMIN,BOSS"},
		`TOTP_ROLES has "none"`:                     {"TOTP_ROLES": "ADMIN,none"},
		`OIDC_ROLES has "none"`:                     {"OIDC_ROLES": "none"},
		"TOTP_KEYS must be the base64 of 32":        {"TOTP_KEYS": key + ",short"},
		"TOTP_KEYS must be":                         {"TOTP_KEYS": base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32)))},
		"STEP_UP_ABOVE must not be negative":        {"STEP_UP_ABOVE": "-1"},
		"ACCOUNT_URL must be":                       {"ACCOUNT_URL": "pages"},
		"OIDC_ISSUER is missing":                    {"OIDC_CLIENT_ID": "rihla"},
		"OIDC_ISSUER must be":                       {"OIDC_ISSUER": "id.example", "OIDC_CLIENT_ID": "rihla", "OIDC_CLIENT_SECRET": "secret"},
		"OIDC_CLIENT_ID and OIDC_CLIENT_SECRET are": {"OIDC_ISSUER": "https://id.example", "OIDC_CLIENT_ID": "rihla"},
	} {
		_, err := Load(values)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "short", "a key is in no message")
	}
}
