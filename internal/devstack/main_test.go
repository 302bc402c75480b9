package devstack_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rihla/internal/devstack"
)

// envHold makes the test binary start a stack in the named directory and hold it until it is killed.
const envHold = "DEVSTACK_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(envHold); dir != "" {
		hold(dir)
	}
	os.Exit(m.Run())
}

func hold(dir string) {
	stack, err := devstack.Start(context.Background(), options(dir))
	if err != nil {
		_, _ = fmt.Fprintln(os.Stdout, "error:", err)
		os.Exit(1)
	}
	_, _ = fmt.Fprintf(os.Stdout, "%s\n%s\n", stack.DatabaseURL, stack.TemporalAddress)
	select {}
}

// options are those of a stack on free ports with the programs of the source tree.
func options(dir string) devstack.Options {
	root, err := devstack.ModuleRoot()
	if err != nil {
		panic(err)
	}
	return devstack.Options{
		DataDir: dir, BinDir: filepath.Join(root, devstack.DefaultDataDir, "bin"),
		PostgresPort: devstack.AnyPort, TemporalPort: devstack.AnyPort, TemporalUIPort: devstack.AnyPort,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
}

// recorder is a log that a test can read afterwards.
func recorder() (*slog.Logger, *strings.Builder) {
	var text strings.Builder
	return slog.New(slog.NewTextHandler(&text, nil)), &text
}
