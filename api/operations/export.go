package operations

import (
	"context"
	"fmt"
	"io"

	"github.com/gofiber/fiber/v2"

	"rihla/api/exports"
	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// exportFormats are the ways to write an export, by what a caller asks for.
var exportFormats = map[gen.ExportFormat]struct {
	mediaType string
	write     func(*Operations, context.Context, io.Writer, ledger.RecordFilter, models.Locale) (rows int64, err error)
}{
	gen.ExportFormatCsv: {
		"text/csv; charset=utf-8",
		func(o *Operations, ctx context.Context, w io.Writer, f ledger.RecordFilter, lang models.Locale) (int64, error) {
			return exports.WriteCSV(ctx, o.Store.Ledger, w, f, lang)
		},
	},
	gen.ExportFormatXlsx: {
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		func(o *Operations, ctx context.Context, w io.Writer, f ledger.RecordFilter, lang models.Locale) (int64, error) {
			return exports.WriteXLSX(ctx, o.Store.Ledger, w, f, lang, o.Now())
		},
	},
}

// ExportFinancialRecords streams ledger entries as a file (rules: reports.export).
func (o *Operations) ExportFinancialRecords(
	ctx context.Context, r gen.ExportFinancialRecordsRequestObject,
) (gen.ExportFinancialRecordsResponseObject, error) {
	q := r.Params

	span, err := daysOf(q.Period, q.DateFrom, q.DateTo, o.Now())
	if err != nil {
		return nil, err
	}

	filter := ledger.RecordFilter{
		Days: span, BookingID: valueOf(q.BookingID), AdCampaignID: valueOf(q.AdCampaignID), ProviderID: valueOf(q.ProviderID),
		BalanceStatus: valueOf(q.BalanceStatus), Search: valueOf(q.Search), Page: pageOf(nil, nil, q.Sort, nil),
	}

	return export{o: o, by: actor(ctx), query: &q, filter: filter, lang: exportLanguage(q.Format, q.Lang, middleware.Locale(ctx))}, nil
}

// export is a streamed answer.
type export struct {
	o      *Operations
	by     db.Actor
	query  *gen.ExportFinancialRecordsParams
	filter ledger.RecordFilter
	lang   models.Locale // of headers and labels; empty: names and codes for programs
}

// exportLanguage is what a file is written in. A workbook is for people: it follows ?lang= and then Accept-Language. A CSV is read
// by programs as often: its names and codes never change unless ?lang= asks for it.
func exportLanguage(format gen.ExportFormat, asked *gen.ExportLanguage, accepted models.Locale) models.Locale {
	switch {
	case asked != nil:
		return models.Locale(*asked)
	case format == gen.ExportFormatXlsx:
		return accepted
	default:
		return ""
	}
}

// VisitExportFinancialRecordsResponse implements the generated interface.
func (e export) VisitExportFinancialRecordsResponse(f *fiber.Ctx) error {
	return e.o.exports.Send(f, exports.File{
		By: e.by, Kind: models.ExportFinancialRecords, Entity: models.EntityFinancialRecord,
		Details: map[string]any{"format": e.query.Format, "filters": e.query}, Describe: e.describe,
		Write: func(ctx context.Context, w io.Writer) (int64, error) {
			return exportFormats[e.query.Format].write(e.o, ctx, w, e.filter, e.lang)
		},
	})
}

// describe says what file it is.
func (e export) describe(f *fiber.Ctx) {
	name := fmt.Sprintf("financial-records-%s.%s", models.DateIn(e.o.Now()), e.query.Format)

	f.Set(fiber.HeaderContentType, exportFormats[e.query.Format].mediaType)
	f.Set(fiber.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q", name))
	f.Set(fiber.HeaderCacheControl, "no-store")

	if e.lang != "" {
		f.Set(fiber.HeaderContentLanguage, string(e.lang))
	}
}
