package main

import (
	"context"
	"fmt"
	"io"
	"strings"
)

const listStatements = `SELECT calls, total_exec_time, wal_bytes::bigint, query FROM pg_stat_statements
	WHERE query !~* '^(begin|commit|rollback|savepoint|release)' AND calls >= $1 ORDER BY calls DESC, total_exec_time DESC`

// statementWidth is how much of a statement's text is shown.
const statementWidth = 160

// forgetStatements begins to count from zero.
func (s *stage) forgetStatements(ctx context.Context) error {
	if !s.counts {
		return nil
	}

	_, err := s.db.ExecContext(ctx, "SELECT pg_stat_statements_reset()")

	return err
}

// printStatements lists every kind of statement that at least every tenth piece of work needed, with its cost for each.
func (s *stage) printStatements(ctx context.Context, out io.Writer, payments int) error {
	if !s.counts {
		return nil
	}

	rows, err := s.db.QueryContext(ctx, listStatements, payments/10)
	if err != nil {
		return err
	}
	defer rows.Close()

	fmt.Fprintf(out, "\n| for each one | ms | bytes of log | statement |\n|---|---|---|---|\n")

	for rows.Next() {
		var (
			calls, wal int64
			took       float64
			text       string
		)

		if err := rows.Scan(&calls, &took, &wal, &text); err != nil {
			return err
		}

		text = strings.Join(strings.Fields(text), " ")
		n := float64(payments)

		fmt.Fprintf(out, "| %.2f | %.3f | %.0f | %s |\n", float64(calls)/n, took/n, float64(wal)/n,
			strings.ReplaceAll(text[:min(len(text), statementWidth)], "|", `\|`))
	}

	return rows.Err()
}
