package operations

import (
	"context"
	"net/http"

	"github.com/google/uuid"
	openapi "github.com/oapi-codegen/runtime/types"

	"rihla/api/gen"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// ListFinancialRecords lists ledger entries of all providers.
func (o *Operations) ListFinancialRecords(
	ctx context.Context, r gen.ListFinancialRecordsRequestObject,
) (gen.ListFinancialRecordsResponseObject, error) {
	lines, where, err := o.listRecords(ctx, r.Params, valueOf(r.Params.ProviderID))

	return gen.ListFinancialRecords200JSONResponse{Data: lines, Meta: where}, err
}

// ListProviderFinancialRecords lists the ledger entries of the caller's own provider.
func (o *Operations) ListProviderFinancialRecords(
	ctx context.Context, r gen.ListProviderFinancialRecordsRequestObject,
) (gen.ListProviderFinancialRecordsResponseObject, error) {
	own, err := actor(ctx).ProviderScope(uuid.Nil)
	if err != nil {
		return nil, err
	}

	q := r.Params
	lines, where, err := o.listRecords(ctx, gen.ListFinancialRecordsParams{
		Period: q.Period, DateFrom: q.DateFrom, DateTo: q.DateTo, BookingID: q.BookingID, AdCampaignID: q.AdCampaignID,
		BalanceStatus: q.BalanceStatus, Search: q.Search, Sort: q.Sort, Page: q.Page, PerPage: q.PerPage, Cursor: q.Cursor,
	}, own)

	for i := range lines { // companies are not told who of the platform's staff acted
		lines[i].TransferredBy, lines[i].TransferredByName = nil, nil
	}

	return gen.ListProviderFinancialRecords200JSONResponse{Data: lines, Meta: where}, err
}

// listRecords lists the ledger entries of one provider, or of all when there is none.
func (o *Operations) listRecords(
	ctx context.Context, q gen.ListFinancialRecordsParams, provider uuid.UUID,
) ([]gen.FinancialRecord, gen.Meta, error) {
	f, err := o.recordFilter(q, provider)
	if err != nil {
		return nil, gen.Meta{}, err
	}

	list, err := o.Store.Ledger.ListRecords(ctx, f)
	if err != nil {
		return nil, gen.Meta{}, err
	}

	return mapEach(list.Items, recordOf), metaOf(f.Page, list), nil
}

func (o *Operations) recordFilter(q gen.ListFinancialRecordsParams, provider uuid.UUID) (ledger.RecordFilter, error) {
	span, err := daysOf(q.Period, q.DateFrom, q.DateTo, o.Now())
	if err != nil {
		return ledger.RecordFilter{}, err
	}

	return ledger.RecordFilter{
		Days: span, BookingID: valueOf(q.BookingID), AdCampaignID: valueOf(q.AdCampaignID), ProviderID: provider,
		BalanceStatus: valueOf(q.BalanceStatus), Search: valueOf(q.Search), Page: pageOf(q.Page, q.PerPage, q.Sort, q.Cursor),
	}, nil
}

// GetFinancialRecordTotals adds up the ledger entries that the list selects.
func (o *Operations) GetFinancialRecordTotals(
	ctx context.Context, r gen.GetFinancialRecordTotalsRequestObject,
) (gen.GetFinancialRecordTotalsResponseObject, error) {
	q := r.Params

	f, err := o.recordFilter(gen.ListFinancialRecordsParams{
		Period: q.Period, DateFrom: q.DateFrom, DateTo: q.DateTo, BookingID: q.BookingID, AdCampaignID: q.AdCampaignID,
		BalanceStatus: q.BalanceStatus, Search: q.Search,
	}, valueOf(q.ProviderID))
	if err != nil {
		return nil, err
	}

	sums, err := o.Store.Ledger.RecordTotals(ctx, f)
	if err != nil {
		return nil, err
	}

	return gen.GetFinancialRecordTotals200JSONResponse{Data: gen.FinancialRecordTotals{
		Currency: models.Currency, Total: recordTotalOf(sums.All()), InCurrentBalance: recordTotalOf(sums[models.BalanceInCurrent]),
		Transferred: recordTotalOf(sums[models.BalanceTransferred]), Refunded: recordTotalOf(sums[models.BalanceRefunded]),
	}}, nil
}

func recordTotalOf(t models.RecordTotal) gen.FinancialRecordTotal {
	return gen.FinancialRecordTotal{
		Count: t.Lines, GrossAmount: t.Gross, PlatformCommissionAmount: t.Commission, NetAmount: t.Net, RefundedAmount: t.Refunded,
		VatAmount: &t.VAT, Currency: sar(),
	}
}

// MarkRecordTransferred notes that an entry has been paid out to its provider (rules: payouts.mark).
func (o *Operations) MarkRecordTransferred(
	ctx context.Context, r gen.MarkRecordTransferredRequestObject,
) (gen.MarkRecordTransferredResponseObject, error) {
	m := ledger.MarkTransfer{Once: keepAnswer(ctx, http.StatusOK, func(record models.FinancialRecord) any {
		return markedTransferred(&record)
	})}

	if r.Body != nil {
		m.Reference, m.NewReference = r.Body.PayoutReference, valueOf(r.Body.ReferenceMustBeNew)

		if r.Body.PayoutDate != nil {
			d := dateOf(r.Body.PayoutDate)
			m.Date = &d
		}
	}

	record, err := o.Store.Ledger.MarkTransferred(ctx, actor(ctx), r.ID, m)
	if err != nil {
		return nil, err
	}

	o.announceTransfers(ctx, record)
	o.mailQueued(ctx)

	return markedTransferred(&record), nil
}

// MarkRecordsTransferred notes that several entries have been paid out together, all or none of them (rules: payouts.all-or-none).
func (o *Operations) MarkRecordsTransferred(
	ctx context.Context, r gen.MarkRecordsTransferredRequestObject,
) (gen.MarkRecordsTransferredResponseObject, error) {
	m := ledger.MarkTransfers{
		IDs: r.Body.Ids, Reference: r.Body.PayoutReference, Date: optional(dateOf(r.Body.PayoutDate)),
		NewReference: valueOf(r.Body.ReferenceMustBeNew),
		Once:         keepAnswer(ctx, http.StatusOK, func(records []models.FinancialRecord) any { return allMarkedTransferred(records) }),
	}

	records, err := o.Store.Ledger.MarkAllTransferred(ctx, actor(ctx), m)
	if err != nil {
		return nil, err
	}

	o.announceTransfers(ctx, records...)
	o.mailQueued(ctx)

	return allMarkedTransferred(records), nil
}

// RevertRecordTransfer takes back that an entry has been paid out.
func (o *Operations) RevertRecordTransfer(
	ctx context.Context, r gen.RevertRecordTransferRequestObject,
) (gen.RevertRecordTransferResponseObject, error) {
	record, err := o.Store.Ledger.RevertTransferred(ctx, actor(ctx), r.ID, ledger.RevertTransfer{
		Reason: r.Body.Reason,
		Once:   keepAnswer(ctx, http.StatusOK, func(record models.FinancialRecord) any { return transferReverted(&record) }),
	})
	if err != nil {
		return nil, err
	}

	o.announceTransfers(ctx, record)

	return transferReverted(&record), nil
}

// announceTransfers has the dashboards read again that show the entries. The change is committed: one of which nothing is said costs who
// watches a dashboard until the next event.
func (o *Operations) announceTransfers(ctx context.Context, lines ...models.FinancialRecord) {
	ctx, done := detached(ctx)
	defer done()

	companies := mapEach(lines, func(r *models.FinancialRecord) uuid.UUID { return r.ProviderID })
	if err := o.Store.Payments.AnnounceTransfers(ctx, companies); err != nil {
		o.Log.DebugContext(ctx, "transfers not announced to dashboards", "error", err)
	}
}

func transferReverted(r *models.FinancialRecord) gen.RevertRecordTransfer200JSONResponse {
	return gen.RevertRecordTransfer200JSONResponse{Data: recordOf(r)}
}

func allMarkedTransferred(records []models.FinancialRecord) gen.MarkRecordsTransferred200JSONResponse {
	return gen.MarkRecordsTransferred200JSONResponse{Data: mapEach(records, recordOf)}
}

func markedTransferred(r *models.FinancialRecord) gen.MarkRecordTransferred200JSONResponse {
	return gen.MarkRecordTransferred200JSONResponse{Data: recordOf(r)}
}

func recordOf(r *models.FinancialRecord) gen.FinancialRecord {
	label := r.BalanceStatus.Label()

	var payout *openapi.Date

	if r.PayoutDate != nil {
		d := toDate(*r.PayoutDate)
		payout = &d
	}

	return labelled(gen.FinancialRecord{
		ID: r.ID, TransactionNumber: r.TransactionNumber, Kind: r.Kind, PaymentTransactionID: r.PaymentTransactionID,
		ProviderID: r.ProviderID, ProviderName: r.ProviderName, BookingID: r.BookingID, BookingNumber: optional(r.BookingNumber),
		AdCampaignID: r.AdCampaignID, GrossAmount: r.GrossAmount, PlatformCommissionAmount: r.PlatformCommissionAmount,
		NetAmount: r.NetAmount, VatAmount: &r.VATAmount,
		CommissionRate: r.CommissionRate, RefundedAmount: r.RefundedAmount, Currency: r.Currency, Details: r.Details,
		RecordDate:    toDate(r.RecordDate),
		BalanceStatus: r.BalanceStatus, StatusLabelAr: label.AR, StatusLabelEn: label.EN,
		PayoutReference: r.PayoutReference, PayoutDate: payout, TransferredAt: utcOrNil(r.TransferredAt),
		SplitFrom: r.SplitFrom, CreatedAt: utc(r.CreatedAt),
		CapturedAt: utcOrNil(r.CapturedAt), NettedAgainst: r.NettedAgainst, PayoutRevertedAt: utcOrNil(r.PayoutRevertedAt),
		TransferredBy: r.TransferredBy, TransferredByName: optional(r.TransferrerName),
	})
}
