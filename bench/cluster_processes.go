package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"rihla/chaos/schedule"
)

// The database of the service, and all of those that Temporal has on the same server.
const (
	countOwnTransactions      = `SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()`
	countTemporalTransactions = `SELECT coalesce(sum(xact_commit + xact_rollback), 0)::bigint FROM pg_stat_database
		WHERE datname LIKE 'temporal%'`
)

// clusterRound is what a round of payments took with so many processes of API and worker each.
type clusterRound struct {
	load

	processes                     int
	cpu                           map[string]time.Duration
	own, temporal, flushes, bytes int64
}

// compare takes the payments with two processes of each and with one, in turn.
func (b *clusterBench) compare(ctx context.Context, out io.Writer, payments, parallel, rounds int) error {
	fmt.Fprintf(out, "\n%d payments, %d at once, %d rounds; times in ms, CPU in ms for each payment\n\n", payments, parallel, rounds)
	fmt.Fprint(out, "| API and worker processes | a second | median | 95 % | CPU | Temporal | workers | APIs | PostgreSQL | transactions |"+
		" of Temporal's | flushes | kB of log |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")

	all := map[int][]clusterRound{}

	for range rounds {
		for _, processes := range []int{schedule.APIs, 1} {
			if err := b.runOn(ctx, processes); err != nil {
				return err
			}

			r, err := b.measure(ctx, payments, parallel)
			if err != nil {
				return err
			}

			all[processes] = append(all[processes], r)
		}
	}

	for _, processes := range []int{1, schedule.APIs} {
		printCluster(out, medianCluster(all[processes]))
	}

	fmt.Fprintln(out)

	return b.runOn(ctx, schedule.APIs)
}

// runOn stops the second process of API and worker, or starts them again.
func (b *clusterBench) runOn(ctx context.Context, processes int) error {
	b.processes = processes

	if processes == 1 {
		b.environment.Kill(schedule.API1, schedule.Worker1)
	}

	if processes == schedule.APIs {
		if err := b.environment.Heal(ctx); err != nil {
			return err
		}
	}

	// The first of everything makes connections and plans, and takes over what a killed worker had in memory.
	_, err := closedLoop(ctx, b.processes, 2*b.processes, b.payOnce)

	return err
}

func (b *clusterBench) payOnce(ctx context.Context) error {
	_, err := b.pay(ctx)

	return err
}

func (b *clusterBench) measure(ctx context.Context, payments, parallel int) (clusterRound, error) {
	before, err := b.cost(ctx)
	if err != nil {
		return before, err
	}

	work, err := closedLoop(ctx, parallel, payments, b.payOnce)
	if err != nil {
		return before, err
	}

	select {
	case <-time.After(settleTime):
	case <-ctx.Done():
		return before, ctx.Err()
	}

	r, err := b.cost(ctx)
	r.load, r.processes = work, b.processes

	for part := range r.cpu {
		r.cpu[part] -= before.cpu[part]
	}

	r.own -= before.own
	r.temporal -= before.temporal
	r.flushes -= before.flushes
	r.bytes -= before.bytes

	return r, err
}

// cost is what everything that runs has used so far.
func (b *clusterBench) cost(ctx context.Context) (r clusterRound, err error) {
	r.cpu = map[string]time.Duration{}

	for part, of := range map[string][]schedule.Part{
		partAPI: {schedule.API0, schedule.API1}, partWorker: {schedule.Worker0, schedule.Worker1},
		partTemporal: {schedule.Temporal}, partPostgres: {schedule.Postgres},
	} {
		for _, one := range of {
			for _, pid := range b.environment.PIDs(one) {
				used, err := cpuOf(pid, part == partPostgres)
				if err != nil {
					return r, err
				}

				r.cpu[part] += used
			}
		}
	}

	db := b.environment.DB
	if err = db.QueryRowContext(ctx, countOwnTransactions).Scan(&r.own); err != nil {
		return r, err
	}

	if err = db.QueryRowContext(ctx, countTemporalTransactions).Scan(&r.temporal); err != nil {
		return r, err
	}

	return r, db.QueryRowContext(ctx, countWAL).Scan(&r.flushes, &r.bytes)
}

func medianCluster(all []clusterRound) clusterRound {
	m := clusterRound{processes: all[0].processes, cpu: map[string]time.Duration{}}
	m.wall = medianBy(all, func(r clusterRound) time.Duration { return r.wall })
	m.took = make([]time.Duration, len(all[0].took))

	for i := range m.took {
		m.took[i] = medianBy(all, func(r clusterRound) time.Duration { return r.took[i] })
	}

	for part := range all[0].cpu {
		m.cpu[part] = medianBy(all, func(r clusterRound) time.Duration { return r.cpu[part] })
	}

	m.own = medianBy(all, func(r clusterRound) int64 { return r.own })
	m.temporal = medianBy(all, func(r clusterRound) int64 { return r.temporal })
	m.flushes = medianBy(all, func(r clusterRound) int64 { return r.flushes })
	m.bytes = medianBy(all, func(r clusterRound) int64 { return r.bytes })

	return m
}

func printCluster(out io.Writer, r clusterRound) {
	n := float64(len(r.took))
	each := func(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000/n) }
	count := func(c int64) string { return fmt.Sprintf("%.1f", float64(c)/n) }

	var total time.Duration
	for _, used := range r.cpu {
		total += used
	}

	fmt.Fprintf(out, "| %s | %.1f | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %.1f |\n",
		strconv.Itoa(r.processes), r.rate(), ms(r.at(0.5)), ms(r.at(0.95)), each(total),
		each(r.cpu[partTemporal]), each(r.cpu[partWorker]), each(r.cpu[partAPI]), each(r.cpu[partPostgres]),
		count(r.own), count(r.temporal), count(r.flushes), float64(r.bytes)/1000/n)
}
