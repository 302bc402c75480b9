package models

import (
	"errors"
	"fmt"
)

// Code is a machine-readable error code, UPPER_SNAKE (rules: api.errors).
type Code string

// The codes. The HTTP status of each is decided in one place, at the edge (api).
const (
	CodeMalformedRequest        Code = "MALFORMED_REQUEST"
	CodeUnauthenticated         Code = "UNAUTHENTICATED"
	CodeInvalidCredentials      Code = "INVALID_CREDENTIALS"
	CodeInvalidSignature        Code = "INVALID_SIGNATURE"
	CodeForbidden               Code = "FORBIDDEN"
	CodeNotFound                Code = "NOT_FOUND"
	CodeMethodNotAllowed        Code = "METHOD_NOT_ALLOWED"
	CodePayloadTooLarge         Code = "PAYLOAD_TOO_LARGE"
	CodeUnsupportedMediaType    Code = "UNSUPPORTED_MEDIA_TYPE"
	CodeValidation              Code = "VALIDATION_ERROR"
	CodeRateLimited             Code = "RATE_LIMITED"
	CodeInternal                Code = "INTERNAL_ERROR"
	CodeGatewayUnavailable      Code = "GATEWAY_UNAVAILABLE"
	CodeServiceUnavailable      Code = "SERVICE_UNAVAILABLE"
	CodeBusPlateAlreadyExists   Code = "BUS_PLATE_ALREADY_EXISTS"
	CodeEmailAlreadyExists      Code = "EMAIL_ALREADY_EXISTS"
	CodeTripCapacityReached     Code = "TRIP_CAPACITY_REACHED"
	CodeTripNotBookable         Code = "TRIP_NOT_BOOKABLE"
	CodeBookingNotPayable       Code = "BOOKING_NOT_PAYABLE"
	CodeCampaignNotPayable      Code = "CAMPAIGN_NOT_PAYABLE"
	CodeInvalidState            Code = "INVALID_STATE"
	CodeRefundExceedsRemaining  Code = "REFUND_EXCEEDS_REMAINING"
	CodeBookingNotRefundable    Code = "BOOKING_NOT_REFUNDABLE"
	CodeRecordNotTransferable   Code = "RECORD_NOT_TRANSFERABLE"
	CodeIdempotencyKeyInProcess Code = "IDEMPOTENCY_KEY_IN_PROGRESS"
	CodeIdempotencyKeyReused    Code = "IDEMPOTENCY_KEY_REUSED"
	CodeResourceInUse           Code = "RESOURCE_IN_USE"
	CodeTooManyUnpaidBookings   Code = "TOO_MANY_UNPAID_BOOKINGS"
	CodeMethodNotAvailable      Code = "METHOD_NOT_AVAILABLE"
	CodeReferenceNotOwned       Code = "REFERENCE_NOT_OWNED"
	CodeTooManyMembers          Code = "TOO_MANY_MEMBERS"
	CodeURITooLong              Code = "URI_TOO_LONG"
	CodeWebhookIDReused         Code = "WEBHOOK_ID_REUSED"
	CodePaymentInSuspense       Code = "PAYMENT_IN_SUSPENSE"
	CodeSecondFactorNeeded      Code = "SECOND_FACTOR_NEEDED"
	CodeStepUpRequired          Code = "STEP_UP_REQUIRED"
	CodeNoOpenCheckout          Code = "NO_OPEN_CHECKOUT"
	CodeRefundAmountChanged     Code = "REFUND_AMOUNT_CHANGED"
	CodePaymentDisputed         Code = "PAYMENT_DISPUTED"
	CodeApprovalRequired        Code = "APPROVAL_REQUIRED"
	CodePayoutReferenceUsed     Code = "PAYOUT_REFERENCE_USED"
)

// Error is the one domain error: a machine code, an English sentence for people, and, for
// validation, the messages per field. Everything that is not an *Error is an internal error.
type Error struct {
	Code    Code
	Message string
	Details map[string][]string
	// Cause chooses the words of `ui_message`; empty: those of the code.
	Cause Cause
}

// Error implements error.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Is makes errors.Is compare by code, so that a sentinel matches whatever its message.
func (e *Error) Is(target error) bool {
	t, ok := errors.AsType[*Error](target)

	return ok && t.Code == e.Code
}

// Errorf makes a domain error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// NotFound is the one answer for what does not exist, is deleted, or belongs to another account.
func NotFound() *Error { return Errorf(CodeNotFound, "The resource does not exist.") }

// Invalid is a validation error on one field.
func Invalid(field, format string, args ...any) *Error {
	return &Error{
		Code:    CodeValidation,
		Message: "The request has invalid fields.",
		Details: map[string][]string{field: {fmt.Sprintf(format, args...)}},
	}
}

// CodeOf is the machine code of err, or CodeInternal when it is not a domain error.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}

	return CodeInternal
}

// StepUpRequired says that the caller has to prove once more who they are. How is added before it is answered.
func StepUpRequired() *Error {
	return Errorf(CodeStepUpRequired, "Prove once more who you are.")
}
