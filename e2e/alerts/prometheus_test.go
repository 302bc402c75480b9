//go:build drill

package alerts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/e2e/rig"
)

// monitor is a Prometheus, and what its alerts have done.
type monitor struct {
	url   string
	began time.Time

	mu      sync.Mutex
	firing  map[string]bool
	changed map[string]time.Time // when it began to fire, or ended
}

// startPrometheus scrapes these addresses every second.
func startPrometheus(t *testing.T, rules []byte, apis []string, worker string) *monitor {
	t.Helper()

	path, err := exec.LookPath("prometheus")
	require.NoError(t, err, "Debian's package prometheus has it")

	dir := t.TempDir()
	config := fmt.Sprintf(`global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [rules.yml]
scrape_configs:
  - {job_name: rihla-api, static_configs: [{targets: ["%s"]}]}
  - {job_name: rihla-worker, static_configs: [{targets: ["%s"]}]}
`, strings.Join(apis, `", "`), worker)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rules.yml"), rules, 0o600))

	address, err := rig.FreeAddress(t.Context())
	require.NoError(t, err)

	m := &monitor{url: "http://" + address, began: time.Now(), firing: map[string]bool{}, changed: map[string]time.Time{}}

	harness.NewProgram(t, "prometheus", path, []string{
		"--config.file=" + filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path=" + filepath.Join(dir, "data"),
		"--web.listen-address=" + address, "--log.level=warn",
	}, map[string]string{"PATH": os.Getenv("PATH")}, func() bool { return rig.Answers(context.Background(), m.url+"/-/ready") }).Start()

	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})

	go func() {
		defer close(done)

		for tick := time.NewTicker(200 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				m.look(ctx)
			}
		}
	}()

	t.Cleanup(func() { stop(); <-done })

	return m
}

// look notes which alerts fire now.
func (m *monitor) look(ctx context.Context) {
	var answer struct {
		Alerts []struct {
			State  string
			Labels map[string]string
		}
	}

	if m.ask(ctx, "/api/v1/alerts", &answer) != nil {
		return
	}

	now := map[string]bool{}

	for _, a := range answer.Alerts {
		if a.State == "firing" {
			now[a.Labels["alertname"]] = true
		}
	}

	m.mu.Lock()
	defer m.mu.Unlock()

	for name := range now {
		if !m.firing[name] {
			m.firing[name], m.changed[name] = true, time.Now()
		}
	}

	for name := range m.firing {
		if !now[name] {
			delete(m.firing, name)
			m.changed[name] = time.Now()
		}
	}
}

// fires says whether the alert fires, and since when it does or does not.
func (m *monitor) fires(name string) (fires bool, since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.firing[name], m.changed[name]
}

func (m *monitor) ask(ctx context.Context, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url+path, nil)
	if err != nil {
		return err
	}

	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()

	var body struct {
		Status string          `json:"status"`
		Error  string          `json:"error"`
		Data   json.RawMessage `json:"data"`
	}

	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		return err
	}

	if body.Status != "success" {
		return fmt.Errorf("%s: %s", path, body.Error)
	}

	return json.Unmarshal(body.Data, into)
}

// sees is how many series an expression has had a number for since the drill began.
func (m *monitor) sees(t *testing.T, expr string) (series int) {
	t.Helper()

	var found struct {
		Result []struct{ Values [][2]any }
	}

	q := url.Values{
		"query": {expr}, "step": {"5s"},
		"start": {strconv.FormatInt(m.began.Unix(), 10)}, "end": {strconv.FormatInt(time.Now().Unix(), 10)},
	}
	require.NoError(t, m.ask(t.Context(), "/api/v1/query_range?"+q.Encode(), &found), expr)

	for _, one := range found.Result {
		for _, value := range one.Values {
			if n, err := strconv.ParseFloat(value[1].(string), 64); err == nil && !math.IsNaN(n) {
				series++

				break
			}
		}
	}

	return series
}
