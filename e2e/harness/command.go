package harness

import (
	"context"
	"maps"
	"time"
)

// commandPatience is how long a command that does one thing may take.
const commandPatience = time.Minute

// Command runs the service's program once, as an operator does, with the environment of the API, and returns what it
// printed. The error is its exit status.
func (s *Stack) Command(stdin string, args ...string) (string, error) {
	return s.command(s.API.Settings, stdin, args)
}

// CommandOf is Command with the settings of a process.
func (s *Stack) CommandOf(p *Process, args ...string) (string, error) {
	return s.command(p.Settings, "", args)
}

// OwnersCommand is Command as the role that owns the tables.
func (s *Stack) OwnersCommand(args ...string) (string, error) {
	env := maps.Clone(s.API.Settings)
	env["DATABASE_URL"] = s.ownerURL

	return s.command(env, "", args)
}

func (s *Stack) command(env map[string]string, stdin string, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandPatience)
	defer cancel()

	return s.service.Command(ctx, env, stdin, args...)
}
