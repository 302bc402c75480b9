package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"rihla/internal/config"
	"rihla/internal/notify"
	"rihla/models"
	"rihla/workflows"
)

func newOutbox() *cobra.Command {
	b := &outboxBench{}

	c := &cobra.Command{
		Use:   "outbox",
		Short: "Measure the delivery of queued messages, beside a bare loop of the same sender: rate, order, duplicates",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	c.Flags().IntVar(&b.messages, "messages", 6000, "messages per round")
	c.Flags().IntVar(&b.recipients, "recipients", 2000, "addresses that they go to")
	c.Flags().IntVar(&b.rounds, "rounds", 3, "rounds, each after one of the reference; the median counts")
	c.Flags().IntVar(&b.workers, "workers", 1, "worker processes")
	c.Flags().IntVar(&b.atOnce, "at-once", 64, "MAIL_CONCURRENCY: messages that each of them hands over at once")
	c.Flags().DurationVar(&b.takes, "takes", 100*time.Millisecond, "what the mail server takes for a message")

	return c
}

// paymentsQueue is the service's task queue by default.
const paymentsQueue = "payments"

// outboxBench queues messages as rows, and looks at the mail server when they have come.
type outboxBench struct {
	*stage

	messages, recipients, rounds, workers, atOnce int
	takes                                         time.Duration

	server *mailServer
	sender *notify.SMTP
	pids   []int // of the workers
}

type outboxRound struct {
	ours, reference float64 // messages a second
	cpu             time.Duration
	postgres        time.Duration
	statements      int64
}

func (b *outboxBench) run(ctx context.Context, out io.Writer) (err error) {
	if b.server, err = newMailServer(ctx, b.takes); err != nil {
		return err
	}
	defer b.server.listener.Close()

	renderer, err := notify.NewRenderer("")
	if err != nil {
		return err
	}

	from := &mail.Address{Address: "bench@rihla.test"}
	if b.sender, err = notify.NewSMTP(config.Secret("smtp://"+b.server.address), from, renderer); err != nil {
		return err
	}
	defer b.sender.Close()

	b.stage, err = newStage(ctx, 1, map[string]string{
		"SMTP_URL": "smtp://" + b.server.address, "MAIL_CONCURRENCY": strconv.Itoa(b.atOnce),
	})
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, b.close()) }()

	b.pids = []int{b.service.Workers[0].PID()}

	for i := range b.workers - 1 {
		w := b.service.Worker("worker-"+strconv.Itoa(i+2), nil)
		if err := w.Start(); err != nil {
			return err
		}
		defer w.Stop()

		if err := w.Await(ctx); err != nil {
			return err
		}

		b.pids = append(b.pids, w.PID())
	}

	return b.measureAll(ctx, out)
}

func (b *outboxBench) measureAll(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "%d messages to %d addresses, %s each, %d worker processes with %d at once; CPU in ms for each message\n\n"+
		"| round | messages/s | bare loop/s | ratio | CPU of workers | PostgreSQL | statements |\n|---|---|---|---|---|---|---|\n",
		b.messages, b.recipients, b.takes, b.workers, b.atOnce)

	line := func(name string, r outboxRound) {
		each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(b.messages) }
		fmt.Fprintf(out, "| %s | %.0f | %.0f | %.2f | %.2f | %.2f | %.2f |\n", name, r.ours, r.reference, r.ours/r.reference,
			each(r.cpu), each(r.postgres), float64(r.statements)/float64(b.messages))
	}

	var all []outboxRound

	for i := range b.rounds {
		r, err := b.round(ctx)
		if err != nil {
			return err
		}

		all = append(all, r)
		line(strconv.Itoa(i+1), r)
	}

	line("median", outboxRound{
		ours:       medianBy(all, func(r outboxRound) float64 { return r.ours }),
		reference:  medianBy(all, func(r outboxRound) float64 { return r.reference }),
		cpu:        medianBy(all, func(r outboxRound) time.Duration { return r.cpu }),
		postgres:   medianBy(all, func(r outboxRound) time.Duration { return r.postgres }),
		statements: medianBy(all, func(r outboxRound) int64 { return r.statements }),
	})

	_, err := fmt.Fprintln(out, "\nEach message came once, and those of an address one after another, in the order in which they were queued.")

	return err
}

