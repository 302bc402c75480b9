package operations

import (
	"context"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store/bookings"
	"rihla/internal/ticket"
	"rihla/models"
)

// GetManifest is the passenger list of a trip with whole document numbers. Its rows count as those of lists of people do, which are counted
// by their schemas: a file has none.
func (o *Operations) GetManifest(ctx context.Context, r gen.GetManifestRequestObject) (gen.GetManifestResponseObject, error) {
	by, now := actor(ctx), o.Now()

	trip, err := o.Store.Catalogue.GetProviderTrip(ctx, by, r.ID)
	if err != nil {
		return nil, err
	}

	if err := trip.ManifestOpen(now); err != nil {
		return nil, err
	}

	read, err := o.ReadPeople(ctx, middleware.Principal(ctx), "GetManifest", trip.Capacity)
	if err != nil {
		return nil, err
	}

	rows := 0
	defer func() { read(ctx, rows) }()

	t, all, err := o.Store.Bookings.Manifest(ctx, by, r.ID, now)
	if err != nil {
		return nil, err
	}

	rows = len(all)

	list := ticket.Manifest{Trip: t, Passengers: mapEach(all, func(p *bookings.Travelling) ticket.Boarding {
		return ticket.Boarding{
			BookingNumber: p.BookingNumber, Name: p.Name, Document: p.DocumentNumber, Phone: p.ContactPhone, CheckedInAt: p.CheckedInAt,
		}
	})}

	return manifestFile{list: list, format: r.Params.Format, lang: middleware.Locale(ctx), day: models.DateIn(t.DepartureAt)}, nil
}

// manifestFile is a passenger list as an answer.
type manifestFile struct {
	list   ticket.Manifest
	format gen.GetManifestParamsFormat
	lang   models.Locale
	day    models.Date
}

// VisitGetManifestResponse implements the generated interface.
func (m manifestFile) VisitGetManifestResponse(f *fiber.Ctx) error {
	write, mediaType := m.list.CSV, "text/csv; charset=utf-8"
	if m.format == gen.GetManifestParamsFormatPdf {
		write, mediaType = m.list.PDF, mimePDF
	}

	file, err := write(m.lang)
	if err != nil {
		return err
	}

	f.Set(fiber.HeaderContentType, mediaType)
	f.Set(fiber.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q", fmt.Sprintf("passengers-%s.%s", m.day, m.format)))

	return f.Send(file)
}
