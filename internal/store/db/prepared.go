package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

// Bun writes arguments into the text of a statement, and PostgreSQL then parses and plans each text anew: a third of its CPU under
// payments. Statements of a context that Prepared has made are given their arguments back before they are sent, and are prepared:
// parsed and planned once per connection (docs/decisions/0042).

type preparedKey struct{}

// Prepared has statements that are run with the context prepared. It is for units of work that every payment needs, whose statements have
// few texts: a list with filters of the caller's own would fill PostgreSQL's memory with statements that are used once.
func Prepared(ctx context.Context) context.Context {
	return context.WithValue(ctx, preparedKey{}, true)
}

// connector makes connections that know of Prepared.
type connector struct {
	driver.Connector

	// changed counts how often a plan was met that a change of a table had spoilt. Each connection prepares all its statements anew when
	// it is next taken from the pool after that: else each of its statements would fail once, one after the other.
	changed *atomic.Int64
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	seen := c.changed.Load()

	made, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}

	return &conn{stdlibConn: made.(*stdlib.Conn), changed: c.changed, seen: seen}, nil
}

type stdlibConn = stdlib.Conn

type conn struct {
	*stdlibConn

	changed *atomic.Int64 // of the pool
	seen    int64         // what it was when this connection last forgot its statements
}

// Pgx is the connection below one of the pool, as sql.Conn.Raw passes it: for COPY.
func Pgx(driverConn any) *pgx.Conn { return driverConn.(*conn).Conn() }

// ResetSession implements driver.SessionResetter: it is called before a connection is used again.
func (c *conn) ResetSession(ctx context.Context) error {
	if err := c.stdlibConn.ResetSession(ctx); err != nil {
		return err
	}

	changed := c.changed.Load()
	if changed == c.seen {
		return nil
	}

	if err := c.Conn().DeallocateAll(ctx); err != nil {
		return driver.ErrBadConn // another connection is taken
	}

	c.seen = changed

	return nil
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	query, args = prepare(ctx, query, args)

	rows, err := c.stdlibConn.QueryContext(ctx, query, args)
	if c.prepareAnew(err) {
		return c.stdlibConn.QueryContext(ctx, query, args)
	}

	return rows, err
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	query, args = prepare(ctx, query, args)

	result, err := c.stdlibConn.ExecContext(ctx, query, args)
	if c.prepareAnew(err) {
		return c.stdlibConn.ExecContext(ctx, query, args)
	}

	return result, err
}

// prepareAnew notes a plan that a change of a table has spoilt, and reports whether the statement may be sent again at once: when it was a
// transaction by itself, and so has done nothing. pgx has forgotten the plan by then. Within a transaction, which has failed with it, the
// unit of work is run again from its beginning (InTx, Retry).
func (c *conn) prepareAnew(err error) bool {
	if !isStalePlan(err) {
		return false
	}

	c.changed.Add(1)

	return c.Conn().PgConn().TxStatus() == outsideTransaction
}

// outsideTransaction is the state of a connection in PostgreSQL's protocol.
const outsideTransaction = 'I'

// isStalePlan reports PostgreSQL's refusal to run a prepared statement whose result has other columns since a table was changed. It is
// recognised by the place that refuses: the words are in the server's language, and the state (0A000) is that of all that is not supported.
func isStalePlan(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)

	return ok && e.Code == stateNotSupported && e.Routine == "RevalidateCachedQuery"
}

func prepare(ctx context.Context, query string, args []driver.NamedValue) (string, []driver.NamedValue) {
	if len(args) > 0 || ctx.Value(preparedKey{}) == nil {
		return query, args
	}

	text, literals, ok := parameters(query)
	if !ok {
		return query, args
	}

	out := make([]driver.NamedValue, 1, 1+len(literals))
	out[0] = driver.NamedValue{Ordinal: 1, Value: pgx.QueryExecModeCacheStatement}

	for i, literal := range literals {
		// As text, whatever the type of the column: PostgreSQL reads it as it reads a literal.
		out = append(out, driver.NamedValue{Ordinal: i + 2, Value: literal})
	}

	return text, out
}

// parameters takes string literals out of a statement of Bun's, where they are values: in VALUES, and compared with or assigned to a
// column, or with a list by IN. Numbers, TRUE and NULL stay, and so do arguments of functions, and constants (PENDING) in conditions and
// assignments: they belong to the statement's meaning, and an index with a condition is only used for what its plan can see. ok is
// false for a statement with comments, dollar quotes or parameters of its own, which stays as it is.
func parameters(query string) (text string, literals []string, ok bool) {
	l := lexer{query: query, open: []paren{parenCondition}}
	l.text.Grow(len(query))

	for l.at < len(query) {
		switch c := query[l.at]; {
		case c == '"':
			l.copyUntil(endOfQuote(query, l.at))
		case c == '\'':
			l.literal(&literals)
		case c == '$', strings.HasPrefix(query[l.at:], "--"), strings.HasPrefix(query[l.at:], "/*"):
			return query, nil, false
		case c == '(':
			l.open = append(l.open, l.parenAfter())
			l.copyUntil(l.at + 1)
		case c == ')' && len(l.open) > 1:
			l.open = l.open[:len(l.open)-1]
			l.copyUntil(l.at + 1)
		default:
			l.copyUntil(l.at + 1)
		}
	}

	return l.text.String(), literals, true
}

