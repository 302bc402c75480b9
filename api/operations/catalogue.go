package operations

import (
	"context"

	"rihla/api/gen"
	"rihla/internal/store/catalogue"
)

// ListCatalogueHotels are the hotels that consumers see (rules: companies.inactive).
func (o *Operations) ListCatalogueHotels(
	ctx context.Context, r gen.ListCatalogueHotelsRequestObject,
) (gen.ListCatalogueHotelsResponseObject, error) {
	q := r.Params
	p := pageOf(q.Page, q.PerPage, q.Sort, q.Cursor)

	list, err := o.Store.Catalogue.CatalogueHotels(ctx, catalogue.HotelFilter{
		City: valueOf(q.City), Stars: valueOf(q.Stars), Search: valueOf(q.Search), Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListCatalogueHotels200JSONResponse{Data: mapEach(list.Items, catalogueHotel), Meta: metaOf(p, list)}, nil
}

// ListCatalogueBuses are the buses that consumers see: of the driver, the name and nothing else (rules: companies.buses).
func (o *Operations) ListCatalogueBuses(
	ctx context.Context, r gen.ListCatalogueBusesRequestObject,
) (gen.ListCatalogueBusesResponseObject, error) {
	p := pageOf(r.Params.Page, r.Params.PerPage, r.Params.Sort, r.Params.Cursor)

	list, err := o.Store.Catalogue.CatalogueBuses(ctx, catalogue.BusFilter{Search: valueOf(r.Params.Search), Page: p})
	if err != nil {
		return nil, err
	}

	data, err := o.buses(ctx, list.Items)
	if err != nil {
		return nil, err
	}

	return gen.ListCatalogueBuses200JSONResponse{Data: mapEach(data, catalogueBus), Meta: metaOf(p, list)}, nil
}

// ListCatalogueRestStops are the rest stops that consumers see (rules: companies.inactive).
func (o *Operations) ListCatalogueRestStops(
	ctx context.Context, r gen.ListCatalogueRestStopsRequestObject,
) (gen.ListCatalogueRestStopsResponseObject, error) {
	q := r.Params
	p := pageOf(q.Page, q.PerPage, q.Sort, q.Cursor)

	list, err := o.Store.Catalogue.CatalogueRestStops(ctx, catalogue.RestStopFilter{
		City: valueOf(q.City), Search: valueOf(q.Search), Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListCatalogueRestStops200JSONResponse{Data: mapEach(list.Items, catalogueRestStop), Meta: metaOf(p, list)}, nil
}
