package cmd

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"

	"rihla/internal/audit"
)

// checkLogFile checks an exported audit log against its own seals, and against one that was noted elsewhere.
func checkLogFile(to io.Writer, path string, o audit.LogFileOptions) error {
	file, err := os.Open(path) //nolint:gosec // the file is named on the command line
	if err != nil {
		return err
	}
	defer file.Close()

	out := bufio.NewWriter(to)

	f, err := audit.CheckLogFile(file, o, func(d audit.Difference) error {
		_, err := fmt.Fprintln(out, d)

		return err
	})

	if f.Unproven > 0 {
		fmt.Fprintf(out, "%d entries without a digest: nothing shows that they are what was written\n", f.Unproven)
	}

	fmt.Fprintf(out, "%d entries, of these %d under no seal; %d seals computed, %d in part; %d differences\n",
		f.Entries, f.Unsealed, f.Seals, f.Parts, f.Differences)

	if f.Last.Number > 0 {
		fmt.Fprintf(out, "seals from %d on; the last one is %s\n", f.First, f.Last)
	}

	if err := errors.Join(err, out.Flush()); err != nil {
		return err
	}

	if f.Differences > 0 {
		return fmt.Errorf("the file has %d differences", f.Differences)
	}

	if o.Seal.Number > 0 && !f.HasSeal {
		return fmt.Errorf("the file does not prove the seal %s: it is not in it with that hash and all of its entries", o.Seal)
	}

	return nil
}

// requireLogSeal fails unless the chain has a seal that was noted elsewhere, if one was.
func requireLogSeal(ctx context.Context, db *sql.DB, noted audit.LogSeal) error {
	if noted.Number == 0 {
		return nil
	}

	has, err := audit.HasLogSeal(ctx, db, noted)
	if err != nil {
		return fmt.Errorf("look for the seal: %w", err)
	}

	if !has {
		return fmt.Errorf("the audit log has no seal %s: it was changed since that was noted", noted)
	}

	return nil
}
