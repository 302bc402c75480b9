package tripcancel

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// A refusal is of one booking; what the database could not do is tried again, and must not count as one.
func TestWhatBlocksABooking(t *testing.T) {
	t.Parallel()

	for err, want := range map[error]models.Code{
		models.NewError(models.CodeInvalidState, "cancellation.refund_waits"):                              models.CodeInvalidState,
		fmt.Errorf("cancel: %w", models.NewError(models.CodePaymentDisputed, "cancellation.refund_waits")): models.CodePaymentDisputed,
		models.NewError(models.CodeServiceUnavailable, "trip.being_booked"):                                "",
		errors.New("read payment: connection reset"):                                                       "",
		context.Canceled:   "",
		errAttemptAppeared: "",
	} {
		require.Equal(t, want, blocks(err), err)
	}

	require.Empty(t, blocks(nil))
}
