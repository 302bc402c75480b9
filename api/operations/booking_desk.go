package operations

import (
	"context"
	"errors"
	"net/http"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store/bookings"
	"rihla/internal/store/payments"
	"rihla/models"
)

// CorrectBooking puts right how a booking's contact is reached and the names of passengers (rules: bookings.correct).
func (o *Operations) CorrectBooking(ctx context.Context, r gen.CorrectBookingRequestObject) (gen.CorrectBookingResponseObject, error) {
	if err := o.Store.Bookings.Correct(ctx, actor(ctx), r.ID, correctionOf(r.Body), o.Now()); err != nil {
		return nil, err
	}

	o.mailQueued(ctx)

	body, err := o.bookingOf(ctx, r.ID)

	return gen.CorrectBooking200JSONResponse{Data: body}, err
}

func correctionOf(in *gen.BookingCorrection) models.Correction {
	var c models.Correction

	if in.Contact != nil {
		c.Name, c.Email, c.Phone = in.Contact.Name, in.Contact.Email, in.Contact.Phone
	}

	c.Passengers = mapEach(in.Passengers, func(p *gen.PassengerCorrection) models.PassengerName {
		return models.PassengerName{ID: p.ID, Name: p.Name}
	})

	return c
}

// ResendBookingMessage sends a booking's contact a message once more (rules: notifications.resend).
func (o *Operations) ResendBookingMessage(
	ctx context.Context, r gen.ResendBookingMessageRequestObject,
) (gen.ResendBookingMessageResponseObject, error) {
	sending, err := o.Store.Payments.Resend(ctx, actor(ctx), payments.Resend{
		BookingID: r.ID, Kind: r.Body.Kind,
		Once: keepAnswer(ctx, http.StatusAccepted, func(s payments.Resending) any { return resent(&s) }),
	}, o.Now())

	if many, ok := errors.AsType[*payments.TooManySendingsError](err); ok {
		return nil, middleware.RetryAfter(many.Domain, many.After)
	}

	if err != nil {
		return nil, err
	}

	o.mailQueued(ctx)

	return resent(&sending), nil
}

func resent(s *payments.Resending) gen.ResendBookingMessage202JSONResponse {
	return gen.ResendBookingMessage202JSONResponse{Data: labelled(gen.MessageSending{
		BookingID: s.Booking.ID, BookingNumber: s.Booking.Number, Kind: s.Kind, QueuedAt: utc(s.At),
		Messages: mapEach(s.Messages, maskedMessage), SendingsLeft: s.Left(), NextAt: utcOrNil(s.NextAt()),
	})}
}

// maskedMessage names an address by its mask: answers are kept with the request's key.
func maskedMessage(n *models.Notification) gen.CheckoutMessage {
	mask := models.MaskEmail
	if n.Channel == models.NotifySMS {
		mask = models.MaskPhone
	}

	return labelled(gen.CheckoutMessage{Channel: gen.MessageChannel(n.Channel), To: mask(n.Recipient)})
}

// ListBookingNotes lists what staff have noted about a booking.
func (o *Operations) ListBookingNotes(
	ctx context.Context, r gen.ListBookingNotesRequestObject,
) (gen.ListBookingNotesResponseObject, error) {
	all, err := o.Store.Bookings.Notes(ctx, r.ID)
	if err != nil {
		return nil, err
	}

	return gen.ListBookingNotes200JSONResponse{Data: mapEach(all, bookingNoteOf)}, nil
}

// AddBookingNote keeps what staff know about a booking.
func (o *Operations) AddBookingNote(ctx context.Context, r gen.AddBookingNoteRequestObject) (gen.AddBookingNoteResponseObject, error) {
	location := "/api/v1/admin/bookings/" + r.ID.String() + "/notes"

	n, err := o.Store.Bookings.AddNote(ctx, actor(ctx), bookings.NewNote{
		BookingID: r.ID, Words: r.Body.Note,
		Once: keepCreated(ctx, location, func(n models.BookingNote) any { return bookingNoted(&n) }),
	})
	if err != nil {
		return nil, err
	}

	return gen.AddBookingNote201JSONResponse{
		Body: bookingNoted(&n), Headers: gen.AddBookingNote201ResponseHeaders{Location: location},
	}, nil
}

func bookingNoted(n *models.BookingNote) gen.BookingNoteAnswer {
	return gen.BookingNoteAnswer{Data: bookingNoteOf(n)}
}

func bookingNoteOf(n *models.BookingNote) gen.BookingNote {
	return gen.BookingNote{ID: n.ID, AuthorID: n.AuthorID, AuthorName: n.AuthorName, Note: n.Note, CreatedAt: utc(n.CreatedAt)}
}
