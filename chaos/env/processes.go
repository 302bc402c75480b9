package env

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"rihla/chaos/schedule"
	"rihla/e2e/rig"
)

// lateCheck is how long after the end of an attempt the gateway is asked once more whether it has taken money for it.
const lateCheck = 5 * time.Second

// prepareService starts the gateway and says how API and workers run: as in production, but for holds of seconds, a sweep and
// late checks as short as these, no rate limits, and few connections.
func (e *Environment) prepareService(ctx context.Context, o Options) error {
	database, err := e.serviceURL()
	if err != nil {
		return err
	}

	if e.Hold = o.Hold; e.Hold == 0 {
		e.Hold = Holds(o.Number)
	}

	e.Gateway = &Gateway{}
	if e.Gateway.listener, err = listenWithFaults(ctx); err != nil {
		return err
	}

	if e.log, err = createLog(filepath.Join(e.LogDir(), "gateway.log")); err != nil {
		return err
	}

	e.service, err = rig.New(ctx, rig.Options{
		Binary: o.Binary, Dir: e.Dir, DatabaseURL: database, TemporalAddress: e.components.TemporalAddress, APIs: e.addrs, Workers: 2,
		WebhooksTo: e.WebhookProxy.URL(), Listener: e.Gateway.listener, GatewayLog: e.log, Env: e.settings(o.Number), Backup: o.Backup,
		Driver:       o.Driver,
		AroundBackup: e.Gateway.rejections.around,
		Around:       func(gateway http.Handler) http.Handler { return e.Hooks.around(e.Gateway.rejections.around(gateway)) },
	})
	if err != nil {
		return err
	}

	e.Gateway.Gateway, e.Gateway.backup, e.Gateway.company = e.service.Gateway, e.service.Backup, e.Company

	for i, part := range []schedule.Part{schedule.API0, schedule.API1} {
		e.parts[part] = newProcess(e, part, e.service.APIs[i])
		e.parts[part].address = e.API(i)
		e.parts[part].Probe = func(ctx context.Context) bool { return rig.Answers(ctx, e.API(i)+"/readyz") }
	}

	e.releases = map[schedule.Release]string{schedule.ThisRelease: o.Binary, schedule.LastRelease: o.LastBinary}

	for i, part := range []schedule.Part{schedule.Worker0, schedule.Worker1} {
		addr, err := rig.FreeAddress(ctx)
		if err != nil {
			return err
		}

		e.parts[part] = newProcess(e, part, e.service.Workers[i])
		e.parts[part].Setenv("METRICS_ADDR", addr)
	}

	if o.LastBinary != "" { // what is upgraded
		for _, p := range e.parts {
			p.SetPath(o.LastBinary)
		}
	}

	return nil
}

// settings are what this environment has of its own, besides what every service of the rig has.
func (e *Environment) settings(number int) map[string]string {
	env := rig.Unlimited()
	maps.Copy(env, map[string]string{
		"BOOKING_HOLD": e.Hold.String(), "BILL_PAYMENT_HOLD": (e.Hold + time.Second).String(), "SWEEP_INTERVAL": "2s", "DB_MAX_CONNS": "10",
		"LATE_PAYMENT_CHECKS": lateCheck.String(), "SMS_COUNTRIES": "0",
		"GATEWAY_A_SEARCH_LAG": "6s", "WALLET_B_SEARCH_LAG": "6s", // no company says how long its own is, and what is asked here lags less
		"REFUND_APPROVAL_ABOVE":            ApprovalAbove,
		"TRIP_CANCELLATION_APPROVAL_ABOVE": TripApprovalAbove,
		"TRIP_CANCELLATION_RATE":           "20",
		"REFUND_SETTLE_AFTER":              "6s", // longer than the sandbox holds an effect back or a search lags, and than a worker is frozen
	})

	if number%2 == 1 { // histories are encrypted
		env["TEMPORAL_CODEC_KEYS"] = "chaos:" + base64.StdEncoding.EncodeToString([]byte("chaos-codec-key-0123456789-abcde"))
	}

	return env
}

// Kill ends parts as kill -9 does, all in the same moment, and tells which of them ran.
func (e *Environment) Kill(parts ...schedule.Part) (killed []schedule.Part) {
	e.mu.Lock()
	defer e.mu.Unlock()

	return eachPart(parts, func(part schedule.Part) bool {
		switch part {
		case schedule.Temporal:
			return e.killTemporal()
		case schedule.Postgres:
			ran := e.components.Postgres.Done() != nil
			e.components.Postgres.Kill()

			return ran
		default:
			return e.parts[part].Kill()
		}
	})
}

// eachPart does something with parts side by side, and returns those that it has hit.
func eachPart(parts []schedule.Part, do func(schedule.Part) bool) []schedule.Part {
	var all errgroup.Group

	hit := make([]bool, len(parts))

	for i, part := range parts {
		all.Go(func() error { hit[i] = do(part); return nil })
	}

	_ = all.Wait()

	var those []schedule.Part

	for i, part := range parts {
		if hit[i] {
			those = append(those, part)
		}
	}

	return those
}

// killTemporal kills the server; of a cluster the first node, the second and all of them in turn. It is false when it did not
// run.
func (e *Environment) killTemporal() bool {
	turn := e.kills % 3
	e.kills++

	switch server := e.components.Temporal; {
	case server != nil:
		ran := server.Done() != nil
		server.Kill()

		return ran
	case turn == e.Cluster.Nodes():
		e.Cluster.Kill()
	default:
		e.Cluster.KillNode(turn)
	}

	return true
}

