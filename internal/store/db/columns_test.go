package db_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
)

// allColumns is an asterisk that stands for the columns of a table: after SELECT, RETURNING or a comma, or alone in a text that is given
// to Bun as one of these. count(*) is none.
var allColumns = regexp.MustCompile(`(?i)(?:\b(?:SELECT|DISTINCT|ALL|RETURNING)|,|^)\s*(?:[a-z_"]+\.)?\*(?:\s|,|$)`)

// archived is the one statement that means all columns, whatever they are: a month leaves the database whole. It is not prepared.
const archived = "COPY (SELECT * FROM %s ORDER BY %s, id) TO STDOUT (FORMAT csv, HEADER)"

// TestStatementsNameTheirColumns: all SQL of the store names the columns that it reads, so that the result of a statement that is prepared
// does not change when a newer version adds a column (docs/decisions/0088).
func TestStatementsNameTheirColumns(t *testing.T) {
	t.Parallel()

	for _, is := range []string{"SELECT * FROM t", "x RETURNING *", "SELECT a,\n\tb.* FROM t", "*", `"b".*`, "select t.*, 1"} {
		require.Regexp(t, allColumns, is)
	}

	for _, is := range []string{"SELECT count(*) FROM t", "a * b", "(a)*2", "2, 3 * 4"} {
		require.NotRegexp(t, allColumns, is)
	}

	texts := 0

	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}

		files := token.NewFileSet()

		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}

		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				texts++

				text, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)

				if text != archived {
					require.NotRegexp(t, allColumns, text, "%s", files.Position(lit.Pos()))
				}
			}

			return true
		})

		return nil
	}))

	require.Greater(t, texts, 1000)
}

// TestChangedTableUnderPreparedStatements: a statement whose result changes with its table is prepared anew, and a transaction that has met
// one is run again from its beginning, in which all statements are prepared anew.
func TestChangedTableUnderPreparedStatements(t *testing.T) {
	t.Parallel()

	s := onOneConnection(t)
	ctx := db.Prepared(t.Context())

	exec := func(query string) {
		_, err := s.DB.ExecContext(t.Context(), query)
		require.NoError(t, err)
	}

	exec("CREATE TABLE changed (id int PRIMARY KEY, n int NOT NULL)")
	exec("INSERT INTO changed VALUES (1, 0)")

	// The statements of a unit of work: each is another text, and so another plan.
	statements := []string{
		"SELECT * FROM changed WHERE id = ?", "SELECT c.* FROM changed AS c WHERE c.id = ?",
		"UPDATE changed SET n = n + 1 WHERE id = ? RETURNING *", "SELECT id AS a, * FROM changed WHERE id = ? FOR UPDATE",
		"SELECT id AS b, * FROM changed WHERE id = ?", "SELECT id AS c, * FROM changed WHERE id = ?",
	}

	read := func(tx bun.IDB, statement string) error {
		rows, err := tx.QueryContext(ctx, statement, "1")
		if err != nil {
			return err
		}
		defer rows.Close()

		for rows.Next() {
		}

		return rows.Err()
	}

	tries := 0
	unit := func() {
		tries = 0

		require.NoError(t, s.DB.InTx(ctx, func(_ context.Context, tx bun.Tx) error {
			tries++

			for _, statement := range statements {
				if err := read(tx, statement); err != nil {
					return err
				}
			}

			return nil
		}))
	}
	alone := func() {
		for _, statement := range statements {
			require.NoError(t, read(s.DB, statement))
		}
	}

	unit()
	require.Equal(t, 1, tries)

	exec("ALTER TABLE changed ADD COLUMN later text")
	unit()
	require.Equal(t, 2, tries, "run again once, however many of its statements were spoilt")

	exec("ALTER TABLE changed DROP COLUMN later")
	alone()
	unit()
	require.Equal(t, 1, tries)

	var n int

	require.NoError(t, s.DB.Raw.QueryRowContext(t.Context(), "SELECT n FROM changed").Scan(&n))
	require.Equal(t, 4, n, "what was rolled back is done once")
}

// TestOtherRefusalsAreNotTriedAgain: the state alone is that of everything that is not supported.
func TestOtherRefusalsAreNotTriedAgain(t *testing.T) {
	t.Parallel()

	s := onOneConnection(t)
	tries := 0

	require.Error(t, s.DB.InTx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		tries++
		_, err := tx.ExecContext(ctx, "DO $$ BEGIN RAISE EXCEPTION 'cached plan must not change result type' USING ERRCODE = '0A000'; END $$")

		return err
	}))
	require.Equal(t, 1, tries)
}
