package harness

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"strings"
	"time"
)

// commandPatience is how long a command that does one thing may take.
const commandPatience = time.Minute

// Command runs the service's program once, as an operator does, with the environment of the API, and returns what it
// printed. The error is its exit status.
func (s *Stack) Command(stdin string, args ...string) (string, error) {
	return s.command(s.API.env, stdin, args)
}

// OwnersCommand is Command as the role that owns the tables.
func (s *Stack) OwnersCommand(args ...string) (string, error) {
	env := maps.Clone(s.API.env)
	env["DATABASE_URL"] = s.ownerURL

	return s.command(env, "", args)
}

func (s *Stack) command(env map[string]string, stdin string, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandPatience)
	defer cancel()

	cmd := exec.CommandContext(ctx, s.API.path, args...) //nolint:gosec // our own binary
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.DataDir}

	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}

	text, err := cmd.CombinedOutput()

	return string(text), err
}
