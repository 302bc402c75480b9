package models_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/models"
)

// book is one payment's part of the ledger, kept the way the store keeps it.
type book struct {
	tx        *models.PaymentTransaction
	records   []models.FinancialRecord
	transfers []models.LedgerTransfer
	sold      models.FinancialRecord // the entry as it was written at payment time
	documents []models.Money         // the VAT of each refund's transaction
}

func newBook(t *rapid.T) *book {
	amount := rapid.OneOf(rapid.Int64Range(1, 30), rapid.Int64Range(1, 10_000_000_00)).Draw(t, "halalas")
	rate := rateOf(rapid.OneOf(rapid.SampledFrom([]int64{0, 1, 1_000, 5_000, 9_999, 10_000}), rapid.Int64Range(0, 10_000)).Draw(t, "commission"))
	tx := &models.PaymentTransaction{
		ID: uuid.New(), ProviderID: uuid.New(), Gateway: models.GatewayA, Currency: models.Currency,
		Status: models.TransactionPaid, CapturedAt: &paidAt,
		VATRate: rateOf(rapid.OneOf(rapid.SampledFrom([]int64{0, 500, 1_500, 2_000, 10_000}), rapid.Int64Range(0, 10_000)).Draw(t, "VAT")),
	}
	b := &book{tx: tx}

	if rapid.Bool().Draw(t, "campaign") {
		id := uuid.New()
		tx.AdCampaignID = &id
		tx.Amount, tx.VATAmount = models.AddVAT(models.Halalas(amount), tx.VATRate)
		b.sold = models.Advertising(tx, "trip", "campaign")
	} else {
		id := uuid.New()
		tx.BookingID = &id
		tx.Amount = models.Halalas(amount)
		tx.VATAmount = models.VATWithin(tx.Amount, tx.VATRate)
		tx.CommissionRate = rate
		b.sold = models.Sale(tx, "trip")
	}

	b.records = []models.FinancialRecord{b.sold}
	b.transfers = models.SettlementTransfers(&b.sold, tx.Gateway)

	return b
}

// payOut marks one line that is IN_CURRENT_BALANCE as transferred.
func (b *book) payOut(t *rapid.T) {
	var open []int

	for i := range b.records {
		if b.records[i].BalanceStatus == models.BalanceInCurrent {
			open = append(open, i)
		}
	}

	if len(open) == 0 {
		return
	}

	r := &b.records[rapid.SampledFrom(open).Draw(t, "line")]
	at := paidAt.Add(time.Hour)
	r.BalanceStatus, r.TransferredAt = models.BalanceTransferred, &at
	b.transfers = append(b.transfers, models.PayoutTransfer(r, 0)...)
}

// refund takes a part, at most what is left, out of the live entry.
func (b *book) refund(t *rapid.T) {
	left := b.tx.Remaining()
	if left.IsZero() {
		return
	}

	b.giveBack(t, models.Halalas(rapid.Int64Range(1, left.Halalas()).Draw(t, "refund")))
}

func (b *book) giveBack(t *rapid.T, asked models.Money) {
	amount, err := models.RefundableAmount(b.tx, models.RefundPartial, &asked)
	require.NoError(t, err)

	at := -1

	for i := range b.records {
		if b.records[i].Kind != models.RecordClawback && b.records[i].BalanceStatus != models.BalanceRefunded {
			require.Equal(t, -1, at, "one live entry per payment")

			at = i
		}
	}

	before := b.records[at]
	s := models.SplitForRefund(before, uuid.New(), amount, models.GatewayAccount(b.tx.Gateway), paidAt)

	b.records[at] = s.Refunded
	if s.Rest != nil {
		b.records = append(b.records, *s.Rest)
		requireSplit(t, before, s.Refunded, *s.Rest)
	}

	if s.Clawback != nil {
		require.Equal(t, models.BalanceTransferred, before.BalanceStatus)
		b.records = append(b.records, *s.Clawback)
	}

	b.document(t, amount)
	b.transfers = append(b.transfers, s.Transfers...)
	b.tx.RefundedAmount = b.tx.RefundedAmount.Add(amount)
}

// document checks a refund's own VAT, in integers: amount × r ÷ (10000 + r), half-up, whatever was refunded before.
func (b *book) document(t *rapid.T, amount models.Money) {
	got := models.RefundVAT(b.tx, amount)
	r := b.tx.VATRate.Decimal().Shift(4).IntPart()
	n, d := amount.Halalas()*r, 10_000+r

	require.Equal(t, (2*n+d)/(2*d), got.Halalas(), "VAT of the document of %s at %s", amount, b.tx.VATRate)

	b.documents = append(b.documents, got)
}

// requireSplit checks that both parts together are what there was before, and each near its fair share.
func requireSplit(t *rapid.T, before, part, rest models.FinancialRecord) {
	require.True(t, part.GrossAmount.Add(rest.GrossAmount).Equal(before.GrossAmount))
	require.True(t, part.PlatformCommissionAmount.Add(rest.PlatformCommissionAmount).Equal(before.PlatformCommissionAmount))
	require.True(t, part.NetAmount.Add(rest.NetAmount).Equal(before.NetAmount))
	require.True(t, part.VATAmount.Add(rest.VATAmount).Equal(before.VATAmount))
	require.Equal(t, before.BalanceStatus, rest.BalanceStatus)
	require.Equal(t, before.TransferredAt, rest.TransferredAt)
	require.NotEqual(t, before.ID, rest.ID)
}

