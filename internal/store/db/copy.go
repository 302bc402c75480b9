package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
)

// CopyCSV writes what a query selects to w as CSV with a header row, and counts the rows that w was given, whatever the end. PostgreSQL
// writes the CSV, and what is on its way is all that is held. It ends early, and the statement with it, when ctx does or w fails.
func (s *DB) CopyCSV(ctx context.Context, query string, w io.Writer) (rows int64, err error) {
	lines := lineCounter{w: w}

	err = s.OnWire(ctx, func(conn *pgx.Conn) error {
		_, err := conn.PgConn().CopyTo(ctx, &lines, "COPY ("+query+") TO STDOUT (FORMAT csv, HEADER)")

		return err
	})

	return max(lines.n-1, 0), err // the header
}

// lineCounter counts the lines of a COPY. PostgreSQL sends each as one message, as its protocol says, and pgx hands each
// message on by one Write; text in quotes may hold line breaks, so that bytes would be harder to count. A line whose Write
// fails counts: a part of it may have left.
type lineCounter struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (c *lineCounter) Write(line []byte) (int, error) {
	c.n++

	return c.w.Write(line)
}

// OnWire lends a connection of the pool for what database/sql cannot do. One that is broken does not come back to it.
func (s *DB) OnWire(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := s.Raw.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()

	return conn.Raw(func(driver any) error { return withoutTimeout(ctx, Pgx(driver), do) })
}

// resetTime bounds giving a connection back as it was.
const resetTime = 5 * time.Second

// withoutTimeout lets one statement take as long as ctx allows: a file leaves as fast as its reader takes it.
func withoutTimeout(ctx context.Context, conn *pgx.Conn, do func(*pgx.Conn) error) error {
	if _, err := conn.Exec(ctx, "SET statement_timeout = 0"); err != nil {
		return err
	}

	err := do(conn)
	if conn.IsClosed() {
		return err
	}

	// The caller's time may be over, and the connection goes back to the pool.
	reset, cancel := context.WithTimeout(context.WithoutCancel(ctx), resetTime)
	defer cancel()

	if _, failed := conn.Exec(reset, "RESET statement_timeout"); failed != nil {
		return errors.Join(err, failed, conn.Close(reset))
	}

	return err
}

// Patterns in free text: the signs that a spreadsheet takes for the beginning of a formula, the spaces that may stand before one, text
// that begins like one, and text that cannot become one at all. That is nearly all text: the pattern is one that costs little. The
// spaces are those of Unicode, by their numbers: what PostgreSQL takes for one otherwise depends on the database's locale.
const (
	formulaSigns = `-=+@＝＋－＠`
	spaces       = `\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`
	formulaAhead = `^''*[` + spaces + `]*[` + formulaSigns + `]|^[\t\r]`
	formulaAfter = `;(''*[` + spaces + `"]*[` + formulaSigns + `])`
	harmlessText = `^[^` + formulaSigns + `;''` + spaces + `][^;\t\r\n]*$`
)

// hidden are the characters that Visible leaves out; what ends a line or a cell stays for Harmless.
const hidden = `\u0001-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u061c` +
	`\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb`

// Visible is the SQL of text without control characters and those that hide, or turn around, what is beside them. Requests have none
// (rules: input.words); older rows may. It goes inside of Harmless: what is behind such a character may begin a formula.
func Visible(value string) string {
	return fmt.Sprintf(`regexp_replace(%s, '[%s]', '', 'g')`, value, hidden)
}

// Harmless is the SQL of text that a spreadsheet cannot run. What begins like a formula, behind spaces or not, gets an apostrophe in
// front. Where the decimal sign is a comma, spreadsheets read a semicolon as the end of a cell, and inside quotes too, which do not
// begin where they think that the cell does: so there is an apostrophe after one, and no line or tab within a cell that could begin
// another. Text that has apostrophes there already gets one more, so that one is to be taken away wherever there are some, and what
// was written is known again: an audit log that is exported is checked by that.
func Harmless(value string) string {
	return fmt.Sprintf(`CASE WHEN %[1]s ~ '%[2]s' THEN %[1]s WHEN %[1]s IS NOT NULL THEN CASE WHEN %[1]s ~ '%[3]s' THEN '''' ELSE '' END || `+
		`regexp_replace(translate(%[1]s, E'\r\n\t', '   '), '%[4]s', ';''\1', 'g') END`,
		value, harmlessText, formulaAhead, formulaAfter)
}
