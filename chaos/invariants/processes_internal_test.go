package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPanicLines(t *testing.T) {
	t.Parallel()

	const (
		frozen = `level=ERROR msg="Workflow panic" Error="[TMPRL1101] Potential deadlock detected"` + "\n"
		wrong  = `level=ERROR msg="Workflow panic" Error="index out of range"` + "\n"
	)

	require.Empty(t, panicLines([]byte("all is well\n"+frozen), true))
	require.Len(t, panicLines([]byte(frozen), false), 1, "who was not frozen has no excuse")
	require.Equal(t, []string{"Workflow panic\" Error=\"index out of range\"\n"}, panicLines([]byte(frozen+wrong), true))
	require.Len(t, panicLines([]byte("panic: no\n"+wrong), true), 2)
}
