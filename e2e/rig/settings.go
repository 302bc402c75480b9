package rig

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"rihla/gateways/drivers"
	"rihla/internal/auth"
	"rihla/internal/devstack"
)

// Secrets of the service and of its account at the sandbox gateway.
const (
	APIKey         = "rig-gateway-api-key"
	MediaURLSecret = "rig-media-url-secret-0123456789abcdef"
)

// Settings are the environment that API and worker need at least: nothing of the developer's own. The signing key is made in dir.
func Settings(dir, databaseURL, temporalAddress string) (map[string]string, error) {
	keys := filepath.Join(dir, "keys", "signing.pem")
	if err := auth.GenerateKeyFile(keys); err != nil {
		return nil, err
	}

	env := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": dir,
		"GORACE":       "halt_on_error=1", // a data race ends the process, where it would only be an unread line in a log
		"DATABASE_URL": databaseURL, "TEMPORAL_ADDRESS": temporalAddress, "DATA_DIR": dir, "JWT_SIGNING_KEYS": keys,
		"MEDIA_URL_SECRET": MediaURLSecret,
	}
	maps.Copy(env, GatewaySettings(drivers.Sandbox, "http://127.0.0.1:1")) // an unused address, until there is a gateway

	return env, nil
}

// Unlimited switches off the limits that a person or an address meets: a few of them stand for all customers.
func Unlimited() map[string]string {
	env := map[string]string{"LOGIN_PAUSE_MAX": "0", "LOGIN_LOCK_AFTER": "0", "TRIP_MOVES_PER_DAY": "0", "ADMISSION_TARGET": "0"}

	for _, class := range []string{
		"ANONYMOUS", "END_USER", "PROVIDER_STAFF", "PROVIDER_ADMIN", "SUPPORT_AGENT", "FINANCE_ADMIN", "ADMIN", "SUPER_ADMIN",
		"WEBHOOK", "LOGIN", "LOGIN_IP", "MEDIA",
	} {
		env["RATE_LIMIT_"+class] = "0"
	}

	for _, kind := range []string{"UPLOADS", "EXPORTS", "LONG_POLLS"} {
		env[kind+"_AT_ONCE"] = "0"
	}

	for _, limit := range []string{
		"UNPAID_BOOKINGS_MAX", "UNPAID_SEATS_MAX", "UNPAID_ATTEMPTS_PER_HOUR", "BILL_SEATS_SHARE", "MESSAGES_PER_RECIPIENT",
		"AD_MIN_PRICE_PER_DAY", "STRANGER_MAILS_PER_HOUR", "REGISTRATIONS_PER_NETWORK", "REFUNDS_ALONE_PER_DAY", "PAYOUT_APPROVAL_ABOVE",
		"UNVERIFIED_SEATS_SHARE", "UNPAID_SEATS_PER_NETWORK",
	} {
		env[limit] = "0"
	}

	return env
}

// FreeAddress is an address on 127.0.0.1 without a listener.
func FreeAddress(ctx context.Context) (string, error) {
	port, err := devstack.Port(ctx, slog.New(slog.DiscardHandler), devstack.AnyPort)

	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), err
}
