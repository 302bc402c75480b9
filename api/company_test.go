package api

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/storetest"
	"rihla/models"
)

const (
	companyPath = "/api/v1/provider/company"
	staffPath   = "/api/v1/provider/staff"
)

type shownCompany struct {
	ID             uuid.UUID
	Name, Phone    string
	Email          string
	ContactPersons []shownContact `json:"contact_persons"`
}

type shownContact struct {
	Name, Email string
	Phone       *string
	Messages    []models.CompanyMessage
}

// TestCompany: administrators change what a company says of itself, staff read it, and nothing is taken away that a patch does not name.
func TestCompany(t *testing.T) {
	t.Parallel()
	b := setupDesk(t)
	patch := func(body string) answer { return b.call(t, http.MethodPatch, companyPath, "PROVIDER_ADMIN", body) }

	is := data[shownCompany](t, http.StatusOK, b.call(t, http.MethodGet, companyPath, "PROVIDER_STAFF", ""))
	require.Equal(t, b.Provider.ID, is.ID)
	require.NotNil(t, is.ContactPersons)
	require.Empty(t, is.ContactPersons)

	is = data[shownCompany](t, http.StatusOK, patch(`{"contact_persons":[{"name":"Booking desk","email":"desk@tours.test","messages":["BOOKED"]},
		{"name":"Accounts","email":"accounts@tours.test","phone":"+966500000001"},{"name":"Silent","email":"silent@tours.test","messages":[]}]}`))
	require.Equal(t, b.Provider.Name, is.Name)

	want := []shownContact{
		{Name: "Booking desk", Email: "desk@tours.test", Messages: []models.CompanyMessage{models.CompanyBooked}},
		{Name: "Accounts", Email: "accounts@tours.test", Phone: new("+966500000001"), Messages: models.CompanyMessages()},
		{Name: "Silent", Email: "silent@tours.test", Messages: []models.CompanyMessage{}},
	}
	require.Equal(t, want, is.ContactPersons)

	is = data[shownCompany](t, http.StatusOK, patch(`{"phone":"+966511111111"}`))
	require.Equal(t, "+966511111111", is.Phone)
	require.Equal(t, want, is.ContactPersons, "a person with nothing switched on stays so")
	require.Equal(t, is, data[shownCompany](t, http.StatusOK, b.call(t, http.MethodGet, companyPath, "PROVIDER_ADMIN", "")))

	is = data[shownCompany](t, http.StatusOK, b.call(t, http.MethodPut, companyPath, "PROVIDER_ADMIN", `{"name":"New Tours","phone":"+966511111111"}`))
	require.Equal(t, "New Tours", is.Name)
	require.Equal(t, b.Provider.Email, is.Email, "an address is changed by the platform")
	require.Empty(t, is.ContactPersons)

	require.Equal(t, 3, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'PROVIDER_UPDATED' AND actor_id = $1", b.Users[models.RoleProviderAdmin].ID))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM audit_log WHERE details::text ~ '(desk@|Booking desk|00000001)'"))
}

func TestCompanyRefuses(t *testing.T) {
	t.Parallel()
	b := setupDesk(t)

	for _, role := range []string{"END_USER", "SUPPORT_AGENT", "ADMIN"} {
		require.Equal(t, http.StatusForbidden, b.call(t, http.MethodGet, companyPath, role, "").status, role)
	}

	require.Equal(t, http.StatusForbidden, b.call(t, http.MethodPatch, companyPath, "PROVIDER_STAFF", `{"phone":"+966511111111"}`).status)

	for body, field := range map[string]string{
		`{"name":null}`: "name", `{"name":" "}`: "name", `{"phone":"1"}`: "phone", `{"email":"a@b.test"}`: "email", `{"commission_rate":0}`: "commission_rate",
		`{"contact_persons":[{"name":"One"}]}`:                                                      "contact_persons.0.email",
		`{"contact_persons":[{"name":"One","email":"a@b.test","messages":["SALE"]}]}`:               "contact_persons.0.messages.0",
		`{"contact_persons":[{"name":"One","email":"a@b.test","messages":["BOOKED","BOOKED"]}]}`:    "contact_persons.0.messages",
		`{"contact_persons":[{"name":"One","email":"a@b.test"},{"name":"Two","email":"A@b.test"}]}`: "contact_persons",
	} {
		a := b.call(t, http.MethodPatch, companyPath, "PROVIDER_ADMIN", body)
		require.Equal(t, http.StatusUnprocessableEntity, a.status, "%s: %s", body, a.body)
		require.Contains(t, a.details, field, body)
	}

	b.Exec(t, "UPDATE providers SET status = 'INACTIVE' WHERE id = $1", b.Provider.ID)
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, companyPath, "PROVIDER_ADMIN", "").status)
	require.Equal(t, http.StatusForbidden, b.call(t, http.MethodPatch, companyPath, "PROVIDER_ADMIN", `{"phone":"+966511111111"}`).status)
}

