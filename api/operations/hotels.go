package operations

import (
	"context"

	"rihla/api/gen"
	"rihla/internal/store/catalogue"
	"rihla/models"
)

// ListHotels lists the hotels of the caller's company, or of all for admins (rules: scope.admins).
func (o *Operations) ListHotels(ctx context.Context, r gen.ListHotelsRequestObject) (gen.ListHotelsResponseObject, error) {
	q := r.Params
	p := pageOf(q.Page, q.PerPage, q.Sort, q.Cursor)

	list, err := o.Store.Catalogue.ListHotels(ctx, actor(ctx), catalogue.HotelFilter{
		ProviderID: valueOf(q.ProviderID), Status: valueOf(q.Status), City: valueOf(q.City), Stars: valueOf(q.Stars),
		Search: valueOf(q.Search), Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListHotels200JSONResponse{Data: mapEach(list.Items, hotelOf), Meta: metaOf(p, list)}, nil
}

// CreateHotel adds a hotel to the caller's company, or to the one that an admin names.
func (o *Operations) CreateHotel(ctx context.Context, r gen.CreateHotelRequestObject) (gen.CreateHotelResponseObject, error) {
	h := models.Hotel{ProviderID: valueOf(r.Params.ProviderID)}
	setHotel(&h, r.Body)

	h, err := o.Store.Catalogue.CreateHotel(ctx, actor(ctx), h)
	if err != nil {
		return nil, err
	}

	return gen.CreateHotel201JSONResponse{
		Body:    gen.HotelAnswer{Data: hotelOf(&h)},
		Headers: gen.CreateHotel201ResponseHeaders{Location: "/api/v1/provider/hotels/" + h.ID.String()},
	}, nil
}

// GetHotel is one hotel that the caller sees.
func (o *Operations) GetHotel(ctx context.Context, r gen.GetHotelRequestObject) (gen.GetHotelResponseObject, error) {
	h, err := o.Store.Catalogue.GetHotel(ctx, actor(ctx), r.ID)
	if err != nil {
		return nil, err
	}

	return gen.GetHotel200JSONResponse{Data: hotelOf(&h)}, nil
}

// ReplaceHotel is PUT.
func (o *Operations) ReplaceHotel(ctx context.Context, r gen.ReplaceHotelRequestObject) (gen.ReplaceHotelResponseObject, error) {
	h, err := o.Store.Catalogue.UpdateHotel(ctx, actor(ctx), r.ID, replaced(r.Body, setHotel), o.Now())
	if err != nil {
		return nil, err
	}

	return gen.ReplaceHotel200JSONResponse{Data: hotelOf(&h)}, nil
}

// PatchHotel is PATCH.
func (o *Operations) PatchHotel(ctx context.Context, r gen.PatchHotelRequestObject) (gen.PatchHotelResponseObject, error) {
	h, err := o.Store.Catalogue.UpdateHotel(ctx, actor(ctx), r.ID, merged(ctx, hotelInput, setHotel), o.Now())
	if err != nil {
		return nil, err
	}

	return gen.PatchHotel200JSONResponse{Data: hotelOf(&h)}, nil
}

// DeleteHotel deletes softly.
func (o *Operations) DeleteHotel(ctx context.Context, r gen.DeleteHotelRequestObject) (gen.DeleteHotelResponseObject, error) {
	return gen.DeleteHotel204Response{}, o.Store.Catalogue.DeleteHotel(ctx, actor(ctx), r.ID, o.Now())
}
