package db

import (
	"context"
	"database/sql/driver"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
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
type connector struct{ driver.Connector }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}

	return &conn{made.(*stdlib.Conn)}, nil
}

type stdlibConn = stdlib.Conn

type conn struct{ *stdlibConn }

// Pgx is the connection below one of the pool, as sql.Conn.Raw gives it out: for COPY.
func Pgx(driverConn any) *pgx.Conn { return driverConn.(*conn).Conn() }

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	query, args = prepare(ctx, query, args)

	return c.stdlibConn.QueryContext(ctx, query, args)
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	query, args = prepare(ctx, query, args)

	return c.stdlibConn.ExecContext(ctx, query, args)
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
