package refunds

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// sendLease is how long a sending belongs to the worker that began it: a request takes at most 4 s and waits 0.4 s for its turn.
// Another worker, or another try, does not send the same meanwhile.
const sendLease = 6 * time.Second

// SendRules say when a refund may be sent to its gateway.
type SendRules struct {
	Settle time.Duration // how long a sending may take to have its effect
	// Again is how long after a sending whose outcome is unknown the same is sent again: at once where a repeated request has the
	// same result.
	Again time.Duration
	// BySum: the gateway knows refunds by their sum only, so that those of one payment are sent one after another.
	BySum bool
}

// beginRefundSendSQL counts a sending before it leaves. Nothing is sent while another worker may be sending, nor, once the
// gateway has said that something about the refund is under way, before that has had its time; and never again once the
// gateway has refused: that is looked at, not repeated. What was ordered before the customer's bank took the money back waits, too.
var beginRefundSendSQL = `
UPDATE refunds SET sends = sends + 1, sent_at = now(), sent_answer = 'SENDING', updated_at = now(),
	refunded_before = COALESCE(refunded_before, ?4)
WHERE id = ?0 AND status = 'PENDING' AND channel = 'GATEWAY' AND refused_at IS NULL
  AND NOT ` + fmt.Sprintf(ledger.DisputedSQL, "refunds.payment_transaction_id") + `
  AND (sent_answer IS NULL
       OR (sent_answer = 'UNKNOWN' AND sent_at <= now() - ?3 * interval '1 microsecond')
       OR (sent_answer = 'SENDING' AND sent_at <= now() - ?1 * interval '1 microsecond')
       OR (sent_answer = 'CONFLICT' AND conflicts < 2 AND sent_at <= now() - ?2 * interval '1 microsecond'))
RETURNING sends, refunded_before`

// BeginRefundSend writes down that the refund is about to be sent to its gateway, and returns the how manieth sending it is;
// 0 when nothing may be sent now. From then on the outcome is unknown until NoteRefundAnswer or SettleRefund knows better:
// a worker that is killed after it has sent leaves that behind. before is what had been given back of the payment when the refund
// was first sent, by the rule BySum; else nil. Error: PAYMENT_DISPUTED, while nothing of the payment is given back. Of refunds of
// one payment at the same time one begins: the index refunds_one_by_sum.
func (s *Store) BeginRefundSend(ctx context.Context, id uuid.UUID, rules SendRules) (send int, before *models.Money, err error) {
	begin := func(ctx context.Context, in bun.IDB, refunded *models.Money) error {
		return in.NewRaw(beginRefundSendSQL, id, max(sendLease, rules.Again).Microseconds(), rules.Settle.Microseconds(),
			rules.Again.Microseconds(), refunded).Scan(ctx, &send, &before)
	}

	if rules.BySum {
		err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			refunded, err := givenBackAtGateway(ctx, tx, id)
			if err != nil {
				return err
			}

			return begin(ctx, tx, &refunded)
		})
	} else {
		err = begin(ctx, s.db, nil)
	}

	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil, s.notDisputed(ctx, id)
	case db.Violates(err, "refunds_one_by_sum"):
		return 0, nil, nil
	case err != nil:
		return 0, nil, fmt.Errorf("begin to send refund: %w", err)
	default:
		return send, before, nil
	}
}

// givenBackAtGateway is the sum that the gateway has given back of the payment of a refund, by what is known here: refunds of ours that
// it has made and not taken back, and what it gave back besides. What was paid out manually is not in it. Settling locks the payment, too:
// what it has done is there, or the refund is not settled.
func givenBackAtGateway(ctx context.Context, tx bun.Tx, refund uuid.UUID) (sum models.Money, err error) {
	var payment uuid.UUID

	err = tx.NewRaw(`SELECT id FROM payment_transactions
		WHERE id = (SELECT payment_transaction_id FROM refunds WHERE id = ?) FOR NO KEY UPDATE`, refund).Scan(ctx, &payment)
	if err != nil {
		return sum, err
	}

	err = tx.NewRaw(`SELECT coalesce(sum(amount), 0) + coalesce(
			(SELECT total FROM outside_refunds WHERE payment_transaction_id = ?0 ORDER BY n DESC LIMIT 1), 0)
		FROM refunds WHERE payment_transaction_id = ?0 AND channel = 'GATEWAY' AND status = 'SUCCEEDED' AND returned_at IS NULL`,
		payment).Scan(ctx, &sum)

	return sum, err
}

