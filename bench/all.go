package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rihla/internal/devstack"
)

// measurement is one run of a command of this program whose output is a section of the document.
type measurement struct {
	section string   // the name in the document's markers
	args    []string // as docs/benchmarks.md is measured
	small   []string // in a few seconds, so that the command does not rot
}

// measurements are run in this order.
var measurements = []measurement{
	{
		section: "payments", args: []string{"payments"},
		small: []string{"payments", "--payments", "40", "--clients", "4", "--rounds", "1", "--statements"},
	},
	{section: "payments-at-rest", args: []string{"payments", "--clients", "1", "--payments", "100"}},
	{
		section: "webhooks", args: []string{"webhooks"},
		small: []string{"webhooks", "--webhooks", "200", "--connections", "16", "--rounds", "1", "--statements"},
	},
	{
		section: "polls", args: []string{"polls"},
		small: []string{"polls", "--clients", "8", "--time", "500ms", "--rounds", "1", "--statements"},
	},
	{
		section: "waiting", args: []string{"waiting"},
		small: []string{"waiting", "--customers", "300", "--settled", "15", "--quiet", "2s"},
	},
	{
		section: "growth", args: []string{"growth"},
		small: []string{"growth", "--payments", "20", "--clients", "4", "--rounds", "1", "--records", "2000"},
	},
	{
		section: "calledoff", args: []string{"calledoff", "--refunds", "200", "--rounds", "1", "--rate", "5"},
		small: []string{"calledoff", "--refunds", "20", "--rounds", "1", "--rate", "5", "--pace", "20", "--peace", "2s"},
	},
	{section: "exports", args: []string{"exports"}, small: []string{"exports", "--records", "2000", "--rounds", "1"}},
	{section: "lists", args: []string{"lists"}, small: []string{"lists", "--records", "1000,2000", "--clients", "4", "--time", "100ms"}},
}

func newAll() *cobra.Command {
	var (
		document string
		small    bool
		only     []string
	)

	c := &cobra.Command{
		Use:   "all",
		Short: "Run every measurement and write the results into docs/benchmarks.md",
		Long: "Run every measurement in turn, each in a process of its own, and write what it prints into its section of the\n" +
			"document, with the machine and the versions. With --small each is run once, with little work, and nothing is written.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runAll(cmd.Context(), cmd.OutOrStdout(), document, small, only)
		},
	}
	c.Flags().StringVar(&document, "document", "docs/benchmarks.md", "where the results are written")
	c.Flags().BoolVar(&small, "small", false, "once, with little work, without writing")
	c.Flags().StringSliceVar(&only, "only", nil, "these sections alone")

	return c
}

func runAll(ctx context.Context, out io.Writer, document string, small bool, only []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}

	var failed []error

	for _, m := range measurements {
		args := m.args
		if small {
			args = m.small
		}

		if len(args) == 0 || len(only) > 0 && !slices.Contains(only, m.section) {
			continue
		}

		fmt.Fprintf(out, "== bench %s\n", strings.Join(args, " "))

		result, err := measureOne(ctx, out, self, args)
		if err == nil && !small {
			err = writeSection(document, m.section, medians(result))
		}

		if err != nil {
			failed = append(failed, fmt.Errorf("bench %s: %w", strings.Join(args, " "), err))
		}

		if ctx.Err() != nil {
			return ctx.Err()
		}
	}

	if !small && len(failed) == 0 {
		failed = append(failed, writeSection(document, "machine", machine(ctx)))
	}

	return errors.Join(failed...)
}

// measureOne runs a command of this program and returns what it has printed, which it shows as well.
func measureOne(ctx context.Context, out io.Writer, self string, args []string) (string, error) {
	var printed bytes.Buffer

	c := exec.CommandContext(ctx, self, args...) //nolint:gosec // this program, with the arguments above
	c.Stdout, c.Stderr = io.MultiWriter(out, &printed), os.Stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = startTime

	err := c.Run()

	return printed.String(), err
}

const (
	sectionBegins = "<!-- measured: %s -->\n"
	sectionEnds   = "<!-- end of %s -->\n"
)

// writeSection puts the text between the markers of a section.
func writeSection(document, section, text string) error {
	old, err := os.ReadFile(document) //nolint:gosec // the caller's
	if err != nil {
		return err
	}

	updated, err := replaceSection(string(old), section, text)
	if err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}

	return os.WriteFile(document, []byte(updated), 0o644) //nolint:gosec,mnd // a document, for everybody to read
}

// medians leaves out the rows of single rounds where a row of their median follows.
func medians(text string) string {
	if !strings.Contains(text, "\n| median") {
		return text
	}

	return singleRound.ReplaceAllString(text, "")
}

// singleRound is the row of a round, or of its reference.
var singleRound = regexp.MustCompile(`(?m)^\| \d+(, reference)? \|.*\n`)

func replaceSection(document, section, text string) (string, error) {
	begin, end := fmt.Sprintf(sectionBegins, section), fmt.Sprintf(sectionEnds, section)

	before, rest, ok := strings.Cut(document, begin)
	if !ok {
		return "", fmt.Errorf("no section %q", section)
	}

	_, after, ok := strings.Cut(rest, end)
	if !ok {
		return "", fmt.Errorf("section %q has no end", section)
	}

	return before + begin + "\n" + strings.TrimSpace(text) + "\n\n" + end + after, nil
}

// machine describes what the measurements were made on.
func machine(ctx context.Context) string {
	facts := [][2]string{
		{"date", time.Now().UTC().Format(time.DateOnly)},
		{"processor", firstMatch("/proc/cpuinfo", "model name")},
		{"cores", strconv.Itoa(runtime.NumCPU())},
		{"memory", firstMatch("/proc/meminfo", "MemTotal")},
		{"system", output(ctx, "uname", "-sr")},
		{"Go", strings.TrimPrefix(runtime.Version(), "go")},
		{"PostgreSQL", strings.TrimPrefix(output(ctx, "psql", "--version"), "psql (PostgreSQL) ")},
		{"Temporal", strings.TrimPrefix(output(ctx, devstack.DefaultDataDir+"/bin/temporal", "--version"), "temporal version ")},
		{"code", output(ctx, "git", "rev-parse", "--short", "HEAD")},
	}

	var b strings.Builder

	b.WriteString("| | |\n|---|---|\n")

	for _, f := range facts {
		fmt.Fprintf(&b, "| %s | %s |\n", f[0], f[1])
	}

	return b.String()
}

// output is what a program prints; empty when it cannot be run.
func output(ctx context.Context, name string, args ...string) string {
	text, err := exec.CommandContext(ctx, name, args...).Output() //nolint:gosec // named above
	if err != nil {
		return ""
	}

	return strings.TrimSpace(string(text))
}

// firstMatch is the value of the first line of a file of /proc that has the name.
func firstMatch(file, name string) string {
	text, err := os.ReadFile(file) //nolint:gosec // named above
	if err != nil {
		return ""
	}

	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}

	return ""
}
