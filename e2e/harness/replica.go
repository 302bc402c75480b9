package harness

import (
	"maps"

	"github.com/google/uuid"

	"rihla/internal/process"
)

// Replica starts a further API process beside the stack's own, on the same database and orchestrator, and returns the
// stack as its clients see it. env changes its environment; an empty value gives a variable its default.
func (s *Stack) Replica(env map[string]string) *Stack {
	s.tb.Helper()

	replica := *s
	address := freeAddress(s.tb)
	replica.URL = "http://" + address

	all := maps.Clone(s.API.Settings)
	maps.Copy(all, env)
	all["PUBLIC_URL"] = replica.URL

	replica.API = s.start(s.service.API(unique("replica"), address, all))

	return &replica
}

// NewWorker starts a further worker process beside the stack's own; env changes its environment.
func (s *Stack) NewWorker(env map[string]string) *Process {
	s.tb.Helper()

	all := maps.Clone(s.Worker.Settings)
	delete(all, "METRICS_ADDR") // which is that of the first one
	maps.Copy(all, env)

	return s.start(s.service.Worker(unique("worker"), all))
}

// Codec runs a codec server until the test ends, and returns its address.
func (s *Stack) Codec(env map[string]string) string {
	s.tb.Helper()

	address := freeAddress(s.tb)
	p := s.service.Program(unique("codec"), nil, "codec", "--listen", address)
	p.Settings, p.ReadyLine = env, "codec serves"
	p.Settings["DATA_DIR"] = s.DataDir
	s.start(p)

	return "http://" + address
}

func (s *Stack) start(program *process.Program) *Process {
	s.tb.Helper()

	p := supervised(s.tb, program)
	p.Start()

	return p
}

// unique is a name that no other process of a stack has.
func unique(name string) string { return name + " " + uuid.NewString() }
