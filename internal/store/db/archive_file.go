package db

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgconn"
)

// write has the rows that the query copies out in a file that is on the disk under its name, and a manifest beside it. A file of
// that name is one whose month has never left its table, and is replaced. What is in the file is said after it was read back.
func (m *ArchivedMonth) write(ctx context.Context, conn *pgconn.PgConn, dir, query string) error {
	m.File = m.partition + ".csv.gz"
	path := filepath.Join(dir, m.File)

	var (
		sum  = sha256.New()
		rows int64
	)

	err := replaceFile(path, func(w io.Writer) error {
		zip := gzip.NewWriter(w)

		tag, err := conn.CopyTo(ctx, io.MultiWriter(zip, sum), query)
		if err != nil {
			return err
		}

		rows = tag.RowsAffected()

		return zip.Close()
	})
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}

	if err := m.read(path); err != nil {
		return fmt.Errorf("read back: %w", err)
	}

	if m.Rows != rows || m.SHA256 != hex.EncodeToString(sum.Sum(nil)) {
		return fmt.Errorf("%s has %d rows of %d, or others", path, m.Rows, rows)
	}

	manifest, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode manifest: %w", err)
	}

	err = replaceFile(filepath.Join(dir, m.partition+".json"), func(w io.Writer) error {
		_, err := w.Write(append(manifest, '\n'))

		return err
	})
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}

	return syncDir(dir)
}

// read sets what the file has: columns, rows and digest.
func (m *ArchivedMonth) read(path string) error {
	file, err := os.Open(path) //nolint:gosec // in the directory that the operator names
	if err != nil {
		return err
	}
	defer file.Close()

	zip, err := gzip.NewReader(file)
	if err != nil {
		return err
	}

	sum := sha256.New()
	lines := csv.NewReader(io.TeeReader(zip, sum))
	lines.ReuseRecord = true

	header, err := lines.Read()
	if err != nil {
		return err
	}

	m.Columns, m.Rows = append([]string(nil), header...), 0

	for {
		_, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}

		if err != nil {
			return err
		}

		m.Rows++
	}

	m.SHA256 = hex.EncodeToString(sum.Sum(nil))

	return nil
}

// replaceFile writes a file that has its name only once it is whole and on the disk.
func replaceFile(path string, write func(io.Writer) error) (err error) {
	file, err := os.OpenFile(path+".partial", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // as above
	if err != nil {
		return err
	}

	err = write(file)
	if err == nil {
		err = file.Sync()
	}

	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}

	return os.Rename(path+".partial", path)
}

// syncDir has the names in a directory on the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // as above
	if err != nil {
		return err
	}

	return errors.Join(d.Sync(), d.Close())
}
