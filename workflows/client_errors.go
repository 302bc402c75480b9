package workflows

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"rihla/models"
)

// asDomainError turns what the orchestrator answers into the service's own errors: a refusal by an activity has the
// domain code as its type; a silent orchestrator is SERVICE_UNAVAILABLE.
func asDomainError(err error) error {
	if err == nil {
		return nil
	}

	if e, ok := errors.AsType[*temporal.ApplicationError](err); ok && e.NonRetryable() {
		return refusalOf(e)
	}

	if isNotFound(err) {
		return models.NotFound()
	}

	if _, ok := errors.AsType[*client.WorkflowUpdateServiceTimeoutOrCanceledError](err); ok || errors.Is(err, context.DeadlineExceeded) {
		return ErrStillRunning
	}

	if IsUnavailable(err) || isMissingSearchAttribute(err) {
		return fmt.Errorf("%w The orchestrator: %s", unavailable(), err.Error()) // the log says why
	}

	return err
}

// refusalOf is the domain error that activities.asActivityError has sent. Without details, or with those of a version that had sentences in
// place of keys, it still has its code and its English.
func refusalOf(e *temporal.ApplicationError) *models.Error {
	var (
		details map[string][]models.Text
		text    models.Text
	)

	domain := &models.Error{Code: models.Code(e.Type()), Text: models.Verbatim(e.Message())}

	if !e.HasDetails() {
		return domain
	}

	if err := e.Details(&details, &text); err == nil && !text.IsZero() {
		domain.Text = text
	} else {
		_ = e.Details(&details)
	}

	domain.Details = details

	return domain
}

func unavailable() error {
	return models.NewError(models.CodeServiceUnavailable, "request.orchestrator_unavailable")
}

// IsUnavailable tells an orchestrator that cannot take something now from one that refuses it: it cannot be reached, is
// overloaded, loads its namespaces or moves them, or has no worker that was quick enough for the workflow to be ready.
func IsUnavailable(err error) bool {
	return is[*serviceerror.Unavailable](err) || is[*serviceerror.ResourceExhausted](err) || is[*serviceerror.DeadlineExceeded](err) ||
		is[*serviceerror.WorkflowNotReady](err) || is[*serviceerror.Aborted](err) || is[*serviceerror.Canceled](err) ||
		is[*serviceerror.NamespaceNotFound](err) || is[*serviceerror.NamespaceUnavailable](err) || is[*serviceerror.NamespaceNotActive](err)
}

// isMissingSearchAttribute tells the refusal of a search attribute that the cluster, or one node of it, has not heard of yet. A new
// cluster needs some seconds after the first worker has added them; one in which no worker may must be given them.
func isMissingSearchAttribute(err error) bool {
	e, ok := errors.AsType[*serviceerror.InvalidArgument](err)

	return ok && strings.Contains(strings.ToLower(e.Message), "search attribute")
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)

	return ok
}

func isNotFound(err error) bool {
	_, ok := errors.AsType[*serviceerror.NotFound](err)

	return ok
}

func isAlreadyStarted(err error) bool {
	if _, ok := errors.AsType[*temporal.ChildWorkflowExecutionAlreadyStartedError](err); ok {
		return true
	}

	_, ok := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err)

	return ok
}
