package house

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
	"rihla/internal/rig"
)

// lateCheck is how long after the end of an attempt the gateway is asked once more whether it has taken money for it.
const lateCheck = 5 * time.Second

// prepareService starts the gateway and says how API and workers run: as in life, but for holds of seconds, with a sweep and questions
// about ended attempts that are in step with them, no rate limits, and few connections.
func (h *House) prepareService(ctx context.Context, o Options) error {
	database, err := h.serviceURL()
	if err != nil {
		return err
	}

	if h.Hold = o.Hold; h.Hold == 0 {
		h.Hold = Holds(o.Number)
	}

	h.Gateway = &Gateway{}
	if h.Gateway.door, err = openDoor(ctx); err != nil {
		return err
	}

	if h.log, err = createLog(filepath.Join(h.LogDir(), "gateway.log")); err != nil {
		return err
	}

	h.service, err = rig.New(ctx, rig.Options{
		Binary: o.Binary, Dir: h.Dir, DatabaseURL: database, TemporalAddress: h.components.TemporalAddress, APIs: h.addrs, Workers: 2,
		WebhooksTo: h.Bell.URL(), Listener: h.Gateway.door, GatewayLog: h.log, Env: h.settings(o.Number),
		Around: func(gateway http.Handler) http.Handler { return h.Moments.around(h.Gateway.refusals.around(gateway)) },
	})
	if err != nil {
		return err
	}

	h.Gateway.Gateway = h.service.Gateway

	for i, part := range []schedule.Part{schedule.API0, schedule.API1} {
		h.parts[part] = newProcess(h, part, h.service.APIs[i])
		h.parts[part].address = h.API(i)
		h.parts[part].Probe = func(ctx context.Context) bool { return rig.Answers(ctx, h.API(i)+"/readyz") }
	}

	for i, part := range []schedule.Part{schedule.Worker0, schedule.Worker1} {
		addr, err := rig.FreeAddress(ctx)
		if err != nil {
			return err
		}

		h.parts[part] = newProcess(h, part, h.service.Workers[i])
		h.parts[part].Setenv("METRICS_ADDR", addr)
	}

	return nil
}

// settings are what this house has of its own, besides what every service of the rig has.
func (h *House) settings(number int) map[string]string {
	env := rig.Unlimited()
	maps.Copy(env, map[string]string{
		"BOOKING_HOLD": h.Hold.String(), "BILL_PAYMENT_HOLD": (h.Hold + time.Second).String(), "SWEEP_INTERVAL": "2s", "DB_MAX_CONNS": "10",
		"LATE_PAYMENT_CHECKS": lateCheck.String(), "SMS_COUNTRIES": "0",
		"REFUND_SETTLE_AFTER": "6s", // longer than the sandbox holds an effect back or a search lags, and than a worker is frozen
	})

	if number%2 == 1 { // histories are encrypted
		env["TEMPORAL_CODEC_KEYS"] = "chaos:" + base64.StdEncoding.EncodeToString([]byte("chaos-codec-key-0123456789-abcde"))
	}

	return env
}

// Kill ends parts as kill -9 does, all in the same moment, and tells which of them ran.
func (h *House) Kill(parts ...schedule.Part) (killed []schedule.Part) {
	h.mu.Lock()
	defer h.mu.Unlock()

	return each(parts, func(part schedule.Part) bool {
		switch part {
		case schedule.Temporal:
			return h.killTemporal()
		case schedule.Postgres:
			ran := h.components.Postgres.Done() != nil
			h.components.Postgres.Kill()

			return ran
		default:
			return h.parts[part].Kill()
		}
	})
}

