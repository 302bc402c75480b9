package audit

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// paymentsInAPart bounds what a check in parts sorts and hashes at once, some two gigabytes of temporary files: an audit
// needs room beside the ledger, and how much must not grow with the ledger.
const paymentsInAPart = 1_000_000

// paymentRange is a range of payments by their ids; an end that is empty is open.
type paymentRange struct{ from, below string }

// of is the condition that a column lies in the part. Its ends are ids that were parsed, so that they can be written into SQL.
func (p paymentRange) of(column string) string {
	var all []string

	if p.from != "" {
		all = append(all, fmt.Sprintf("%s >= '%s'", column, p.from))
	}

	if p.below != "" {
		all = append(all, fmt.Sprintf("%s < '%s'", column, p.below))
	}

	return strings.Join(all, " AND ")
}

// scoped is a check's SQL over the tables as they are for the payments of the part, by the means of the audit since a snapshot. A
// transfer that names the entry or the refund of another payment does not find it there, which is a difference as well.
func (p paymentRange) scoped(check string) string {
	if p == (paymentRange{}) {
		return check
	}

	tables := []string{
		"payment_transactions.id", "financial_records.payment_transaction_id", "ledger_transfers.transaction_id",
		"refunds.payment_transaction_id",
	}
	for i, t := range tables {
		name, column, _ := strings.Cut(t, ".")
		tables[i] = fmt.Sprintf("%s AS NOT MATERIALIZED (SELECT * FROM public.%s WHERE %s)", name, name, p.of(column))
	}

	return within("WITH RECURSIVE "+strings.Join(tables, ",\n"), check)
}

// parts are the payments in ranges of at most size of them, or in one when size is 0, which together have every id that there can be: what
// belongs to no payment is found as well.
func parts(ctx context.Context, tx *sql.Tx, size int) ([]paymentRange, error) {
	if size == 0 {
		return []paymentRange{{}}, nil
	}

	rows, err := tx.QueryContext(ctx, `SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM payment_transactions) AS t
		WHERE (place - 1) % $1 = 0 AND place > 1 ORDER BY id`, size)
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	all := []paymentRange{{}}

	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}

		all[len(all)-1].below = id.String()
		all = append(all, paymentRange{from: id.String()})
	}

	return all, rows.Err()
}
