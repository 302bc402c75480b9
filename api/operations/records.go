package operations

import (
	"context"

	openapi "github.com/oapi-codegen/runtime/types"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store"
	"rihla/models"
)

// ListFinancialRecords lists ledger lines of all providers.
func (o *Operations) ListFinancialRecords(
	ctx context.Context, r gen.ListFinancialRecordsRequestObject,
) (gen.ListFinancialRecordsResponseObject, error) {
	q := r.Params

	span, err := days(q.Period, q.DateFrom, q.DateTo, o.Now())
	if err != nil {
		return nil, err
	}

	p := page(q.Page, q.PerPage, q.Sort)

	list, err := o.Store.ListRecords(ctx, store.RecordFilter{
		Days: span, BookingID: valueOf(q.BookingID), AdCampaignID: valueOf(q.AdCampaignID), ProviderID: valueOf(q.ProviderID),
		BalanceStatus: valueOf(q.BalanceStatus), Search: valueOf(q.Search), Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListFinancialRecords200JSONResponse{Data: each(list.Items, recordOf), Meta: meta(p, list.Total)}, nil
}

// ListProviderFinancialRecords lists the ledger lines of the caller's own provider.
func (o *Operations) ListProviderFinancialRecords(
	ctx context.Context, r gen.ListProviderFinancialRecordsRequestObject,
) (gen.ListProviderFinancialRecordsResponseObject, error) {
	q := r.Params

	span, err := days(q.Period, q.DateFrom, q.DateTo, o.Now())
	if err != nil {
		return nil, err
	}

	p := page(q.Page, q.PerPage, q.Sort)

	list, err := o.Store.ListRecords(ctx, store.RecordFilter{
		Days: span, BookingID: valueOf(q.BookingID), AdCampaignID: valueOf(q.AdCampaignID),
		ProviderID:    middleware.Principal(ctx).ProviderID,
		BalanceStatus: valueOf(q.BalanceStatus), Search: valueOf(q.Search), Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListProviderFinancialRecords200JSONResponse{Data: each(list.Items, recordOf), Meta: meta(p, list.Total)}, nil
}

// MarkRecordTransferred notes that a line has been paid out to its provider (spec 3.6).
func (o *Operations) MarkRecordTransferred(
	ctx context.Context, r gen.MarkRecordTransferredRequestObject,
) (gen.MarkRecordTransferredResponseObject, error) {
	var m store.MarkTransfer

	if r.Body != nil {
		m.Reference = r.Body.PayoutReference

		if r.Body.PayoutDate != nil {
			d := date(r.Body.PayoutDate)
			m.Date = &d
		}
	}

	record, err := o.Store.MarkTransferred(ctx, r.ID, m, actor(ctx))
	if err != nil {
		return nil, err
	}

	return gen.MarkRecordTransferred200JSONResponse{Data: recordOf(&record)}, nil
}

func recordOf(r *models.FinancialRecord) gen.FinancialRecord {
	label := r.BalanceStatus.Label()

	var payout *openapi.Date

	if r.PayoutDate != nil {
		d := toDate(*r.PayoutDate)
		payout = &d
	}

	return gen.FinancialRecord{
		ID: r.ID, TransactionNumber: r.TransactionNumber, Kind: r.Kind, PaymentTransactionID: r.PaymentTransactionID,
		ProviderID: r.ProviderID, ProviderName: r.ProviderName, BookingID: r.BookingID, AdCampaignID: r.AdCampaignID,
		GrossAmount: r.GrossAmount, PlatformCommissionAmount: r.PlatformCommissionAmount, NetAmount: r.NetAmount,
		RefundedAmount: r.RefundedAmount, Currency: r.Currency, Details: r.Details, RecordDate: toDate(r.RecordDate),
		BalanceStatus: r.BalanceStatus, StatusLabelAr: label.AR, StatusLabelEn: label.EN,
		PayoutReference: r.PayoutReference, PayoutDate: payout, TransferredAt: utcOrNil(r.TransferredAt),
		SplitFrom: r.SplitFrom, CreatedAt: utc(r.CreatedAt),
	}
}