// each does something with parts side by side, and returns those that it has hit.
func each(parts []schedule.Part, do func(schedule.Part) bool) []schedule.Part {
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
func (h *House) killTemporal() bool {
	turn := h.kills % 3
	h.kills++

	switch server := h.components.Temporal; {
	case server != nil:
		ran := server.Done() != nil
		server.Kill()

		return ran
	case turn == h.Cluster.Nodes():
		h.Cluster.Kill()
	default:
		h.Cluster.KillNode(turn)
	}

	return true
}

// Start starts parts again, as a supervisor would: it does not wait until they are ready, and takes no notice of what else
// is away.
func (h *House) Start(ctx context.Context, parts ...schedule.Part) error {
	h.mu.Lock()
	defer h.mu.Unlock()

	var all errgroup.Group

	for _, part := range parts {
		all.Go(func() error {
			switch part {
			case schedule.Temporal:
				return h.startTemporal(ctx)
			case schedule.Postgres:
				return h.components.Postgres.Start(ctx)
			default:
				return h.parts[part].Start()
			}
		})
	}

	return all.Wait()
}

func (h *House) startTemporal(ctx context.Context) error {
	if h.Cluster != nil {
		return h.Cluster.Start(ctx)
	}

	return h.components.Temporal.Start(ctx)
}

// Restart asks processes to end, waits until they have, and starts them again after a pause. It tells which of them ran.
func (h *House) Restart(ctx context.Context, pause time.Duration, parts ...schedule.Part) ([]schedule.Part, error) {
	ran := each(parts, func(part schedule.Part) bool { return h.parts[part].Stop() })

	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}

	return ran, h.Start(ctx, parts...)
}

// Freeze stops processes from running for a while, and tells which of them ran.
func (h *House) Freeze(ctx context.Context, pause time.Duration, parts ...schedule.Part) []schedule.Part {
	ran := each(parts, func(part schedule.Part) bool { return h.parts[part].Freeze() })

	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}

	for _, part := range ran {
		h.parts[part].Thaw()
	}

	return ran
}

// WasFrozen reports whether the process that writes this log was ever frozen.
func (h *House) WasFrozen(log string) bool {
	for _, p := range h.parts {
		if p.Command.Log == strings.TrimSuffix(log, ".1") && p.WasFrozen() {
			return true
		}
	}

	return false
}

// SetClocks puts the clocks of processes wrong; 0 puts them right. A step of a clock, as a time server makes one, is two of
// these: the database and Temporal go by clocks of their own.
func (h *House) SetClocks(wrong time.Duration, parts ...schedule.Part) error {
	errs := make([]error, len(parts))
	for i, part := range parts {
		errs[i] = h.parts[part].setClock(wrong)
	}

	return errors.Join(errs...)
}

// Heal starts what is down and returns once every part answers. The gateway's door is open when all faults have ended.
func (h *House) Heal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()

	if err := h.Start(ctx, schedule.Postgres, schedule.Temporal); err != nil {
		return err
	}

	for _, p := range h.parts {
		p.Thaw()

		if err := p.setClock(0); err != nil {
			return err
		}

		if err := p.Start(); err != nil {
			return err
		}
	}

	for part, p := range h.parts {
		if err := h.awaitReady(ctx, p); err != nil {
			return fmt.Errorf("%s is not ready: %w", part, err)
		}
	}

	return nil
}

// awaitReady waits until an API says that it is ready, and until a worker polls.
func (h *House) awaitReady(ctx context.Context, p *Process) error {
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
func (h *House) Exits() []string {
	var all []string

	for _, part := range []schedule.Part{schedule.API0, schedule.API1, schedule.Worker0, schedule.Worker1} {
		all = append(all, h.parts[part].Exits()...)
	}

	return all
}

// Health says of each process in a line whether it is ready.
func (h *House) Health(ctx context.Context) []string {
	lines := make([]string, 0, len(h.parts))

	for _, part := range []schedule.Part{schedule.API0, schedule.API1, schedule.Worker0, schedule.Worker1} {
		state := "not ready"
		if h.parts[part].Ready(ctx) {
			state = "ready"
		}

		lines = append(lines, fmt.Sprintf("%s: %s %s", part, state, h.parts[part].address))
	}

	return lines
}
