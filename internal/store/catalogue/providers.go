package catalogue

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// ProviderFilter narrows the list of providers; zero fields do not.
type ProviderFilter struct {
	Search string // part of name, email or phone
	Status string
	Page   db.Page
}

var providerOrder = db.Order{
	Columns:  map[string]string{"name": "p.name", "status": "p.status", "created_at": "p.created_at"},
	ID:       "p.id",
	Fallback: db.Sort{Field: "created_at"},
}

// ListProviders lists companies, ACTIVE or not, oldest first. Error: VALIDATION_ERROR on sort.
func (s *Store) ListProviders(ctx context.Context, f ProviderFilter) (db.Listed[models.Provider], error) {
	q := db.WhereEqual(s.db.NewSelect(), "p.status", f.Status)
	q = db.WhereFound(q, "providers", "p.id", f.Search)

	return db.List[models.Provider](ctx, q, f.Page, providerOrder)
}

// ProviderStats are the numbers of a provider's dashboard cards, over all time; amounts in SAR.
type ProviderStats struct {
	Buses, Hotels, RestStops, Trips int64        // those that are not deleted, in whatever status
	Bookings                        int64        // CONFIRMED ones
	Gross, Net                      models.Money // of what was sold and not refunded, as on the report's cards (rules: reports.cards)
	InCurrentBalance                models.Money // accrued and not paid out; claw-backs lower it
}

// ProviderWithStats finds a company, ACTIVE or not, and its numbers. Error: NOT_FOUND.
func (s *Store) ProviderWithStats(ctx context.Context, id uuid.UUID) (models.Provider, ProviderStats, error) {
	p, err := s.ProviderByID(ctx, id)
	if err != nil {
		return models.Provider{}, ProviderStats{}, err
	}

	var st ProviderStats

	err = s.db.QueryRowContext(ctx, `
		SELECT
		    (SELECT count(*) FROM buses WHERE provider_id = ?0 AND deleted_at IS NULL),
		    (SELECT count(*) FROM hotels WHERE provider_id = ?0 AND deleted_at IS NULL),
		    (SELECT count(*) FROM rest_stops WHERE provider_id = ?0 AND deleted_at IS NULL),
		    (SELECT count(*) FROM trips WHERE provider_id = ?0 AND deleted_at IS NULL),
		    (SELECT count(*) FROM bookings WHERE provider_id = ?0 AND status = 'CONFIRMED'),
		    coalesce(sum(gross_amount), 0), coalesce(sum(net_amount), 0), coalesce(sum(in_current_balance_amount), 0)
		FROM report_days WHERE provider_id = ?0`, id).Scan(
		&st.Buses, &st.Hotels, &st.RestStops, &st.Trips, &st.Bookings, &st.Gross, &st.Net, &st.InCurrentBalance)
	if err != nil {
		return models.Provider{}, ProviderStats{}, fmt.Errorf("read provider numbers: %w", err)
	}

	return p, st, nil
}

// CreateProviderBy is CreateProvider with an actor, with an audit entry. It starts ACTIVE, whatever p says.
func (s *Store) CreateProviderBy(ctx context.Context, by db.Actor, p models.Provider) (models.Provider, error) {
	p.Status = models.StatusActive

	var out models.Provider

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if out, err = insertProvider(ctx, tx, p); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditProviderCreated, models.EntityProvider, &out.ID, map[string]any{
			"commission_rate": out.CommissionRate, "before": nil, "after": providerState(&out),
		})
	})
	if err != nil {
		return models.Provider{}, err
	}

	return out, nil
}