func (b *book) balance(a models.Account) models.Money {
	var m models.Money

	for _, tr := range b.transfers {
		if tr.CreditAccount == a {
			m = m.Add(tr.Amount)
		}

		if tr.DebitAccount == a {
			m = m.Sub(tr.Amount)
		}
	}

	return m
}

func (b *book) sum(of func(*models.FinancialRecord) models.Money, where func(*models.FinancialRecord) bool) models.Money {
	var m models.Money

	for i := range b.records {
		if where(&b.records[i]) {
			m = m.Add(of(&b.records[i]))
		}
	}

	return m
}

func gross(r *models.FinancialRecord) models.Money      { return r.GrossAmount }
func commission(r *models.FinancialRecord) models.Money { return r.PlatformCommissionAmount }
func net(r *models.FinancialRecord) models.Money        { return r.NetAmount }
func vat(r *models.FinancialRecord) models.Money        { return r.VATAmount }
func refunded(r *models.FinancialRecord) models.Money   { return r.RefundedAmount }

func sold(r *models.FinancialRecord) bool { return r.Kind != models.RecordClawback }
func live(r *models.FinancialRecord) bool {
	return sold(r) && r.BalanceStatus != models.BalanceRefunded
}

func (b *book) check(t *rapid.T) {
	equal := func(want, got models.Money, what string) { require.Equal(t, want.String(), got.String(), what) }

	for i := range b.records {
		r := &b.records[i]
		equal(r.GrossAmount, r.PlatformCommissionAmount.Add(r.NetAmount), "gross = commission + net on every entry")

		if r.Kind == models.RecordClawback {
			require.True(t, r.GrossAmount.IsNegative() && r.PlatformCommissionAmount.IsZero() && r.VATAmount.IsZero())

			continue
		}

		require.True(t, r.GrossAmount.IsPositive())
		require.False(t, r.PlatformCommissionAmount.IsNegative() || r.NetAmount.IsNegative() || r.VATAmount.IsNegative())
		require.LessOrEqual(t, r.VATAmount.Cmp(r.GrossAmount), 0)
	}

	equal(b.tx.Amount, b.sum(gross, sold), "what was sold is never lost nor counted twice")
	equal(b.sold.PlatformCommissionAmount, b.sum(commission, sold), "commission")
	equal(b.sold.NetAmount, b.sum(net, sold), "net")
	equal(b.tx.VATAmount, b.sum(vat, sold), "VAT")
	equal(b.tx.RefundedAmount, b.sum(refunded, sold), "refunded amount")
	equal(b.tx.Remaining(), b.sum(gross, live), "the live entry is what is left")

	inBalance := func(r *models.FinancialRecord) bool { return r.BalanceStatus == models.BalanceInCurrent }
	transferred := func(r *models.FinancialRecord) bool { return r.TransferredAt != nil }

	equal(b.sum(net, inBalance), b.balance(models.PayableAccount(b.tx.ProviderID)), "payable = net of IN_CURRENT_BALANCE")
	equal(b.sum(net, transferred), b.balance(models.PaidOutAccount(b.tx.ProviderID)), "paid out = net of all with transferred_at")
	equal(b.tx.Remaining().Neg(), b.balance(models.GatewayAccount(b.tx.Gateway)), "the gateway holds what has not gone back")
	equal(models.Money{}, b.balance(models.AccountRefunds), "what is owed to the customer has gone back")

	earned := models.AccountCommission
	if b.tx.AdCampaignID != nil {
		earned = models.AccountAdvertising
		equal(b.sum(vat, live), b.balance(models.AccountVAT), "VAT of advertising")
	}

	equal(b.sum(commission, live), b.balance(earned).Add(b.balance(models.AccountVAT)), "the platform's part")

	// Each document and the sale's are rounded once, by half a halala at most.
	if b.tx.Remaining().IsZero() {
		var all models.Money
		for _, m := range b.documents {
			all = all.Add(m)
		}

		off := max(all.Sub(b.tx.VATAmount).Halalas(), b.tx.VATAmount.Sub(all).Halalas())
		require.LessOrEqual(t, 2*off, int64(len(b.documents)+1), "the documents are off by %d halalas", off)
	}

	ids := map[uuid.UUID]bool{}
	for _, tr := range b.transfers {
		require.True(t, tr.Amount.IsPositive())
		require.NotEqual(t, tr.DebitAccount, tr.CreditAccount)
		require.False(t, ids[tr.ID], "two transfers with one id: the second would be lost")

		ids[tr.ID] = true
	}
}

// In whatever parts a sale goes back, nothing of it is left in any account, each document is right by itself, and the entries have exactly
// the VAT of the sale (rules: refunds.vat).
func TestRefundsInAnyParts(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		b := newBook(t)

		for range rapid.IntRange(0, 8).Draw(t, "parts") {
			b.refund(t)
		}

		if left := b.tx.Remaining(); !left.IsZero() {
			b.giveBack(t, left)
		}

		b.check(t)

		for _, tr := range b.transfers {
			for _, a := range []models.Account{tr.DebitAccount, tr.CreditAccount} {
				require.Equal(t, "0.00", b.balance(a).String(), a)
			}
		}
	})
}

// Whatever is refunded and paid out, in whatever order, records and transfers tell the same story
// (rules: ledger.lines, ledger.transfers).
func TestAccountingIdentities(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		b := newBook(t)
		b.check(t)

		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			rapid.SampledFrom([]func(*rapid.T){b.refund, b.payOut}).Draw(t, "step")(t)
			b.check(t)
		}
	})
}
