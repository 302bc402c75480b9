package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

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

// Both sides of both accounts are sums over one range of an index that has the amounts in it (migration 0009). One
// statement sees one state of the books.
const balanceSQL = `
SELECT (SELECT coalesce(sum(amount), 0) FROM ledger_transfers WHERE credit_account = $2 AND created_at <= moment)
     - (SELECT coalesce(sum(amount), 0) FROM ledger_transfers WHERE debit_account = $2 AND created_at <= moment),
       (SELECT coalesce(sum(amount), 0) FROM ledger_transfers WHERE credit_account = $3 AND created_at <= moment)
     - (SELECT coalesce(sum(amount), 0) FROM ledger_transfers WHERE debit_account = $3 AND created_at <= moment),
       (SELECT created_at FROM ledger_transfers AS l WHERE credit_account = $3 AND created_at <= moment AND kind = 'PAYOUT'
           AND NOT EXISTS (SELECT FROM payout_reversals AS r
               WHERE r.record_id = l.record_id AND r.transferred_at = l.created_at AND r.created_at <= moment)
        ORDER BY created_at DESC LIMIT 1),
       coalesce($4, statement_timestamp())
FROM providers, coalesce($4::timestamptz, 'infinity') AS moment
WHERE id = $1`

// ProviderBalance reads the balance of a provider, ACTIVE or not, as it is now, or as it was at a moment: all transfers
// that were booked up to and at it. A transfer counts from the beginning of the SQL transaction that has booked it.
// The balance of a provider is the net amount of its lines IN_CURRENT_BALANCE (rules: reports.balance). Error: NOT_FOUND.
func (s *Store) ProviderBalance(ctx context.Context, provider uuid.UUID, asOf *time.Time) (Balance, error) {
	b := Balance{ProviderID: provider}

	err := s.db.Raw.QueryRowContext(ctx, balanceSQL, pgx.QueryExecModeCacheStatement,
		provider, models.PayableAccount(provider), models.PaidOutAccount(provider), asOf,
	).Scan(&b.Payable, &b.PaidOut, &b.LastPayout, &b.AsOf)
	if err != nil {
		if err := db.NotFound(err); models.CodeOf(err) == models.CodeNotFound {
			return Balance{}, err
		}

		return Balance{}, fmt.Errorf("read balance: %w", err)
	}

	return b, nil
}
