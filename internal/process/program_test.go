package process_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/process"
)

const patience = 20 * time.Second

// program is a shell that runs script until the test ends.
func program(t *testing.T, script string) *process.Program {
	t.Helper()
	p := &process.Program{
		Command:  process.Command{Name: "script", Path: "/bin/sh", Args: []string{"-c", script}, Log: filepath.Join(t.TempDir(), "logs", "a.log")},
		Settings: map[string]string{"GREETING": "first"}, ReadyLine: "ready",
	}
	t.Cleanup(func() { p.Kill() })
	return p
}

func await(t *testing.T, p *process.Program) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return p.Await(ctx)
}

func TestProgramStartsAgain(t *testing.T) {
	t.Parallel()
	p := program(t, `echo "$GREETING"; echo ready; exec sleep 100`)
	require.False(t, p.Kill())
	require.False(t, p.Ready(t.Context()))
	require.Empty(t, p.Log())

	require.NoError(t, p.Start())
	require.NoError(t, await(t, p))
	require.Equal(t, "first\nready\n", p.Log())
	first := p.PID()
	require.NoError(t, p.Start(), "it runs already")
	require.Equal(t, first, p.PID())

	require.True(t, p.Kill())
	require.False(t, p.Running())
	require.False(t, p.Ready(t.Context()))
	p.Setenv("GREETING", "second")
	require.NoError(t, p.Start())
	require.NoError(t, await(t, p))
	require.Equal(t, "second\nready\n", p.Log(), "of the last start alone")
	require.True(t, p.Stop())
	require.Empty(t, p.Exits(), "it was asked to end each time")
}

func TestProgramThatEndsByItself(t *testing.T) {
	t.Parallel()
	p := program(t, "echo going; exit 3")
	require.NoError(t, p.Start())
	require.ErrorContains(t, await(t, p), "script has ended:\ngoing\n")
	var exits []string
	require.Eventually(t, func() bool { exits = append(exits, p.Exits()...); return len(exits) > 0 }, patience, time.Millisecond)
	require.Len(t, exits, 1)
	require.Regexp(t, `^script at .*: exit status 3; its log ends with: going$`, exits[0])
}

func TestProgramThatIsNeverReady(t *testing.T) {
	t.Parallel()
	p := program(t, "echo going; exec sleep 100")
	p.ReadyLine, p.Probe = "", func(context.Context) bool { return false }
	require.NoError(t, p.Start())
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, p.Await(ctx), context.DeadlineExceeded)
}

func TestProgramFreezes(t *testing.T) {
	t.Parallel()
	p := program(t, `echo ready; while :; do echo alive; sleep 0.01; done`)
	require.False(t, p.Freeze())
	require.False(t, p.WasFrozen())
	require.NoError(t, p.Start())
	require.NoError(t, await(t, p))
	require.True(t, p.Freeze())

	// The log stays the same once the signal has arrived.
	var frozen string
	require.Eventually(t, func() bool {
		before := frozen
		frozen = p.Log()
		return before == frozen
	}, patience, 100*time.Millisecond)
	p.Thaw()
	require.Eventually(t, func() bool { return len(p.Log()) > len(frozen) }, patience, time.Millisecond)
	require.True(t, p.WasFrozen())
	require.True(t, p.Freeze())
	require.True(t, p.Kill(), "frozen or not")
}
