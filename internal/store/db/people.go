package db

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// People are where the names of accounts are wanted, by their ids.
type People map[uuid.UUID][]*string

// Name asks for the name of an account, if there is one, at a place.
func (p People) Name(id *uuid.UUID, place *string) {
	if id != nil {
		p[*id] = append(p[*id], place)
	}
}

// Read fills in the names by one query, and none when there is nothing to name. An account that was removed keeps its name.
func (p People) Read(ctx context.Context, from bun.IDB) error {
	if len(p) == 0 {
		return nil
	}

	ids := make([]uuid.UUID, 0, len(p))
	for id := range p {
		ids = append(ids, id)
	}

	var people []models.User
	if err := from.NewSelect().Model(&people).Column("id", "name").Where("u.id IN (?)", bun.List(ids)).Scan(ctx); err != nil {
		return fmt.Errorf("read names: %w", err)
	}

	for i := range people {
		for _, place := range p[people[i].ID] {
			*place = people[i].Name
		}
	}

	return nil
}
