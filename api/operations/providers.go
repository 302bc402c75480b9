package operations

import (
	"context"

	"rihla/api/gen"
	"rihla/internal/store/catalogue"
	"rihla/models"
)

// ListProviders lists companies, ACTIVE or not (rules: companies.inactive).
func (o *Operations) ListProviders(ctx context.Context, r gen.ListProvidersRequestObject) (gen.ListProvidersResponseObject, error) {
	p := pageOf(r.Params.Page, r.Params.PerPage, r.Params.Sort, r.Params.Cursor)

	list, err := o.Store.Catalogue.ListProviders(ctx, catalogue.ProviderFilter{
		Search: valueOf(r.Params.Search), Status: valueOf(r.Params.Status), Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListProviders200JSONResponse{Data: mapEach(list.Items, providerOf), Meta: metaOf(p, list)}, nil
}

// CreateProvider opens a company.
func (o *Operations) CreateProvider(ctx context.Context, r gen.CreateProviderRequestObject) (gen.CreateProviderResponseObject, error) {
	var p models.Provider

	o.setProvider(&p, r.Body)

	p, err := o.Store.Catalogue.CreateProviderBy(ctx, actor(ctx), p)
	if err != nil {
		return nil, err
	}

	return gen.CreateProvider201JSONResponse{
		Body:    gen.ProviderAnswer{Data: providerOf(&p)},
		Headers: gen.CreateProvider201ResponseHeaders{Location: providerPath(&p)},
	}, nil
}

// GetProvider is a company with the numbers of its dashboard cards.
func (o *Operations) GetProvider(ctx context.Context, r gen.GetProviderRequestObject) (gen.GetProviderResponseObject, error) {
	p, stats, err := o.Store.Catalogue.ProviderWithStats(ctx, r.ID)
	if err != nil {
		return nil, err
	}

	out := providerOf(&p)

	return gen.GetProvider200JSONResponse{Data: gen.ProviderDetail{
		ID: out.ID, Name: out.Name, Email: out.Email, Phone: out.Phone, City: out.City, CommissionRate: out.CommissionRate,
		Status: out.Status, StatusLabelAr: out.StatusLabelAr, StatusLabelEn: out.StatusLabelEn,
		CreatedAt: out.CreatedAt, UpdatedAt: out.UpdatedAt,
		Stats: gen.ProviderStats{
			BusesCount: stats.Buses, HotelsCount: stats.Hotels, RestStopsCount: stats.RestStops, TripsCount: stats.Trips,
			BookingsCount: stats.Bookings, GrossAmount: stats.Gross, NetAmount: stats.Net,
			InCurrentBalanceAmount: stats.InCurrentBalance, Currency: sar(),
		},
	}}, nil
}

// ReplaceProvider is PUT. The state has actions of its own.
func (o *Operations) ReplaceProvider(ctx context.Context, r gen.ReplaceProviderRequestObject) (gen.ReplaceProviderResponseObject, error) {
	p, err := o.Store.Catalogue.UpdateProvider(ctx, actor(ctx), r.ID, replaced(r.Body, o.setProvider))
	if err != nil {
		return nil, err
	}

	return gen.ReplaceProvider200JSONResponse{Data: providerOf(&p)}, nil
}

// PatchProvider is PATCH.
func (o *Operations) PatchProvider(ctx context.Context, r gen.PatchProviderRequestObject) (gen.PatchProviderResponseObject, error) {
	p, err := o.Store.Catalogue.UpdateProvider(ctx, actor(ctx), r.ID, merged(ctx, providerInput, o.setProvider))
	if err != nil {
		return nil, err
	}

	return gen.PatchProvider200JSONResponse{Data: providerOf(&p)}, nil
}

// ActivateProvider shows all that the company runs to consumers again (rules: companies.inactive).
func (o *Operations) ActivateProvider(
	ctx context.Context, r gen.ActivateProviderRequestObject,
) (gen.ActivateProviderResponseObject, error) {
	p, err := o.Store.Catalogue.SetProviderStatus(ctx, actor(ctx), r.ID, true)
	if err != nil {
		return nil, err
	}

	return gen.ActivateProvider200JSONResponse{Data: providerOf(&p)}, nil
}

// DeactivateProvider hides all that the company runs from consumers (rules: companies.inactive).
func (o *Operations) DeactivateProvider(
	ctx context.Context, r gen.DeactivateProviderRequestObject,
) (gen.DeactivateProviderResponseObject, error) {
	p, err := o.Store.Catalogue.SetProviderStatus(ctx, actor(ctx), r.ID, false)
	if err != nil {
		return nil, err
	}

	return gen.DeactivateProvider200JSONResponse{Data: providerOf(&p)}, nil
}

// setProvider writes what a client may say. A company without a rate of its own has the configured one (rules: prices.new-company).
func (o *Operations) setProvider(p *models.Provider, in *gen.ProviderInput) {
	p.Name, p.Email, p.Phone, p.City = in.Name, in.Email, in.Phone, valueOf(in.City)

	p.CommissionRate = o.Store.Policies().Commission
	if in.CommissionRate != nil {
		p.CommissionRate = *in.CommissionRate
	}
}

func providerPath(p *models.Provider) string { return "/api/v1/admin/providers/" + p.ID.String() }
