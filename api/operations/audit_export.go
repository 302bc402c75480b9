package operations

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/gofiber/fiber/v2"

	"rihla/api/exports"
	"rihla/api/gen"
	"rihla/internal/store/db"
	"rihla/models"
)

// auditExportTypes are the media types of exports of the audit log.
var auditExportTypes = map[gen.AuditExportFormat]string{
	gen.AuditExportFormatCsv: "text/csv; charset=utf-8", gen.AuditExportFormatJsonl: "application/jsonl; charset=utf-8",
}

// ExportAuditLogs streams entries of the audit log as a file (rules: audit.export).
func (o *Operations) ExportAuditLogs(ctx context.Context, r gen.ExportAuditLogsRequestObject) (gen.ExportAuditLogsResponseObject, error) {
	q := r.Params

	span, err := daysOf(q.Period, q.DateFrom, q.DateTo, o.Now())
	if err != nil {
		return nil, err
	}

	seal, err := o.Store.DB.NewestAuditSeal(ctx)
	if err != nil {
		return nil, err
	}

	return auditExport{o: o, by: actor(ctx), query: &q, seal: seal, filter: db.AuditFilter{
		Action: valueOf(q.Action), ActorID: valueOf(q.ActorID), Entity: valueOf(q.Entity), EntityID: valueOf(q.EntityID), Days: span,
	}}, nil
}

// auditExport is a streamed answer.
type auditExport struct {
	o      *Operations
	by     db.Actor
	query  *gen.ExportAuditLogsParams
	filter db.AuditFilter
	seal   db.AuditSeal // the newest one
}

// VisitExportAuditLogsResponse implements the generated interface.
func (e auditExport) VisitExportAuditLogsResponse(f *fiber.Ctx) error {
	return e.o.exports.Send(f, exports.File{
		By: e.by, Kind: models.ExportAuditLog, Entity: models.EntityAuditLog, Describe: e.describe, Write: e.write,
		Details: map[string]any{"format": e.query.Format, "filters": e.query, "seal": optional(e.seal.String())},
	})
}

// describe says what file it is.
func (e auditExport) describe(f *fiber.Ctx) {
	name := fmt.Sprintf("audit-log-%s.%s", models.DateIn(e.o.Now()), e.query.Format)

	f.Set(fiber.HeaderContentType, auditExportTypes[e.query.Format])
	f.Set(fiber.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q", name))
	f.Set(fiber.HeaderCacheControl, "no-store")

	if e.seal.Number > 0 {
		f.Set("X-Audit-Seal", e.seal.String())
	}
}

func (e auditExport) write(ctx context.Context, w io.Writer) (rows int64, err error) {
	b := bufio.NewWriterSize(w, exports.Buffer)

	if e.query.Format == gen.AuditExportFormatCsv {
		if _, err := b.WriteString(exports.ByteOrderMark); err != nil {
			return 0, err
		}

		rows, err = e.o.Store.DB.ExportAuditCSV(ctx, e.filter, b)
	} else {
		rows, err = e.writeLines(ctx, b)
	}

	if err != nil {
		return rows, err
	}

	return rows, b.Flush()
}

// writeLines ends with a line about the export: a file without it is not whole.
func (e auditExport) writeLines(ctx context.Context, w io.Writer) (rows int64, err error) {
	if rows, err = e.o.Store.DB.ExportAuditLines(ctx, e.filter, w); err != nil {
		return rows, err
	}

	var end struct {
		Export struct {
			Rows       int64         `json:"rows"`
			NewestSeal *db.AuditSeal `json:"newest_seal"`
		} `json:"export"`
	}

	if end.Export.Rows = rows; e.seal.Number > 0 {
		end.Export.NewestSeal = &e.seal
	}

	return rows, json.NewEncoder(w).Encode(end)
}