func (b *outboxBench) round(ctx context.Context) (r outboxRound, err error) {
	if r.reference, err = b.bareLoop(ctx); err != nil {
		return r, err
	}

	before, workers, err := b.used(ctx)
	if err != nil {
		return r, err
	}

	order, err := b.queue(ctx)
	if err != nil {
		return r, err
	}

	began := time.Now()

	if err := workflows.NewClient(b.temporal, paymentsQueue).WakeOutbox(ctx); err != nil {
		return r, err
	}

	if err := b.await(ctx); err != nil {
		return r, err
	}

	r.ours = float64(b.messages) / time.Since(began).Seconds()

	// What is recorded last, and PostgreSQL's figures, arrive late.
	select {
	case <-time.After(settleTime):
	case <-ctx.Done():
		return r, ctx.Err()
	}

	after, workersAfter, err := b.used(ctx)
	if err != nil {
		return r, err
	}

	used := after.since(before)
	r.cpu, r.postgres, r.statements = workersAfter-workers, used.cpu[partPostgres], used.statements

	return r, b.check(ctx, order)
}

// used is what the stage and all workers have used so far.
func (b *outboxBench) used(ctx context.Context) (c cost, workers time.Duration, err error) {
	if c, err = b.cost(ctx); err != nil {
		return c, 0, err
	}

	for _, pid := range b.pids {
		used, err := cpuOf(pid, false)
		if err != nil {
			return c, 0, err
		}

		workers += used
	}

	return c, workers, nil
}

// bareLoop sends as many messages with the same sender, without a database, and says how many a second.
func (b *outboxBench) bareLoop(ctx context.Context) (float64, error) {
	var next atomic.Int64

	l, err := closedLoop(ctx, b.workers*b.atOnce, b.messages, func(ctx context.Context) error {
		return b.sender.Send(ctx, notify.Message{
			ID: uuid.New(), Channel: models.NotifyEmail, Kind: models.NotifyAccountLocked, Locale: models.LocaleEnglish,
			To: b.recipient(int(next.Add(1))), Data: messageData(),
		})
	})
	b.server.take()

	return l.rate(), err
}

func (b *outboxBench) recipient(i int) string {
	return "customer-" + strconv.Itoa(i%b.recipients) + "@bench.rihla.test"
}

func messageData() map[string]string { return map[string]string{"name": "Customer"} }

// queue writes the messages as rows, a microsecond apart, and returns the order of those of each address.
func (b *outboxBench) queue(ctx context.Context) (order map[string][]string, err error) {
	rows, err := b.db.QueryContext(ctx, `INSERT INTO notifications
			(id, user_id, kind, channel, locale, recipient, data, created_at, next_attempt_at)
		SELECT gen_random_uuid(), $1, $2, 'EMAIL', 'en', 'customer-' || i % $3 || '@bench.rihla.test', '{"name": "Customer"}', at, at
		FROM generate_series(1, $4::int) AS i CROSS JOIN LATERAL (SELECT now() - ($4 - i) * interval '1 microsecond' AS at) AS _
		RETURNING recipient, id`, b.user, models.NotifyAccountLocked, b.recipients, b.messages)
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	order = map[string][]string{}

	for rows.Next() {
		var to, id string
		if err := rows.Scan(&to, &id); err != nil {
			return nil, err
		}

		order[to] = append(order[to], id)
	}

	return order, rows.Err()
}

// await waits until the mail server has taken all messages.
func (b *outboxBench) await(ctx context.Context) error {
	const look, patience = 5 * time.Millisecond, 2 * time.Minute

	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	for b.server.count() < b.messages {
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return fmt.Errorf("%d of %d messages came: %w", b.server.count(), b.messages, ctx.Err())
		}
	}

	return nil
}

// check compares what came with what was queued.
func (b *outboxBench) check(ctx context.Context, order map[string][]string) error {
	last := map[string]takenMail{}

	for _, m := range b.server.take() {
		queue := order[m.to]
		if len(queue) == 0 || queue[0] != m.id {
			return fmt.Errorf("message %s to %s came twice or out of order", m.id, m.to)
		}

		if m.begun.Before(last[m.to].end) {
			return fmt.Errorf("message %s to %s came beside the one before", m.id, m.to)
		}

		order[m.to], last[m.to] = queue[1:], m
	}

	var left int

	err := b.db.QueryRowContext(ctx, `SELECT count(*) FROM notifications WHERE status <> 'SENT' OR attempts <> 1`).Scan(&left)
	if err == nil && left > 0 {
		err = fmt.Errorf("%d messages are not recorded as sent at the first try", left)
	}

	return err
}
