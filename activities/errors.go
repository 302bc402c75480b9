// Package activities is what workflows call: short, idempotent steps over the store, the gateways and the
// notifiers. Every activity may run again after it has had its effect; keys made of business ids see to it that the
// second run changes nothing.
package activities

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"rihla/gateways"
	"rihla/internal/telemetry"
	"rihla/models"
)

// asActivityError decides, for every error that leaves an activity, whether Temporal tries again:
//
//	domain error (models.Error)    no: the answer will be the same
//	gateway error                  yes, after the time that the gateway or its guard named, if it did
//	call that was not sent         likewise, as GATEWAY_UNAVAILABLE: nothing has happened
//	anything else                  yes: database down
//
// Normal outcomes (what the domain refuses, a gateway whose circuit is open, a refund that is not decided yet) are benign: the SDK logs
// them at DEBUG, and all else at ERROR.
//
// A 4xx that is final for what was asked (rules: gateways.outcomes) is a result, which the activity has dealt with. One that leaves
// the activity is a question about money that was refused an answer, after a key was changed for instance: giving that
// up would be guessing.
func asActivityError(err error) error {
	if err == nil {
		return nil
	}

	if e, ok := errors.AsType[*models.Error](err); ok {
		return temporal.NewApplicationErrorWithOptions(e.Message(), string(e.Code), temporal.ApplicationErrorOptions{
			NonRetryable: true, Cause: err, Details: []any{e.Details, e.Text}, Category: temporal.ApplicationErrorCategoryBenign,
		})
	}

	if e, ok := errors.AsType[*gateways.Error](err); ok {
		told, kind := *e, string(models.CodeGatewayUnavailable)
		if e.Kind != gateways.KindNotSent {
			// The gateway's own words may name the customer, which Scrub cannot know.
			told.Message, kind = "", gatewayErrorType
		}

		return temporal.NewApplicationErrorWithOptions(telemetry.Scrub(told.Error()), kind, temporal.ApplicationErrorOptions{
			NextRetryDelay: e.RetryAfter, Category: categoryOf(e),
		})
	}

	if errors.Is(err, errUndecided) {
		return temporal.NewApplicationErrorWithOptions(errUndecided.Error(), undecidedErrorType, temporal.ApplicationErrorOptions{
			Category: temporal.ApplicationErrorCategoryBenign,
		})
	}

	// Histories are kept and shown: what the database quotes must not get there.
	if text := err.Error(); telemetry.Scrub(text) != text {
		return temporal.NewApplicationErrorWithOptions(telemetry.Scrub(text), databaseErrorType, temporal.ApplicationErrorOptions{})
	}

	return err
}

// categoryOf: what was not sent, or is to come later, goes on by itself. The breaker has said once that it is open, and there is an
// incident for the gateway: a line for each payment that waits would bury both.
func categoryOf(e *gateways.Error) temporal.ApplicationErrorCategory {
	if e.Kind.IsAway() {
		return temporal.ApplicationErrorCategoryBenign
	}

	return temporal.ApplicationErrorCategoryUnspecified
}

// longestWait is how long the next try may be away while a client waits for it.
const longestWait = time.Second

// isUnavailable reports a call that the guard did not send: the circuit is open or the gateway rate-limited us. Callers who wait for
// what it says should not. Nothing has happened there.
func isUnavailable(err error) bool {
	e, ok := errors.AsType[*gateways.Error](err)

	return ok && (e.Kind == gateways.KindNotSent || e.Kind == gateways.KindRateLimited) && e.RetryAfter > longestWait
}

// errNoSlot says that the first tries of a gateway have all their slots taken.
var errNoSlot = temporal.NewApplicationErrorWithOptions("As many first tries as may be are under way at the gateway.", "NO_SLOT",
	temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign})

// errNotCutOff says that a refund at the gateway is not tried for a short time only.
var errNotCutOff = temporal.NewApplicationErrorWithOptions("A refund that was cut off could not be sent again at once.", "NOT_AT_ONCE",
	temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign})

const (
	gatewayErrorType  = "GATEWAY_ERROR"
	databaseErrorType = "DATABASE_ERROR"
	// undecidedErrorType is a refund that the gateway is still deciding.
	undecidedErrorType = "UNDECIDED"
)
