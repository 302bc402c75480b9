package harness

// Codec runs a codec server until the test ends, and returns its address.
func (s *Stack) Codec(env map[string]string) string {
	s.tb.Helper()

	address := freeAddress(s.tb)
	env["DATA_DIR"] = s.DataDir
	p := &Process{
		tb: s.tb, name: "codec", path: s.API.path, args: []string{"codec", "--listen", address}, env: env,
		readyLine: "codec serves",
	}
	p.Start()

	return "http://" + address
}
