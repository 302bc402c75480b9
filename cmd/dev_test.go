//go:build !production

package cmd

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/internal/devstack"
	"rihla/internal/store/storetest"
	"rihla/internal/testkit"
	"rihla/models"
)

// financeStaff have an address outside the domain of the users that `dev` makes.
var financeStaff = models.User{
	Name: "Finance", Email: "finance@company.example", Role: models.RoleFinanceAdmin, PasswordHash: noPassword, Locale: models.LocaleArabic,
}

// devOn runs the whole service on dir until the end of stop, as `rihla dev` does.
func devOn(t *testing.T, dir string) (h *devEnv, links string, stop func()) {
	t.Helper()

	cfg, err := config.Load(map[string]string{"DATA_DIR": dir})
	require.NoError(t, err)

	h, err = startDevEnv(t.Context(), cfg, slog.New(slog.DiscardHandler), 0)
	require.NoError(t, err)

	var printed bytes.Buffer

	h.printLinks(&printed)

	return h, printed.String(), func() { require.NoError(t, h.close()) }
}

var printedLink = regexp.MustCompile(`http://[^\s]+`)

// TestDevStartsAgain: the traces that a trial leaves in the data directory must not keep the service from starting the next time,
// and links of the first run, such as the address of a checkout, must still open.
func TestDevStartsAgain(t *testing.T) {
	t.Parallel()
	testkit.Temporal(t) // so that its program is there

	root, err := devstack.ModuleRoot()
	require.NoError(t, err)

	dir := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(root, devstack.DefaultDataDir, "bin"), filepath.Join(dir, "bin")))

	// The usual ports are taken at first, and free later.
	release := takePorts(t, "127.0.0.1:8090", "127.0.0.1:8080")

	h, links, stop := devOn(t, dir)
	t.Cleanup(func() { require.NoError(t, devstack.Reset(t.Context(), dir, nil)) })
	require.Contains(t, links, "export DATABASE_URL='"+h.stack.DatabaseURL+"'\n")
	require.Contains(t, links, "/namespaces/default/workflows?query=WorkflowType+%21%3D+%27Sweep%27\n")
	require.Contains(t, links, "export TEMPORAL_ADDRESS="+h.stack.TemporalAddress+"\n")

	requireRunbook(t, h.cfg.App.RunbookURL)

	for _, link := range printedLink.FindAllString(links, -1) {
		requireOpens(t, link)
	}

	// An admin makes staff with an address of their own.
	s, err := openStore(t.Context(), h.cfg)
	require.NoError(t, err)

	_, err = s.Accounts.CreateUser(t.Context(), financeStaff)
	require.NoError(t, err)
	require.NoError(t, s.Close())

	gateway, api, temporal, database := h.cfg.Gateways.A.URL, h.cfg.App.PublicURL, h.stack.TemporalUIURL, h.stack.DatabaseURL
	require.NotContains(t, gateway, ":8090")
	require.Equal(t, api, h.cfg.App.PayURL, "pages to pay on are at the port that was taken")
	stop()
	release()

	again, _, stop := devOn(t, dir)
	defer stop()

	require.Equal(t, gateway, again.cfg.Gateways.A.URL)
	require.Equal(t, api, again.cfg.App.PublicURL)
	require.Equal(t, temporal, again.stack.TemporalUIURL)
	require.Equal(t, database, again.stack.DatabaseURL)
}

// requireRunbook opens the page to which incidents link, which has a row for each kind.
func requireRunbook(t *testing.T, address string) {
	t.Helper()
	require.NotEmpty(t, address, "incidents would have no link to it")

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)

	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)

	defer answer.Body.Close()

	page, err := io.ReadAll(answer.Body)
	require.NoError(t, err)

	for _, kind := range models.IncidentKinds() {
		require.Contains(t, string(page), `<a id="incident-`+strings.ToLower(string(kind))+`"></a>`)
	}
}

// takePorts listens on the addresses until release is called; one on which another process listens is as good.
func takePorts(t *testing.T, addresses ...string) (release func()) {
	t.Helper()

	var listeners []net.Listener

	for _, address := range addresses {
		if l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address); err == nil {
			listeners = append(listeners, l)
		}
	}

	return sync.OnceFunc(func() {
		for _, l := range listeners {
			require.NoError(t, l.Close())
		}
	})
}

// requireOpens waits until the page is there: the Temporal UI begins to listen some moments after its server.
func requireOpens(t *testing.T, link string) {
	t.Helper()

	require.Eventually(t, func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
		require.NoError(t, err)

		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}

		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode, link)

		return true
	}, 20*time.Second, 50*time.Millisecond, link)
}

// TestDevKeepsAwayFromOthersDatabase: its users have a published password.
func TestDevKeepsAwayFromOthersDatabase(t *testing.T) {
	t.Parallel()

	database := storetest.Database(t)
	cfg, err := config.Load(map[string]string{
		"DATA_DIR": t.TempDir(), "DATABASE_URL": database, "TEMPORAL_ADDRESS": testkit.Temporal(t), "TEMPORAL_TASK_QUEUE": t.Name(),
	})
	require.NoError(t, err)

	s, err := openStore(t.Context(), cfg)
	require.NoError(t, err)

	_, err = s.Accounts.CreateUser(t.Context(), financeStaff)
	require.NoError(t, err)
	require.NoError(t, s.Close())

	_, err = startDevEnv(t.Context(), cfg, slog.New(slog.DiscardHandler), 0)
	require.ErrorContains(t, err, "a database with users of its own")
}
