package catalogue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// Company is the company that the actor acts for, with its contact persons. Error: FORBIDDEN for everybody else.
func (s *Store) Company(ctx context.Context, by db.Actor) (models.Company, error) {
	var c models.Company

	own, err := ownCompany(by)
	if err != nil {
		return c, err
	}

	if c.Provider, err = s.ProviderByID(ctx, own); err != nil {
		return c, err
	}

	c.Contacts, err = contactsOf(ctx, s.db, own)

	return c, err
}

func ownCompany(by db.Actor) (uuid.UUID, error) {
	if !by.Role.IsProvider() || by.ProviderID == uuid.Nil {
		return uuid.Nil, models.NewError(models.CodeForbidden, "access.provider_resources")
	}

	return by.ProviderID, nil
}

func contactsOf(ctx context.Context, in bun.IDB, provider uuid.UUID) ([]models.ProviderContact, error) {
	contacts := []models.ProviderContact{}

	err := in.NewSelect().Model(&contacts).Where("pc.provider_id = ?", provider).Order("pc.position").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read contact persons: %w", err)
	}

	return contacts, nil
}

// UpdateCompany changes name, phone and contact persons of the actor's company under its row lock; apply gets it as it is, may run more
// than once, and its error is returned. The audit log has digests of the contact persons. Errors: FORBIDDEN, also while the company is
// INACTIVE; VALIDATION_ERROR on contact_persons when two have one address.
func (s *Store) UpdateCompany(ctx context.Context, by db.Actor, apply func(*models.Company) error) (models.Company, error) {
	var c models.Company

	own, err := ownCompany(by)
	if err != nil {
		return c, err
	}

	p, err := s.changeProvider(ctx, own, func(ctx context.Context, tx bun.Tx, p *models.Provider) (err error) {
		if p.Status != models.StatusActive {
			return models.NewError(models.CodeForbidden, "access.provider_inactive")
		}

		c = models.Company{Provider: *p}
		if c.Contacts, err = contactsOf(ctx, tx, own); err != nil {
			return err
		}

		was := companyState(&c)

		if err := apply(&c); err != nil {
			return err
		}

		if err := c.CheckContacts(); err != nil {
			return err
		}

		before, after := changedFields(was, companyState(&c))
		if len(after) == 0 {
			return nil
		}

		if err := writeCompany(ctx, tx, &c); err != nil {
			return err
		}

		*p = c.Provider

		return db.Audit(ctx, tx, by, models.AuditProviderUpdated, models.EntityProvider, &own, map[string]any{"before": before, "after": after})
	})
	c.Provider = p

	return c, err
}

func writeCompany(ctx context.Context, tx bun.Tx, c *models.Company) error {
	_, err := tx.NewUpdate().Model(&c.Provider).Column("name", "phone").Set("updated_at = now()").Where("id = ?", c.ID).
		Returning("?Columns").Exec(ctx)
	if err != nil {
		return fmt.Errorf("update company: %w", err)
	}

	if _, err := tx.NewDelete().Model((*models.ProviderContact)(nil)).Where("provider_id = ?", c.ID).Exec(ctx); err != nil {
		return fmt.Errorf("take contact persons away: %w", err)
	}

	if len(c.Contacts) == 0 {
		return nil
	}

	if _, err := tx.NewInsert().Model(&c.Contacts).Exec(ctx); err != nil {
		return fmt.Errorf("insert contact persons: %w", err)
	}

	return nil
}

// companyState is what the audit log says of a company that changes itself: of its contact persons digests, and what they are sent.
func companyState(c *models.Company) map[string]any {
	contacts := make([]map[string]any, len(c.Contacts))

	for i := range c.Contacts {
		p := &c.Contacts[i]
		sum := sha256.Sum256([]byte(c.ID.String() + ":" + p.Name + "\n" + p.Email + "\n" + p.Phone))
		contacts[i] = map[string]any{"sha256": hex.EncodeToString(sum[:]), "messages": p.Messages}
	}

	return map[string]any{"name": c.Name, "phone": c.Phone, "contact_persons": contacts}
}
