package devstack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// account is the user that PostgreSQL runs as. It refuses to run as root, so root lends it another user's identity.
type account struct {
	uid, gid uint32
	borrowed bool
}

func (a account) credential() *syscall.Credential {
	if !a.borrowed {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// own gives path to the account.
func (a account) own(path string) error {
	if !a.borrowed {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

// serverAccount is the present user, or for root: the owner of the existing cluster, else `postgres`, else the unprivileged user.
func serverAccount(cluster string) (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}, nil //nolint:gosec // ids are not negative
	}
	if info, err := os.Stat(cluster); err == nil {
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != 0 {
			return account{uid: owner.Uid, gid: owner.Gid, borrowed: true}, nil
		}
	}
	for _, name := range []string{"postgres", "_postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseInt(found.Uid, 10, 64)
		gid, gidErr := strconv.ParseInt(found.Gid, 10, 64)
		if uidErr == nil && gidErr == nil {
			// Some systems write the unprivileged user's id as -2; the conversion is the kernel's.
			return account{uid: uint32(uid), gid: uint32(gid), borrowed: true}, nil //nolint:gosec // wrapping is wanted
		}
	}
	return account{}, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody to run it as: " +
		"run as an ordinary user, or set DATABASE_URL")
}

// reaches reports whether the account may pass through every directory on the way to path, path included.
func (a account) reaches(path string) bool {
	for dir := path; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}
		owner := info.Sys().(*syscall.Stat_t)
		needed := fs.FileMode(0o001)
		switch {
		case owner.Uid == a.uid:
			needed = 0o100
		case owner.Gid == a.gid:
			needed = 0o010
		}
		if info.Mode().Perm()&needed == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// locationFile, in the data directory, holds the path of the cluster's directory when that had to be elsewhere.
const locationFile = "postgres.location"

// fallbackHome is where the cluster of a data directory goes which the server's account cannot reach.
func fallbackHome(dataDir string) string {
	sum := sha256.Sum256([]byte(dataDir))
	return filepath.Join("/var/tmp", "rihla-"+hex.EncodeToString(sum[:6]))
}

// recordedHome is the fallback that an earlier start has used for dataDir, "" when there is none.
func recordedHome(dataDir string) string {
	text, err := os.ReadFile(filepath.Join(dataDir, locationFile)) //nolint:gosec // our own file
	home := fallbackHome(dataDir)
	if err != nil || strings.TrimSpace(string(text)) != home {
		return ""
	}
	if info, err := os.Lstat(home); err != nil || !info.IsDir() {
		return ""
	}
	return home
}

// postgresHome chooses and creates the directory that holds the cluster, its password and its log, and says whom the server runs as.
func postgresHome(ctx context.Context, log *slog.Logger, dataDir string) (string, account, error) {
	home := recordedHome(dataDir)
	if home == "" {
		home = filepath.Join(dataDir, "postgres")
	}
	acc, err := serverAccount(filepath.Join(home, "cluster"))
	if err != nil {
		return "", acc, err
	}
	if acc.borrowed && filepath.Dir(home) == dataDir {
		if err := letThrough(dataDir); err != nil {
			return "", acc, err
		}
		if !acc.reaches(dataDir) {
			home = fallbackHome(dataDir)
			log.WarnContext(ctx, fmt.Sprintf(
				"the user that PostgreSQL runs as (uid %d) cannot reach %s, so the database is kept in %s", acc.uid, dataDir, home))
			if err := os.WriteFile(filepath.Join(dataDir, locationFile), []byte(home+"\n"), 0o600); err != nil {
				return "", acc, err
			}
		}
	}
	if err := os.Mkdir(home, 0o700); err != nil && !os.IsExist(err) {
		return "", acc, fmt.Errorf("create PostgreSQL's directory: %w", err)
	}
	return home, acc, claim(home, acc)
}

// letThrough lets other users pass through, not list, the data directory: only that one, never its parents.
func letThrough(dataDir string) error {
	info, err := os.Stat(dataDir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o011 == 0o011 {
		return nil
	}
	return os.Chmod(dataDir, info.Mode().Perm()|0o011)
}

// claim refuses a directory that another user has put in our place: /var/tmp is open to all.
func claim(home string, acc account) error {
	info, err := os.Lstat(home)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if !info.IsDir() || (owner != acc.uid && int(owner) != os.Geteuid()) {
		return fmt.Errorf("%s is not a directory of ours: remove it, or set DATA_DIR to another directory", home)
	}
	return acc.own(home)
}
