package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rihla/gateways"
	"rihla/models"
	"rihla/workflows"
)

func newLateChecks() *cobra.Command {
	b := &lateChecksBench{}

	c := &cobra.Command{
		Use:   "latechecks",
		Short: "Measure late checks of payments that ended unpaid, beside the rate that the gateway is called at: rate, CPU, statements",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	c.Flags().Float64SliceVar(&b.rates, "rates", []float64{100, 400}, "GATEWAY_A_RATE of each case: calls a second")
	c.Flags().DurationVar(&b.time, "time", 20*time.Second, "for which there are checks at that rate")
	c.Flags().DurationVar(&b.takes, "takes", 20*time.Millisecond, "what the gateway takes for a call")

	return c
}

// lateChecksBench has attempts checked that ended unpaid, all of them due at once, as after an outage.
type lateChecksBench struct {
	*stage

	rates       []float64
	time, takes time.Duration
	gateway     *countingGateway
	customers   []waitingCustomer // of the attempts, from which each case takes its own
}

// lateCase is a rate, and what the gateway says of the checkouts: one that is still open there is closed, a second call.
type lateCase struct {
	rate   float64
	status gateways.CheckoutStatus
}

func (c lateCase) callsEach() int {
	if c.status == gateways.CheckoutOpen {
		return 2 //nolint:mnd // read and close
	}

	return 1
}

// checks is how many there are, so that the rate is used for some time.
func (c lateCase) checks(of time.Duration) int {
	return max(int(c.rate*of.Seconds())/c.callsEach(), 1)
}

func (b *lateChecksBench) cases() (all []lateCase) {
	for _, r := range b.rates {
		all = append(all, lateCase{r, gateways.CheckoutExpired}, lateCase{r, gateways.CheckoutOpen})
	}

	return all
}

const (
	// What LATE_PAYMENT_CHECKS says by default ends a day after the attempt: these are asked about for the last time.
	endAttempts = `UPDATE payment_transactions SET status = 'FAILED', failure_code = 'EXPIRED', check_at = NULL,
		created_at = now() - interval '26 hours', expires_at = now() - interval '25 hours 30 minutes', updated_at = now() - interval '25 hours'`
	dueNow = `UPDATE payment_transactions SET check_at = now() WHERE id = ANY($1::uuid[])`
	notYet = `SELECT count(*) FROM payment_transactions WHERE check_at IS NOT NULL`
)

const lateHead = "| GATEWAY_A_RATE | at the gateway | checks | checks/s | calls/s | of the rate | most calls in a second |" +
	" CPU | worker | Temporal | PostgreSQL | statements |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n"

func (b *lateChecksBench) run(ctx context.Context, out io.Writer) (err error) {
	b.gateway = &countingGateway{takes: b.takes}

	b.stage, err = newStageOn(ctx, stageOptions{around: func(http.Handler) http.Handler { return b.gateway }})
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, b.close()) }()

	n := 0
	for _, c := range b.cases() {
		n += c.checks(b.time)
	}

	if b.customers, err = b.openCheckouts(ctx, n); err != nil {
		return err
	}

	for _, sql := range []string{endAttempts, "VACUUM ANALYZE"} {
		if _, err := b.db.ExecContext(ctx, sql); err != nil {
			return fmt.Errorf("end attempts: %w", err)
		}
	}

	fmt.Fprintf(out, "A gateway that takes %s for a call; CPU in ms for each check\n\n%s", b.takes, lateHead)

	for _, c := range b.cases() {
		if err := b.measure(ctx, out, c); err != nil {
			return err
		}
	}

	return b.audit(ctx, out)
}

// restart has the worker begin anew with another rate, and its bucket full.
func (b *lateChecksBench) restart(ctx context.Context, perSecond float64) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()

	w := b.service.Workers[0]
	w.Kill()
	w.Setenv("GATEWAY_A_RATE", strconv.FormatFloat(perSecond, 'g', -1, 64))

	if err := w.Start(); err != nil {
		return err
	}

	return w.Await(ctx)
}

func (b *lateChecksBench) measure(ctx context.Context, out io.Writer, c lateCase) error {
	n := c.checks(b.time)
	attempts := make([]string, n)

	for i := range attempts {
		attempts[i] = b.customers[i].attempt.String()
	}

	b.customers = b.customers[n:]

	if err := b.restart(ctx, c.rate); err != nil {
		return err
	}

	b.gateway.begin(c.status)

	before, err := b.cost(ctx)
	if err != nil {
		return err
	}

	if _, err := b.db.ExecContext(ctx, dueNow, attempts); err != nil {
		return err
	}

	if err := workflows.NewClient(b.temporal, paymentsQueue).PollStatus(ctx, models.ChannelGatewayA); err != nil {
		return err
	}

	if err := b.awaitChecks(ctx, c); err != nil {
		return err
	}

	after, err := b.cost(ctx)
	if err != nil {
		return err
	}

	calls := b.gateway.end()
	if want := n * c.callsEach(); len(calls) < want {
		return fmt.Errorf("the gateway was called %d times for %d checks", len(calls), n)
	}

	b.line(out, c, calls, after.since(before))

	return nil
}

// awaitChecks waits until no check is due any more, for several times as long as the rate would need.
func (b *lateChecksBench) awaitChecks(ctx context.Context, c lateCase) error {
	const (
		look    = 100 * time.Millisecond
		patient = 5
	)

	limited, cancel := context.WithTimeout(ctx, patient*b.time+startTime)
	defer cancel()

	for left := 1; left > 0; {
		select {
		case <-time.After(look):
		case <-limited.Done():
			return fmt.Errorf("%d of %d checks were not made in %d times the time: %w", left, c.checks(b.time), patient, limited.Err())
		}

		if err := b.db.QueryRowContext(limited, notYet).Scan(&left); err != nil {
			return err
		}
	}

	return nil
}

// line says what came of a case. The rate is that of all calls but the first tenth, which the gateway's burst has room for.
func (b *lateChecksBench) line(out io.Writer, c lateCase, calls []time.Time, used cost) {
	const burst = 10

	from := len(calls) / burst
	rate := float64(len(calls)-1-from) / max(calls[len(calls)-1].Sub(calls[from]).Seconds(), time.Millisecond.Seconds())
	n := float64(c.checks(b.time))
	each := func(parts ...string) string {
		return fmt.Sprintf("%.2f", float64(used.total(parts...).Microseconds())/1000/n)
	}

	cells := []string{
		strconv.FormatFloat(c.rate, 'g', -1, 64), string(c.status), fmt.Sprintf("%.0f", n),
		fmt.Sprintf("%.1f", rate/float64(c.callsEach())), fmt.Sprintf("%.1f", rate), fmt.Sprintf("%.2f", rate/c.rate),
		strconv.Itoa(mostWithin(calls, time.Second)),
		each(partWorker, partTemporal, partPostgres), each(partWorker), each(partTemporal), each(partPostgres),
		fmt.Sprintf("%.2f", float64(used.statements)/n),
	}

	fmt.Fprintln(out, "| "+strings.Join(cells, " | ")+" |")
}

// mostWithin is how many of the moments, in their order, lie within a span at most.
func mostWithin(moments []time.Time, span time.Duration) (most int) {
	first := 0

	for i := range moments {
		for moments[i].Sub(moments[first]) >= span {
			first++
		}

		most = max(most, i-first+1)
	}

	return most
}
