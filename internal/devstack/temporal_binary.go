package devstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rihla/internal/process"
)

// The oldest Temporal server the service runs on.
const oldestTemporalMajor, oldestTemporalMinor = 1, 29

const temporalPackage = "github.com/temporalio/cli/cmd/temporal"

// reportEvery is how often a long wait says that it goes on.
const reportEvery = 5 * time.Second

// temporalBinary finds the `temporal` program in PATH when it is new enough, else in binDir, where it is downloaded or built.
type temporalBinary struct {
	binDir   string
	log      *slog.Logger
	releases string            // where the official releases are; "": none is downloaded
	sums     map[string]string // SHA-256 sums of the release's archives, by platform
}

func (b temporalBinary) program() string   { return filepath.Join(b.binDir, "temporal") }
func (b temporalBinary) builtFrom() string { return filepath.Join(b.binDir, "temporal.version") }
func (b temporalBinary) buildLog() string  { return filepath.Join(b.binDir, "temporal-build.log") }

// path returns the program's path.
func (b temporalBinary) path(ctx context.Context) (string, error) {
	if installed, err := exec.LookPath("temporal"); err == nil {
		version, fits := serverVersion(ctx, installed)
		if fits {
			b.log.InfoContext(ctx, fmt.Sprintf("Temporal: server %s of %s, found in PATH", version, installed))
			return installed, nil
		}
		b.log.InfoContext(ctx, fmt.Sprintf("not using %s: server %s is older than %d.%d",
			installed, version, oldestTemporalMajor, oldestTemporalMinor))
	}
	return b.obtain(ctx)
}

// obtain returns the program in binDir, after downloading or building it when it is missing there. That is done once, by one
// process however many ask: a download takes at most a minute, building about four.
func (b temporalBinary) obtain(ctx context.Context) (string, error) {
	root, rootErr := ModuleRoot()
	if b.usable(ctx, root) {
		return b.program(), nil
	}
	if rootErr != nil && b.releases == "" {
		return "", b.nowhere(rootErr)
	}
	if err := os.MkdirAll(b.binDir, 0o755); err != nil { //nolint:gosec // programs, no secrets
		return "", err
	}
	stop := b.reporting(ctx, "waiting for another process that downloads or builds the Temporal dev server")
	lock, err := waitForLock(ctx, filepath.Join(b.binDir, "temporal.lock"))
	stop()
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }()
	if b.usable(ctx, root) {
		return b.program(), nil
	}
	if b.releases != "" {
		if err = b.download(ctx); err == nil {
			return b.program(), nil
		}
		b.log.InfoContext(ctx, "the Temporal dev server could not be downloaded", "error", err)
	}
	if rootErr != nil {
		return "", b.nowhere(errors.Join(err, rootErr))
	}
	return b.program(), b.build(ctx, root)
}

func (b temporalBinary) nowhere(err error) error {
	return fmt.Errorf("there is no Temporal server: put `temporal` (server >= %d.%d) on the PATH, or set TEMPORAL_ADDRESS "+
		"to a running one; it could be built only inside the source tree: %w", oldestTemporalMajor, oldestTemporalMinor, err)
}

// usable reports whether binDir has a program new enough, and, if we have built it, built from the version that is asked for now.
func (b temporalBinary) usable(ctx context.Context, root string) bool {
	if _, fits := serverVersion(ctx, b.program()); !fits {
		return false
	}
	built, err := os.ReadFile(b.builtFrom())
	pinned := pinnedCLI(root)
	return err != nil || pinned == "" || strings.TrimSpace(string(built)) == pinned
}

func (b temporalBinary) build(ctx context.Context, root string) error {
	goTool, err := goProgram()
	if err != nil {
		return fmt.Errorf("the Temporal dev server has to be built, but there is no go tool on the PATH: "+
			"put `temporal` or `go` on the PATH, or set TEMPORAL_ADDRESS: %w", err)
	}
	b.log.InfoContext(ctx, "building the Temporal dev server into "+b.program()+": once, about 4 minutes on 2 cores")
	stop := b.reporting(ctx, "building the Temporal dev server")
	defer stop()
	draft := fmt.Sprintf("%s.%d", b.program(), os.Getpid())
	defer func() { _ = os.Remove(draft) }()
	offset := process.LogSize(b.buildLog())
	err = process.Run(ctx, process.Command{
		Name: "go build", Path: goTool,
		Args: []string{"build", "-mod=readonly", "-o", draft, temporalPackage},
		Env:  process.Environ(func(name string) bool { return name == "GOOS" || name == "GOARCH" }, "GOWORK=off"),
		Dir:  filepath.Join(root, "tools"), Log: b.buildLog(), Orphan: syscall.SIGTERM,
	})
	if err != nil {
		return fmt.Errorf("build the Temporal dev server (set TEMPORAL_ADDRESS or put `temporal` on the PATH to do without): %w\n%s",
			err, process.LogTail(b.buildLog(), offset))
	}
	if err := os.WriteFile(b.builtFrom(), []byte(pinnedCLI(root)+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(draft, b.program())
}

// reporting logs text with the time passed, every few seconds, until the returned function is called.
func (b temporalBinary) reporting(ctx context.Context, text string) func() {
	ctx, cancel := context.WithCancel(ctx)
	start := time.Now()
	go func() {
		for pause(ctx, reportEvery) {
			b.log.InfoContext(ctx, fmt.Sprintf("%s … %s", text, time.Since(start).Round(time.Second)))
		}
	}()
	return cancel
}

func goProgram() (string, error) {
	path, err := exec.LookPath("go")
	if errors.Is(err, exec.ErrNotFound) && isProgram("/usr/local/go/bin/go") { // where go.dev's archives are unpacked
		return "/usr/local/go/bin/go", nil
	}
	return path, err
}

var serverVersionText = regexp.MustCompile(`Server (\d+)\.(\d+)[.\d]*`)

// serverVersion asks a temporal program which server it contains, and whether that is new enough.
func serverVersion(ctx context.Context, path string) (string, bool) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	match := serverVersionText.FindSubmatch(out)
	if err != nil || match == nil {
		return "(unknown)", false
	}
	major, _ := strconv.Atoi(string(match[1]))
	minor, _ := strconv.Atoi(string(match[2]))
	fits := major > oldestTemporalMajor || (major == oldestTemporalMajor && minor >= oldestTemporalMinor)
	return strings.TrimPrefix(string(match[0]), "Server "), fits
}
