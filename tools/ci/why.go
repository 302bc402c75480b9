package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

var (
	logLine = regexp.MustCompile(`(^| )(time|level)=`)
	failure = regexp.MustCompile(`^ *--- FAIL|^FAIL|^panic:|DATA RACE|^ +[0-9]+(\)| failed)|Error:|error:|VIOLATED|^Again: `)
)

// why prints what a failed lane said of its failures: the tests and their errors, and not the log of the service that ran in it.
func why(out io.Writer, name, path string) {
	text, err := os.ReadFile(path) //nolint:gosec // a log of ours
	if err != nil {
		return
	}

	var (
		said []string
		more int
		all  = strings.Split(strings.TrimSpace(string(text)), "\n")
	)

	for _, line := range all {
		switch {
		case logLine.MatchString(line):
		case failure.MatchString(line):
			said, more = append(said, line), 4
		case more > 0:
			said, more = append(said, line), more-1
		}
	}

	if len(said) == 0 {
		said = all
	}

	if len(said) > 16 {
		said = append(append(said[:8:8], "…"), said[len(said)-8:]...)
	}

	fmt.Fprintf(out, "== %s, why (all of it: %s):\n", name, path)

	for _, line := range said {
		if len(line) > 300 {
			line = line[:300]
		}

		fmt.Fprintln(out, line)
	}
}
