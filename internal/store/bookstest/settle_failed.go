package bookstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/incidents"
	"rihla/models"
)

// Incidents are all incidents, newest first.
func (b *Books) Incidents(t *testing.T) []models.Incident {
	t.Helper()

	l, err := b.Store.Incidents.ListIncidents(t.Context(), incidents.IncidentFilter{})
	require.NoError(t, err)

	return l.Items
}

// EventsOf are the events that an incident keeps.
func EventsOf(i models.Incident) []any { return i.Details["events"].([]any) }
