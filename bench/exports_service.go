package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/internal/devstack"
	"rihla/internal/store/seed"
	"rihla/models"
)

// service is the API as it is deployed: a process of the built binary, whose memory can be looked at from outside.
type service struct {
	url   string
	token string
	cmd   *exec.Cmd
	began int64 // the memory it had before anybody asked for an export
}

// startService builds and starts the API on the bench's database, and signs in.
func (b *bench) startService(ctx context.Context) (*service, error) {
	root, err := devstack.ModuleRoot()
	if err != nil {
		return nil, err
	}

	program := filepath.Join(b.dir, "rihla")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".") //nolint:gosec // our own module
	build.Dir = root

	if text, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w: %s", err, text)
	}

	environment, address, err := b.environment(ctx)
	if err != nil {
		return nil, err
	}

	s := &service{url: "http://" + address, cmd: exec.CommandContext(ctx, program, "api")} //nolint:gosec // what was built above
	s.cmd.Env, s.cmd.Stderr = environment, os.Stderr

	if err := s.cmd.Start(); err != nil {
		return nil, err
	}

	err = errors.Join(s.await(ctx), b.signIn(ctx, s))
	if err == nil {
		s.began, err = s.resident()
	}

	if err != nil {
		s.stop()

		return nil, err
	}

	return s, nil
}

func (s *service) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func (b *bench) environment(ctx context.Context) (environment []string, address string, err error) {
	keys := filepath.Join(b.dir, "signing.pem")
	if err := auth.GenerateKeyFile(keys); err != nil {
		return nil, "", err
	}

	port, err := devstack.Port(ctx, slog.Default(), devstack.AnyPort)
	if err != nil {
		return nil, "", err
	}

	address = "127.0.0.1:" + strconv.Itoa(port)
	environment = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "TMPDIR=" + b.dir, "DATA_DIR=" + b.dir, "LOG_LEVEL=WARN",
		"DATABASE_URL=" + b.stack.DatabaseURL, "TEMPORAL_ADDRESS=" + b.stack.TemporalAddress, "LISTEN_ADDR=" + address,
		"PUBLIC_URL=http://" + address, "JWT_SIGNING_KEYS=" + keys, "GATEWAY_A_URL=http://127.0.0.1:1", "GATEWAY_A_API_KEY=bench-api-key",
		"WALLET_B_URL=http://127.0.0.1:1", "WALLET_B_API_KEY=bench-api-key", "MEDIA_URL_SECRET=bench-media-url-secret-0123456789",
	}

	for _, channel := range models.Channels() {
		environment = append(environment, "WEBHOOK_SECRETS_"+strings.ToUpper(string(channel))+"="+config.DevWebhookSecret(channel).Reveal())
	}

	return environment, address, nil
}

// startTime is how long the API may take until it answers.
const startTime = 30 * time.Second

func (s *service) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()

	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/healthz", nil)
		if err != nil {
			return err
		}

		if answer, err := http.DefaultClient.Do(r); err == nil {
			return answer.Body.Close()
		}

		select {
		case <-ctx.Done():
			return errors.New("the API does not answer")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (b *bench) signIn(ctx context.Context, s *service) error {
	const password = "bench-password"

	passwords, err := auth.NewPasswords(1)
	if err != nil {
		return err
	}

	hash, err := passwords.Hash(ctx, password)
	if err != nil {
		return err
	}

	u := models.User{
		ID: models.NewID(), Name: "Bench Finance", Email: "bench-finance@rihla.test", PasswordHash: hash,
		Role: models.RoleFinanceAdmin, Locale: models.LocaleEnglish,
	}
	if err := b.store.Seed.InsertDemo(ctx, seed.DemoData{Users: []models.User{u}}); err != nil {
		return err
	}

	body, err := json.Marshal(map[string]string{"email": u.Email, "password": password})
	if err != nil {
		return err
	}

	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/api/v1/auth/login", bytes.NewReader(body))
	if err != nil {
		return err
	}

	r.Header.Set("Content-Type", "application/json")

	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()

	var signedIn struct {
		Data struct {
			Token string `json:"access_token"`
		} `json:"data"`
	}

	err = json.NewDecoder(answer.Body).Decode(&signedIn)
	s.token = signedIn.Data.Token

	return err
}

// export downloads all lines in a format.
func (s *service) export(ctx context.Context, format, keep string) (int64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/admin/financial-records/export?format="+format, nil)
	if err != nil {
		return 0, err
	}

	r.Header.Set("Authorization", "Bearer "+s.token)

	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()

	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 2000))

		return 0, fmt.Errorf("%s: %s", answer.Status, text)
	}

	name := os.DevNull
	if keep != "" {
		name = filepath.Join(keep, "financial-records."+format)
	}

	file, err := os.Create(name) //nolint:gosec // where the caller wants it
	if err != nil {
		return 0, err
	}

	size, err := io.Copy(file, answer.Body)

	return size, errors.Join(err, file.Close())
}

// lookEvery is how often memory is looked at while a run goes on.
const lookEvery = 50 * time.Millisecond

// measure runs once, and watches the memory of the API meanwhile. In its first round a run answers for all that came
// since the API began, and later for what it adds to that, as a process gives memory back only slowly.
func (s *service) measure(ctx context.Context, r *exportRun) (err error) {
	before := s.began

	if len(r.took) > 0 {
		if before, err = s.resident(); err != nil {
			return err
		}
	}

	over, most := make(chan struct{}), make(chan int64)

	go func() {
		var peak int64

		tick := time.NewTicker(lookEvery)
		defer tick.Stop()

		for {
			if now, err := s.resident(); err == nil {
				peak = max(peak, now)
			}

			select {
			case <-over:
				most <- peak

				return
			case <-tick.C:
			}
		}
	}()

	began := time.Now()
	r.size, err = r.do(ctx)
	r.took = append(r.took, time.Since(began))

	close(over)

	r.grew = max(r.grew, <-most-before)

	return err
}

// resident is how much memory the API has, in bytes.
func (s *service) resident() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("memory is looked up in Linux's /proc: %w", err)
	}

	var total, resident int64
	if _, err := fmt.Sscan(string(text), &total, &resident); err != nil {
		return 0, fmt.Errorf("read memory: %w", err)
	}

	return resident * int64(os.Getpagesize()), nil
}
