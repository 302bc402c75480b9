package ledger

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// PayoutSubject is what is being paid out: ledger entries, or a manual payout.
type PayoutSubject struct {
	Records []uuid.UUID
	Refund  uuid.UUID
}

// manyUses is how many companies and bookings an error about a used reference names.
const manyUses = 5

// RequireNewReference refuses a payout reference that another payout has, be it of ledger entries or of a manual payout, and keeps others
// who ask the same from going on until the transaction ends. What is being paid out itself may have it: the same call may be repeated.
// Upper and lower case are alike, as in the search. Error: PAYOUT_REFERENCE_USED with companies and bookings in the details
// (rules: payouts.reference-new).
func RequireNewReference(ctx context.Context, tx bun.Tx, reference string, of PayoutSubject) error {
	reference = strings.TrimSpace(reference)

	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('payout-reference:' || search_fold(?), 0))", reference)
	if err != nil {
		return fmt.Errorf("lock payout reference: %w", err)
	}

	var companies, numbers []string

	lines := tx.NewSelect().TableExpr("financial_records AS fr").Join("JOIN providers AS p ON p.id = fr.provider_id").
		ColumnExpr("p.name").Where("fr.payout_reference IS NOT NULL").
		Where("search_fold(fr.payout_reference) = search_fold(?)", reference).GroupExpr("p.id").Order("p.name").Limit(manyUses)
	if len(of.Records) > 0 {
		lines = lines.Where("fr.id NOT IN (?)", bun.List(of.Records))
	}

	if err := lines.Scan(ctx, &companies); err != nil {
		return fmt.Errorf("look for the reference in records: %w", err)
	}

	// A late payment of a campaign has no booking: it is named by its refund.
	refunds := tx.NewSelect().TableExpr("refund_payouts AS rp").Join("JOIN refunds AS rf ON rf.id = rp.refund_id").
		Join("LEFT JOIN bookings AS bk ON bk.id = rf.booking_id").ColumnExpr("coalesce(bk.booking_number, rf.id::text)").
		Where("rp.payout_reference IS NOT NULL").Where("search_fold(rp.payout_reference) = search_fold(?)", reference).
		Where("rp.refund_id <> ?", of.Refund).Order("rp.decided_at").Limit(manyUses)
	if err := refunds.Scan(ctx, &numbers); err != nil {
		return fmt.Errorf("look for the reference in refunds: %w", err)
	}

	if len(companies)+len(numbers) == 0 {
		return nil
	}

	refusal := models.NewError(models.CodePayoutReferenceUsed, "payout.reference_used")
	refusal.Details = map[string][]models.Text{}

	if len(companies) > 0 {
		refusal.Details["companies"] = models.Verbatims(companies...)
	}

	if len(numbers) > 0 {
		refusal.Details["bookings"] = models.Verbatims(numbers...)
	}

	return refusal
}
