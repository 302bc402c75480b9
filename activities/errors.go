// Package activities is what workflows call: short, idempotent steps over the store, the gateways and the
// notifiers. Every activity may run again after it has had its effect; keys made of business ids see to it that the
// second run changes nothing.
package activities

import (
	"errors"

	"go.temporal.io/sdk/temporal"

	"rihla/gateways"
	"rihla/models"
)

// asActivityError decides, for every error that leaves an activity, whether Temporal tries again:
//
//	domain error (models.Error)    no: the answer will be the same
//	gateway rejected or not found  no: a 4xx is final (contract §8)
//	gateway rate-limited           yes, after the time that the gateway named
//	anything else                  yes: database down, gateway timeout, 5xx
func asActivityError(err error) error {
	if err == nil {
		return nil
	}

	if e, ok := errors.AsType[*models.Error](err); ok {
		return temporal.NewApplicationErrorWithOptions(e.Message, string(e.Code), temporal.ApplicationErrorOptions{
			NonRetryable: true, Cause: err, Details: []any{e.Details},
		})
	}

	if e, ok := errors.AsType[*gateways.Error](err); ok {
		return temporal.NewApplicationErrorWithOptions(e.Error(), gatewayErrorType, temporal.ApplicationErrorOptions{
			NonRetryable:   e.Kind == gateways.KindRejected || e.Kind == gateways.KindNotFound,
			NextRetryDelay: e.RetryAfter,
		})
	}

	return err
}

const gatewayErrorType = "GATEWAY_ERROR"
