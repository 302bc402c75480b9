package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Decline is a try of the customer that the company has declined, while the checkout stays open for another one.
type Decline struct {
	At         time.Time
	ResultCode string
	Reason     string // the company's words
}

// lastDeclineSQL is the last decline of the attempt pt: what the company told of it, by a message or when it was asked, is a notice with a
// reason, and is kept as all that companies say.
const lastDeclineSQL = `SELECT we.occurred_at, we.result_code, we.failure_reason FROM webhook_events AS we
	WHERE we.transaction_id = pt.id AND we.type = 'notice' AND we.failure_reason <> '' ORDER BY we.occurred_at DESC LIMIT 1`

// LastDecline reads the last decline of an attempt; nil: there was none.
func (s *Store) LastDecline(ctx context.Context, attempt uuid.UUID) (*Decline, error) {
	var d Decline

	err := s.db.NewRaw("SELECT d.occurred_at, d.result_code, d.failure_reason FROM payment_transactions AS pt, LATERAL ("+
		lastDeclineSQL+") AS d WHERE pt.id = ?", attempt).
		Scan(ctx, &d.At, &d.ResultCode, &d.Reason)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // no decline is an answer
	}

	if err != nil {
		return nil, fmt.Errorf("read the last decline: %w", err)
	}

	return &d, nil
}
