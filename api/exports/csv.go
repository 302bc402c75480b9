package exports

import (
	"bufio"
	"context"
	"io"

	"rihla/internal/store/ledger"
	"rihla/models"
)

// ByteOrderMark tells spreadsheets that the file is UTF-8.
const ByteOrderMark = "\ufeff"

// Buffer is how much of a file goes to the client at once: lines come from the database one by one, and the server's own buffer holds but
// a dozen of them.
const Buffer = 64 << 10

// WriteCSV writes an export as CSV, and counts its rows.
func WriteCSV(ctx context.Context, s *ledger.Store, w io.Writer, f ledger.RecordFilter, lang models.Locale) (rows int64, err error) {
	b := bufio.NewWriterSize(w, Buffer)

	if _, err := b.WriteString(ByteOrderMark); err != nil {
		return 0, err
	}

	if rows, err = s.ExportCSV(ctx, f, lang, b); err != nil {
		return rows, err
	}

	return rows, b.Flush()
}
