package testkit

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"

	"rihla/internal/testkit/cputime"
)

// RunWaiting is the TestMain of a package whose tests wait for other processes most of their time: it runs perProcessor
// of them at once for each processor, unless -parallel says how many, and ends the process. With the race detector the
// programs that they wait for need the processors: it is one then.
func RunWaiting(m *testing.M, perProcessor int) {
	flag.Parse()

	const name = "test.parallel"

	given := cputime.Race

	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })

	if !given {
		if err := flag.Set(name, strconv.Itoa(perProcessor*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}

	os.Exit(m.Run())
}
