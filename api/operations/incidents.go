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
		Kind: valueOf(r.Params.Kind), Status: string(valueOf(r.Params.Status)), AssigneeID: valueOf(r.Params.AssigneeID),
		Assigned: r.Params.Assigned, Page: p,
	})
	if err != nil {
		return nil, err
	}

	data, err := o.incidentsOf(ctx, list.Items)

	return gen.ListIncidents200JSONResponse{Data: data, Meta: metaOf(p, list)}, err
}

// ResolveIncident closes an incident with a note.
func (o *Operations) ResolveIncident(ctx context.Context, r gen.ResolveIncidentRequestObject) (gen.ResolveIncidentResponseObject, error) {
	i, err := o.Store.Incidents.ResolveIncident(ctx, actor(ctx), r.ID, r.Body.Note)
	if err != nil {
		return nil, err
	}

	data, err := o.incidentsOf(ctx, []models.Incident{i})
	if err != nil {
		return nil, err
	}

	return gen.ResolveIncident200JSONResponse{Data: data[0]}, nil
}

// GetIncident is one incident.
func (o *Operations) GetIncident(ctx context.Context, r gen.GetIncidentRequestObject) (gen.GetIncidentResponseObject, error) {
	i, err := o.Store.Incidents.IncidentByID(ctx, r.ID)
	if err != nil {
		return nil, err
	}

	data, err := o.incidentsOf(ctx, []models.Incident{i})
	if err != nil {
		return nil, err
	}

	return gen.GetIncident200JSONResponse{Data: data[0]}, nil
}

// AssignIncident says who looks after an incident.
func (o *Operations) AssignIncident(ctx context.Context, r gen.AssignIncidentRequestObject) (gen.AssignIncidentResponseObject, error) {
	i, err := o.Store.Incidents.AssignIncident(ctx, actor(ctx), r.ID, r.Body.AssigneeID)
	if err != nil {
		return nil, err
	}

	data, err := o.incidentsOf(ctx, []models.Incident{i})
	if err != nil {
		return nil, err
	}

	return gen.AssignIncident200JSONResponse{Data: data[0]}, nil
}

// ListIncidentAssignees lists who can look after incidents.
func (o *Operations) ListIncidentAssignees(
	ctx context.Context, _ gen.ListIncidentAssigneesRequestObject,
) (gen.ListIncidentAssigneesResponseObject, error) {
	all, err := o.Store.Incidents.Assignees(ctx)
	if err != nil {
		return nil, err
	}

	return gen.ListIncidentAssignees200JSONResponse{Data: mapEach(all, func(u *models.User) gen.IncidentAssignee {
		return labelled(gen.IncidentAssignee{ID: u.ID, Name: u.Name, Role: u.Role})
	})}, nil
}

// ListIncidentNotes lists what was found out about an incident.
func (o *Operations) ListIncidentNotes(
	ctx context.Context, r gen.ListIncidentNotesRequestObject,
) (gen.ListIncidentNotesResponseObject, error) {
	all, err := o.Store.Incidents.Notes(ctx, r.ID)
	if err != nil {
		return nil, err
	}

	return gen.ListIncidentNotes200JSONResponse{Data: mapEach(all, incidentNoteOf)}, nil
}

// AddIncidentNote keeps what was found out about an incident.
func (o *Operations) AddIncidentNote(ctx context.Context, r gen.AddIncidentNoteRequestObject) (gen.AddIncidentNoteResponseObject, error) {
	location := "/api/v1/admin/incidents/" + r.ID.String() + "/notes"

	n, err := o.Store.Incidents.AddNote(ctx, actor(ctx), incidents.NewNote{
		IncidentID: r.ID, Words: r.Body.Note,
		Once: keepCreated(ctx, location, func(n models.IncidentNote) any { return incidentNoted(&n) }),
	})
	if err != nil {
		return nil, err
	}

	return gen.AddIncidentNote201JSONResponse{
		Body: incidentNoted(&n), Headers: gen.AddIncidentNote201ResponseHeaders{Location: location},
	}, nil
}

func incidentNoted(n *models.IncidentNote) gen.IncidentNoteAnswer {
	return gen.IncidentNoteAnswer{Data: incidentNoteOf(n)}
}

func incidentNoteOf(n *models.IncidentNote) gen.IncidentNote {
	return gen.IncidentNote{ID: n.ID, AuthorID: n.AuthorID, AuthorName: n.AuthorName, Note: n.Note, CreatedAt: utc(n.CreatedAt)}
}

// incidentsOf are incidents with the steps that put them right.
func (o *Operations) incidentsOf(ctx context.Context, all []models.Incident) ([]gen.Incident, error) {
	repairs, err := o.Store.Refunds.Repairs(ctx, all)

	return mapEach(all, func(i *models.Incident) gen.Incident {
		out := o.incidentOf(i)
		out.Repair = repairOf(repairs[i.ID])

		return out
	}), err
}

func repairOf(r *models.Repair) *gen.IncidentRepair {
	if r == nil {
		return nil
	}

	out := labelled(gen.IncidentRepair{
		Kind: r.Kind, State: r.State, Amount: r.Amount, Currency: r.Currency, PaymentTransactionID: r.TransactionID, RefundID: r.RefundID,
	})

	return &out
}

func (o *Operations) incidentOf(i *models.Incident) gen.Incident {
	kind, status := i.Kind.Label(), models.IncidentStatusLabel(i.Status)

	return gen.Incident{
		ID: i.ID, Kind: i.Kind, KindLabelAr: kind.AR, KindLabelEn: kind.EN,
		Status: gen.IncidentStatus(i.Status), StatusLabelAr: status.AR, StatusLabelEn: status.EN,
		PaymentTransactionID: i.PaymentTransactionID, BookingID: i.BookingID,
		BookingNumber: optional(i.BookingNumber), AdCampaignID: i.AdCampaignID, RefundID: i.RefundID,
		Message: i.Message, MessageAr: i.In(models.LocaleArabic), MessageEn: i.In(models.LocaleEnglish),
		Details: i.Details, WorkflowID: optional(i.WorkflowID),
		CreatedAt: utc(i.CreatedAt), ResolvedAt: utcOrNil(i.ResolvedAt), ResolvedBy: i.ResolvedBy,
		ResolvedByName: optional(i.ResolverName), Note: optional(i.Note),
		NoteAr:     optional(models.NoteIn(models.LocaleArabic, i.Note, i.NoteText)),
		NoteEn:     optional(models.NoteIn(models.LocaleEnglish, i.Note, i.NoteText)),
		AssignedTo: i.AssignedTo, AssignedToName: optional(i.AssigneeName),
		Links: o.incidentLinks(i),
	}
}

// incidentLinks lead to the workflow of the incident, and to the row of its kind in the index of the runbook.
func (o *Operations) incidentLinks(i *models.Incident) *gen.IncidentLinks {
	links := gen.IncidentLinks{Workflow: o.workflowURL(i.WorkflowID)}

	if o.Runbook != "" {
		links.Runbook = optional(o.Runbook + "#incident-" + strings.ToLower(string(i.Kind)))
	}

	return &links
}

// workflowURL is a workflow's page in the Temporal UI; nil without either.
func (o *Operations) workflowURL(id string) *string {
	if o.TemporalUI == "" || id == "" {
		return nil
	}

	return optional(o.TemporalUI + "/workflows/" + url.PathEscape(id))
}