// UpdateProvider changes a company under its row lock; apply gets it as it is, may run more than once, and its error
// is returned. The status stays: SetProviderStatus changes it. Error: NOT_FOUND.
func (s *Store) UpdateProvider(
	ctx context.Context, by db.Actor, id uuid.UUID, apply func(*models.Provider) error,
) (models.Provider, error) {
	return s.changeProvider(ctx, id, func(ctx context.Context, tx bun.Tx, p *models.Provider) error {
		was, wasRate := providerState(p), p.CommissionRate

		if err := apply(p); err != nil {
			return err
		}

		_, err := tx.NewUpdate().Model(p).ExcludeColumn("id", "status", "created_at", "updated_at").
			Set("updated_at = now()").Where("id = ?", id).Returning("?Columns").Exec(ctx)
		if err != nil {
			return fmt.Errorf("update provider: %w", err)
		}

		before, after := changedFields(was, providerState(p))
		// The rate is what money depends on: it is there whether it was changed or not.
		before["commission_rate"], after["commission_rate"] = wasRate, p.CommissionRate

		return db.Audit(ctx, tx, by, models.AuditProviderUpdated, models.EntityProvider, &id, map[string]any{
			"commission_rate": p.CommissionRate, "commission_rate_before": wasRate, "before": before, "after": after,
		})
	})
}

// providerState is what the audit log says of a company.
func providerState(p *models.Provider) map[string]any {
	return map[string]any{
		"name": p.Name, "email": p.Email, "phone": p.Phone, "city": p.City, "commission_rate": p.CommissionRate, "status": p.Status,
	}
}

// SetProviderStatus makes a company ACTIVE or INACTIVE, which shows or hides all that it runs (rules: companies.inactive). One that is
// so already stays as it is, without an audit entry. Error: NOT_FOUND.
func (s *Store) SetProviderStatus(ctx context.Context, by db.Actor, id uuid.UUID, active bool) (models.Provider, error) {
	to, action := models.StatusInactive, models.AuditProviderDeactivated
	if active {
		to, action = models.StatusActive, models.AuditProviderActivated
	}

	return s.changeProvider(ctx, id, func(ctx context.Context, tx bun.Tx, p *models.Provider) error {
		if p.Status == to {
			return nil
		}

		was := p.Status
		p.Status = to

		_, err := tx.NewUpdate().Model(p).Column("status").Set("updated_at = now()").
			Where("id = ?", id).Returning("?Columns").Exec(ctx)
		if err != nil {
			return fmt.Errorf("move provider: %w", err)
		}

		return db.Audit(ctx, tx, by, action, models.EntityProvider, &id, map[string]any{
			"before": map[string]any{"status": was}, "after": map[string]any{"status": to},
		})
	})
}

// changeProvider runs a change of a company under its row lock, for which running writes of its staff are waited for.
func (s *Store) changeProvider(
	ctx context.Context, id uuid.UUID, do func(context.Context, bun.Tx, *models.Provider) error,
) (models.Provider, error) {
	var p models.Provider

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		p = models.Provider{}
		if err := tx.NewSelect().Model(&p).Where("id = ?", id).For("NO KEY UPDATE").Scan(ctx); err != nil {
			return db.NotFound(err)
		}

		return do(ctx, tx, &p)
	})
	if err != nil {
		return models.Provider{}, err
	}

	return p, nil
}

// CreateProvider adds a company. The id and the status may be left out; it starts ACTIVE. The commission rate is
// taken as it is, for 0 is a rate: the default is Policies.Commission.
func (s *Store) CreateProvider(ctx context.Context, p models.Provider) (models.Provider, error) {
	return insertProvider(ctx, s.db, p)
}

func insertProvider(ctx context.Context, db bun.IDB, p models.Provider) (models.Provider, error) {
	if p.ID == uuid.Nil {
		p.ID = models.NewID()
	}

	if p.Status == "" {
		p.Status = models.StatusActive
	}

	if _, err := db.NewInsert().Model(&p).Returning("?Columns").Exec(ctx); err != nil {
		return models.Provider{}, fmt.Errorf("insert provider: %w", err)
	}

	return p, nil
}

// ProviderByID finds a company, ACTIVE or not. Error: NOT_FOUND.
func (s *Store) ProviderByID(ctx context.Context, id uuid.UUID) (models.Provider, error) {
	var p models.Provider

	err := s.db.NewSelect().Model(&p).Where("p.id = ?", id).Scan(ctx)

	return p, db.NotFound(err)
}
