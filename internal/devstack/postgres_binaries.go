package devstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// oldestPostgres is the oldest major version the service runs on.
const oldestPostgres = 15

// downloadVersion is what is downloaded when nothing is installed.
const downloadVersion = embeddedpostgres.V17

// postgresBinaries is a directory with the server's programs.
type postgresBinaries struct {
	dir   string
	major int
}

func (b postgresBinaries) path(program string) string { return filepath.Join(b.dir, program) }

// findPostgres looks for binaries in PATH, then in the places where packages put them, newest first. major restricts the search
// to one version, because a cluster only opens with the version that made it; 0 takes any that is new enough.
func findPostgres(ctx context.Context, acc account, major int) (postgresBinaries, bool) {
	var installed []postgresBinaries
	for _, dir := range installedPostgresDirs() {
		found := postgresBinaries{dir: dir}
		found.major = postgresMajor(ctx, found.path("postgres"))
		if found.major >= oldestPostgres && acc.reaches(dir) && isProgram(found.path("initdb")) {
			installed = append(installed, found)
		}
	}
	for _, found := range installed {
		if major == 0 || found.major == major {
			return found, true
		}
	}
	return postgresBinaries{}, false
}

// installedPostgresDirs lists candidate directories, links resolved: those in PATH in its order, then the others newest first.
func installedPostgresDirs() []string {
	inPath := filepath.SplitList(os.Getenv("PATH"))
	var packaged []string
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin",
		"/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	} {
		matches, _ := filepath.Glob(pattern)
		packaged = append(packaged, matches...)
	}
	number := func(dir string) int {
		n, _ := strconv.Atoi(regexp.MustCompile(`\d+`).FindString(strings.TrimPrefix(dir, "/usr/lib/postgresql")))
		return n
	}
	slices.SortStableFunc(packaged, func(a, b string) int { return number(b) - number(a) })

	var dirs []string
	for _, dir := range append(inPath, packaged...) {
		program, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres"))
		if err != nil || !filepath.IsAbs(program) || !isProgram(program) {
			continue
		}
		if dir = filepath.Dir(program); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func isProgram(path string) bool {
	info, err := os.Stat(path) //nolint:gosec // PATH is the caller's own
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

var postgresVersion = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// postgresMajor asks a postgres binary for its major version; 0 when it does not run here.
func postgresMajor(ctx context.Context, path string) int {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	match := postgresVersion.FindSubmatch(out)
	if err != nil || match == nil {
		return 0
	}
	major, _ := strconv.Atoi(string(match[1]))
	return major
}

// downloadPostgres brings PostgreSQL's binaries into dir, once.
func downloadPostgres(ctx context.Context, log *slog.Logger, acc account, dir, repository string) (postgresBinaries, error) {
	found := postgresBinaries{dir: filepath.Join(dir, "bin")}
	if found.major = postgresMajor(ctx, found.path("postgres")); found.major >= oldestPostgres {
		return found, nil
	}
	log.InfoContext(ctx, fmt.Sprintf("no installed PostgreSQL (>= %d) found, downloading %s into %s", oldestPostgres, downloadVersion, dir))
	if err := fetchPostgres(ctx, dir, repository); err != nil {
		return found, fmt.Errorf("PostgreSQL >= %d is not installed and could not be downloaded: "+
			"install it (Debian and Ubuntu: `apt-get install postgresql`; macOS: `brew install postgresql@17`) or set DATABASE_URL: %w",
			oldestPostgres, err)
	}
	found.major = postgresMajor(ctx, found.path("postgres"))
	if !acc.reaches(found.dir) {
		return found, fmt.Errorf("the user that PostgreSQL runs as (uid %d) cannot reach the downloaded binaries in %s: "+
			"install PostgreSQL, or set DATABASE_URL", acc.uid, found.dir)
	}
	return found, nil
}

// fetchPostgres downloads and unpacks, and puts the result in its place in one step. embedded-postgres downloads
// only what it starts; its server is not wanted (ours has its own account, settings and life), so it is given a data directory that is
// none and fails after unpacking. Whether that worked is seen from the binaries, not from the error.
func fetchPostgres(ctx context.Context, dir, repository string) error {
	work, err := os.MkdirTemp(filepath.Dir(dir), "postgres-download-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	decoy, unpacked := filepath.Join(work, "data"), filepath.Join(work, "unpacked")
	if err := os.Mkdir(decoy, 0o700); err != nil {
		return err
	}
	major, _, _ := strings.Cut(string(downloadVersion), ".")
	if err := os.WriteFile(filepath.Join(decoy, "PG_VERSION"), []byte(major+"\n"), 0o600); err != nil {
		return err
	}
	port, err := Port(ctx, nil, 0)
	if err != nil {
		return err
	}
	config := embeddedpostgres.DefaultConfig().
		Version(downloadVersion).
		Port(uint32(port)). //nolint:gosec // a port is no large number
		CachePath(filepath.Join(work, "cache")).
		RuntimePath(filepath.Join(work, "run")).
		DataPath(decoy).
		BinariesPath(unpacked).
		StartTimeout(time.Second).
		Logger(io.Discard)
	if repository != "" {
		config = config.BinaryRepositoryURL(repository)
	}
	result := make(chan error, 1)
	go func() { result <- embeddedpostgres.NewDatabase(config).Start() }()
	select {
	case err = <-result:
	case <-ctx.Done(): // the download itself knows no context
		return ctx.Err()
	}
	if postgresMajor(ctx, filepath.Join(unpacked, "bin", "postgres")) == 0 {
		if err == nil {
			err = errors.New("the downloaded binaries do not run on this system")
		}
		return err
	}
	if err := os.Chmod(unpacked, 0o755); err != nil { //nolint:gosec // programs, to be run by the account
		return err
	}
	// When another process was faster, its directory is as good as ours.
	if err := os.Rename(unpacked, dir); err != nil && !errors.Is(err, os.ErrExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return err
	}
	return nil
}
