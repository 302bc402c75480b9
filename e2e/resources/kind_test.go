package resources_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// resourceKind is a resource that a company runs. The rules that all of them share are tested once, for each.
type resourceKind struct {
	path string
	// body is all that PUT takes; name is put where text says.
	body func(s *harness.Stack, name string) object
	text string
	// optional are the fields that may be left out, and what they are then.
	optional object
	sorts    []string
}

func (k resourceKind) test(t *testing.T, s *harness.Stack) {
	t.Helper()
	t.Run("life", func(t *testing.T) { k.life(t, s.For(t)) })
	t.Run("replacing", func(t *testing.T) { k.replacing(t, s.For(t)) })
	t.Run("patching", func(t *testing.T) { k.patching(t, s.For(t)) })
	t.Run("owners", func(t *testing.T) { k.owners(t, s.For(t)) })
	t.Run("admins", func(t *testing.T) { k.admins(t, s.For(t)) })
	t.Run("inactive", func(t *testing.T) { k.inactive(t, s.For(t)) })
	t.Run("list", func(t *testing.T) { k.list(t, s.For(t)) })
}

func (k resourceKind) create(t *testing.T, s *harness.Stack, c *harness.Caller, name string) (resource object, location string) {
	t.Helper()

	return made(t, call(t, c, http.MethodPost, k.path, k.body(s, name)))
}

// holds checks that a resource has what was asked for.
func holds(t *testing.T, want, got object) {
	t.Helper()

	for field, value := range want {
		require.EqualValues(t, plain(t, value), plain(t, got[field]), field)
	}
}

// life goes from create to delete.
func (k resourceKind) life(t *testing.T, s *harness.Stack) {
	t.Helper()

	c := s.As(models.RoleProviderStaff)
	body := k.body(s, "First")
	resource, location := made(t, call(t, c, http.MethodPost, k.path, body))
	holds(t, body, resource)
	require.Equal(t, s.World.Provider.ID.String(), resource["provider_id"])
	require.NotEmpty(t, resource["status_label_ar"])
	require.NotEmpty(t, resource["status_label_en"])
	require.Equal(t, resource, data(t, http.StatusOK, c.Get(location)))
	require.Contains(t, listIDs(t, c, k.path), resource["id"])

	require.Equal(t, http.StatusNoContent, call(t, c, http.MethodDelete, location, nil).Status)
	require.NotContains(t, listIDs(t, c, k.path), resource["id"])

	never := c.Get(k.path + "/" + uuid.NewString())

	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut, http.MethodPatch} {
		var body any

		switch method {
		case http.MethodPut:
			body = k.body(s, "Second")
		case http.MethodPatch:
			body = object{}
		}

		a := call(t, c, method, location, body)
		refused(t, a, http.StatusNotFound, models.CodeNotFound)
		require.Equal(t, string(never.Body), string(a.Body), "what is deleted looks like what never was")
	}

	refused(t, c.Get(k.path+"/1"), http.StatusNotFound, models.CodeNotFound)
}

// replacing is PUT: all of it, with defaults for what is left out.
func (k resourceKind) replacing(t *testing.T, s *harness.Stack) {
	t.Helper()

	c := s.As(models.RoleProviderAdmin)
	before, location := k.create(t, s, c, "First")

	body := k.body(s, "Second")
	for field := range k.optional {
		delete(body, field)
	}

	after := data(t, http.StatusOK, call(t, c, http.MethodPut, location, body))
	holds(t, body, after)
	holds(t, k.optional, after)
	require.Equal(t, before["id"], after["id"])
	require.Equal(t, before["created_at"], after["created_at"])
	require.Equal(t, after, data(t, http.StatusOK, c.Get(location)))

	// Null is the same as leaving it out.
	for field := range k.optional {
		body[field] = nil
	}

	holds(t, k.optional, data(t, http.StatusOK, call(t, c, http.MethodPut, location, body)))

	for field := range k.body(s, "Third") {
		if _, ok := k.optional[field]; ok {
			continue
		}

		for _, method := range []string{http.MethodPost, http.MethodPut} {
			path := location
			if method == http.MethodPost {
				path = k.path
			}

			without := k.body(s, "Third")
			delete(without, field)
			invalid(t, call(t, c, method, path, without), field)
		}
	}

	unknown := k.body(s, "Third")
	unknown["provider_id"] = s.World.Provider.ID
	invalid(t, call(t, c, http.MethodPut, location, unknown), "provider_id")
	invalid(t, call(t, c, http.MethodPost, k.path, unknown), "provider_id")
	refused(t, callAs(t, c, http.MethodPut, location, unknown, mergePatch), http.StatusUnsupportedMediaType, models.CodeUnsupportedMediaType)
}

