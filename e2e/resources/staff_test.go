package resources_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

func account(role models.Role) object {
	return object{
		"name": "موظف " + mark(), "email": mark() + "@rihla.test", "phone": "+966500000008", "role": role,
		"password": "a-long-enough-password",
	}
}

func staff(t *testing.T, s *harness.Stack) {
	t.Helper()

	admin := s.As(models.RoleAdmin)
	path := providersPath + "/" + s.World.Provider.ID.String() + "/staff"
	body := account(models.RoleProviderAdmin)

	resource, location := made(t, call(t, admin, http.MethodPost, path, body))
	require.NotContains(t, resource, "password")
	require.Equal(t, s.World.Provider.ID.String(), resource["provider_id"])
	require.Equal(t, "Provider admin", resource["role_label_en"])
	require.Equal(t, resource, data(t, http.StatusOK, admin.Get(location)))

	// The account works, for its company.
	login := data(t, http.StatusOK, call(t, s.Anybody(), http.MethodPost, "/api/v1/auth/login",
		object{"email": body["email"], "password": body["password"]}))
	c := s.With(login["access_token"].(string))
	require.Contains(t, listIDs(t, c, hotels.path), s.World.Hotel.ID.String())
	refused(t, c.Get(path), http.StatusForbidden, models.CodeForbidden)

	second, _ := made(t, call(t, admin, http.MethodPost, path, account(models.RoleProviderStaff)))
	require.Len(t, listIDs(t, admin, path), 4, "two of them are the World's")
	require.Contains(t, listIDs(t, admin, path+"?role=PROVIDER_STAFF&sort=-created_at"), second["id"])
	require.NotContains(t, listIDs(t, admin, path+"?role=PROVIDER_STAFF"), resource["id"])
	require.Equal(t, []string{resource["id"].(string)}, listIDs(t, admin, path+"?sort=name&search="+body["email"].(string)[:16]))
	invalid(t, admin.Get(path+"?role=ADMIN&sort=email"), "role", "sort")

	refused(t, call(t, admin, http.MethodPost, path, body), http.StatusConflict, models.CodeEmailAlreadyExists)

	for _, role := range []models.Role{models.RoleEndUser, models.RoleAdmin, models.RoleSuperAdmin, "OWNER"} {
		invalid(t, call(t, admin, http.MethodPost, path, account(role)), "role")
	}

	short := account(models.RoleProviderStaff)
	short["password"] = "123456789"
	invalid(t, call(t, admin, http.MethodPost, path, short), "password")

	never := providersPath + "/" + uuid.NewString() + "/staff"
	refused(t, admin.Get(never), http.StatusNotFound, models.CodeNotFound)
	refused(t, call(t, admin, http.MethodPost, never, account(models.RoleProviderStaff)), http.StatusNotFound, models.CodeNotFound)
	refused(t, admin.Get(providersPath+"/"+s.For(t).World.Provider.ID.String()+"/staff/"+resource["id"].(string)),
		http.StatusNotFound, models.CodeNotFound)
	refused(t, admin.Get(path+"/"+s.World.Users[models.RoleEndUser].ID.String()), http.StatusNotFound, models.CodeNotFound)
}