// paren is what a parenthesis is of.
type paren int

const (
	parenCondition paren = iota // or the statement itself
	parenValues
	parenList  // of IN
	parenOther // a function, a cast, names of columns
)

type lexer struct {
	query string
	at    int
	text  strings.Builder
	open  []paren
}

func (l *lexer) copyUntil(end int) {
	l.text.WriteString(l.query[l.at:end])
	l.at = end
}

// literal copies the literal that begins here, or puts a parameter in its place.
func (l *lexer) literal(literals *[]string) {
	end := endOfQuote(l.query, l.at)
	value := strings.ReplaceAll(l.query[l.at+1:end-1], "''", "'")

	if !l.isValue(value) {
		l.copyUntil(end)

		return
	}

	*literals = append(*literals, value)
	l.text.WriteByte('$')
	l.text.WriteString(strconv.Itoa(len(*literals)))
	l.at = end
}

// isValue reports whether the literal that begins here is a value, by what is before it.
func (l *lexer) isValue(value string) bool {
	before := strings.TrimRight(l.query[:l.at], " \t\n")

	listed := strings.HasSuffix(before, "(") || strings.HasSuffix(before, ",")

	switch l.open[len(l.open)-1] {
	case parenValues:
		return listed
	case parenList:
		return listed && !isConstant(value)
	case parenCondition:
		return comparesOrAssigns(before) && !isConstant(value)
	default:
		return false
	}
}

// comparesOrAssigns reports whether a text ends with =, <>, <, >, <= or >=, and not with another operator such as ->>.
func comparesOrAssigns(before string) bool {
	rest := strings.TrimRight(before, "=<>")

	switch before[len(rest):] {
	case "=", "<>", "<", ">", "<=", ">=":
		return rest != "" && !strings.ContainsRune("-#@?|&~!*+/%^:", rune(rest[len(rest)-1]))
	default:
		return false
	}
}

// isConstant reports a word in capitals, as states and kinds are.
func isConstant(value string) bool {
	return value != "" && strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// parenAfter says of what a parenthesis that opens here is.
func (l *lexer) parenAfter() paren {
	before := strings.TrimRight(l.query[:l.at], " \t\n")
	word := before[strings.LastIndexAny(before, " \t\n(),=<>\"")+1:]

	switch strings.ToUpper(word) {
	case "VALUES":
		return parenValues
	case "IN":
		return parenList
	case "WHERE", "AND", "OR", "NOT", "ON":
		return parenCondition
	case "AS": // of WITH, before a statement; CAST(… AS …) has a parenthesis before its AS only
		return parenCondition
	case "":
		switch {
		case strings.HasSuffix(before, ","): // the next row of VALUES, or the next thing of the list that is open
			return l.afterComma()
		case strings.HasSuffix(before, "("):
			return l.open[len(l.open)-1]
		}
	}

	return parenOther
}

// afterComma: rows of VALUES follow each other with a comma at the level of the statement.
func (l *lexer) afterComma() paren {
	if strings.HasSuffix(strings.TrimRight(strings.TrimSuffix(strings.TrimRight(l.query[:l.at], " \t\n"), ","), " \t\n"), ")") &&
		l.open[len(l.open)-1] == parenCondition {
		return parenValues
	}

	return parenOther
}

// endOfQuote is where the quoted text that begins at from is over; its own quotes are doubled.
func endOfQuote(query string, from int) int {
	quote := query[from]

	for i := from + 1; i < len(query); i++ {
		if query[i] != quote {
			continue
		}

		if i+1 == len(query) || query[i+1] != quote {
			return i + 1
		}

		i++
	}

	return len(query)
}

// Columns are the columns of a model's table by their names, under an alias unless that is empty: where Bun does not list them itself
// (RETURNING, a statement of ours, a select that adds more). With an asterisk the result of a prepared statement would change with the
// table, and PostgreSQL refuses to run it then (docs/decisions/0088).
func Columns[T any](in interface{ Dialect() schema.Dialect }, alias string) bun.Safe {
	return columns[T](in, alias, "")
}

// Embedded are Columns for a field with the tag `bun:"embed:PREFIX"`.
func Embedded[T any](in interface{ Dialect() schema.Dialect }, alias, prefix string) bun.Safe {
	return columns[T](in, alias, prefix)
}

func columns[T any](in interface{ Dialect() schema.Dialect }, alias, prefix string) bun.Safe {
	var list strings.Builder

	for i, field := range in.Dialect().Tables().Get(reflect.TypeFor[T]()).Fields {
		if i > 0 {
			list.WriteString(", ")
		}

		if alias != "" {
			list.WriteString(alias + ".")
		}

		list.WriteString(string(field.SQLName))

		if prefix != "" {
			list.WriteString(` AS "` + prefix + field.Name + `"`)
		}
	}

	return bun.Safe(list.String())
}
