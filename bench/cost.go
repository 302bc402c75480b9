package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cost is what has been used since everything began: CPU by process, and what PostgreSQL did.
type cost struct {
	cpu          map[string]time.Duration
	statements   int64 // without BEGIN and COMMIT; 0 where they are not counted
	transactions int64
	flushes      int64 // of the write-ahead log, to the disk
	wal          int64 // bytes
}

// The processes of a payment, in the order of the tables.
const (
	partTemporal = "Temporal"
	partWorker   = "worker"
	partAPI      = "API"
	partPostgres = "PostgreSQL"
	partBench    = "customers and gateway"
)

// pids are those of every part that is looked at.
func (s *stage) pids() map[string]int {
	all := map[string]int{partPostgres: s.stack.Postgres.PID(), partBench: os.Getpid(), partAPI: s.service.APIs[0].PID()}
	if s.stack.Temporal != nil {
		all[partTemporal], all[partWorker] = s.stack.Temporal.PID(), s.service.Workers[0].PID()
	}

	return all
}

const (
	countTransactions = `SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()`
	countWAL          = `SELECT wal_sync, wal_bytes::bigint FROM pg_stat_wal`
	countStatements   = `SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements
		WHERE query !~* '^(begin|commit|rollback|savepoint|release)' AND query !~ 'FROM pg_stat_'`
)

// cost reads all of it. PostgreSQL's sessions report their figures when they have been idle for a second: a caller that wants the
// last of them waits that long.
func (s *stage) cost(ctx context.Context) (c cost, err error) { return s.costOf(ctx, s.pids()) }

// costOf is cost of some processes.
func (s *stage) costOf(ctx context.Context, pids map[string]int) (c cost, err error) {
	c.cpu = map[string]time.Duration{}

	for part, pid := range pids {
		if c.cpu[part], err = cpuOf(pid, part == partPostgres); err != nil {
			return c, err
		}
	}

	if err = s.db.QueryRowContext(ctx, countTransactions).Scan(&c.transactions); err != nil {
		return c, err
	}

	if err = s.db.QueryRowContext(ctx, countWAL).Scan(&c.flushes, &c.wal); err != nil || !s.counts {
		return c, err
	}

	return c, s.db.QueryRowContext(ctx, countStatements).Scan(&c.statements)
}

// since is what was used between an earlier reading and this one.
func (c cost) since(earlier cost) cost {
	out := cost{
		cpu: map[string]time.Duration{}, statements: c.statements - earlier.statements, transactions: c.transactions - earlier.transactions,
		flushes: c.flushes - earlier.flushes, wal: c.wal - earlier.wal,
	}
	for part, used := range c.cpu {
		out.cpu[part] = used - earlier.cpu[part]
	}

	return out
}

// total is the CPU of some parts.
func (c cost) total(parts ...string) (sum time.Duration) {
	for _, part := range parts {
		sum += c.cpu[part]
	}

	return sum
}

// tick is the unit of CPU time in Linux's /proc: USER_HZ, which is 100 wherever Go runs.
const tick = 10 * time.Millisecond

// cpuOf is the CPU time that a process has used so far, with that of its children when asked for, those that have ended included.
func cpuOf(pid int, children bool) (time.Duration, error) {
	own, err := readStat(pid)
	if err != nil {
		return 0, fmt.Errorf("CPU time is looked up in Linux's /proc: %w", err)
	}

	used := own.used
	if !children {
		return used, nil
	}

	used += own.ofEnded

	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}

	for _, dir := range all {
		child, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}

		if of, err := readStat(child); err == nil && of.parent == pid { // one that has just ended counts in ofEnded
			used += of.used
		}
	}

	return used, nil
}

// stat is what /proc says of a process.
type stat struct {
	parent        int
	used, ofEnded time.Duration // by itself, by its children that have ended
}

// Fields of /proc/PID/stat after the name, from 0: proc_pid_stat(5) counts from 1 and has the process id and the name first.
const (
	fieldParent     = 1
	fieldUser       = 11
	fieldEndedUser  = 13
	fieldsOfCPUTime = 2 // user, system
)

func readStat(pid int) (s stat, err error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return s, err
	}

	_, rest, _ := strings.Cut(string(text), ") ") // the name may hold anything, blanks included
	fields := strings.Fields(rest)

	if len(fields) <= fieldEndedUser+1 {
		return s, fmt.Errorf("/proc/%d/stat has an unknown form", pid)
	}

	sum := func(from int) (t time.Duration) {
		for _, field := range fields[from : from+fieldsOfCPUTime] {
			n, bad := strconv.ParseInt(field, 10, 64)
			if bad != nil {
				err = bad
			}

			t += time.Duration(n) * tick
		}

		return t
	}

	s.used, s.ofEnded = sum(fieldUser), sum(fieldEndedUser)

	if parent, bad := strconv.Atoi(fields[fieldParent]); bad == nil {
		s.parent = parent
	}

	return s, err
}
