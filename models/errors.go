package models

import "errors"

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

// Error is the one domain error: a machine code, what it says, and, for validation, what is to be said per field. Everything that is
// not an *Error is an internal error.
type Error struct {
	Code    Code
	Text    Text
	Details map[string][]Text
	// Cause chooses the words of `ui_message`; empty: those of the code.
	Cause Cause
}

// Error implements error, for logs.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message() }

// Message is what the error says to developers.
func (e *Error) Message() string { return e.Text.String() }

// Is makes errors.Is compare by code, so that a sentinel matches whatever its text.
func (e *Error) Is(target error) bool {
	t, ok := errors.AsType[*Error](target)

	return ok && t.Code == e.Code
}

// EnglishDetails are the details as developers read them.
func (e *Error) EnglishDetails() map[string][]string {
	if len(e.Details) == 0 {
		return nil
	}

	out := make(map[string][]string, len(e.Details))

	for field, texts := range e.Details {
		for _, text := range texts {
			out[field] = append(out[field], text.String())
		}
	}

	return out
}

// NewError makes a domain error; args are those of TextOf.
func NewError(code Code, key Key, args ...any) *Error {
	return &Error{Code: code, Text: TextOf(key, args...)}
}

// NotFound is the one answer for what does not exist, is deleted, or belongs to another account.
func NotFound() *Error { return NewError(CodeNotFound, "request.not_found") }

// Invalid is a validation error on one field; args are those of TextOf.
func Invalid(field string, key Key, args ...any) *Error {
	return InvalidFields("request.invalid_fields", map[string][]Text{field: {TextOf(key, args...)}})
}

// InvalidFields is a validation error on several.
func InvalidFields(key Key, details map[string][]Text) *Error {
	return &Error{Code: CodeValidation, Text: TextOf(key), Details: details}
}

// CodeOf is the machine code of err, or CodeInternal when it is not a domain error.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}

	return CodeInternal
}

// StepUpRequired says that the caller has to prove once more who they are. How is added before it is answered.
func StepUpRequired() *Error { return NewError(CodeStepUpRequired, "access.step_up") }
