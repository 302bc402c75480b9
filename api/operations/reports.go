package operations

import (
	"context"

	"github.com/google/uuid"
	openapi "github.com/oapi-codegen/runtime/types"

	"rihla/api/gen"
	"rihla/models"
)

// GetFinancialSummary summarizes the money of the whole platform (rules: reports.cards).
func (o *Operations) GetFinancialSummary(
	ctx context.Context, r gen.GetFinancialSummaryRequestObject,
) (gen.GetFinancialSummaryResponseObject, error) {
	report, err := o.summarize(ctx, uuid.Nil, r.Params.Period, r.Params.DateFrom, r.Params.DateTo)

	return gen.GetFinancialSummary200JSONResponse{Data: report}, err
}

// GetProviderFinancialSummary summarizes the money of the caller's own provider.
func (o *Operations) GetProviderFinancialSummary(
	ctx context.Context, r gen.GetProviderFinancialSummaryRequestObject,
) (gen.GetProviderFinancialSummaryResponseObject, error) {
	own, err := actor(ctx).ProviderScope(uuid.Nil)
	if err != nil {
		return nil, err
	}

	report, err := o.summarize(ctx, own, r.Params.Period, r.Params.DateFrom, r.Params.DateTo)

	return gen.GetProviderFinancialSummary200JSONResponse{Data: report}, err
}

// summarize reports on one provider, or on all with uuid.Nil; without a period and dates on this month.
func (o *Operations) summarize(
	ctx context.Context, provider uuid.UUID, asked *gen.CalendarPeriod, from, to *openapi.Date,
) (gen.FinancialReport, error) {
	period := gen.CalendarPeriod(models.PeriodMonth)

	switch {
	case asked != nil:
		period = *asked
	case from != nil || to != nil:
		period = gen.CalendarPeriod(models.PeriodCustom)
	}

	span, err := daysOf(&period, from, to, o.Now())
	if err != nil {
		return gen.FinancialReport{}, err
	}

	report, err := o.Store.Ledger.Report(ctx, provider, span)
	if err != nil {
		return gen.FinancialReport{}, err
	}

	return gen.FinancialReport{
		Period: period, DateFrom: toDate(span.From), DateTo: toDate(span.To), Currency: models.Currency,
		Cards: cardsOf(&report.Cards), Series: mapEach(report.Series, dayOf),
	}, nil
}

func cardsOf(f *models.ReportFigures) gen.FinancialReportCards {
	return gen.FinancialReportCards{
		GrossAmount: f.Gross, PlatformCommissionAmount: f.Commission, NetAmount: f.Net, VatAmount: f.VAT,
		InCurrentBalanceAmount: f.InCurrentBalance, TransferredAmount: f.Transferred, RefundedAmount: f.Refunded,
		AdvertisingRevenueAmount: f.AdvertisingRevenue,
		BookingsCount:            f.Bookings, CampaignsCount: f.Campaigns, RefundsCount: f.Refunds, Currency: sar(),
	}
}

func dayOf(d *models.ReportDay) gen.FinancialReportDay {
	return gen.FinancialReportDay{
		Date: toDate(d.Date), GrossAmount: d.Gross, PlatformCommissionAmount: d.Commission, NetAmount: d.Net,
		RefundedAmount: d.Refunded, Currency: sar(),
	}
}

// sar is the currency of amounts that are never in another one.
func sar() *gen.Currency {
	currency := gen.Currency(models.Currency)

	return &currency
}
