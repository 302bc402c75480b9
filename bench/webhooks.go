package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rihla/internal/devstack"
)

func newWebhooks() *cobra.Command {
	b := &webhooksBench{}

	c := &cobra.Command{
		Use:   "webhooks",
		Short: "Measure how signed webhooks are accepted, beside Fiber, HMAC and one INSERT: rate, times, CPU, statements",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	c.Flags().IntVar(&b.deliveries, "webhooks", 6000, "webhooks per round")
	c.Flags().IntSliceVar(&b.connections, "connections", []int{16, 64}, "connections that the webhooks come over, each in turn")
	c.Flags().IntVar(&b.rounds, "rounds", 3, "rounds, each after one of the reference; the median counts")
	c.Flags().BoolVar(&b.statements, "statements", false, "list the statements of a webhook")

	return c
}

// webhooksBench has the API take webhooks, and the reference as many. Nothing listens where the API has its orchestrator: what is
// measured is the acceptance, which must not depend on it.
type webhooksBench struct {
	*stage

	deliveries, rounds int
	connections        []int
	statements         bool // are listed

	reference *webhookReference
	attempts  []webhookAttempt // that no webhook is about yet

	results map[webhookCase][]webhooksRound
}

// webhookCase is what is measured: the API or the reference over so many connections.
type webhookCase struct {
	connections int
	reference   bool
}

// webhooksRound is a round of webhooks.
type webhooksRound struct {
	load

	cost  cost
	ratio float64 // of the rate of the reference's round before it
	tail  float64 // the time within which 99 % are answered, in those of that round
}

// unusedAddress is one without a listener.
const unusedAddress = "127.0.0.1:1"

func (b *webhooksBench) run(ctx context.Context, out io.Writer) (err error) {
	if b.stage, err = newStageOn(ctx, stageOptions{stack: devstack.Options{TemporalAddress: unusedAddress}}); err != nil {
		return err
	}

	defer func() { err = errors.Join(err, b.close()) }()

	warm := min(b.deliveries, 1000)
	if b.attempts, err = b.seedAttempts(ctx, len(b.connections)*(warm+b.rounds*b.deliveries)); err != nil {
		return err
	}

	if b.reference, err = b.startWebhookReference(ctx); err != nil {
		return err
	}
	defer b.reference.process.Kill()

	b.results = map[webhookCase][]webhooksRound{}

	fmt.Fprintf(out, "%d webhooks per round, %d rounds; times in ms, CPU in ms for each webhook;\n"+
		"nothing listens at the orchestrator's address\n\n%s",
		b.deliveries, b.rounds, webhooksHead)

	if err := b.forgetStatements(ctx); err != nil {
		return err
	}

	for _, n := range b.connections {
		if err := b.compare(ctx, out, n, warm); err != nil {
			return err
		}
	}

	if b.statements {
		return b.printStatements(ctx, out, len(b.connections)*b.rounds*b.deliveries)
	}

	return nil
}

// compare measures both over so many connections, in turn.
func (b *webhooksBench) compare(ctx context.Context, out io.Writer, connections, warm int) error {
	ours, reference := webhookCase{connections: connections}, webhookCase{connections: connections, reference: true}

	// The first of everything makes connections and plans; it is not what a webhook costs.
	for _, which := range []webhookCase{reference, ours} {
		if _, err := b.measure(ctx, which, warm); err != nil {
			return err
		}
	}

	for range b.rounds {
		beside, err := b.measure(ctx, reference, b.deliveries)
		if err != nil {
			return err
		}

		beside.ratio, beside.tail = 1, 1

		r, err := b.measure(ctx, ours, b.deliveries)
		if err != nil {
			return err
		}

		r.ratio, r.tail = r.rate()/beside.rate(), float64(r.at(tailShare))/float64(beside.at(tailShare))

		b.results[reference], b.results[ours] = append(b.results[reference], beside), append(b.results[ours], r)
	}

	b.line(out, fmt.Sprintf("reference, %d connections", connections), b.results[reference])
	b.line(out, fmt.Sprintf("API, %d connections", connections), b.results[ours])

	return nil
}

// measure has a number of webhooks taken, and reads what that has cost.
func (b *webhooksBench) measure(ctx context.Context, which webhookCase, n int) (r webhooksRound, err error) {
	sender, err := b.newSender(which, n)
	if err != nil {
		return r, err
	}
	defer sender.close()

	before, err := b.webhookCost(ctx, which)
	if err != nil {
		return r, err
	}

	if r.load, err = closedLoop(ctx, which.connections, n, sender.send); err != nil {
		return r, err
	}

	used, err := b.webhookCPU(which)
	if err != nil {
		return r, err
	}

	// PostgreSQL's figures arrive when its sessions have been idle for a second, in which the API's CPU would count on.
	select {
	case <-time.After(settleTime):
	case <-ctx.Done():
		return r, ctx.Err()
	}

	after, err := b.webhookCost(ctx, which)
	after.cpu = used
	r.cost = after.since(before)

	return r, errors.Join(err, b.checkStored(ctx, which, sender))
}

// webhookCost is cost with the CPU of the processes that a webhook meets.
func (b *webhooksBench) webhookCost(ctx context.Context, which webhookCase) (c cost, err error) {
	if c, err = b.cost(ctx); err == nil {
		c.cpu, err = b.webhookCPU(which)
	}

	return c, err
}

func (b *webhooksBench) webhookCPU(which webhookCase) (cpu map[string]time.Duration, err error) {
	pids := b.pids()
	if which.reference {
		pids[partAPI] = b.reference.process.PID()
	}

	cpu = map[string]time.Duration{}

	for _, part := range []string{partAPI, partPostgres, partBench} {
		if cpu[part], err = cpuOf(pids[part], part == partPostgres); err != nil {
			return nil, err
		}
	}

	return cpu, nil
}

const webhooksHead = "| | a second | of the reference | median | 99 % | 99 %, of the reference | CPU | API | PostgreSQL | senders |" +
	" statements | transactions | flushes | kB of log |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"

// tailShare is the share of webhooks whose time is the long one of the table.
const tailShare = 0.99

// print writes the median of every column.
func (b *webhooksBench) line(out io.Writer, name string, all []webhooksRound) {
	n := float64(b.deliveries)
	millis := func(of func(webhooksRound) time.Duration) float64 {
		return float64(medianBy(all, of).Microseconds()) / float64(time.Millisecond/time.Microsecond)
	}
	number := func(of func(webhooksRound) float64) float64 { return medianBy(all, of) }
	count := func(of func(webhooksRound) int64) float64 { return float64(medianBy(all, of)) / n }
	cpu := func(parts ...string) float64 {
		return millis(func(r webhooksRound) time.Duration { return r.cost.total(parts...) }) / n
	}

	cells := []string{
		name,
		fmt.Sprintf("%.0f", number(func(r webhooksRound) float64 { return r.rate() })),
		fmt.Sprintf("%.2f", number(func(r webhooksRound) float64 { return r.ratio })),
		fmt.Sprintf("%.1f", millis(func(r webhooksRound) time.Duration { return r.at(0.5) })),
		fmt.Sprintf("%.1f", millis(func(r webhooksRound) time.Duration { return r.at(tailShare) })),
		fmt.Sprintf("%.1f", number(func(r webhooksRound) float64 { return r.tail })),
		fmt.Sprintf("%.3f", cpu(partAPI, partPostgres)),
		fmt.Sprintf("%.3f", cpu(partAPI)), fmt.Sprintf("%.3f", cpu(partPostgres)), fmt.Sprintf("%.3f", cpu(partBench)),
		fmt.Sprintf("%.2f", count(func(r webhooksRound) int64 { return r.cost.statements })),
		fmt.Sprintf("%.2f", count(func(r webhooksRound) int64 { return r.cost.transactions })),
		fmt.Sprintf("%.2f", count(func(r webhooksRound) int64 { return r.cost.flushes })),
		fmt.Sprintf("%.1f", count(func(r webhooksRound) int64 { return r.cost.wal })/1000), //nolint:mnd // bytes of a kB
	}

	fmt.Fprintln(out, "| "+strings.Join(cells, " | ")+" |")
}
