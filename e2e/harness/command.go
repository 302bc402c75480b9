package harness

import (
	"context"
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
	ctx, cancel := context.WithTimeout(context.Background(), commandPatience)
	defer cancel()

	cmd := exec.CommandContext(ctx, s.API.path, args...) //nolint:gosec // our own binary
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.DataDir}

	for name, value := range s.API.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}

	text, err := cmd.CombinedOutput()

	return string(text), err
}
