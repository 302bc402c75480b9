package operations

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/live"
	"rihla/api/stream"
	"rihla/models"
)

// GetDashboard has the cards of the whole platform.
func (o *Operations) GetDashboard(ctx context.Context, _ gen.GetDashboardRequestObject) (gen.GetDashboardResponseObject, error) {
	cards, err := o.dashboard(ctx, uuid.Nil)

	return gen.GetDashboard200JSONResponse{Data: cards}, err
}

// GetProviderDashboard has the cards of the caller's own company.
func (o *Operations) GetProviderDashboard(
	ctx context.Context, _ gen.GetProviderDashboardRequestObject,
) (gen.GetProviderDashboardResponseObject, error) {
	own, err := actor(ctx).ProviderScope(uuid.Nil)
	if err != nil {
		return nil, err
	}

	cards, err := o.dashboard(ctx, own)

	return gen.GetProviderDashboard200JSONResponse{Data: cards}, err
}

// dashboard is one report, of this month, so that today's cards are always part of the month's.
func (o *Operations) dashboard(ctx context.Context, provider uuid.UUID) (gen.Dashboard, error) {
	now := o.Now()

	month, err := models.PeriodMonth.Resolve(models.Date{}, models.Date{}, now)
	if err != nil {
		return gen.Dashboard{}, err
	}

	report, err := o.Store.Ledger.Report(ctx, provider, month)
	if err != nil {
		return gen.Dashboard{}, err
	}

	today := report.Series[month.From.DaysUntil(models.DateIn(now))]

	return gen.Dashboard{
		Currency: models.Currency, AsOf: utc(now),
		Today: gen.DashboardPeriod{
			DateFrom: toDate(today.Date), DateTo: toDate(today.Date), Cards: cardsOf(&today.ReportFigures),
		},
		ThisMonth: gen.DashboardPeriod{
			DateFrom: toDate(month.From), DateTo: toDate(month.To), Cards: cardsOf(&report.Cards),
		},
	}, nil
}

// StreamDashboardEvents tells of all providers' money.
func (o *Operations) StreamDashboardEvents(
	ctx context.Context, _ gen.StreamDashboardEventsRequestObject,
) (gen.StreamDashboardEventsResponseObject, error) {
	return o.openStream(ctx, uuid.Nil)
}

// StreamProviderDashboardEvents tells of the own company's money.
func (o *Operations) StreamProviderDashboardEvents(
	ctx context.Context, _ gen.StreamProviderDashboardEventsRequestObject,
) (gen.StreamProviderDashboardEventsResponseObject, error) {
	own, err := actor(ctx).ProviderScope(uuid.Nil)
	if err != nil {
		return nil, err
	}

	return o.openStream(ctx, own)
}

func (o *Operations) openStream(ctx context.Context, provider uuid.UUID) (eventStream, error) {
	one, err := o.updates.Dashboards.Open(actor(ctx).UserID, provider)

	return eventStream{hub: o.updates.Dashboards, one: one}, err
}

// eventStream is a streamed answer.
type eventStream struct {
	hub *live.Dashboards
	one *live.Subscription
}

// VisitStreamDashboardEventsResponse implements the generated interface.
func (s eventStream) VisitStreamDashboardEventsResponse(f *fiber.Ctx) error { return s.visit(f) }

// VisitStreamProviderDashboardEventsResponse implements the generated interface.
func (s eventStream) VisitStreamProviderDashboardEventsResponse(f *fiber.Ctx) error {
	return s.visit(f)
}

func (s eventStream) visit(f *fiber.Ctx) error {
	f.Set(fiber.HeaderContentType, "text/event-stream")
	f.Set(fiber.HeaderCacheControl, "no-store")
	f.Set("X-Accel-Buffering", "no") // proxies that buffer answers would hold events back

	// The stream outlives its request.
	stream.Body{Write: s.one.Write, Done: func() { s.hub.Close(s.one) }}.Send(context.WithoutCancel(f.UserContext()), f)

	return nil
}
