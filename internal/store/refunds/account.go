package refunds

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/incidents"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// accountGoneFor is for how long an account has to be missing before its refunds fail: a worker with a mistake in its configuration, or
// one of a deployment that is under way, decides nothing.
const accountGoneFor = 10 * time.Minute

// AccountGone notes that no driver is configured for the account that took the refund's payment, with an incident. It reports true once
// that has been so for accountGoneFor: the refund counts as not made then, and no worker sends it any more.
func (s *Store) AccountGone(ctx context.Context, id uuid.UUID, account models.MerchantAccount) (gone bool, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		var r models.Refund

		err := tx.NewSelect().Model(&r).Where("id = ?", id).Scan(ctx)
		if err != nil {
			return fmt.Errorf("read refund: %w", err)
		}

		t, err := ledger.LockTransaction(ctx, tx, r.PaymentTransactionID)
		if err != nil {
			return err
		}

		err = tx.NewRaw(`UPDATE refunds SET account_gone_at = COALESCE(account_gone_at, now()), updated_at = now(),
				refused_at = CASE WHEN account_gone_at <= now() - ?1 * interval '1 microsecond' THEN COALESCE(refused_at, now()) ELSE refused_at END
			WHERE id = ?0 AND status = 'PENDING' AND channel = 'GATEWAY'
			RETURNING refused_at IS NOT NULL, sends`, id, accountGoneFor.Microseconds()).Scan(ctx, &gone, &r.Sends)
		if err != nil || gone {
			return err
		}

		return incidents.Open(ctx, tx, models.Incident{
			ID: models.IncidentID(models.IncidentRefundFailed, id.String()), Kind: models.IncidentRefundFailed,
			PaymentTransactionID: &t.ID, BookingID: t.BookingID, AdCampaignID: t.AdCampaignID, RefundID: &id,
			IncidentText: models.IncidentSays("incident.account_missing",
				"account", account, "amount", r.Amount, "currency", models.InCurrency(r.Currency)),
			WorkflowID: models.RefundWorkflowID(id),
		}, map[string]any{"webhook_id": "account-gone:" + id.String(), "account": account, "amount": r.Amount, "currency": r.Currency})
	})

	return gone, err
}

// AccountBack forgets that the account of a refund was missing.
func (s *Store) AccountBack(ctx context.Context, id uuid.UUID) error {
	_, err := s.db.NewUpdate().Model((*models.Refund)(nil)).Set("account_gone_at = NULL").Set("updated_at = now()").
		Where("id = ?", id).Where("status = ?", models.RefundPending).Where("refused_at IS NULL").Exec(ctx)
	if err != nil {
		return fmt.Errorf("note that an account is back: %w", err)
	}

	return nil
}
