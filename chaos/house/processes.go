package house

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"rihla/chaos/schedule"
	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/internal/devstack"
	"rihla/models"
)

// lateCheck is how long after the end of an attempt the gateway is asked once more whether it has taken money for it.
const lateCheck = 5 * time.Second

// prepareProcesses says how API and workers run: as in life, but for holds of seconds, with a sweep and questions about ended
// attempts that are in step with them, no rate limits, and few connections.
func (h *House) prepareProcesses(_ context.Context, o Options) error {
	database, err := h.serviceURL()
	if err != nil {
		return err
	}

	h.Hold = o.Hold
	if h.Hold == 0 {
		h.Hold = Holds(o.Number)
	}

	keys := filepath.Join(h.Dir, "keys", "signing.pem")
	if err := auth.GenerateKeyFile(keys); err != nil {
		return err
	}

	h.env = map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": h.Dir,
		"DATABASE_URL": database, "TEMPORAL_ADDRESS": h.temporal.Address(), "DATA_DIR": h.Dir, "JWT_SIGNING_KEYS": keys,
		"PUBLIC_URL": h.API(0), "MEDIA_URL_SECRET": "chaos-media-url-secret-0123456789",
		"GATEWAY_A_URL": h.Gateway.URL(), "GATEWAY_A_API_KEY": apiKey, "WALLET_B_URL": h.Gateway.URL(), "WALLET_B_API_KEY": apiKey,
		"BOOKING_HOLD": h.Hold.String(), "BILL_PAYMENT_HOLD": (h.Hold + time.Second).String(), "SWEEP_INTERVAL": "2s", "DB_MAX_CONNS": "10",
		"LATE_PAYMENT_CHECKS": lateCheck.String(),
		"REFUND_SETTLE_AFTER": "6s", // longer than the sandbox holds an effect back or a search lags, and than a worker is frozen
		// A few accounts and addresses stand for all customers.
		"UNPAID_BOOKINGS_MAX": "0", "UNPAID_SEATS_MAX": "0", "UNPAID_ATTEMPTS_PER_HOUR": "0",
		"BILL_SEATS_SHARE": "0", "MESSAGES_PER_RECIPIENT": "0", "SMS_COUNTRIES": "0",
		"AD_MIN_PRICE_PER_DAY": "0", "TRIP_MOVES_PER_DAY": "0",
	}

	if o.Number%2 == 1 { // histories are encrypted
		h.env["TEMPORAL_CODEC_KEYS"] = "chaos:" + base64.StdEncoding.EncodeToString([]byte("chaos-codec-key-0123456789-abcde"))
	}

	for _, channel := range models.Channels() {
		h.env["WEBHOOK_SECRETS_"+strings.ToUpper(string(channel))] = config.DevWebhookSecret(channel).Reveal()
	}

	for _, class := range []string{
		"ANONYMOUS", "END_USER", "PROVIDER_STAFF", "PROVIDER_ADMIN", "SUPPORT_AGENT", "FINANCE_ADMIN", "ADMIN", "SUPER_ADMIN",
		"WEBHOOK", "LOGIN", "LOGIN_IP", "MEDIA",
	} {
		h.env["RATE_LIMIT_"+class] = "0"
	}

	h.env["LONG_POLLS_AT_ONCE"] = "0"
	h.env["LOGIN_PAUSE_MAX"], h.env["LOGIN_LOCK_AFTER"] = "0", "0"

	for i, part := range []schedule.Part{schedule.API0, schedule.API1} {
		h.parts[part] = newProcess(h, part, "api", map[string]string{"LISTEN_ADDR": h.addrs[i]})
	}

	for _, part := range []schedule.Part{schedule.Worker0, schedule.Worker1} {
		addr, err := freeAddress(context.Background())
		if err != nil {
			return err
		}

		h.parts[part] = newProcess(h, part, "worker", map[string]string{"METRICS_ADDR": addr})
	}

	return nil
}

// run runs a command of the service as the owner of the tables.
func (h *House) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, h.binary, args...) //nolint:gosec // our own binary

	for name, value := range h.env {
		if name != "DATABASE_URL" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}

	cmd.Env = append(cmd.Env, "DATABASE_URL="+h.ownerURL)
	text, err := cmd.CombinedOutput()

	return string(text), err
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
			ran := h.postgres.Done() != nil
			h.postgres.Kill()

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

	switch server, single := h.temporal.(*devstack.Temporal); {
	case single:
		ran := server.Done() != nil
		server.Kill()

		return ran
	case turn == h.Cluster.Nodes():
		h.temporal.Kill()
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
				return h.temporal.Start(ctx)
			case schedule.Postgres:
				return h.postgres.Start(ctx)
			default:
				return h.parts[part].Start()
			}
		})
	}

	return all.Wait()
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
	ran := each(parts, func(part schedule.Part) bool { return h.parts[part].freeze() })

	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}

	for _, part := range ran {
		h.parts[part].signal(syscall.SIGCONT)
	}

	return ran
}

// WasFrozen reports whether the process that writes this log was ever frozen.
func (h *House) WasFrozen(log string) bool {
	for _, p := range h.parts {
		p.mu.Lock()
		is := p.log == log && p.frozen
		p.mu.Unlock()

		if is {
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
		p.signal(syscall.SIGCONT)

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
		if p.ready(ctx) {
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
		all = append(all, h.parts[part].takeExits()...)
	}

	return all
}

func freeAddress(ctx context.Context) (string, error) {
	port, err := devstack.Port(ctx, slog.New(slog.DiscardHandler), devstack.AnyPort)
	if err != nil {
		return "", err
	}

	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
}

// answers reports whether an address says 200.
func answers(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}

	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}

	_ = a.Body.Close()

	return a.StatusCode == http.StatusOK
}

// merged is the environment of one process.
func merged(all ...map[string]string) []string {
	one := map[string]string{}
	for _, m := range all {
		maps.Copy(one, m)
	}

	env := make([]string, 0, len(one))
	for name, value := range one {
		env = append(env, name+"="+value)
	}

	return env
}

// Health says of each process in a line whether it is ready.
func (h *House) Health(ctx context.Context) []string {
	lines := make([]string, 0, len(h.parts))

	for _, part := range []schedule.Part{schedule.API0, schedule.API1, schedule.Worker0, schedule.Worker1} {
		state := "not ready"
		if h.parts[part].ready(ctx) {
			state = "ready"
		}

		lines = append(lines, fmt.Sprintf("%s: %s %s", part, state, h.parts[part].probe))
	}

	return lines
}
