package resources_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

var hotels = resourceKind{
	path: "/api/v1/provider/hotels", text: "name",
	body: func(_ *harness.Stack, name string) object {
		return object{
			"name": name, "city": "AlUla", "stars": 5, "address": "1 Oasis Road", "description": "واحة", "status": "ACTIVE",
		}
	},
	optional: object{"stars": nil, "address": nil, "description": nil},
	sorts:    []string{"name", "city", "stars", "created_at"},
}

// plain is a value as JSON has it.
func plain(t *testing.T, v any) any {
	t.Helper()

	text, err := json.Marshal(v)
	require.NoError(t, err)

	var out any

	require.NoError(t, json.Unmarshal(text, &out))

	return out
}

func hotelStars(t *testing.T, s *harness.Stack) {
	t.Helper()

	c := s.As(models.RoleProviderAdmin)

	for _, stars := range []int{1, 2, 3, 4, 5, 6, 7} {
		body := hotels.body(s, "Stars")
		body["stars"] = stars
		resource, _ := made(t, call(t, c, http.MethodPost, hotels.path, body))
		require.InDelta(t, stars, resource["stars"], 0)
	}

	for _, stars := range []any{0, 8, -1, 3.5, "5", true} {
		body := hotels.body(s, "Stars")
		body["stars"] = stars
		invalid(t, call(t, c, http.MethodPost, hotels.path, body), "stars")
	}

	require.Len(t, listIDs(t, c, hotels.path+"?stars=6"), 1)
	require.Len(t, listIDs(t, c, hotels.path+"?city=alula&search=STARS"), 7)
	require.Empty(t, listIDs(t, c, hotels.path+"?city=alul"))
	require.Empty(t, listIDs(t, c, hotels.path+"?status=INACTIVE"))
	invalid(t, c.Get(hotels.path+"?stars=8"), "stars")

	body := hotels.body(s, " \t")
	body["city"], body["status"] = "", "UNDER_MAINTENANCE"
	invalid(t, call(t, c, http.MethodPost, hotels.path, body), "name", "city", "status")
}
