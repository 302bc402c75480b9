package operations

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/ticket"
	"rihla/models"
)

const mimePDF = "application/pdf"

// GetTicket is the ticket of a booking, for those who read the booking.
func (o *Operations) GetTicket(ctx context.Context, r gen.GetTicketRequestObject) (gen.GetTicketResponseObject, error) {
	if err := o.mayRead(ctx, r.ID); err != nil {
		return nil, err
	}

	t, _, err := o.ticketOf(ctx, r.ID)

	return ticketAnswer{ticket: t, lang: middleware.Locale(ctx)}, err
}

// OpenTicket is the ticket behind a link of a mail. The answer does not say why an address is invalid.
func (o *Operations) OpenTicket(ctx context.Context, r gen.OpenTicketRequestObject) (gen.OpenTicketResponseObject, error) {
	if !o.Tickets.Opens(r.ID, valueOf(r.Params.Signature)) {
		return nil, models.NotFound()
	}

	t, trip, err := o.ticketOf(ctx, r.ID)

	switch {
	case models.CodeOf(err) == models.CodeInvalidState, err == nil && !trip.TicketLinkOpen(o.Now()):
		return nil, models.NotFound()
	case err != nil:
		return nil, err
	}

	answer := ticketAnswer{ticket: t, lang: middleware.Locale(ctx), forPeople: true}
	if r.Params.Lang != nil {
		answer.lang = models.Locale(*r.Params.Lang)
	}

	if r.Params.Format != nil {
		answer.form = map[gen.OpenTicketParamsFormat]string{
			gen.OpenTicketParamsFormatHTML: fiber.MIMETextHTML, gen.OpenTicketParamsFormatPdf: mimePDF,
		}[*r.Params.Format]
	}

	return answer, nil
}

// ticketOf makes the ticket of a booking. Errors: NOT_FOUND, INVALID_STATE.
func (o *Operations) ticketOf(ctx context.Context, id uuid.UUID) (ticket.Ticket, models.Trip, error) {
	read, err := o.Store.Bookings.Ticketed(ctx, id)
	if err != nil {
		return ticket.Ticket{}, models.Trip{}, err
	}

	if err := read.Booking.Ticketable(); err != nil {
		return ticket.Ticket{}, models.Trip{}, err
	}

	t, err := o.Tickets.Of(&read.Booking, &read.Trip, read.CompanyPhone)

	return t, read.Trip, err
}

// ticketAnswer is a ticket in the form that is asked for.
type ticketAnswer struct {
	ticket    ticket.Ticket
	lang      models.Locale
	form      string // a media type; empty: by Accept
	forPeople bool   // no JSON
}

// VisitGetTicketResponse implements the generated interface.
func (a ticketAnswer) VisitGetTicketResponse(f *fiber.Ctx) error { return a.send(f) }

// VisitOpenTicketResponse implements the generated interface.
func (a ticketAnswer) VisitOpenTicketResponse(f *fiber.Ctx) error { return a.send(f) }

func (a ticketAnswer) send(f *fiber.Ctx) error {
	offers := []string{fiber.MIMEApplicationJSON, fiber.MIMETextHTML, mimePDF}
	if a.forPeople {
		offers = offers[1:]
	}

	form := a.form
	if form == "" {
		f.Vary(fiber.HeaderAccept)

		if form = f.Accepts(offers...); form == "" {
			form = offers[0]
		}
	}

	f.Set(fiber.HeaderContentLanguage, string(a.lang))

	switch form {
	case fiber.MIMETextHTML:
		html, policy, err := a.ticket.HTML(a.lang)
		if err != nil {
			return err
		}

		f.Set(fiber.HeaderContentSecurityPolicy, policy)
		f.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)

		return f.Send(html)
	case mimePDF:
		file, err := a.ticket.PDF(a.lang)
		if err != nil {
			return err
		}

		f.Set(fiber.HeaderContentType, mimePDF)
		f.Set(fiber.HeaderContentDisposition, `inline; filename="ticket-`+a.ticket.Number+`.pdf"`)

		return f.Send(file)
	default:
		return gen.GetTicket200JSONResponse{Data: a.body()}.VisitGetTicketResponse(f)
	}
}

func (a ticketAnswer) body() gen.Ticket {
	t := &a.ticket

	return gen.Ticket{
		BookingNumber: t.Number,
		Trip: gen.TicketTrip{
			ID: t.Trip, Title: t.Title, Origin: t.Origin, Destination: t.Destination, DepartureAt: utc(t.Departure), ReturnAt: utc(t.Return),
			CompanyName: t.Company, CompanyPhone: t.Phone,
		},
		Passengers: mapEach(t.Passengers, func(p *ticket.Passenger) gen.TicketPassenger {
			return gen.TicketPassenger{PassengerID: p.ID, Name: p.Name, Token: p.Token}
		}),
	}
}
