package middleware

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"rihla/api/ratelimit"
	"rihla/internal/store/db"
	"rihla/models"
)

// statusOf is the one table from machine code to HTTP status (rules: api.errors).
var statusOf = map[models.Code]int{
	models.CodeMalformedRequest:        http.StatusBadRequest,
	models.CodeUnauthenticated:         http.StatusUnauthorized,
	models.CodeInvalidCredentials:      http.StatusUnauthorized,
	models.CodeInvalidSignature:        http.StatusUnauthorized,
	models.CodeForbidden:               http.StatusForbidden,
	models.CodeNotFound:                http.StatusNotFound,
	models.CodeMethodNotAllowed:        http.StatusMethodNotAllowed,
	models.CodePayloadTooLarge:         http.StatusRequestEntityTooLarge,
	models.CodeUnsupportedMediaType:    http.StatusUnsupportedMediaType,
	models.CodeValidation:              http.StatusUnprocessableEntity,
	models.CodeIdempotencyKeyReused:    http.StatusUnprocessableEntity,
	models.CodeReferenceNotOwned:       http.StatusUnprocessableEntity,
	models.CodeTooManyMembers:          http.StatusUnprocessableEntity,
	models.CodeURITooLong:              http.StatusRequestURITooLong,
	models.CodeRateLimited:             http.StatusTooManyRequests,
	models.CodeInternal:                http.StatusInternalServerError,
	models.CodeGatewayUnavailable:      http.StatusBadGateway,
	models.CodeServiceUnavailable:      http.StatusServiceUnavailable,
	models.CodeBusPlateAlreadyExists:   http.StatusConflict,
	models.CodeEmailAlreadyExists:      http.StatusConflict,
	models.CodeTripCapacityReached:     http.StatusConflict,
	models.CodeTripNotBookable:         http.StatusConflict,
	models.CodeBookingNotPayable:       http.StatusConflict,
	models.CodeCampaignNotPayable:      http.StatusConflict,
	models.CodeInvalidState:            http.StatusConflict,
	models.CodeRefundExceedsRemaining:  http.StatusConflict,
	models.CodeBookingNotRefundable:    http.StatusConflict,
	models.CodeRecordNotTransferable:   http.StatusConflict,
	models.CodeIdempotencyKeyInProcess: http.StatusConflict,
	models.CodeResourceInUse:           http.StatusConflict,
	models.CodeWebhookIDReused:         http.StatusConflict,
	models.CodeTooManyUnpaidBookings:   http.StatusConflict,
	models.CodeMethodNotAvailable:      http.StatusConflict,
	models.CodePaymentInSuspense:       http.StatusConflict,
	models.CodeSecondFactorNeeded:      http.StatusForbidden,
	models.CodeStepUpRequired:          http.StatusForbidden,
	models.CodeNoOpenCheckout:          http.StatusConflict,
	models.CodeRefundAmountChanged:     http.StatusConflict,
	models.CodePaymentDisputed:         http.StatusConflict,
	models.CodeApprovalRequired:        http.StatusConflict,
	models.CodePayoutReferenceUsed:     http.StatusConflict,
}

// unavailableRetry is what Retry-After says with a 503: a database or an orchestrator fails over in that order of time.
const unavailableRetry = 5 * time.Second

// errorAnswer is the envelope of an error (rules: api.errors).
type errorAnswer struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Code    models.Code         `json:"code"`
	Message string              `json:"message"`
	Details map[string][]string `json:"details,omitempty"`
	// UIMessage and UIDetails are for people, in the language that the caller asked for.
	UIMessage string              `json:"ui_message"`
	UIDetails map[string][]string `json:"ui_details,omitempty"`
}

// retryError is a domain error that says when to come back.
type retryError struct {
	domain *models.Error
	after  time.Duration
}

func (e *retryError) Error() string { return e.domain.Error() }

func (e *retryError) Unwrap() error { return e.domain }

// RetryAfter gives a domain error (RATE_LIMITED, SERVICE_UNAVAILABLE) a Retry-After header, whole seconds, at least one.
func RetryAfter(err *models.Error, after time.Duration) error {
	return &retryError{domain: err, after: after}
}

// overloaded is the answer to a payment for which there is no place. Nothing has been written.
func overloaded(after time.Duration) error {
	return RetryAfter(models.NewError(models.CodeServiceUnavailable, "payment.too_many_starting"), after)
}

// panicError is a recovered panic on its way to the log.
type panicError struct {
	value any
	stack []byte
}

// Error names a fault of the runtime in full. Of any other value only the type: it may hold a request's data, and the
// stack tells where it came from.
func (e *panicError) Error() string {
	if fault, ok := e.value.(runtime.Error); ok {
		return "panic: " + fault.Error()
	}

	return fmt.Sprintf("panic: %T", e.value)
}

