//go:build drill

package alerts_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const (
	// faster is by how much the drill's windows are shorter than those of docs/alerts.yml.
	faster = 60
	// shortest is the least window: five scrapes.
	shortest = 5 * time.Second
	// aDay stands for a window of a day, which would still be long.
	aDay = 90 * time.Second
)

// longer are rules whose windows are shortened less: what they count comes only every few seconds.
var longer = map[string]time.Duration{"RihlaWebhooksSilent": 5, "RihlaTasksWait": 10}

var (
	windows = regexp.MustCompile(`\[(\d+[smhd])\]`)
	units   = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}
)

func length(t *testing.T, text string) time.Duration {
	t.Helper()

	n, err := strconv.Atoi(text[:len(text)-1])
	require.NoError(t, err)

	return time.Duration(n) * units[text[len(text)-1]]
}

type rule struct {
	Record      string            `yaml:"record,omitempty"`
	Alert       string            `yaml:"alert,omitempty"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

// fastRules are those of docs/alerts.yml with shorter windows, and the names of the alerts. Thresholds stay.
func fastRules(t *testing.T) (text []byte, alerts []string) {
	t.Helper()

	original, err := os.ReadFile("../../docs/alerts.yml")
	require.NoError(t, err)

	var file struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}

	require.NoError(t, yaml.Unmarshal(original, &file))

	for _, group := range file.Groups {
		for i := range group.Rules {
			shorten(t, &group.Rules[i])

			if name := group.Rules[i].Alert; name != "" {
				alerts = append(alerts, name)
			}
		}
	}

	text, err = yaml.Marshal(map[string]any{"groups": file.Groups})
	require.NoError(t, err)

	return text, alerts
}

func shorten(t *testing.T, r *rule) {
	t.Helper()

	by := time.Duration(faster)
	if less, ok := longer[r.Alert]; ok {
		by = less
	}

	r.Expr = windows.ReplaceAllStringFunc(r.Expr, func(window string) string {
		long := length(t, strings.Trim(window, "[]"))
		if long == 24*time.Hour {
			return "[" + aDay.String() + "]"
		}

		return "[" + strconv.Itoa(int(max(long/by, shortest).Seconds())) + "s]"
	})

	if r.For != "" {
		r.For = strconv.Itoa(int((length(t, r.For) / faster).Seconds())) + "s"
	}
}
