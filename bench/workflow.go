package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"golang.org/x/sync/errgroup"

	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/internal/devstack"
	"rihla/internal/notify"
	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/models"
	"rihla/worker"
	"rihla/workflows"
)

func newWorkflow() *cobra.Command {
	var payments, parallel, rounds int

	c := &cobra.Command{
		Use:   "workflow",
		Short: "Measure the payment workflow alone, at a gateway in memory: history events, rate and time",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := newBench(cmd.Context())
			if err != nil {
				return err
			}
			defer b.close()

			return b.report(cmd.Context(), cmd.OutOrStdout(), payments, parallel, rounds)
		},
	}
	c.Flags().IntVar(&payments, "payments", 200, "payments per round")
	c.Flags().IntVar(&parallel, "parallel", 16, "payments under way at once")
	c.Flags().IntVar(&rounds, "rounds", 3, "rounds; the median counts")

	return c
}

// bench is a private stack with one customer and trips that never sell out.
type bench struct {
	dir      string
	stack    *devstack.Stack
	store    *store.Store
	temporal client.Client
	user     uuid.UUID
	trips    []uuid.UUID
	mu       sync.Mutex
	booked   int
}

// newBench is a stack that does not wait for its disk, on which only the work itself counts.
func newBench(ctx context.Context) (*bench, error) {
	return newBenchOn(ctx, devstack.Options{Throwaway: true})
}

// newBenchOn starts the stack in a directory of its own.
func newBenchOn(ctx context.Context, o devstack.Options) (b *bench, err error) {
	b = &bench{}
	defer func() {
		if err != nil {
			b.close()
		}
	}()

	if b.dir, err = os.MkdirTemp("", "rihla-bench"); err != nil {
		return nil, err
	}

	o.DataDir, o.BinDir, o.Headless = b.dir, devstack.DefaultDataDir+"/bin", true
	o.PostgresPort, o.TemporalPort = devstack.AnyPort, devstack.AnyPort

	if b.stack, err = devstack.Start(ctx, o); err != nil {
		return nil, err
	}

	if b.store, err = store.Open(ctx, b.stack.DatabaseURL, models.DefaultPolicies(), db.Options{MaxConns: 32}); err != nil {
		return nil, err
	}

	if _, err = b.store.DB.Migrate(ctx); err != nil {
		return nil, err
	}

	if b.stack.Temporal == nil {
		return b, nil
	}

	b.temporal, err = client.Dial(client.Options{HostPort: b.stack.TemporalAddress, Logger: log.NewStructuredLogger(slog.Default())})

	return b, err
}

func (b *bench) close() {
	if b.temporal != nil {
		b.temporal.Close()
	}

	if b.store != nil {
		_ = b.store.Close()
	}

	if b.stack != nil {
		_ = b.stack.Close(context.Background())
	}

	_ = os.RemoveAll(b.dir)
}

type result struct {
	rate    float64 // payments per second
	latency time.Duration
	events  int64
}

func (b *bench) report(ctx context.Context, out io.Writer, payments, parallel, rounds int) error {
	if err := b.seed(ctx, rounds*payments); err != nil {
		return err
	}

	fmt.Fprintf(out, "%d payments, %d at once\n\n", payments, parallel)
	fmt.Fprintf(out, "| round | events | payments/s | median ms |\n|---|---|---|---|\n")

	var results []result

	line := func(name string, r result) {
		fmt.Fprintf(out, "| %s | %d | %.1f | %d |\n", name, r.events, r.rate, r.latency.Milliseconds())
	}

	for i := range rounds {
		r, err := b.measure(ctx, payments, parallel)
		if err != nil {
			return err
		}

		results = append(results, r)
		line(strconv.Itoa(i+1), r)
	}

	line("median", median(results))

	return nil
}

func median(all []result) result {
	slices.SortFunc(all, func(a, b result) int { return int(a.rate*1000) - int(b.rate*1000) })

	return all[len(all)/2]
}

// measure runs one round of payments on a worker and a task queue of its own.
func (b *bench) measure(ctx context.Context, payments, parallel int) (result, error) {
	queue := "bench-" + uuid.NewString()
	gate := fake.New()

	w := worker.New(worker.Deps{
		Log: slog.Default(), Temporal: b.temporal, Namespace: client.DefaultNamespace, Store: b.store, Sender: silent{},
		Gateways: map[models.MerchantAccount]gateways.Gateway{models.AccountGatewayA: gate}, Queue: queue, Concurrency: 32,
	})
	if err := w.Start(ctx); err != nil {
		return result{}, err
	}
	defer w.Stop()

	return b.drive(ctx, gate, workflows.NewClient(b.temporal, queue), payments, parallel)
}

func (b *bench) drive(
	ctx context.Context, gate *fake.Gateway, starter *workflows.Client, payments, parallel int,
) (result, error) {
	var (
		group errgroup.Group
		mu    sync.Mutex
		took  []time.Duration
		last  uuid.UUID
	)

	group.SetLimit(parallel)

	began := time.Now()

	for range payments {
		group.Go(func() error {
			start := time.Now()

			id, err := b.pay(ctx, gate, starter)

			mu.Lock()
			defer mu.Unlock()

			took, last = append(took, time.Since(start)), id

			return err
		})
	}

	if err := group.Wait(); err != nil {
		return result{}, err
	}

	out := result{rate: float64(payments) / time.Since(began).Seconds()}

	slices.Sort(took)
	out.latency = took[len(took)/2]

	d, err := b.temporal.DescribeWorkflowExecution(ctx, models.PaymentWorkflowID(last), "")
	if err != nil {
		return result{}, err
	}

	out.events = d.GetWorkflowExecutionInfo().GetHistoryLength()

	return out, nil
}

// pay takes one booking from the intent to the end of its workflow.
func (b *bench) pay(ctx context.Context, gate *fake.Gateway, starter *workflows.Client) (uuid.UUID, error) {
	a, err := b.book(ctx)
	if err != nil {
		return uuid.Nil, err
	}

	if _, err := starter.StartPayment(ctx, a); err != nil {
		return a.ID(), err
	}

	if err := gate.Pay(a.ID()); err != nil {
		return a.ID(), err
	}

	stored, err := b.webhook(ctx, gate, a)
	if err != nil {
		return a.ID(), err
	}

	if err := starter.Deliver(ctx, stored.Delivery); err != nil {
		return a.ID(), err
	}

	return a.ID(), b.temporal.GetWorkflow(ctx, models.PaymentWorkflowID(a.ID()), "").Get(ctx, nil)
}

func (b *bench) webhook(ctx context.Context, gate *fake.Gateway, a models.Attempt) (payments.Stored, error) {
	c, err := gate.ReadCheckout(ctx, gateways.CheckoutRef{MerchantReference: a.ID()})
	if err != nil {
		return payments.Stored{}, err
	}

	stored, err := b.store.Payments.StoreEvent(ctx, models.WebhookEvent{
		ID: models.NewID(), Channel: a.Method.Channel(), WebhookID: uuid.NewString(), Type: models.EventPaymentSucceeded,
		CheckoutID: c.ID, MerchantReference: a.ID().String(), Amount: &c.Amount, Currency: c.Currency,
		PaymentMethod: a.Method, OccurredAt: time.Now(),
	}, time.Now())
	if err == nil && !stored.Deliver {
		err = errors.New("the webhook was not for this payment")
	}

	return stored, err
}

// silent delivers nothing, in no time: what is measured is the orchestration.
type silent struct{}

func (silent) Send(context.Context, notify.Message) error { return nil }