// Start starts parts again, as a supervisor would: it does not wait until they are ready, and takes no notice of what else
// is away.
func (e *Environment) Start(ctx context.Context, parts ...schedule.Part) error {
	e.mu.Lock()
	defer e.mu.Unlock()

	var all errgroup.Group

	for _, part := range parts {
		all.Go(func() error {
			switch part {
			case schedule.Temporal:
				return e.startTemporal(ctx)
			case schedule.Postgres:
				return e.components.Postgres.Start(ctx)
			default:
				return e.parts[part].Start()
			}
		})
	}

	return all.Wait()
}

func (e *Environment) startTemporal(ctx context.Context) error {
	if e.Cluster != nil {
		return e.Cluster.Start(ctx)
	}

	return e.components.Temporal.Start(ctx)
}

// Restart asks processes to end, waits until they have, and starts them again after a pause. It tells which of them ran.
func (e *Environment) Restart(ctx context.Context, pause time.Duration, parts ...schedule.Part) ([]schedule.Part, error) {
	ran := eachPart(parts, func(part schedule.Part) bool { return e.parts[part].Stop() })

	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}

	return ran, e.Start(ctx, parts...)
}

// Replace ends processes and starts them again after a pause, built from another release. It tells which of them ran.
func (e *Environment) Replace(ctx context.Context, f schedule.Fault) ([]schedule.Part, error) {
	ran := eachPart(f.Parts, func(part schedule.Part) bool {
		e.parts[part].SetPath(e.releases[f.Release])

		if f.Hard {
			return e.parts[part].Kill()
		}

		return e.parts[part].Stop()
	})

	select {
	case <-ctx.Done():
	case <-time.After(f.For):
	}

	return ran, e.Start(ctx, f.Parts...)
}

// Freeze stops processes from running for a while, and tells which of them ran.
func (e *Environment) Freeze(ctx context.Context, pause time.Duration, parts ...schedule.Part) []schedule.Part {
	ran := eachPart(parts, func(part schedule.Part) bool { return e.parts[part].Freeze() })

	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}

	for _, part := range ran {
		e.parts[part].Thaw()
	}

	return ran
}

// WasFrozen reports whether the process that writes this log was ever frozen.
func (e *Environment) WasFrozen(log string) bool {
	for _, p := range e.parts {
		if p.Command.Log == strings.TrimSuffix(log, ".1") && p.WasFrozen() {
			return true
		}
	}

	return false
}

// SetClocks puts the clocks of processes wrong; 0 puts them right. A step of a clock, as a time server makes one, is two of
// these: the database and Temporal go by clocks of their own.
func (e *Environment) SetClocks(wrong time.Duration, parts ...schedule.Part) error {
	errs := make([]error, len(parts))
	for i, part := range parts {
		errs[i] = e.parts[part].setClock(wrong)
	}

	return errors.Join(errs...)
}

// Heal starts what is down and returns once every part answers. The gateway's listener lets all in when all faults have ended.
func (e *Environment) Heal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()

	if err := e.Start(ctx, schedule.Postgres, schedule.Temporal); err != nil {
		return err
	}

	for _, p := range e.parts {
		p.Thaw()

		if err := p.setClock(0); err != nil {
			return err
		}

		if err := p.Start(); err != nil {
			return err
		}
	}

	for part, p := range e.parts {
		if err := e.awaitReady(ctx, p); err != nil {
			return fmt.Errorf("%s is not ready: %w", part, err)
		}
	}

	return nil
}

// awaitReady waits until an API says that it is ready, and until a worker polls.
func (e *Environment) awaitReady(ctx context.Context, p *Process) error {
	for {
		if p.Ready(ctx) {
			return nil
		}

		if err := p.Start(); err != nil { // one that has ended by itself is started as by a supervisor; the trail has it
			return err
		}

		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Exits are the times that a process ended without being asked to, since the last call.
func (e *Environment) Exits() []string {
	var all []string

	for _, part := range []schedule.Part{schedule.API0, schedule.API1, schedule.Worker0, schedule.Worker1} {
		all = append(all, e.parts[part].Exits()...)
	}

	return all
}

// PIDs are the process ids of the parts that run; several of a cluster's nodes.
func (e *Environment) PIDs(part schedule.Part) []int {
	switch part {
	case schedule.Postgres:
		return []int{e.components.Postgres.PID()}
	case schedule.Temporal:
		if e.Cluster != nil {
			return e.Cluster.PIDs()
		}

		return []int{e.components.Temporal.PID()}
	default:
		if p := e.parts[part]; p.Running() {
			return []int{p.PID()}
		}

		return nil
	}
}

// Health says of each process in a line whether it is ready.
func (e *Environment) Health(ctx context.Context) []string {
	lines := make([]string, 0, len(e.parts))

	for _, part := range []schedule.Part{schedule.API0, schedule.API1, schedule.Worker0, schedule.Worker1} {
		state := "not ready"
		if e.parts[part].Ready(ctx) {
			state = "ready"
		}

		lines = append(lines, fmt.Sprintf("%s: %s %s", part, state, e.parts[part].address))
	}

	return lines
}
