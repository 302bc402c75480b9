package e2e_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
)

// identifying is what no label has: an id, an address, a phone number. Of them there are as many as customers.
var identifying = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-|[^" ]@[^" ]+[.][a-z]|"[+]?[0-9]{8,}"`)

var labelValue = regexp.MustCompile(`"[^"]*"`)

// seriesAtMost is how many series a process may have of the SDK of Temporal; this run makes about 1,400 in the worker.
const seriesAtMost = 2_000

// metricsKeep looks at what API and worker have counted in a whole run: nothing personal, nothing that grows with the customers.
func metricsKeep(t *testing.T, s *harness.Stack, secrets []string) {
	t.Helper()

	for name, url := range map[string]string{"API": s.URL + "/metrics", "worker": s.Metrics} {
		text := scrape(t, url)
		keeps(t, "the metrics of the "+name, text, secrets)
		series := 0

		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "#") {
				continue
			}

			for _, value := range labelValue.FindAllString(strings.ReplaceAll(line, s.Queue, "queue"), -1) { // the test's has an id for a name
				require.NotRegexp(t, identifying, value, "%s: %s", name, line)
				require.NotRegexp(t, giveaways, value, "%s: %s", name, line)
			}

			if strings.HasPrefix(line, "temporal_") {
				series++
			}
		}

		t.Logf("%s: %d series of Temporal", name, series)
		require.Greater(t, series, 10, name)
		require.Less(t, series, seriesAtMost, name)
	}
}

func scrape(t *testing.T, url string) string {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)

	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)

	defer answer.Body.Close()

	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode)

	return string(text)
}