// HandleError writes the error envelope; it is also the app's fiber.ErrorHandler, for what fails before any route.
// An error that is not a domain error becomes INTERNAL_ERROR, is logged here and only here, and the client gets nothing but
// the request id.
func (c *Chain) HandleError(f *fiber.Ctx, err error) error {
	ctx := f.UserContext()
	if RequestID(ctx) == "" {
		ctx = c.begin(f)
		// The server closes the connection: the request could not be read, and what follows it neither.
		linger(f.Context().Conn(), true)

		defer func() { c.logRequest(ctx, f, 0) }()
	}

	domain := domainError(err)
	if errors.Is(err, fiber.ErrRequestHeaderFieldsTooLarge) && endlessLine(f.Context().Conn(), f.App().Config().ReadBufferSize) {
		domain = models.NewError(models.CodeURITooLong, "request.uri_too_long")
	}

	domain = c.sayHowToStepUp(ctx, domain)

	status, ok := statusOf[domain.Code]
	if !ok {
		domain, status = unexpected(), http.StatusInternalServerError
	}

	locale := Locale(ctx)
	body := errorBody{
		Code: domain.Code, Message: domain.Message(), Details: domain.EnglishDetails(),
		UIMessage: uiMessage(domain, locale), UIDetails: uiDetails(status, domain.Details, locale),
	}

	if status >= http.StatusInternalServerError {
		c.logFailure(ctx, f, status, err)

		body.Details = map[string][]string{"request_id": {RequestID(ctx)}}
		maps.Copy(body.Details, domain.EnglishDetails())
	}

	setRetryAfter(f, status, err)

	if forPerson(f) {
		return writePage(f, status, locale, domain.Code)
	}

	return f.Status(status).JSON(errorAnswer{Error: body}, fiber.MIMEApplicationJSONCharsetUTF8)
}

// sayHowToStepUp completes STEP_UP_REQUIRED of a handler by how this caller proves once more who they are.
func (c *Chain) sayHowToStepUp(ctx context.Context, err *models.Error) *models.Error {
	caller := Principal(ctx)
	if err.Code != models.CodeStepUpRequired || err.Details != nil || caller.UserID == uuid.Nil || c.deps.SteppedUp == nil {
		return err
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()

	if how, ok := errors.AsType[*models.Error](c.deps.SteppedUp(ctx, caller)); ok && how.Code == models.CodeStepUpRequired {
		return how
	}

	return err
}

func unexpected() *models.Error { return models.NewError(models.CodeInternal, "request.unexpected") }

// domainError says what an error means to a client.
func domainError(err error) *models.Error {
	if domain, ok := errors.AsType[*models.Error](err); ok {
		return domain
	}

	if e, ok := errors.AsType[*fiber.Error](err); ok {
		return frameworkError(e)
	}

	// The request's deadline, or a database that is away: not the client's fault, and it may pass.
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || db.IsUnavailable(err) {
		return models.NewError(models.CodeServiceUnavailable, "request.service_unavailable")
	}

	return unexpected()
}

// frameworkError translates what Fiber and the generated parameter binding report; their texts stay inside.
func frameworkError(e *fiber.Error) *models.Error {
	switch e.Code {
	case http.StatusNotFound:
		return models.NotFound()
	case http.StatusMethodNotAllowed:
		return models.NewError(models.CodeMethodNotAllowed, "request.method_not_allowed")
	case http.StatusRequestEntityTooLarge:
		return models.NewError(models.CodePayloadTooLarge, "request.too_large")
	case http.StatusUnsupportedMediaType:
		return models.NewError(models.CodeUnsupportedMediaType, "request.content_type_unsupported")
	default:
		if e.Code >= http.StatusInternalServerError && e.Code != http.StatusBadGateway {
			return unexpected()
		}

		// Headers that do not fit, a body that stopped coming, a broken connection (Fiber calls that one 502).
		return models.NewError(models.CodeMalformedRequest, "request.unreadable")
	}
}

func (c *Chain) logFailure(ctx context.Context, f *fiber.Ctx, status int, err error) {
	level := slog.LevelError
	if status != http.StatusInternalServerError && !db.LacksSchema(err) { // which only an operator can mend
		level = slog.LevelWarn
	}

	attrs := []slog.Attr{
		slog.String("request_id", RequestID(ctx)), slog.String("method", f.Method()), slog.String("path", logPath(f.Path())),
		slog.Int("status", status), slog.String("error", err.Error()),
	}

	if refused, ok := errors.AsType[*retryError](err); ok { // there is too much to do: one line for many of them
		due := c.refused.add(string(refused.domain.Text.Key), time.Now())
		if due == 0 {
			return
		}

		attrs = append(attrs, slog.Int("refused", due))
	}

	if p, ok := errors.AsType[*panicError](err); ok {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}

	c.deps.Log.LogAttrs(ctx, level, "request failed", attrs...)
}

func setRetryAfter(f *fiber.Ctx, status int, err error) {
	after := time.Duration(0)

	if limited, ok := errors.AsType[*ratelimit.Error](err); ok {
		after = limited.After
		limited.Show(f)
	} else if retry, ok := errors.AsType[*retryError](err); ok {
		after = retry.after
	} else if status == http.StatusServiceUnavailable {
		after = unavailableRetry
	}

	if after > 0 {
		f.Set(fiber.HeaderRetryAfter, strconv.FormatInt(ratelimit.WholeSeconds(after), 10))
	}
}
