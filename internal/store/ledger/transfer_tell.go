package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/outbox"
	"rihla/models"
)

// mark is post within the limit of who marks, with word of it to the companies.
func (p payout) mark(ctx context.Context, tx bun.Tx, above models.Money, lines []*models.FinancialRecord) error {
	if err := p.withinLimit(ctx, tx, above, lines); err != nil {
		return err
	}

	if err := p.post(ctx, tx, lines); err != nil {
		return err
	}

	return p.tell(ctx, tx, lines)
}

// tell mails each company what it was paid by one call, in all. A call by which a company gets nothing, its claw-backs being as much as its
// sales, tells it nothing.
func (p payout) tell(ctx context.Context, tx bun.Tx, lines []*models.FinancialRecord) error {
	byProvider := map[uuid.UUID][]*models.FinancialRecord{}
	for _, r := range lines {
		byProvider[r.ProviderID] = append(byProvider[r.ProviderID], r)
	}

	for provider, own := range byProvider {
		total := models.Money{}
		for _, r := range own {
			total = total.Add(r.NetAmount)
		}

		if !total.IsPositive() {
			continue
		}

		_, err := outbox.TellCompany(ctx, tx, provider, func() ([]outbox.CompanyNews, error) {
			return []outbox.CompanyNews{p.news(own, total)}, nil
		}, models.CompanyPayout)
		if err != nil {
			return err
		}
	}

	return nil
}

// news is of the payment of the first entry, and its cause all entries with the moment at which they were marked: after a mark was taken
// back the next one is another payout.
func (p payout) news(lines []*models.FinancialRecord, total models.Money) outbox.CompanyNews {
	lines = slices.SortedFunc(slices.Values(lines), func(a, b *models.FinancialRecord) int { return bytes.Compare(a.ID[:], b.ID[:]) })

	sum := sha256.New()
	for _, r := range lines {
		sum.Write(r.ID[:])
	}

	sum.Write([]byte(lines[0].TransferredAt.UTC().String()))

	data := map[string]string{"amount": total.String(), "currency": models.Currency, "entries": strconv.Itoa(len(lines))}
	if p.reference != nil {
		data["payout_reference"] = *p.reference
	}

	return outbox.CompanyNews{
		Message: models.CompanyPayout, Transaction: lines[0].PaymentTransactionID, Cause: hex.EncodeToString(sum.Sum(nil)[:8]), Data: data,
	}
}
