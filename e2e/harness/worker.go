package harness

import "maps"

// NewWorker starts a further worker process beside the stack's own; env changes its environment.
func (s *Stack) NewWorker(env map[string]string) *Process {
	s.tb.Helper()

	all := maps.Clone(s.Worker.env)
	maps.Copy(all, env)

	p := &Process{tb: s.tb, name: "another worker", path: s.Worker.path, args: s.Worker.args, env: all, readyLine: s.Worker.readyLine}
	p.Start()

	return p
}
