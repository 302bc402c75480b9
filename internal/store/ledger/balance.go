package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// Balance is where a provider's money stood at a moment, by the transfers of the ledger; amounts in SAR.
type Balance struct {
	ProviderID uuid.UUID
	Payable    models.Money // what the platform owes the provider; less than 0 when it has been paid too much
	PaidOut    models.Money // what it has been paid, less what was netted by claw-backs
	LastPayout *time.Time   // when the provider was last paid, marks that were taken back aside; nil for never
	AsOf       time.Time
}

// Earned is what the provider's sales have come to, after commission and refunds.
func (b Balance) Earned() models.Money { return b.Payable.Add(b.PaidOut) }

// lastPayoutSQL is when the company was last paid, up to the moment at.moment.
const lastPayoutSQL = `
       (SELECT created_at FROM ledger_transfers AS l
        WHERE credit_account = account.paid_out AND created_at <= at.moment AND kind = 'PAYOUT'
           AND NOT EXISTS (SELECT FROM payout_reversals AS r
               WHERE r.record_id = l.record_id AND r.transferred_at = l.created_at AND r.created_at <= at.moment)
        ORDER BY created_at DESC LIMIT 1) AS last_payout,
       at.as_of
FROM providers AS p
CROSS JOIN LATERAL (SELECT 'provider:' || p.id || ':payable' AS payable, 'provider:' || p.id || ':paid_out' AS paid_out) AS account
CROSS JOIN (SELECT coalesce(?::timestamptz, 'infinity') AS moment, coalesce(?::timestamptz, statement_timestamp()) AS as_of) AS at`

// balancesNowSQL are the companies with their balances now, by the sums of states: a few rows for each company, where the transfers are
// several for each payment. The audit holds the two to each other (rules: reports.balance). Both ? are NULL.
const balancesNowSQL = `
SELECT p.id, p.id AS provider_id, p.name, p.status, coalesce(lines.payable, 0) AS payable, coalesce(lines.paid_out, 0) AS paid_out,` +
	lastPayoutSQL + `
LEFT JOIN LATERAL (SELECT sum(net_amount) FILTER (WHERE balance_status = 'IN_CURRENT_BALANCE') AS payable,
                          sum(transferred_amount) AS paid_out
                   FROM report_states WHERE provider_id = p.id AND day = '-infinity') AS lines ON true`

// balancesSQL are the companies with their balances at the moment that stands for ?; NULL is now. Both sides of both accounts are sums over
// one range of an index that has the amounts in it (migration 0009). One statement sees one state of the books.
const balancesSQL = `
SELECT p.id, p.id AS provider_id, p.name, p.status,
       (SELECT coalesce(sum(amount), 0) FROM ledger_transfers WHERE credit_account = account.payable AND created_at <= at.moment)
     - (SELECT coalesce(sum(amount), 0) FROM ledger_transfers WHERE debit_account = account.payable AND created_at <= at.moment)
       AS payable,
       (SELECT coalesce(sum(amount), 0) FROM ledger_transfers WHERE credit_account = account.paid_out AND created_at <= at.moment)
     - (SELECT coalesce(sum(amount), 0) FROM ledger_transfers WHERE debit_account = account.paid_out AND created_at <= at.moment)
       AS paid_out,` + lastPayoutSQL

var balanceSQL = "SELECT payable, paid_out, last_payout, as_of FROM (" + strings.ReplaceAll(balancesSQL, "?", "$2") + ") AS pb" +
	" WHERE id = $1"

// ProviderBalance reads the balance of a provider, ACTIVE or not, as it is now, or as it was at a moment: all transfers
// that were booked up to and at it. A transfer counts from the beginning of the SQL transaction that has booked it.
// The balance of a provider is the net amount of its entries IN_CURRENT_BALANCE (rules: reports.balance). Error: NOT_FOUND.
func (s *Store) ProviderBalance(ctx context.Context, provider uuid.UUID, asOf *time.Time) (Balance, error) {
	b := Balance{ProviderID: provider}

	err := s.db.Raw.QueryRowContext(ctx, balanceSQL, pgx.QueryExecModeCacheStatement,
		provider, asOf,
	).Scan(&b.Payable, &b.PaidOut, &b.LastPayout, &b.AsOf)
	if err != nil {
		if err := db.NotFound(err); models.CodeOf(err) == models.CodeNotFound {
			return Balance{}, err
		}

		return Balance{}, fmt.Errorf("read balance: %w", err)
	}

	return b, nil
}

// ProviderBalance is a company with its balance.
type ProviderBalance struct {
	bun.BaseModel `bun:"table:providers,alias:pb"`

	ID     uuid.UUID
	Name   string
	Status string
	Balance
}

// BalanceFilter narrows the list of balances; zero fields do not.
type BalanceFilter struct {
	Search   string     // part of the company's name
	OnlyOwed bool       // companies that the platform owes something
	AsOf     *time.Time // the moment of the balances; nil is now
	Page     db.Page
}

var balanceOrder = db.Order{
	Columns: map[string]string{
		"name": "pb.name", "payable_amount": "pb.payable", "paid_out_amount": "pb.paid_out", "last_payout_at": "pb.last_payout",
	},
	ID:       "pb.id",
	Fallback: db.Sort{Field: "name"},
}

// earliest is where the calendar of literals in SQL begins: nothing was booked before.
var earliest = time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)

// ListBalances lists companies, ACTIVE or not, with what ProviderBalance says of each, by name unless f.Page says otherwise. All balances
// of a page are those of one statement. Errors: VALIDATION_ERROR on sort and cursor.
func (s *Store) ListBalances(ctx context.Context, f BalanceFilter) (db.Listed[ProviderBalance], error) {
	moment := f.AsOf
	if moment != nil && moment.Before(earliest) {
		moment = &earliest
	}

	sql := balancesSQL
	if moment == nil {
		sql = balancesNowSQL
	}

	balances := func() *bun.SelectQuery {
		return s.db.NewSelect().Model((*ProviderBalance)(nil)).ModelTableExpr("("+sql+") AS pb", moment, moment)
	}
	q := balances()

	if f.Search != "" {
		q = q.Where("search_fold(pb.name) LIKE '%' || search_fold(?) || '%'", db.LikeEscaper.Replace(f.Search))
	}

	if f.OnlyOwed {
		q = q.Where("pb.payable > 0")
	}

	// Where neither the order nor the filter asks for balances, only those of the page are computed.
	list, err := db.ListWith[ProviderBalance](ctx, q, f.Page, balanceOrder, db.ListOptions{Whole: func(ids *bun.SelectQuery) *bun.SelectQuery {
		return balances().Where("pb.id IN (?)", ids)
	}})

	if f.AsOf != nil {
		for i := range list.Items {
			list.Items[i].AsOf = *f.AsOf
		}
	}

	return list, err
}
