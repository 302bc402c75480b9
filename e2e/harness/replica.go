package harness

import "maps"

// Replica starts a further API process beside the stack's own, on the same database and orchestrator, and returns the
// stack as its clients see it. env changes its environment; an empty value gives a variable its default.
func (s *Stack) Replica(env map[string]string) *Stack {
	s.tb.Helper()

	replica := *s
	replica.URL = "http://" + freeAddress(s.tb)

	all := maps.Clone(s.API.env)
	maps.Copy(all, env)
	all["LISTEN_ADDR"], all["PUBLIC_URL"] = replica.URL[len("http://"):], replica.URL

	replica.API = &Process{tb: s.tb, name: "replica", path: s.API.path, args: s.API.args, env: all, ready: replica.apiReady}
	replica.API.Start()

	return &replica
}
