package operations

import (
	"context"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/internal/store/bookings"
	"rihla/models"
)

// ListCheckIns lists the passengers of a trip and who of them has boarded.
func (o *Operations) ListCheckIns(ctx context.Context, r gen.ListCheckInsRequestObject) (gen.ListCheckInsResponseObject, error) {
	all, err := o.Store.Bookings.CheckIns(ctx, actor(ctx), r.ID)
	if err != nil {
		return nil, err
	}

	return gen.ListCheckIns200JSONResponse{Data: mapEach(all, checkInPassenger)}, nil
}

func checkInPassenger(p *bookings.Travelling) gen.CheckInPassenger {
	label := models.PassengerConfirmed.Label()

	return gen.CheckInPassenger{
		PassengerID: p.ID, Name: p.Name, BookingID: p.BookingID, BookingNumber: p.BookingNumber, Status: models.PassengerConfirmed,
		StatusLabelAr: label.AR, StatusLabelEn: label.EN, CheckedInAt: utcOrNil(p.CheckedInAt),
	}
}

// ReportCheckIns takes what a device has seen (rules: tickets.check-in).
func (o *Operations) ReportCheckIns(ctx context.Context, r gen.ReportCheckInsRequestObject) (gen.ReportCheckInsResponseObject, error) {
	done, err := o.Store.Bookings.CheckIn(ctx, actor(ctx), r.ID, mapEach(*r.Body, o.report), o.Now())
	if err != nil {
		return nil, err
	}

	return gen.ReportCheckIns200JSONResponse{Data: mapEach(done, func(d *bookings.Reported) gen.CheckInResult {
		label := d.Status.Label()

		return gen.CheckInResult{Status: d.Status, StatusLabelAr: label.AR, StatusLabelEn: label.EN, CheckedInAt: utcOrNil(d.At)}
	})}, nil
}

// report is an entry with its ticket read. One that is not ours, or of another passenger than the entry names, leaves no passenger.
func (o *Operations) report(e *gen.CheckInReport) bookings.Report {
	out := bookings.Report{Passenger: valueOf(e.PassengerID), At: e.At, Device: e.DeviceID}
	if e.Ticket == nil {
		return out
	}

	c, err := o.Tickets.Verify(*e.Ticket, e.At)
	if err != nil || e.PassengerID != nil && *e.PassengerID != c.Passenger {
		out.Passenger = uuid.Nil

		return out
	}

	out.Passenger, out.Trip = c.Passenger, c.Trip

	return out
}
