package bookstest

import (
	"github.com/google/uuid"

	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// As is a user of a world as the one who acts.
func As(w storetest.World, role models.Role) db.Actor {
	u := w.Users[role]
	a := db.Actor{UserID: u.ID, Role: role, RequestID: "req-" + string(role)}

	if u.ProviderID != nil {
		a.ProviderID = *u.ProviderID
	}

	return a
}

// IDsOf are the ids of a page.
func IDsOf[T any](page db.Listed[T], err error, id func(T) uuid.UUID) ([]uuid.UUID, error) {
	ids := make([]uuid.UUID, 0, len(page.Items))
	for _, item := range page.Items {
		ids = append(ids, id(item))
	}

	return ids, err
}

// NewBus is a bus of a provider, not inserted yet.
func NewBus(provider uuid.UUID, plate string) models.Bus {
	return models.Bus{
		ProviderID: provider, PlateNumber: plate, Model: "Coach", Capacity: 40, DriverName: "Test Driver", Status: models.StatusActive,
	}
}

// ErrorOf drops a result.
func ErrorOf[T any](_ T, err error) error { return err }
