package operations

import (
	"context"

	"rihla/api/gen"
	"rihla/internal/store"
	"rihla/models"
)

// ListBuses lists the buses of the caller's company, or of all for admins (contract §2).
func (o *Operations) ListBuses(ctx context.Context, r gen.ListBusesRequestObject) (gen.ListBusesResponseObject, error) {
	q := r.Params
	p := page(q.Page, q.PerPage, q.Sort)

	list, err := o.Store.ListBuses(ctx, actor(ctx), store.BusFilter{
		ProviderID: valueOf(q.ProviderID), Status: valueOf(q.Status), Search: valueOf(q.Search), Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListBuses200JSONResponse{Data: each(list.Items, busOf), Meta: meta(p, list.Total)}, nil
}

// CreateBus adds a bus to the caller's company, or to the one that an admin names.
func (o *Operations) CreateBus(ctx context.Context, r gen.CreateBusRequestObject) (gen.CreateBusResponseObject, error) {
	b := models.Bus{ProviderID: valueOf(r.Params.ProviderID)}
	setBus(&b, r.Body)

	b, err := o.Store.CreateBus(ctx, b, actor(ctx))
	if err != nil {
		return nil, err
	}

	return gen.CreateBus201JSONResponse{
		Body:    gen.BusAnswer{Data: busOf(&b)},
		Headers: gen.CreateBus201ResponseHeaders{Location: "/api/v1/provider/buses/" + b.ID.String()},
	}, nil
}

// GetBus is one bus that the caller sees.
func (o *Operations) GetBus(ctx context.Context, r gen.GetBusRequestObject) (gen.GetBusResponseObject, error) {
	b, err := o.Store.GetBus(ctx, actor(ctx), r.ID)
	if err != nil {
		return nil, err
	}

	return gen.GetBus200JSONResponse{Data: busOf(&b)}, nil
}

// ReplaceBus is PUT. The photos have operations of their own.
func (o *Operations) ReplaceBus(ctx context.Context, r gen.ReplaceBusRequestObject) (gen.ReplaceBusResponseObject, error) {
	b, err := o.Store.UpdateBus(ctx, r.ID, replaced(r.Body, setBus), actor(ctx))
	if err != nil {
		return nil, err
	}

	return gen.ReplaceBus200JSONResponse{Data: busOf(&b)}, nil
}

// PatchBus is PATCH. What is named of the driver changes, the rest of the driver stays.
func (o *Operations) PatchBus(ctx context.Context, r gen.PatchBusRequestObject) (gen.PatchBusResponseObject, error) {
	b, err := o.Store.UpdateBus(ctx, r.ID, merged(ctx, busInput, setBus), actor(ctx))
	if err != nil {
		return nil, err
	}

	return gen.PatchBus200JSONResponse{Data: busOf(&b)}, nil
}

// DeleteBus deletes softly; the plate number is free again.
func (o *Operations) DeleteBus(ctx context.Context, r gen.DeleteBusRequestObject) (gen.DeleteBusResponseObject, error) {
	return gen.DeleteBus204Response{}, o.Store.DeleteBus(ctx, r.ID, actor(ctx))
}

func setBus(b *models.Bus, in *gen.BusInput) {
	b.PlateNumber, b.Model, b.Capacity = in.PlateNumber, in.Model, in.Capacity
	b.Features, b.Status = in.Features, in.Status
	b.DriverName = in.Driver.Name
	b.DriverPhone, b.DriverLicense = valueOf(in.Driver.Phone), valueOf(in.Driver.LicenseNumber)
}

func busInput(b *models.Bus) gen.BusInput {
	return gen.BusInput{
		PlateNumber: b.PlateNumber, Model: b.Model, Capacity: b.Capacity, Features: b.Features, Status: b.Status,
		Driver: gen.DriverInput{
			Name: b.DriverName, Phone: optional(b.DriverPhone), LicenseNumber: optional(b.DriverLicense),
		},
	}
}

// busOf is a bus as its company sees it.
func busOf(b *models.Bus) gen.Bus {
	label := models.ResourceStatusLabel(b.Status)

	return gen.Bus{
		ID: b.ID, ProviderID: b.ProviderID, PlateNumber: b.PlateNumber, Model: b.Model, Capacity: b.Capacity,
		Driver: gen.Driver{
			Name: b.DriverName, Phone: optional(b.DriverPhone), LicenseNumber: optional(b.DriverLicense),
		},
		Features: b.Features, Photos: []gen.BusPhoto{},
		Status: b.Status, StatusLabelAr: label.AR, StatusLabelEn: label.EN,
		CreatedAt: utc(b.CreatedAt), UpdatedAt: utc(b.UpdatedAt),
	}
}