// patching is RFC 7396.
func (k resourceKind) patching(t *testing.T, s *harness.Stack) {
	t.Helper()

	c := s.As(models.RoleProviderStaff)
	before, location := k.create(t, s, c, "First")

	for i, contentType := range []string{"application/json", mergePatch, mergePatch + "; charset=utf-8"} {
		name := "Patched " + string(rune('A'+i))
		after := data(t, http.StatusOK, callAs(t, c, http.MethodPatch, location, object{k.text: name}, contentType))
		require.Equal(t, name, after[k.text])

		want := maps.Clone(before)
		want[k.text], want["updated_at"] = name, after["updated_at"]
		require.Equal(t, want, after, "nothing else changes")
	}

	same := data(t, http.StatusOK, call(t, c, http.MethodPatch, location, object{}))
	require.Equal(t, "Patched C", same[k.text])

	for field, otherwise := range k.optional {
		after := data(t, http.StatusOK, call(t, c, http.MethodPatch, location, object{field: nil}))
		require.EqualValues(t, plain(t, otherwise), plain(t, after[field]), field)
	}

	for field := range k.body(s, "Third") {
		if _, ok := k.optional[field]; !ok {
			invalid(t, call(t, c, http.MethodPatch, location, object{field: nil}), field)
		}
	}

	invalid(t, call(t, c, http.MethodPatch, location, object{"id": uuid.NewString(), "colour": 1}), "id", "colour")
	invalid(t, call(t, c, http.MethodPatch, location, object{k.text: 7}), k.text)
	invalid(t, call(t, c, http.MethodPatch, location, []int{1}), "body")
	refused(t, call(t, c, http.MethodPatch, location, []byte("{")), http.StatusBadRequest, models.CodeMalformedRequest)
	refused(t, callAs(t, c, http.MethodPatch, location, object{}, "text/plain"), http.StatusUnsupportedMediaType, models.CodeUnsupportedMediaType)
	require.Equal(t, "Patched C", data(t, http.StatusOK, c.Get(location))[k.text])
}

// owners checks that other companies' resources look like none, and that other roles get nowhere.
func (k resourceKind) owners(t *testing.T, s *harness.Stack) {
	t.Helper()

	c, other := s.As(models.RoleProviderStaff), s.For(t)
	resource, location := k.create(t, s, c, "Mine")
	stranger := other.As(models.RoleProviderAdmin)
	never := stranger.Get(k.path + "/" + uuid.NewString())

	for method, body := range map[string]any{
		http.MethodGet: nil, http.MethodPut: k.body(s, "Theirs"), http.MethodPatch: object{k.text: "Theirs"}, http.MethodDelete: nil,
	} {
		a := call(t, stranger, method, location, body)
		refused(t, a, http.StatusNotFound, models.CodeNotFound)
		require.Equal(t, string(never.Body), string(a.Body))
	}

	require.NotContains(t, listIDs(t, stranger, k.path), resource["id"])
	require.NotContains(t, listIDs(t, stranger, k.path+"?provider_id="+s.World.Provider.ID.String()), resource["id"])
	require.Equal(t, resource, data(t, http.StatusOK, c.Get(location)))

	// Whatever provider their request names, staff create for their own.
	mine, _ := made(t, call(t, c, http.MethodPost, k.path+"?provider_id="+other.World.Provider.ID.String(), k.body(s, "Also mine")))
	require.Equal(t, s.World.Provider.ID.String(), mine["provider_id"])

	refused(t, s.Anybody().Get(k.path), http.StatusUnauthorized, models.CodeUnauthenticated)

	for _, role := range []models.Role{models.RoleEndUser, models.RoleSupportAgent, models.RoleFinanceAdmin} {
		refused(t, s.As(role).Get(k.path), http.StatusForbidden, models.CodeForbidden)
		refused(t, call(t, s.As(role), http.MethodPost, k.path, object{"x": 1}), http.StatusForbidden, models.CodeForbidden)
	}
}

