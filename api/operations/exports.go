package operations

import (
	"context"
	"slices"

	"rihla/api/exports"
	"rihla/api/gen"
	"rihla/internal/store/db"
	"rihla/models"
)

// ListExports lists who exported what (rules: reports.exports).
func (o *Operations) ListExports(ctx context.Context, r gen.ListExportsRequestObject) (gen.ListExportsResponseObject, error) {
	q := r.Params

	span, err := daysOf(q.Period, q.DateFrom, q.DateTo, o.Now())
	if err != nil {
		return nil, err
	}

	kinds := []models.ExportKind{models.ExportFinancialRecords}
	if actor(ctx).Role == models.RoleSuperAdmin {
		kinds = append(kinds, models.ExportAuditLog)
	}

	if q.Kind != nil {
		kinds = slices.DeleteFunc(kinds, func(k models.ExportKind) bool { return k != *q.Kind })
	}

	p := pageOf(q.Page, q.PerPage, q.Sort, q.Cursor)

	list, err := o.Store.DB.ListExports(ctx, db.ExportFilter{
		Kinds: kinds, RequestedBy: valueOf(q.RequestedBy), Days: span, AtMost: exports.Known, Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListExports200JSONResponse{Data: mapEach(list.Items, o.exportOf), Meta: metaOf(p, list)}, nil
}

func (o *Operations) exportOf(e *models.Export) gen.Export {
	filters, _ := jsonObject(e.Details)["filters"].(map[string]any)
	format, _ := filters["format"].(string)
	delete(filters, "format")

	if filters == nil {
		filters = map[string]any{}
	}

	status := e.Status(o.Now(), exports.Known)
	label := status.Label()

	return labelled(gen.Export{
		ID: e.ID, Kind: e.Kind(), Format: format, Filters: filters, Status: status, StatusLabelAr: label.AR, StatusLabelEn: label.EN,
		RequestedBy: e.ActorID, RequestedByName: optional(e.ActorName), RequestedByRole: optional(e.ActorRole),
		StartedAt: utc(e.CreatedAt), EndedAt: utcOrNil(e.EndedAt), Rows: e.Rows, Bytes: e.Bytes,
	})
}
