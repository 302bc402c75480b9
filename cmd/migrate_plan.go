package cmd

import (
	"fmt"
	"io"
	"strings"
	"time"

	"rihla/internal/store/db"
)

// printPlan says in words what migrating would do.
func printPlan(w io.Writer, p db.Plan) error {
	var b strings.Builder

	switch {
	case p.From == nil:
		fmt.Fprintf(&b, "%d migrations make the schema of %s. No release has worked with this database yet.\n", len(p.Steps), p.To.Version)
	case len(p.Steps) == 0:
		fmt.Fprintf(&b, "The database has the schema of %s. Nothing to apply.\n", p.To.Version)
	default:
		fmt.Fprintf(&b, "From %s to %s.\n", p.From.Version, p.To.Version)
	}

	if p.From != nil && len(p.Steps) > 0 {
		for _, step := range p.Steps {
			printStep(&b, step)
		}

		printBeside(&b, p)
	}

	for _, point := range p.NoReturn {
		state := "has not happened yet"
		if point.Passed {
			state = "has happened: restore a backup to go back"
		}

		fmt.Fprintf(&b, "\nNo way back from %s once %s. This %s.\n", point.Release.Version, point.Release.NoReturn.When, state)
	}

	_, err := io.WriteString(w, b.String())

	return err
}

// printStep says what a migration does to the tables that are there.
func printStep(b *strings.Builder, step db.PlanStep) {
	how := "one statement at a time"
	if step.InTransaction {
		how = "in one transaction"
	}

	fmt.Fprintf(b, "\n%s, %s\n", step.Name, how)

	for _, e := range step.Effects {
		fmt.Fprintf(b, "  %-24s %s; %s\n", e.Table, lockWords[e.Lock], work(e))
	}
}

// lockWords say what others cannot do while a migration has a lock.
var lockWords = map[string]string{
	"RowExclusiveLock":         "changes rows",
	"ShareUpdateExclusiveLock": "others read and write",
	"ShareLock":                "others read, and wait to write",
	"ShareRowExclusiveLock":    "others read, and wait to write",
	"ExclusiveLock":            "others read, and wait to write",
	"AccessExclusiveLock":      "others wait",
}

func work(e db.PlanEffect) string {
	words, depends := map[string]string{"read": "reads it whole", "index": "makes an index", "rewrite": "writes it anew"}[e.Work]
	if !depends {
		return "for a moment"
	}

	took := "less than a second"
	if e.Time >= time.Second {
		took = "about " + e.Time.Round(time.Second).String()
	}

	return fmt.Sprintf("%s: %d rows, %s", words, e.Rows, took)
}

// printBeside says whether the service goes on meanwhile.
func printBeside(b *strings.Builder, p db.Plan) {
	if p.To.Beside {
		fmt.Fprintf(b, "\nProcesses of %s go on meanwhile and afterwards, beside those of %s.\n", p.From.Version, p.To.Version)
	} else {
		fmt.Fprintf(b, "\nProcesses of %s cannot run beside those of %s: docs/upgrading.md has the order.\n", p.From.Version, p.To.Version)
	}
}
