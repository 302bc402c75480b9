package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"rihla/chaos/actors"
	"rihla/chaos/invariants"
)

// tally counts what was done and injected over all schedules.
type tally struct {
	schedules int
	counts    map[string]int
	answers   map[int]int
	settled   []time.Duration // from "everything is up" to "nothing moves"
	took      []time.Duration
}

func newTally() tally { return tally{counts: map[string]int{}, answers: map[int]int{}} }

func (t *tally) add(j *actors.Journal, settled, took time.Duration) {
	t.schedules++
	t.settled = append(t.settled, settled)
	t.took = append(t.took, took)

	for what, n := range j.Counts() {
		t.counts[what] += n
	}

	for _, a := range j.Answers() {
		t.answers[a.Status]++
	}
}

// write writes the tally as Markdown, as docs/reliability.md shows it.
func (t *tally) write(out io.Writer, took time.Duration) {
	if t.schedules == 0 {
		return
	}

	slices.Sort(t.settled)
	slices.Sort(t.took)

	fmt.Fprintf(out, "\n%d schedules in %s, %d invariants after each. A schedule took %.1f s (median; the longest %.1f s); once everybody "+
		"had come to their end and everything was up again, nothing moved any more after %.1f s (median; at the latest %.1f s).\n\n",
		t.schedules, took.Round(time.Second), len(invariants.All())+1, median(t.took), t.took[len(t.took)-1].Seconds(),
		median(t.settled), t.settled[len(t.settled)-1].Seconds())

	fmt.Fprint(out, "| What | times |\n|---|---:|\n")

	for _, what := range slices.SortedFunc(maps.Keys(t.counts), byGroup) {
		if t.counts[what] != 0 {
			fmt.Fprintf(out, "| %s | %d |\n", what, t.counts[what])
		}
	}

	for _, status := range slices.Sorted(maps.Keys(t.answers)) {
		fmt.Fprintf(out, "| answers %d | %d |\n", status, t.answers[status])
	}
}

func median(all []time.Duration) float64 { return all[len(all)/2].Seconds() }

// byGroup puts what was broken first.
func byGroup(a, b string) int {
	rank := func(s string) int {
		for i, prefix := range []string{
			"replace", "kill", "restart", "freeze", "clock", "database", "gateway cut", "gateway refuses", "gateway slow",
			"gateway: ",
		} {
			if strings.HasPrefix(s, prefix) {
				return i
			}
		}

		return len(s) + 100 //nolint:mnd // behind all of them; below, by name
	}

	ra, rb := min(rank(a), 100), min(rank(b), 100)
	if ra != rb {
		return ra - rb
	}

	return strings.Compare(a, b)
}
