package activities

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"rihla/gateways"
	"rihla/models"
)

func TestAsActivityError(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		err   error
		kind  string
		final bool
		delay time.Duration
		quiet bool
	}{
		{"a refusal of the domain", fmt.Errorf("settle: %w", &models.Error{Code: models.CodeBookingNotPayable, Text: models.Verbatim("No.")}), "BOOKING_NOT_PAYABLE", true, 0, true},
		{"a question that the gateway refuses", &gateways.Error{Kind: gateways.KindRejected}, gatewayErrorType, false, 0, false},
		{"the gateway knows no such thing", &gateways.Error{Kind: gateways.KindNotFound}, gatewayErrorType, false, 0, false},
		{"the gateway is busy", &gateways.Error{Kind: gateways.KindRateLimited, RetryAfter: 7 * time.Second}, gatewayErrorType, false, 7 * time.Second, true},
		{
			"the circuit is open", fmt.Errorf("find: %w", &gateways.Error{Kind: gateways.KindNotSent, RetryAfter: time.Second}),
			"GATEWAY_UNAVAILABLE", false, time.Second, true,
		},
		{"the gateway is silent", fmt.Errorf("find: %w", &gateways.Error{Code: "timeout"}), gatewayErrorType, false, 0, false},
		{"a refund waits for its decision", fmt.Errorf("refund: %w", errUndecided), undecidedErrorType, false, 0, true},
	}
	for _, tt := range tests {
		e, ok := errors.AsType[*temporal.ApplicationError](asActivityError(tt.err))
		require.True(t, ok, tt.name)
		require.Equal(t, tt.kind, e.Type(), tt.name)
		require.Equal(t, tt.final, e.NonRetryable(), tt.name)
		require.Equal(t, tt.delay, e.NextRetryDelay(), tt.name)
		require.Equal(t, tt.quiet, e.Category() == temporal.ApplicationErrorCategoryBenign, "%s: a normal outcome is no ERROR line", tt.name)
	}

	down := errors.New("connection refused")
	require.Equal(t, down, asActivityError(down), "tried again")
	require.NoError(t, asActivityError(nil))

	// What the database or a gateway quotes is not for a history.
	quoting := &pgconn.PgError{Severity: "ERROR", Code: "22P02", Message: `invalid input syntax for type integer: "Umm Zarqa"`}
	quoted, ok := errors.AsType[*temporal.ApplicationError](asActivityError(fmt.Errorf("settle: %w", quoting)))
	require.True(t, ok)
	require.False(t, quoted.NonRetryable())
	require.NotContains(t, quoted.Error(), "Zarqa")
	require.NotContains(t, asActivityError(&gateways.Error{Code: "rejected", Message: "mail to umm@private.test bounced"}).Error(), "umm@")

	named := asActivityError(&gateways.Error{Code: "declined_by_bank", Message: "the card of Umm Zarqa is blocked", Err: errors.New("status 500")}).Error()
	require.NotContains(t, named, "Zarqa")
	require.Contains(t, named, "gateway unknown (declined_by_bank): status 500")
	require.Contains(t, asActivityError(&gateways.Error{Kind: gateways.KindNotSent, Message: "circuit open"}).Error(), "circuit open", "our own text")

	e, _ := errors.AsType[*temporal.ApplicationError](asActivityError(models.Invalid("amount", "field.positive")))

	var (
		details map[string][]models.Text
		text    models.Text
	)

	require.NoError(t, e.Details(&details, &text))
	require.Equal(t, models.Key("field.positive"), details["amount"][0].Key)
	require.Equal(t, models.Key("request.invalid_fields"), text.Key)
	require.Equal(t, "The request has invalid fields.", e.Message())
}
