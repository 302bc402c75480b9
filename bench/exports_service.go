package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"rihla/e2e/rig"
	"rihla/models"
)

// service is the API as it is deployed: a process of the built binary, whose memory can be looked at from outside.
type service struct {
	*rig.Service

	client rig.Client
	began  int64 // the memory it had before anybody asked for an export
}

// startService builds and starts the API on the bench's database, and signs in.
func (b *bench) startService(ctx context.Context) (*service, error) {
	binary, err := rig.Build(ctx, "rihla-bench")
	if err != nil {
		return nil, err
	}

	address, err := rig.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}

	s := &service{}

	s.Service, err = rig.New(ctx, rig.Options{
		Binary: binary, Dir: b.dir, DatabaseURL: b.stack.DatabaseURL, TemporalAddress: b.stack.TemporalAddress, APIs: []string{address},
		GatewayLog: io.Discard,
		// What one person may ask for in a minute is less than what is measured.
		Env: map[string]string{"TMPDIR": b.dir, "LOG_LEVEL": "WARN", "RATE_LIMIT_FINANCE_ADMIN": "0"},
	})
	if err != nil {
		return nil, err
	}

	starting, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()

	if err = s.Start(starting); err == nil {
		s.client, err = signIn(ctx, b.store, "http://"+address, models.RoleFinanceAdmin)
	}

	if err == nil {
		s.began, err = s.resident()
	}

	if err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}

	return s, nil
}

// export downloads all entries in a format.
func (s *service) export(ctx context.Context, format, keep string) (int64, error) {
	r, err := s.client.Request(ctx, http.MethodGet, "/api/v1/admin/financial-records/export?format="+format, nil, nil)
	if err != nil {
		return 0, err
	}

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
func (s *service) resident() (int64, error) { return residentMemory(s.APIs[0].PID()) }