// TestCompanyStaff: an administrator invites colleagues and removes them, and sees no other company's.
func TestCompanyStaff(t *testing.T) {
	t.Parallel()
	b := setupDesk(t)
	other := storetest.Fixture(t, b.Store)

	a := b.call(t, http.MethodPost, staffPath, "PROVIDER_ADMIN", `{"name":"New One","email":"new@tours.test","phone":"+966500000001","role":"PROVIDER_STAFF"}`)
	invited := data[map[string]string](t, http.StatusCreated, a)
	require.Equal(t, b.Provider.ID.String(), invited["provider_id"])
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'INVITATION' AND recipient = 'new@tours.test'"))

	again := b.call(t, http.MethodPost, staffPath, "PROVIDER_ADMIN", `{"name":"Again","email":"NEW@tours.test","phone":"+966500000001","role":"PROVIDER_STAFF"}`)
	require.Equal(t, string(models.CodeEmailAlreadyExists), again.code)

	require.Len(t, data[[]map[string]string](t, http.StatusOK, b.call(t, http.MethodGet, staffPath, "PROVIDER_ADMIN", "")), 3)
	require.Len(t, data[[]map[string]string](t, http.StatusOK, b.call(t, http.MethodGet, staffPath+"?role=PROVIDER_ADMIN", "PROVIDER_ADMIN", "")), 1)

	for _, role := range []string{"PROVIDER_STAFF", "ADMIN", "END_USER"} {
		require.Equal(t, http.StatusForbidden, b.call(t, http.MethodGet, staffPath, role, "").status, role)
		require.Equal(t, http.StatusForbidden, b.call(t, http.MethodDelete, staffPath+"/"+invited["id"], role, "").status, role)
	}

	for _, role := range []string{"ADMIN", "END_USER", "SUPER_ADMIN", ""} {
		a := b.call(t, http.MethodPost, staffPath, "PROVIDER_ADMIN", `{"name":"X","email":"x@tours.test","phone":"+966500000001","role":"`+role+`"}`)
		require.Equal(t, http.StatusUnprocessableEntity, a.status, role)
		require.Contains(t, a.details, "role")
	}

	foreign := other.Users[models.RoleProviderStaff].ID.String()
	require.Equal(t, http.StatusNotFound, b.call(t, http.MethodDelete, staffPath+"/"+foreign, "PROVIDER_ADMIN", "").status)
	require.Equal(t, http.StatusNoContent, b.call(t, http.MethodDelete, staffPath+"/"+invited["id"], "PROVIDER_ADMIN", "").status)
	require.Equal(t, http.StatusNotFound, b.call(t, http.MethodDelete, staffPath+"/"+invited["id"], "PROVIDER_ADMIN", "").status)

	self := b.Users[models.RoleProviderAdmin].ID.String()
	last := b.call(t, http.MethodDelete, staffPath+"/"+self, "PROVIDER_ADMIN", "")
	require.Equal(t, string(models.CodeInvalidState), last.code)
	require.Contains(t, last.uiMessage, "مسؤول")
}