// admins see and change everything, and name whom they create for.
func (k resourceKind) admins(t *testing.T, s *harness.Stack) {
	t.Helper()

	other, word := s.For(t), mark()
	mine, location := k.create(t, s, s.As(models.RoleProviderStaff), word[:18])
	theirs, _ := k.create(t, other, other.As(models.RoleProviderStaff), word[:18])

	for _, role := range []models.Role{models.RoleAdmin, models.RoleSuperAdmin} {
		admin := s.As(role)
		require.Equal(t, []any{mine["id"], theirs["id"]}, anys(listIDs(t, admin, k.path+"?search="+word[:18])))
		require.Equal(t, []any{theirs["id"]}, anys(listIDs(t, admin, k.path+"?search="+word[:18]+"&provider_id="+other.World.Provider.ID.String())))
		require.Equal(t, mine, data(t, http.StatusOK, admin.Get(location)))
		invalid(t, call(t, admin, http.MethodPost, k.path, k.body(s, "No owner")), "provider_id")
		invalid(t, call(t, admin, http.MethodPost, k.path+"?provider_id=1", k.body(s, "No owner")), "provider_id")
		refused(t, call(t, admin, http.MethodPost, k.path+"?provider_id="+uuid.NewString(), k.body(s, "No owner")),
			http.StatusNotFound, models.CodeNotFound)
	}

	admin := s.As(models.RoleAdmin)
	created, place := made(t, call(t, admin, http.MethodPost, k.path+"?provider_id="+s.World.Provider.ID.String(), k.body(s, "By admin")))
	require.Equal(t, s.World.Provider.ID.String(), created["provider_id"])
	require.Equal(t, "Renamed", data(t, http.StatusOK, call(t, admin, http.MethodPatch, place, object{k.text: "Renamed"}))[k.text])
	require.Equal(t, http.StatusNoContent, call(t, admin, http.MethodDelete, place, nil).Status)
}

// inactive staff read and do not write, whatever they send; admins do.
func (k resourceKind) inactive(t *testing.T, s *harness.Stack) {
	t.Helper()

	c, admin := s.As(models.RoleProviderAdmin), s.As(models.RoleAdmin)
	resource, location := k.create(t, s, c, "First")

	deactivate(t, s)
	require.Equal(t, resource, data(t, http.StatusOK, c.Get(location)))
	require.Contains(t, listIDs(t, c, k.path), resource["id"])

	for method, body := range map[string]any{
		http.MethodPut: k.body(s, "Second"), http.MethodPatch: object{"unknown": 1}, http.MethodDelete: nil,
	} {
		refused(t, call(t, c, method, location, body), http.StatusForbidden, models.CodeForbidden)
	}

	refused(t, call(t, c, http.MethodPost, k.path, k.body(s, "Second")), http.StatusForbidden, models.CodeForbidden)
	require.Equal(t, "By admin", data(t, http.StatusOK, call(t, admin, http.MethodPatch, location, object{k.text: "By admin"}))[k.text])

	activate(t, s)
	require.Equal(t, "Second", data(t, http.StatusOK, call(t, c, http.MethodPatch, location, object{k.text: "Second"}))[k.text])
}

// list checks pages, orders and search.
func (k resourceKind) list(t *testing.T, s *harness.Stack) {
	t.Helper()

	c, word := s.As(models.RoleProviderStaff), mark()[:10]
	names := []string{"b", "a", "C", "é", "ب", "10%", "1_0", "x", "y", "z", "w"}
	ids := make([]string, 0, len(names))

	for _, name := range names {
		resource, _ := k.create(t, s, c, word+" "+name)
		ids = append(ids, resource["id"].(string))
	}

	require.Equal(t, ids[:10], listIDs(t, c, k.path+"?per_page=10&search="+word))
	require.Equal(t, ids[10:], listIDs(t, c, k.path+"?per_page=10&page=2&search="+word))
	require.Empty(t, listIDs(t, c, k.path+"?page=3&search="+word))
	require.Equal(t, ids[5:6], listIDs(t, c, k.path+"?search="+word+"%2010%25"), "%% is an ordinary character")
	require.Equal(t, ids[6:7], listIDs(t, c, k.path+"?search="+word+"%201_"), "_ is an ordinary character")
	require.Equal(t, ids[4:5], listIDs(t, c, k.path+"?search="+word+"%20%D8%A8"))
	require.Equal(t, http.StatusUnprocessableEntity, c.Get(k.path+"?unknown=1&search="+word).Status)

	newest := slices.Clone(ids)
	slices.Reverse(newest)
	require.Equal(t, newest, listIDs(t, c, k.path+"?sort=-created_at&search="+word))

	for _, field := range k.sorts {
		require.Len(t, listIDs(t, c, k.path+"?search="+word+"&sort=-"+field+",created_at"), 11, field)
	}

	for query, field := range map[string]string{
		"sort=id": "sort", "sort=": "sort", "sort=created_at,,": "sort", "page=0": "page", "per_page=9": "per_page",
		"per_page=101": "per_page", "provider_id=x": "provider_id", "status=LOST": "status",
	} {
		invalid(t, c.Get(k.path+"?"+query), field)
	}
}

func anys(ids []string) []any {
	out := make([]any, len(ids))
	for i, id := range ids {
		out[i] = id
	}

	return out
}