// GiveUpUnsent marks a refund that was never sent as not made, so that no worker sends it any more. It reports false for one that was
// sent, or may be sent now.
func (s *Store) GiveUpUnsent(ctx context.Context, id uuid.UUID) (bool, error) {
	_, err := s.db.ExecContext(ctx, `UPDATE refunds SET refused_at = now(), updated_at = now()
		WHERE id = ? AND status = 'PENDING' AND channel = 'GATEWAY' AND refused_at IS NULL AND sends = 0`, id)
	if err != nil {
		return false, fmt.Errorf("give up a refund that was not sent: %w", err)
	}

	return s.db.NewSelect().Model((*models.Refund)(nil)).Where("id = ?", id).Where("refused_at IS NOT NULL").Exists(ctx)
}

// notDisputed says of a refund that may not be sent whether that is because of a dispute. Error: PAYMENT_DISPUTED.
func (s *Store) notDisputed(ctx context.Context, id uuid.UUID) error {
	var payment uuid.UUID

	err := s.db.NewSelect().Model((*models.Refund)(nil)).Column("payment_transaction_id").Where("id = ?", id).Scan(ctx, &payment)
	if err != nil {
		return fmt.Errorf("read the payment of a refund: %w", err)
	}

	return ledger.NotDisputed(ctx, s.db, payment)
}

// CancelRefundSend takes a sending back that never left this process, or that the gateway had no time for.
func (s *Store) CancelRefundSend(ctx context.Context, id uuid.UUID, send int) error {
	_, err := s.db.ExecContext(ctx, `
		UPDATE refunds SET sends = sends - 1, sent_at = CASE WHEN sends > 1 THEN sent_at END,
			sent_answer = CASE WHEN sends > 1 THEN 'UNKNOWN' END,
			refunded_before = CASE WHEN sends > 1 THEN refunded_before END, updated_at = now()
		WHERE id = ? AND sends = ? AND status = 'PENDING'`, id, send)
	if err != nil {
		return fmt.Errorf("cancel refund send: %w", err)
	}

	return nil
}

// NoteRefundAnswer keeps how a sending was answered: not at all, by a refusal, or that something else about the refund is under
// way, with the gateway's words. An answer to a sending that another one has followed is dropped: that one's counts.
func (s *Store) NoteRefundAnswer(ctx context.Context, id uuid.UUID, send int, answer models.SentAnswer, words string) error {
	conflicts := 0
	if answer == models.SentConflict {
		conflicts = 1
	}

	_, err := s.db.ExecContext(ctx, `
		UPDATE refunds SET sent_answer = ?, conflicts = conflicts + ?, updated_at = now(),
			failure_reason = CASE WHEN ? = '' THEN failure_reason ELSE ? END
		WHERE id = ? AND sends = ? AND status = 'PENDING'`, answer, conflicts, words, words, id, send)
	if err != nil {
		return fmt.Errorf("note the gateway's answer about a refund: %w", err)
	}

	return nil
}

// giveUpRefundSQL: a refusal of the only sending there ever was is final. One that follows other sendings, and a second
// conflict, count once the last sending has had the time to have its effect.
const giveUpRefundSQL = `
UPDATE refunds SET refused_at = now(), updated_at = now()
WHERE id = ? AND status = 'PENDING' AND refused_at IS NULL
  AND ((sent_answer = 'REFUSED' AND sends = 1)
       OR ((sent_answer = 'REFUSED' OR (sent_answer = 'CONFLICT' AND conflicts >= 2)) AND sent_at <= now() - ? * interval '1 microsecond'))`

// GiveUpRefund decides whether a refund that the gateway has just been asked about, and does not know, counts as not made.
// Then nothing is sent any more, whatever another worker still holds in its hands.
func (s *Store) GiveUpRefund(ctx context.Context, id uuid.UUID, settle time.Duration) (refused bool, err error) {
	res, err := s.db.ExecContext(ctx, giveUpRefundSQL, id, settle.Microseconds())
	if err != nil {
		return false, fmt.Errorf("give up refund: %w", err)
	}

	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return n == 1, err
	}

	// Another try may have decided it, and been killed before it could say so.
	return s.db.NewSelect().Model((*models.Refund)(nil)).Where("id = ?", id).Where("refused_at IS NOT NULL").Exists(ctx)
}
