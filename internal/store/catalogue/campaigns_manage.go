package catalogue

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// CampaignFilter narrows a list of campaigns; zero fields do not.
type CampaignFilter struct {
	ProviderID uuid.UUID
	TripID     uuid.UUID
	Status     models.CampaignStatus
	Search     string // part of title or description
	Page       db.Page
}

var campaignOrder = db.Order{
	Columns: map[string]string{
		"title": "ac.title", "status": "ac.status", "starts_on": "ac.starts_on", "ends_on": "ac.ends_on",
		"price": "ac.price", "created_at": "ac.created_at",
	},
	ID:       "ac.id",
	Fallback: db.Sort{Field: "created_at"},
}

var campaignKind = resourceKind[models.AdCampaign]{
	entity: models.EntityAdCampaign,
	noted:  resourceActions{models.AuditAdCampaignCreated, models.AuditAdCampaignUpdated, models.AuditAdCampaignDeleted},
	ids:    func(c *models.AdCampaign) (id, provider *uuid.UUID) { return &c.ID, &c.ProviderID },
	keep:   []string{"status", "created_by", "return_url", "return_base"},
	state: func(c *models.AdCampaign) map[string]any {
		return map[string]any{
			"trip_id": c.TripID.String(), "title": c.Title, "description": c.Description, "starts_on": c.StartsOn.String(),
			"ends_on": c.EndsOn.String(), "price": c.Price, "status": string(c.Status),
		}
	},
}

func (f CampaignFilter) apply(q *bun.SelectQuery) *bun.SelectQuery {
	q = db.WhereEqual(q, "ac.provider_id", f.ProviderID)
	q = db.WhereEqual(q, "ac.trip_id", f.TripID)
	q = db.WhereEqual(q, "ac.status", f.Status)

	return db.WhereFound(q, "ad_campaigns", "ac.id", f.Search)
}

// ListCampaigns lists the campaigns that the actor sees, oldest first, with their payments. Errors: VALIDATION_ERROR on sort,
// FORBIDDEN.
func (s *Store) ListCampaigns(ctx context.Context, by db.Actor, f CampaignFilter) (db.Listed[models.AdCampaign], error) {
	page, err := listResources[models.AdCampaign](ctx, s, by, f.ProviderID, f.Page, campaignOrder, f.apply)
	if err != nil {
		return page, err
	}

	return page, loadPayments(ctx, s.db, page.Items)
}

// GetCampaign finds a campaign that the actor sees, with its payment. Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) GetCampaign(ctx context.Context, by db.Actor, id uuid.UUID) (models.AdCampaign, error) {
	c, err := getResource[models.AdCampaign](ctx, s, by, id)
	if err != nil {
		return c, err
	}

	one := []models.AdCampaign{c}
	err = loadPayments(ctx, s.db, one)

	return one[0], err
}

// loadPayments fills Payment: of each campaign the attempt that has paid it, else the one that is open.
func loadPayments(ctx context.Context, conn bun.IDB, campaigns []models.AdCampaign) error {
	if len(campaigns) == 0 {
		return nil
	}

	at := make(map[uuid.UUID]int, len(campaigns))
	ids := make([]uuid.UUID, len(campaigns))

	for i := range campaigns {
		ids[i] = campaigns[i].ID
		at[campaigns[i].ID] = i
	}

	var attempts []models.PaymentTransaction

	// One more attempt of a campaign that is paid may be open: PAID is read last.
	err := conn.NewSelect().Model(&attempts).Column("ad_campaign_id", "amount", "vat_amount", "vat_rate").
		Where("ad_campaign_id IN (?)", bun.List(ids)).Where("kind = ?", models.KindPayment).
		Where("status IN (?, ?)", models.TransactionPending, models.TransactionPaid).
		OrderExpr("status = ?", models.TransactionPaid).Scan(ctx)
	if err != nil {
		return fmt.Errorf("read payments of campaigns: %w", err)
	}

	for i := range attempts {
		campaigns[at[*attempts[i].AdCampaignID]].Payment = &attempts[i]
	}

	return nil
}

// CreateCampaign adds a campaign, PENDING_PAYMENT, for a live trip of the provider; ProviderID is read for admins
// only, who must give it. Errors: REFERENCE_NOT_OWNED on trip_id, VALIDATION_ERROR on starts_on, ends_on, price or
// provider_id, FORBIDDEN, NOT_FOUND (no such provider).
func (s *Store) CreateCampaign(
	ctx context.Context, by db.Actor, c models.AdCampaign, now time.Time,
) (models.AdCampaign, error) {
	c.Status, c.CreatedBy = models.CampaignPendingPayment, by.UserID
	if c.ID == uuid.Nil {
		c.ID = models.NewSubjectID()
	}

	return createResource(ctx, s, campaignKind, by, c, func(ctx context.Context, tx bun.Tx, c *models.AdCampaign) error {
		return s.checkCampaign(ctx, tx, c, models.Date{}, now)
	}, nil)
}

// UpdateCampaign changes a campaign under its row lock while it is unpaid and no payment of it is under way; apply
// gets it as it is, may run more than once, and its error is returned. The status stays. Errors: NOT_FOUND,
// INVALID_STATE and those of CreateCampaign; a first day that is not changed may have come.
func (s *Store) UpdateCampaign(
	ctx context.Context, by db.Actor, id uuid.UUID, apply func(*models.AdCampaign) error, now time.Time,
) (models.AdCampaign, error) {
	return s.changeCampaign(ctx, by, id, func(ctx context.Context, tx bun.Tx, c *models.AdCampaign) error {
		if err := campaignEditable(ctx, tx, c); err != nil {
			return err
		}

		starts := c.StartsOn

		return campaignKind.change(ctx, tx, by, c, apply, func(ctx context.Context, tx bun.Tx, c *models.AdCampaign) error {
			return s.checkCampaign(ctx, tx, c, starts, now)
		}, nil)
	})
}

