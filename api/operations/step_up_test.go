package operations

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/storetest"
	"rihla/models"
)

// TestSteppedUpFor: only an amount above the limit asks for a code, and no limit asks for none. The caller has no account here, and so has
// typed none.
func TestSteppedUpFor(t *testing.T) {
	t.Parallel()

	o := &Operations{Deps: Deps{Store: storetest.New(t)}}
	require.NoError(t, o.SteppedUpFor(t.Context(), models.MustMoney("1000000.00")), "no limit")

	o.StepUpAbove = models.MustMoney("1000.00")
	require.NoError(t, o.SteppedUpFor(t.Context(), models.MustMoney("1000.00")))
	require.Equal(t, models.CodeStepUpRequired, models.CodeOf(o.SteppedUpFor(t.Context(), models.MustMoney("1000.01"))))
}
