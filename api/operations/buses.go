package operations

import (
	"context"

	"github.com/google/uuid"

	"rihla/api/contract"
	"rihla/api/gen"
	"rihla/internal/store/catalogue"
	"rihla/models"
)

// ListBuses lists the buses of the caller's company, or of all for admins (rules: scope.admins).
func (o *Operations) ListBuses(ctx context.Context, r gen.ListBusesRequestObject) (gen.ListBusesResponseObject, error) {
	q := r.Params
	p := pageOf(q.Page, q.PerPage, q.Sort, q.Cursor)

	list, err := o.Store.Catalogue.ListBuses(ctx, actor(ctx), catalogue.BusFilter{
		ProviderID: valueOf(q.ProviderID), Status: valueOf(q.Status), Search: valueOf(q.Search), Page: p,
	})
	if err != nil {
		return nil, err
	}

	data, err := o.buses(ctx, list.Items)
	if err != nil {
		return nil, err
	}

	return gen.ListBuses200JSONResponse{Data: data, Meta: metaOf(p, list)}, nil
}

// CreateBus adds a bus to the caller's company, or to the one that an admin names, with its photos when the body is a
// form.
func (o *Operations) CreateBus(ctx context.Context, r gen.CreateBusRequestObject) (gen.CreateBusResponseObject, error) {
	a := &photoForm{o: o}

	if contract.UploadOf(ctx) != nil {
		var err error
		if a, err = o.takeForm(ctx, true, r.Body); err != nil {
			return nil, err
		}
	}

	b := models.Bus{ProviderID: valueOf(r.Params.ProviderID)}
	setBus(&b, r.Body)

	b, err := o.Store.Catalogue.CreateBus(ctx, actor(ctx), b, a.photos...)
	if err != nil {
		a.rejected(ctx, err)

		return nil, err
	}

	return gen.CreateBus201JSONResponse{
		Body:    gen.BusAnswer{Data: o.busOf(&b, a.photos)},
		Headers: gen.CreateBus201ResponseHeaders{Location: busPath(b.ID)},
	}, nil
}

// GetBus is one bus that the caller sees.
func (o *Operations) GetBus(ctx context.Context, r gen.GetBusRequestObject) (gen.GetBusResponseObject, error) {
	b, err := o.Store.Catalogue.GetBus(ctx, actor(ctx), r.ID)
	if err != nil {
		return nil, err
	}

	answer, err := o.bus(ctx, &b)
	if err != nil {
		return nil, err
	}

	return gen.GetBus200JSONResponse{Data: answer}, nil
}

// ReplaceBus is PUT. The photos have operations of their own.
func (o *Operations) ReplaceBus(ctx context.Context, r gen.ReplaceBusRequestObject) (gen.ReplaceBusResponseObject, error) {
	b, err := o.Store.Catalogue.UpdateBus(ctx, actor(ctx), r.ID, replaced(r.Body, setBus), o.Now())
	if err != nil {
		return nil, err
	}

	answer, err := o.bus(ctx, &b)
	if err != nil {
		return nil, err
	}

	return gen.ReplaceBus200JSONResponse{Data: answer}, nil
}

// PatchBus is PATCH. The named members of the driver change, the rest of the driver stays.
func (o *Operations) PatchBus(ctx context.Context, r gen.PatchBusRequestObject) (gen.PatchBusResponseObject, error) {
	b, err := o.Store.Catalogue.UpdateBus(ctx, actor(ctx), r.ID, merged(ctx, busInput, setBus), o.Now())
	if err != nil {
		return nil, err
	}

	answer, err := o.bus(ctx, &b)
	if err != nil {
		return nil, err
	}

	return gen.PatchBus200JSONResponse{Data: answer}, nil
}

// DeleteBus deletes softly; the plate number is free again.
func (o *Operations) DeleteBus(ctx context.Context, r gen.DeleteBusRequestObject) (gen.DeleteBusResponseObject, error) {
	return gen.DeleteBus204Response{}, o.Store.Catalogue.DeleteBus(ctx, actor(ctx), r.ID, o.Now())
}

// bus is one bus with its photos, as its company sees it.
func (o *Operations) bus(ctx context.Context, b *models.Bus) (gen.Bus, error) {
	data, err := o.buses(ctx, []models.Bus{*b})
	if err != nil {
		return gen.Bus{}, err
	}

	return data[0], nil
}

// buses are the buses of a page with their photos, which are read together.
func (o *Operations) buses(ctx context.Context, buses []models.Bus) ([]gen.Bus, error) {
	photos, err := o.Store.Catalogue.BusPhotos(ctx, mapEach(buses, func(b *models.Bus) uuid.UUID { return b.ID }))
	if err != nil {
		return nil, err
	}

	return mapEach(buses, func(b *models.Bus) gen.Bus { return o.busOf(b, photos[b.ID]) }), nil
}

func (o *Operations) busOf(b *models.Bus, photos []models.BusPhoto) gen.Bus {
	out := busBody(b)
	out.Photos = o.photosOf(photos)

	return out
}

func busPath(id uuid.UUID) string { return "/api/v1/provider/buses/" + id.String() }
