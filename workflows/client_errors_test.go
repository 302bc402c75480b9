package workflows

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"rihla/models"
)

func TestAsDomainError(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		err  error
		want models.Code
	}{
		"not reached":      {serviceerror.NewUnavailable("connection refused"), models.CodeServiceUnavailable},
		"too slow":         {serviceerror.NewDeadlineExceeded("deadline exceeded"), models.CodeServiceUnavailable},
		"overloaded":       {serviceerror.NewResourceExhausted(enumspb.RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT, "slow down"), models.CodeServiceUnavailable},
		"no worker yet":    {serviceerror.NewWorkflowNotReady("Workflow state is not ready to handle the request."), models.CodeServiceUnavailable},
		"just started":     {serviceerror.NewNamespaceNotFound("default"), models.CodeServiceUnavailable},
		"moving":           {serviceerror.NewNamespaceNotActive("default", "here", "there"), models.CodeServiceUnavailable},
		"being deleted":    {serviceerror.NewNamespaceUnavailable("default"), models.CodeServiceUnavailable},
		"closing":          {serviceerror.NewAborted("try again"), models.CodeServiceUnavailable},
		"going away":       {serviceerror.NewCanceled("server is shutting down"), models.CodeServiceUnavailable},
		"no such workflow": {serviceerror.NewNotFound("no such workflow"), models.CodeNotFound},
		"a refusal": {
			temporal.NewApplicationErrorWithOptions("No.", string(models.CodeBookingNotPayable), temporal.ApplicationErrorOptions{NonRetryable: true}),
			models.CodeBookingNotPayable,
		},
		"not prepared":     {serviceerror.NewInvalidArgument("Namespace default has no mapping defined for search attribute BookingId"), models.CodeServiceUnavailable},
		"not prepared, 2":  {serviceerror.NewInvalidArgument("search attribute BookingId is not defined"), models.CodeServiceUnavailable},
		"an error of ours": {serviceerror.NewInvalidArgument("WorkflowId is not set"), models.CodeInternal},
		"not allowed":      {serviceerror.NewPermissionDenied("no", ""), models.CodeInternal},
	} {
		for _, err := range []error{tt.err, fmt.Errorf("failed workflow start: %w", tt.err)} {
			got := asDomainError(err)
			require.Equal(t, tt.want, models.CodeOf(got), name)

			if tt.want == models.CodeServiceUnavailable {
				require.ErrorContains(t, got, tt.err.Error(), "%s: the log says why", name)
			}
		}
	}

	require.ErrorIs(t, asDomainError(fmt.Errorf("poll: %w", context.DeadlineExceeded)), ErrStillRunning)
	require.NoError(t, asDomainError(nil))

	broken := errors.New("broken")
	require.Equal(t, broken, asDomainError(broken))
}
