package catalogue

import (
	"context"

	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// CatalogueHotels lists the hotels that consumers see: ACTIVE ones of ACTIVE providers (rules: companies.inactive). The filter's
// Status is not read. Error: VALIDATION_ERROR on sort.
func (s *Store) CatalogueHotels(ctx context.Context, f HotelFilter) (db.Listed[models.Hotel], error) {
	f.Status = models.StatusActive

	return db.List[models.Hotel](ctx, f.apply(offered(s.db)), f.Page, hotelOrder)
}

// CatalogueBuses lists the buses that consumers see, as CatalogueHotels does. The rows have their driver's phone and
// license, which consumers must never see. Error: VALIDATION_ERROR on sort.
func (s *Store) CatalogueBuses(ctx context.Context, f BusFilter) (db.Listed[models.Bus], error) {
	f.Status = models.StatusActive

	return db.List[models.Bus](ctx, f.apply(offered(s.db)), f.Page, busOrder)
}

// CatalogueRestStops lists the rest stops that consumers see, as CatalogueHotels does. Error: VALIDATION_ERROR on sort.
func (s *Store) CatalogueRestStops(ctx context.Context, f RestStopFilter) (db.Listed[models.RestStop], error) {
	f.Status = models.StatusActive

	return db.List[models.RestStop](ctx, f.apply(offered(s.db)), f.Page, restStopOrder)
}

// offered selects live resources of ACTIVE providers.
func offered(db bun.IDB) *bun.SelectQuery {
	return platformScope.live(db.NewSelect()).ColumnExpr("?TableColumns").
		Join("JOIN providers AS p ON p.id = ?TableAlias.provider_id").Where("p.status = ?", models.StatusActive)
}
