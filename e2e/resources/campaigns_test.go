package resources_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

var campaigns = resourceKind{
	path: "/api/v1/provider/ad-campaigns", text: "title",
	body: func(s *harness.Stack, title string) object {
		today := models.DateIn(time.Now())

		return object{
			"trip_id": s.World.Trip.ID, "title": title, "description": "إعلان", "price": 333.33,
			"starts_on": today.AddDays(3).String(), "ends_on": today.AddDays(10).String(),
		}
	},
	optional: object{"description": nil},
	sorts:    []string{"title", "status", "starts_on", "ends_on", "price", "created_at"},
}

func intent(t *testing.T, c *harness.Caller, campaign any) object {
	t.Helper()

	return data(t, http.StatusCreated,
		c.Post("/api/v1/payments/ad-campaign/"+campaign.(string)+"/intent", object{"payment_method": "credit_card"}))
}

func unpaidCampaigns(t *testing.T, s *harness.Stack) {
	t.Helper()

	c, other, today := s.As(models.RoleProviderStaff), s.For(t), models.DateIn(time.Now())
	resource, location := campaigns.create(t, s, c, "Unpaid")
	require.Equal(t, "PENDING_PAYMENT", resource["status"])
	require.InDelta(t, 400, resource["amount"], 0)
	require.InDelta(t, 66.67, resource["vat_amount"], 0)
	require.InDelta(t, 0.2, resource["vat_rate"], 0)
	require.Equal(t, "SAR", resource["currency"])

	for _, trip := range []uuid.UUID{other.World.Trip.ID, uuid.New()} {
		body := campaigns.body(s, "Foreign")
		body["trip_id"] = trip
		a := call(t, c, http.MethodPost, campaigns.path, body)
		refused(t, a, http.StatusUnprocessableEntity, models.CodeReferenceNotOwned)
		require.Equal(t, []string{"trip_id"}, faults(t, a))
	}

	// Nor on the day that Go takes for none.
	never := campaigns.body(s, "Never")
	never["starts_on"] = "0001-01-01"
	invalid(t, call(t, c, http.MethodPost, campaigns.path, never), "starts_on")

	for field, value := range map[string]any{
		"starts_on": today.AddDays(-1).String(), "ends_on": today.AddDays(2).String(), "price": 0, "title": "",
	} {
		body := campaigns.body(s, "Wrong")
		body[field] = value
		invalid(t, call(t, c, http.MethodPost, campaigns.path, body), field)
		invalid(t, call(t, c, http.MethodPatch, location, object{field: value}), field)
	}

	for _, action := range []string{"/pause", "/resume"} {
		path := "/api/v1/ad-campaigns/" + resource["id"].(string) + action
		refused(t, call(t, c, http.MethodPost, path, nil), http.StatusConflict, models.CodeInvalidState)
		refused(t, call(t, other.As(models.RoleProviderStaff), http.MethodPost, path, nil), http.StatusNotFound, models.CodeNotFound)
		refused(t, call(t, s.As(models.RoleFinanceAdmin), http.MethodPost, path, nil), http.StatusForbidden, models.CodeForbidden)
	}

	// While a payment is under way, the campaign stays as it is.
	intent(t, c, resource["id"])
	refused(t, call(t, c, http.MethodPatch, location, object{"price": 1}), http.StatusConflict, models.CodeInvalidState)
	refused(t, call(t, c, http.MethodDelete, location, nil), http.StatusConflict, models.CodeInvalidState)
}

// paidCampaigns run on their dates, and pause.
func paidCampaigns(t *testing.T, s *harness.Stack) {
	t.Helper()

	c, today := s.As(models.RoleProviderAdmin), models.DateIn(time.Now())

	for starts, want := range map[models.Date]string{today: "ACTIVE", today.AddDays(1): "SCHEDULED"} {
		body := campaigns.body(s, want)
		body["starts_on"] = starts.String()
		resource, location := made(t, call(t, c, http.MethodPost, campaigns.path, body))
		attempt := intent(t, c, resource["id"])
		require.Equal(t, resource["amount"], attempt["amount"])
		require.NoError(t, s.Pay(attempt["checkout_url"].(string), "succeed"))
		require.Eventually(t, func() bool {
			return data(t, http.StatusOK, c.Get(location))["status"] == want
		}, 30*time.Second, 50*time.Millisecond)

		refused(t, call(t, c, http.MethodPut, location, body), http.StatusConflict, models.CodeInvalidState)
		refused(t, call(t, c, http.MethodPatch, location, object{"title": "x"}), http.StatusConflict, models.CodeInvalidState)
		refused(t, call(t, c, http.MethodDelete, location, nil), http.StatusConflict, models.CodeInvalidState)

		action := "/api/v1/ad-campaigns/" + resource["id"].(string)

		for range 2 {
			paused := data(t, http.StatusOK, call(t, c, http.MethodPost, action+"/pause", nil))
			require.Equal(t, "PAUSED", paused["status"])
			require.Equal(t, "Paused", paused["status_label_en"])
		}

		for range 2 {
			require.Equal(t, want, data(t, http.StatusOK, call(t, s.As(models.RoleAdmin), http.MethodPost, action+"/resume", nil))["status"])
		}

		require.Equal(t, []string{resource["id"].(string)}, listIDs(t, c, campaigns.path+"?status="+want+"&trip_id="+s.World.Trip.ID.String()))

		deactivate(t, s)
		refused(t, call(t, c, http.MethodPost, action+"/pause", nil), http.StatusForbidden, models.CodeForbidden)
		activate(t, s)
	}
}
