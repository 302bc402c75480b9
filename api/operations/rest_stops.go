package operations

import (
	"context"

	"rihla/api/gen"
	"rihla/internal/store/catalogue"
	"rihla/models"
)

// ListRestStops lists the rest stops of the caller's company, or of all for admins (rules: scope.admins).
func (o *Operations) ListRestStops(ctx context.Context, r gen.ListRestStopsRequestObject) (gen.ListRestStopsResponseObject, error) {
	q := r.Params
	p := pageOf(q.Page, q.PerPage, q.Sort, q.Cursor)

	list, err := o.Store.Catalogue.ListRestStops(ctx, actor(ctx), catalogue.RestStopFilter{
		ProviderID: valueOf(q.ProviderID), Status: valueOf(q.Status), City: valueOf(q.City), Search: valueOf(q.Search), Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListRestStops200JSONResponse{Data: mapEach(list.Items, restStopOf), Meta: metaOf(p, list)}, nil
}

// CreateRestStop adds a rest stop to the caller's company, or to the one that an admin names.
func (o *Operations) CreateRestStop(ctx context.Context, r gen.CreateRestStopRequestObject) (gen.CreateRestStopResponseObject, error) {
	s := models.RestStop{ProviderID: valueOf(r.Params.ProviderID)}
	setRestStop(&s, r.Body)

	s, err := o.Store.Catalogue.CreateRestStop(ctx, actor(ctx), s)
	if err != nil {
		return nil, err
	}

	return gen.CreateRestStop201JSONResponse{
		Body:    gen.RestStopAnswer{Data: restStopOf(&s)},
		Headers: gen.CreateRestStop201ResponseHeaders{Location: "/api/v1/provider/rest-stops/" + s.ID.String()},
	}, nil
}

// GetRestStop is one rest stop that the caller sees.
func (o *Operations) GetRestStop(ctx context.Context, r gen.GetRestStopRequestObject) (gen.GetRestStopResponseObject, error) {
	s, err := o.Store.Catalogue.GetRestStop(ctx, actor(ctx), r.ID)
	if err != nil {
		return nil, err
	}

	return gen.GetRestStop200JSONResponse{Data: restStopOf(&s)}, nil
}

// ReplaceRestStop is PUT.
func (o *Operations) ReplaceRestStop(ctx context.Context, r gen.ReplaceRestStopRequestObject) (gen.ReplaceRestStopResponseObject, error) {
	s, err := o.Store.Catalogue.UpdateRestStop(ctx, actor(ctx), r.ID, replaced(r.Body, setRestStop), o.Now())
	if err != nil {
		return nil, err
	}

	return gen.ReplaceRestStop200JSONResponse{Data: restStopOf(&s)}, nil
}

// PatchRestStop is PATCH.
func (o *Operations) PatchRestStop(ctx context.Context, r gen.PatchRestStopRequestObject) (gen.PatchRestStopResponseObject, error) {
	s, err := o.Store.Catalogue.UpdateRestStop(ctx, actor(ctx), r.ID, merged(ctx, restStopInput, setRestStop), o.Now())
	if err != nil {
		return nil, err
	}

	return gen.PatchRestStop200JSONResponse{Data: restStopOf(&s)}, nil
}

// DeleteRestStop deletes softly.
func (o *Operations) DeleteRestStop(ctx context.Context, r gen.DeleteRestStopRequestObject) (gen.DeleteRestStopResponseObject, error) {
	return gen.DeleteRestStop204Response{}, o.Store.Catalogue.DeleteRestStop(ctx, actor(ctx), r.ID, o.Now())
}
