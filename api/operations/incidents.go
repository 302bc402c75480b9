package operations

import (
	"context"
	"net/url"
	"strings"

	"rihla/api/gen"
	"rihla/internal/store/incidents"
	"rihla/models"
)

// ListIncidents lists what a person has to look at.
func (o *Operations) ListIncidents(ctx context.Context, r gen.ListIncidentsRequestObject) (gen.ListIncidentsResponseObject, error) {
	p := pageOf(r.Params.Page, r.Params.PerPage, r.Params.Sort, r.Params.Cursor)

	list, err := o.Store.Incidents.ListIncidents(ctx, incidents.IncidentFilter{
		Kind: valueOf(r.Params.Kind), Status: string(valueOf(r.Params.Status)), Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListIncidents200JSONResponse{Data: mapEach(list.Items, o.incidentOf), Meta: metaOf(p, list)}, nil
}

// ResolveIncident closes an incident with a note.
func (o *Operations) ResolveIncident(ctx context.Context, r gen.ResolveIncidentRequestObject) (gen.ResolveIncidentResponseObject, error) {
	i, err := o.Store.Incidents.ResolveIncident(ctx, actor(ctx), r.ID, r.Body.Note)
	if err != nil {
		return nil, err
	}

	return gen.ResolveIncident200JSONResponse{Data: o.incidentOf(&i)}, nil
}

func (o *Operations) incidentOf(i *models.Incident) gen.Incident {
	kind, status := i.Kind.Label(), models.IncidentStatusLabel(i.Status)

	return gen.Incident{
		ID: i.ID, Kind: i.Kind, KindLabelAr: kind.AR, KindLabelEn: kind.EN,
		Status: gen.IncidentStatus(i.Status), StatusLabelAr: status.AR, StatusLabelEn: status.EN,
		PaymentTransactionID: i.PaymentTransactionID, BookingID: i.BookingID,
		BookingNumber: optional(i.BookingNumber), AdCampaignID: i.AdCampaignID, RefundID: i.RefundID,
		Message: i.Message, Details: i.Details, WorkflowID: optional(i.WorkflowID),
		CreatedAt: utc(i.CreatedAt), ResolvedAt: utcOrNil(i.ResolvedAt), ResolvedBy: i.ResolvedBy, Note: optional(i.Note),
		Links: o.incidentLinks(i),
	}
}

// incidentLinks lead to the workflow that tells the incident's story, and to the runbook's paragraph about its kind.
func (o *Operations) incidentLinks(i *models.Incident) *gen.IncidentLinks {
	var links gen.IncidentLinks

	if o.TemporalUI != "" && i.WorkflowID != "" {
		links.Workflow = optional(o.TemporalUI + "/workflows/" + url.PathEscape(i.WorkflowID))
	}

	if o.Runbook != "" {
		links.Runbook = optional(o.Runbook + "#incident-" + strings.ToLower(string(i.Kind)))
	}

	return &links
}
