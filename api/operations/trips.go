package operations

import (
	"context"

	"rihla/api/gen"
	"rihla/internal/store/catalogue"
	"rihla/models"
)

// ListTrips is the consumer catalogue (rules: companies.publish).
func (o *Operations) ListTrips(ctx context.Context, r gen.ListTripsRequestObject) (gen.ListTripsResponseObject, error) {
	p := pageOf(r.Params.Page, r.Params.PerPage, r.Params.Sort, r.Params.Cursor)

	list, err := o.Store.Catalogue.CatalogueTrips(ctx, catalogue.TripFilter{
		Type:   models.TripType(valueOf(r.Params.Type)),
		Origin: valueOf(r.Params.Origin), Destination: valueOf(r.Params.Destination),
		DateFrom: dateOf(r.Params.DateFrom), DateTo: dateOf(r.Params.DateTo),
		Search: valueOf(r.Params.Search), Page: p,
	}, o.Now())
	if err != nil {
		return nil, err
	}

	return gen.ListTrips200JSONResponse{Data: mapEach(list.Items, tripOf), Meta: metaOf(p, list)}, nil
}

// GetTrip is one trip of the catalogue.
func (o *Operations) GetTrip(ctx context.Context, r gen.GetTripRequestObject) (gen.GetTripResponseObject, error) {
	t, err := o.Store.Catalogue.CatalogueTrip(ctx, r.ID, o.Now())
	if err != nil {
		return nil, err
	}

	return gen.GetTrip200JSONResponse{Data: tripOf(&t)}, nil
}
