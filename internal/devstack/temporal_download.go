package devstack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"time"
)

// The official release of Temporal's command line is that of the version pinned in tools/go.mod. A new version needs new sums.
const (
	releaseVersion = "v1.5.1"
	releases       = "https://github.com/temporalio/cli/releases/download"
)

// releaseSums are the SHA-256 sums of the archives, by system and architecture: a download is run, so its origin alone is not
// trusted.
var releaseSums = map[string]string{
	"linux_amd64":  "ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d",
	"linux_arm64":  "bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5",
	"darwin_amd64": "bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9",
	"darwin_arm64": "cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415",
}

const (
	// downloadPatience bounds a download: a slower line is not much faster than building.
	downloadPatience = time.Minute
	// maxArchive and maxProgram are bytes; the archive has about 60 MB, the program about 200.
	maxArchive = 200 << 20
	maxProgram = 1 << 30
)

// EnvDownload is the variable that, as `off`, keeps Temporal's command line from being downloaded.
const EnvDownload = "TEMPORAL_CLI_DOWNLOAD"

// releasesFrom is where releases are downloaded from, "" when they are not to be.
func releasesFrom() string {
	if os.Getenv(EnvDownload) == "off" {
		return ""
	}
	return releases
}

// download puts the official release's program into its place. The error says why there is none: no release for this system, no
// way to it within downloadPatience, or other bytes than those that are pinned.
func (b temporalBinary) download(ctx context.Context) error {
	platform := runtime.GOOS + "_" + runtime.GOARCH
	sum := b.sums[platform]
	if sum == "" {
		return fmt.Errorf("there is no release for %s", platform)
	}
	ctx, cancel := context.WithTimeout(ctx, downloadPatience)
	defer cancel()
	address := fmt.Sprintf("%s/%s/temporal_cli_%s_%s.tar.gz", b.releases, releaseVersion, releaseVersion[1:], platform)
	b.log.InfoContext(ctx, "downloading the Temporal dev server from "+address)
	stop := b.reporting(ctx, "downloading the Temporal dev server")
	defer stop()
	archive, err := fetch(ctx, address)
	if err != nil {
		return err
	}
	if got := sha256.Sum256(archive); hex.EncodeToString(got[:]) != sum {
		return fmt.Errorf("%s has the SHA-256 sum %x instead of the pinned %s: it is not used", address, got, sum)
	}
	draft := fmt.Sprintf("%s.%d", b.program(), os.Getpid())
	defer func() { _ = os.Remove(draft) }()
	if err := unpackTemporal(archive, draft); err != nil {
		return fmt.Errorf("unpack %s: %w", address, err)
	}
	if version, fits := serverVersion(ctx, draft); !fits {
		return fmt.Errorf("the downloaded program does not run here: server %s", version)
	}
	if err := os.WriteFile(b.builtFrom(), []byte(releaseVersion+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(draft, b.program())
}

func fetch(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", address, response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxArchive+1))
	if err == nil && len(body) > maxArchive {
		err = fmt.Errorf("%s is larger than %d bytes", address, maxArchive)
	}
	return body, err
}

// unpackTemporal writes the one program of the archive to path.
func unpackTemporal(archive []byte, path string) (err error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	files := tar.NewReader(unzipped)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return errors.New("there is no temporal in it")
		}
		if err != nil {
			return err
		}
		if header.Name == "temporal" && header.Typeflag == tar.TypeReg {
			break
		}
	}
	program, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755) //nolint:gosec // a program
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, program.Close()) }()
	_, err = io.Copy(program, io.LimitReader(files, maxProgram))
	return err
}
