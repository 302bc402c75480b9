package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
)

// Every list belongs to a module with a variable, and every variable to lists.
func TestModulesOfPageSizes(t *testing.T) {
	t.Parallel()

	doc, err := Document()
	require.NoError(t, err)

	modules := map[string]bool{}

	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			if op.Parameters.GetByInAndName("query", "per_page") != nil {
				modules[moduleOf(op.Tags[0])] = true
			}
		}
	}

	require.Equal(t, slices.Sorted(maps.Keys(modules)), slices.Sorted(maps.Keys(config.PageSizes{}.ByModule())))
}

// The greatest page of a module is its own: of what requests are checked against, and of the document that is served.
func TestPageSizes(t *testing.T) {
	t.Parallel()

	b := setup(t, func(d *Deps) { d.PageSizes = map[string]int{"TRIPS": 50, "BOOKINGS": 250, "FINANCIAL_RECORDS": 100} })

	for query, want := range map[string]int{
		"/api/v1/trips?per_page=50": http.StatusOK, "/api/v1/trips?per_page=51": http.StatusUnprocessableEntity,
		"/api/v1/trips?per_page=9":                     http.StatusUnprocessableEntity,
		"/api/v1/admin/financial-records?per_page=100": http.StatusOK,
		"/api/v1/admin/financial-records?per_page=101": http.StatusUnprocessableEntity,
	} {
		require.Equal(t, want, b.call(t, http.MethodGet, query, "ADMIN", "").status, query)
	}

	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name   string `json:"name"`
				Ref    string `json:"$ref"`
				Schema struct {
					Maximum int `json:"maximum"`
				} `json:"schema"`
			} `json:"parameters"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					MaxItems int `json:"maxItems"`
				} `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}

	served := b.call(t, http.MethodGet, "/openapi.json", "", "")
	require.NoError(t, json.Unmarshal([]byte(served.body), &doc))

	most := func(path string) int {
		for _, p := range doc.Paths[path]["get"].Parameters {
			if p.Name == "per_page" {
				return p.Schema.Maximum
			}
		}

		return 0
	}

	require.Equal(t, 50, most("/api/v1/trips"))
	require.Equal(t, 250, most("/api/v1/admin/bookings"))
	require.Equal(t, 250, most("/api/v1/my/bookings"))
	require.Zero(t, most("/api/v1/admin/providers"), "it refers to what all others have")
	require.Equal(t, 250, doc.Components.Schemas["BookingsAnswer"].Properties["data"].MaxItems)
	require.Equal(t, 100, doc.Components.Schemas["ProvidersAnswer"].Properties["data"].MaxItems)

	untouched, err := withPageSizes(source, map[string]int{"TRIPS": 100})
	require.NoError(t, err)
	require.Equal(t, string(source), string(untouched))
}