// DeleteCampaign deletes a campaign softly while it is unpaid and no payment of it is under way. Errors: NOT_FOUND,
// also the second time; INVALID_STATE; FORBIDDEN.
func (s *Store) DeleteCampaign(ctx context.Context, by db.Actor, id uuid.UUID, now time.Time) error {
	return deleteResource(ctx, s, campaignKind, by, id, campaignEditable, now)
}

// PauseCampaign stops a campaign that runs or is going to; one that is paused stays as it is. Errors: INVALID_STATE,
// NOT_FOUND, FORBIDDEN.
func (s *Store) PauseCampaign(ctx context.Context, by db.Actor, id uuid.UUID, now time.Time) (models.AdCampaign, error) {
	return s.moveCampaign(ctx, by, id, models.AuditAdCampaignPaused, func(c *models.AdCampaign) (models.CampaignStatus, error) {
		return c.Pause(now)
	})
}

// ResumeCampaign ends a pause: the campaign becomes what its dates ask for, ENDED included; one that is not paused, and
// not over, stays as it is. Errors: INVALID_STATE, NOT_FOUND, FORBIDDEN.
func (s *Store) ResumeCampaign(ctx context.Context, by db.Actor, id uuid.UUID, now time.Time) (models.AdCampaign, error) {
	return s.moveCampaign(ctx, by, id, models.AuditAdCampaignResumed, func(c *models.AdCampaign) (models.CampaignStatus, error) {
		return c.Resume(now)
	})
}

func (s *Store) moveCampaign(
	ctx context.Context, by db.Actor, id uuid.UUID, action models.AuditAction,
	rule func(*models.AdCampaign) (models.CampaignStatus, error),
) (models.AdCampaign, error) {
	return s.changeCampaign(ctx, by, id, func(ctx context.Context, tx bun.Tx, c *models.AdCampaign) error {
		to, err := rule(c)
		if err != nil || to == c.Status {
			return err
		}

		from := c.Status
		c.Status = to

		res, err := tx.NewUpdate().Model(c).Column("status").Set("updated_at = now()").
			WherePK().Where("status = ?", from).Returning("?Columns").Exec(ctx)
		if err != nil {
			return fmt.Errorf("move campaign: %w", err)
		}

		if err := db.AffectedOne(res, "campaign"); err != nil {
			return err
		}

		return campaignKind.note(ctx, tx, by, action, id,
			map[string]any{"status": string(from)}, map[string]any{"status": string(to)})
	})
}

// changeCampaign runs a change of a campaign under its row lock, which payments take before they open an attempt.
func (s *Store) changeCampaign(
	ctx context.Context, by db.Actor, id uuid.UUID, do resourceStep[models.AdCampaign],
) (models.AdCampaign, error) {
	var c models.AdCampaign

	err := s.write(ctx, by, func(ctx context.Context, tx bun.Tx, sc scope) (err error) {
		if c, err = loadResource[models.AdCampaign](ctx, tx, sc, id, "NO KEY UPDATE"); err != nil {
			return err
		}

		if err := do(ctx, tx, &c); err != nil {
			return err
		}

		one := []models.AdCampaign{c}
		err = loadPayments(ctx, tx, one)
		c = one[0]

		return err
	})
	if err != nil {
		return models.AdCampaign{}, err
	}

	return c, nil
}

// campaignEditable says whether a locked campaign can be changed: it is unpaid, and has no open attempt. Error:
// INVALID_STATE.
func campaignEditable(ctx context.Context, tx bun.Tx, c *models.AdCampaign) error {
	if err := c.Editable(); err != nil {
		return err
	}

	paying, err := tx.NewSelect().Model((*models.PaymentTransaction)(nil)).
		Where("pt.ad_campaign_id = ?", c.ID).Where("pt.status = ?", models.TransactionPending).Exists(ctx)
	if err != nil {
		return fmt.Errorf("look for attempts: %w", err)
	}

	if paying {
		return models.NewError(models.CodeInvalidState, "campaign.payment_open")
	}

	return nil
}

// checkCampaign holds a campaign against the rules, and its trip against its provider; the trip cannot be deleted
// before the campaign is written.
func (s *Store) checkCampaign(
	ctx context.Context, tx bun.Tx, c *models.AdCampaign, startedOn models.Date, now time.Time,
) error {
	amount, _ := models.AddVAT(c.Price, s.policies.VATAd)

	trips, err := lockOwn[models.Trip](ctx, tx, scope{provider: c.ProviderID}, []uuid.UUID{c.TripID})

	switch {
	case err != nil:
		return err
	case len(trips) == 0:
		return &models.Error{
			Code: models.CodeReferenceNotOwned, Text: models.TextOf("campaign.foreign_trip"),
			Details: map[string][]models.Text{"trip_id": {models.TextOf("campaign.trip")}},
		}
	case models.TripStatus(trips[0].Status).IsCalledOff():
		return models.Invalid("trip_id", "campaign.trip_called_off_field")
	case !c.Price.IsPositive():
		return models.Invalid("price", "field.positive")
	case !amount.Fits():
		return models.Invalid("price", "campaign.price_with_vat")
	}

	if err := c.CheckDates(startedOn, now); err != nil {
		return err
	}

	return c.CheckPrice(s.policies.AdPerDay)
}
