package operations

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"rihla/api/gen"
	"rihla/internal/store"
	"rihla/models"
)

// exportTimeout bounds how long one export may hold its snapshot of the ledger.
const exportTimeout = 10 * time.Minute

// exportsAtOnce bounds how many connections of the pool exports may hold.
const exportsAtOnce = 3

// ExportFinancialRecords streams ledger lines as a file (contract §6). The audit entry is written before the first
// byte, and the number of rows after the last.
func (o *Operations) ExportFinancialRecords(
	ctx context.Context, r gen.ExportFinancialRecordsRequestObject,
) (gen.ExportFinancialRecordsResponseObject, error) {
	q := r.Params

	span, err := days(q.Period, q.DateFrom, q.DateTo, o.Now())
	if err != nil {
		return nil, err
	}

	filter := store.RecordFilter{
		Days: span, BookingID: valueOf(q.BookingID), AdCampaignID: valueOf(q.AdCampaignID), ProviderID: valueOf(q.ProviderID),
		BalanceStatus: valueOf(q.BalanceStatus), Search: valueOf(q.Search), Page: page(nil, nil, q.Sort, nil),
	}

	// A reader that is slow holds a connection to the database: a few of them must not hold all.
	select {
	case o.exports <- struct{}{}:
	default:
		return nil, models.Errorf(models.CodeServiceUnavailable, "Too many exports are running. Try again shortly.")
	}

	by := actor(ctx)
	// Who asks is noted even if the connection breaks; the number of rows follows when it is known.
	if err := o.Store.Audit(ctx, by, "FINANCIAL_RECORDS_EXPORT_STARTED", "financial_record", nil, exportDetails(&q, nil)); err != nil {
		<-o.exports

		return nil, err
	}

	return csvExport{
		name: "financial-records-" + models.DateIn(o.Now()).String() + ".csv",
		write: func(w *bufio.Writer) {
			defer func() { <-o.exports }()

			// The request is over when the body is written: it needs a deadline of its own.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exportTimeout)
			defer cancel()

			rows, err := o.writeCSV(ctx, w, filter)
			if err != nil {
				slog.WarnContext(ctx, "export broke off", "rows", rows, "error", err)

				return
			}

			err = o.Store.Audit(ctx, by, "FINANCIAL_RECORDS_EXPORTED", "financial_record", nil, exportDetails(&q, &rows))
			if err != nil {
				slog.ErrorContext(ctx, "export not noted in the audit log", "error", err)
			}
		},
	}, nil
}

func exportDetails(q *gen.ExportFinancialRecordsParams, rows *int64) map[string]any {
	d := map[string]any{"format": q.Format, "filters": q}
	if rows != nil {
		d["rows"] = *rows
	}

	return d
}

// csvExport is a streamed answer.
type csvExport struct {
	name  string
	write func(w *bufio.Writer)
}

// VisitExportFinancialRecordsResponse implements the generated interface.
func (e csvExport) VisitExportFinancialRecordsResponse(f *fiber.Ctx) error {
	f.Set(fiber.HeaderContentType, "text/csv; charset=utf-8")
	f.Set(fiber.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q", e.name))
	f.Set(fiber.HeaderCacheControl, "no-store")
	f.Context().SetBodyStreamWriter(e.write)

	return nil
}

// byteOrderMark tells spreadsheets that the file is UTF-8 (contract §6).
const byteOrderMark = "\ufeff"

var exportColumns = []string{
	"transaction_number", "record_date", "kind", "provider_name", "details", "gross_amount", "platform_commission_amount",
	"net_amount", "vat_amount", "refunded_amount", "currency", "balance_status", "payout_reference", "payout_date",
	"transferred_at", "booking_id", "ad_campaign_id", "payment_transaction_id", "id", "created_at",
}

func (o *Operations) writeCSV(ctx context.Context, w *bufio.Writer, f store.RecordFilter) (rows int64, err error) {
	if _, err := w.WriteString(byteOrderMark); err != nil {
		return 0, err
	}

	out := csv.NewWriter(w)
	if err := out.Write(exportColumns); err != nil {
		return 0, err
	}

	rows, err = o.Store.ExportRecords(ctx, f, func(r *models.FinancialRecord) error { return out.Write(exportRow(r)) })
	out.Flush()

	if err == nil {
		err = out.Error()
	}

	return rows, err
}

func exportRow(r *models.FinancialRecord) []string {
	var booking, campaign, payout, transferred string

	if r.BookingID != nil {
		booking = r.BookingID.String()
	}

	if r.AdCampaignID != nil {
		campaign = r.AdCampaignID.String()
	}

	if r.PayoutDate != nil {
		payout = r.PayoutDate.String()
	}

	if r.TransferredAt != nil {
		transferred = r.TransferredAt.UTC().Format(time.RFC3339)
	}

	return []string{
		r.TransactionNumber, r.RecordDate.String(), string(r.Kind), safeCell(r.ProviderName), safeCell(r.Details),
		r.GrossAmount.String(), r.PlatformCommissionAmount.String(), r.NetAmount.String(), r.VATAmount.String(),
		r.RefundedAmount.String(), r.Currency, string(r.BalanceStatus), safeCell(valueOf(r.PayoutReference)), payout,
		transferred, booking, campaign, r.PaymentTransactionID.String(), r.ID.String(), r.CreatedAt.UTC().Format(time.RFC3339),
	}
}

// safeCell keeps a spreadsheet from running text as a formula. Amounts, which may begin with a minus, are not text.
func safeCell(s string) string {
	if trimmed := strings.TrimLeft(s, " \t\r\n"); trimmed != "" && strings.ContainsRune("=+-@", rune(trimmed[0])) {
		return "'" + s
	}

	if strings.HasPrefix(s, "\t") || strings.HasPrefix(s, "\r") {
		return "'" + s
	}

	return s
}
