package operations

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gofiber/fiber/v2"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// auditTimeout bounds noting what became of an export, whose own time may be over.
const auditTimeout = 5 * time.Second

// exportFormats are the ways to write an export, by what a caller asks for.
var exportFormats = map[gen.ExportFormat]struct {
	mediaType string
	write     func(*Operations, context.Context, io.Writer, ledger.RecordFilter, models.Locale) (rows int64, err error)
}{
	gen.Csv: {"text/csv; charset=utf-8", (*Operations).writeCSV},
	gen.Xlsx: {
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", (*Operations).writeXLSX,
	},
}

// ExportFinancialRecords streams ledger lines as a file (rules: reports.export).
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
	case format == gen.Xlsx:
		return accepted
	default:
		return ""
	}
}

// VisitExportFinancialRecordsResponse implements the generated interface. The audit entry is written before the first
// byte, and the number of rows after the last.
func (e export) VisitExportFinancialRecordsResponse(f *fiber.Ctx) error {
	if f.Method() == fiber.MethodHead { // asks for no file: there is nothing to be noted
		e.describe(f)

		return nil
	}

	leave, err := e.o.ownExports.acquire(e.by)
	if err != nil {
		return err
	}

	ctx, end, err := e.o.exports.begin(f.UserContext())
	if err != nil {
		leave()

		return err
	}

	done := func() {
		end()
		leave()
	}

	// The requester is noted even if the connection breaks; the number of rows follows when it is known.
	if err := e.note(f.UserContext(), "FINANCIAL_RECORDS_EXPORT_STARTED", nil); err != nil {
		done()

		return err
	}

	e.describe(f)
	streamed{write: e.write, done: done}.send(ctx, f)

	return nil
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

// write writes the file and notes what became of it: of one that broke off the rows that may have left.
func (e export) write(ctx context.Context, w io.Writer) error {
	rows, err := exportFormats[e.query.Format].write(e.o, ctx, w, e.filter, e.lang)
	if err == nil {
		err = ctx.Err() // the connection is cut, whatever is still in its buffers
	}

	action := "FINANCIAL_RECORDS_EXPORTED"
	if err != nil {
		action = "FINANCIAL_RECORDS_EXPORT_STOPPED"

		e.o.Log.WarnContext(ctx, "export broke off", "rows", rows, "error", err)
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()

	if noted := e.note(ctx, action, &rows); noted != nil {
		e.o.Log.ErrorContext(ctx, "export not noted in the audit log", "error", noted)
	}

	return err
}

func (e export) note(ctx context.Context, action string, rows *int64) error {
	d := map[string]any{"format": e.query.Format, "filters": e.query}
	if rows != nil {
		d["rows"] = *rows
	}

	return e.o.Store.DB.Audit(ctx, e.by, action, "financial_record", nil, d)
}

// byteOrderMark tells spreadsheets that the file is UTF-8.
const byteOrderMark = "\ufeff"

// csvBuffer is how much of a file goes to the client at once: lines come from the database one by one, and the server's
// own buffer holds but a dozen of them.
const csvBuffer = 64 << 10

func (o *Operations) writeCSV(ctx context.Context, w io.Writer, f ledger.RecordFilter, lang models.Locale) (rows int64, err error) {
	b := bufio.NewWriterSize(w, csvBuffer)

	if _, err := b.WriteString(byteOrderMark); err != nil {
		return 0, err
	}

	if rows, err = o.Store.Ledger.ExportCSV(ctx, f, lang, b); err != nil {
		return rows, err
	}

	return rows, b.Flush()
}
