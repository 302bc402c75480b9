package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// peopleTargets are what people do for themselves.
func (w *targets) peopleTargets() []target {
	token := map[string]any{"refresh_token": "no-such-token"}

	return []target{
		{"Register", http.MethodPost, "/api/v1/auth/register", w.Anybody(), map[string]any{
			"name": "Somebody", "email": "somebody@rihla.test", "phone": "+966500000009", "password": "long-enough-password",
		}},
		{"Login", http.MethodPost, "/api/v1/auth/login", w.Anybody(), map[string]any{
			"email": "nobody@rihla.test", "password": "long-enough-password",
		}},
		{"RefreshTokens", http.MethodPost, "/api/v1/auth/refresh", w.Anybody(), token},
		{"Logout", http.MethodPost, "/api/v1/auth/logout", w.Anybody(), token},
		{"ChangePassword", http.MethodPost, mePath + "/password", w.As(models.RoleEndUser), map[string]any{
			"current_password": "not-the-password", "new_password": "long-enough-password",
		}},
		{"CreateBooking", http.MethodPost, "/api/v1/bookings", w.As(models.RoleEndUser), w.BookingRequest(1)},
	}
}

// identityTargets are about proving an identity, and about accounts.
func (w *targets) identityTargets() []target {
	user, boss := w.As(models.RoleEndUser), w.As(models.RoleSuperAdmin)
	secret, code := strings.Repeat("x", 43), map[string]any{"code": "123456"}
	account := "/api/v1/admin/users/" + w.World.Users[models.RoleSupportAgent].ID.String()
	change := map[string]any{"name": "Somebody", "phone": "+966500000009", "role": models.RoleSupportAgent, "locale": "en"}

	return []target{
		{"LoginTOTP", http.MethodPost, "/api/v1/auth/login/totp", w.Anybody(), map[string]any{"mfa_token": secret, "code": "123456"}},
		{"VerifyEmail", http.MethodPost, "/api/v1/auth/verify-email", w.Anybody(), map[string]any{"token": secret}},
		{"ForgotPassword", http.MethodPost, "/api/v1/auth/forgot-password", w.Anybody(), map[string]any{"email": "nobody@rihla.test"}},
		{"ResetPassword", http.MethodPost, "/api/v1/auth/reset-password", w.Anybody(), map[string]any{
			"token": secret, "password": "long-enough-password",
		}},
		{"StepUp", http.MethodPost, "/api/v1/auth/step-up", user, code},
		{"StepUpBySignOn", http.MethodPost, "/api/v1/auth/oidc/step-up", user, map[string]any{"return_to": "/console"}},
		{"BeginSecondFactor", http.MethodPost, mePath + "/totp", user, map[string]any{"password": "not-the-password"}},
		{"ConfirmSecondFactor", http.MethodPost, mePath + "/totp/confirm", user, code},
		{"InviteUser", http.MethodPost, "/api/v1/admin/users", boss, map[string]any{
			"name": "Somebody", "email": "somebody.else@rihla.test", "phone": "+966500000009", "role": models.RoleAdmin,
		}},
		{"ReplaceUser", http.MethodPut, account, boss, change},
		{"PatchUser", http.MethodPatch, account, boss, change},
	}
}

// moneyTargets are payments, and what is done about them.
func (w *targets) moneyTargets(t *testing.T, campaign uuid.UUID) []target {
	t.Helper()

	intent := map[string]any{"payment_method": "credit_card", "return_url": "https://rihla.test/done"}

	return []target{
		{
			"CreateBookingIntent", http.MethodPost, "/api/v1/payments/booking/" + w.booking.ID.String() + "/intent",
			w.As(models.RoleEndUser), intent,
		},
		{
			"CreateCampaignIntent", http.MethodPost, "/api/v1/payments/ad-campaign/" + campaign.String() + "/intent",
			w.As(models.RoleProviderStaff), intent,
		},
		{"RefundBooking", http.MethodPost, refundPath(w.paid.ID), w.As(models.RoleFinanceAdmin), map[string]any{
			"refund_type": "PARTIAL", "amount": models.MustMoney("1.00"), "reason": "no reason",
		}},
		{
			"CorrectBooking", http.MethodPatch, "/api/v1/admin/bookings/" + w.paid.ID.String(), w.As(models.RoleSupportAgent), map[string]any{
				"contact":    map[string]any{"name": "Somebody", "email": "somebody.right@rihla.test", "phone": "+966500000009"},
				"passengers": []map[string]any{{"id": models.PassengerID(w.paid.ID, 1), "name": "Somebody"}},
			},
		},
		{
			"ResendBookingMessage", http.MethodPost, "/api/v1/admin/bookings/" + w.paid.ID.String() + "/resend", w.As(models.RoleSupportAgent),
			map[string]any{"kind": models.ResendConfirmation},
		},
		{
			"AddBookingNote", http.MethodPost, "/api/v1/admin/bookings/" + w.paid.ID.String() + "/notes", w.As(models.RoleSupportAgent),
			map[string]any{"note": "called"},
		},
		{
			"RequestCancellation", http.MethodPost, "/api/v1/bookings/" + w.asked.ID.String() + "/cancellation-requests",
			w.As(models.RoleEndUser),
			map[string]any{"reason": "no reason"},
		},
		{
			"ApproveCancellation", http.MethodPost, "/api/v1/admin/cancellation-requests/" + w.decided + "/approve", w.As(models.RoleAdmin),
			map[string]any{"note": "compared", "expected_amount": models.MustMoney("1.00")},
		},
		{
			"RejectCancellation", http.MethodPost, "/api/v1/admin/cancellation-requests/" + w.decided + "/reject", w.As(models.RoleAdmin),
			map[string]any{"note": "too late"},
		},
		{
			"CancelPaidBooking", http.MethodPost, "/api/v1/admin/bookings/" + w.sold.ID.String() + "/cancel", w.As(models.RoleFinanceAdmin),
			map[string]any{"refund": "AMOUNT", "amount": models.MustMoney("1.00"), "cause": "OTHER", "reason": "no reason"},
		},
		{
			"RefundAdCampaign", http.MethodPost, "/api/v1/admin/ad-campaigns/" + campaign.String() + "/refund", w.As(models.RoleFinanceAdmin),
			map[string]any{"refund_type": "PARTIAL", "amount": models.MustMoney("1.00"), "reason": "other days"},
		},
		{
			"RefundLatePayment", http.MethodPost, "/api/v1/admin/payment-transactions/" + w.paid.Payment.TransactionID.String() + "/refund",
			w.As(models.RoleFinanceAdmin),
			map[string]any{"reason": "once more"},
		},
		{"ConfirmRefundPayout", http.MethodPost, payoutPath(w.waiting.ID, "confirm"), w.As(models.RoleAdmin), map[string]any{
			"payout_reference": "TRF-1", "paid_out_on": models.DateIn(time.Now()).String(), "note": "from the bank",
		}},
		{"RejectRefundPayout", http.MethodPost, payoutPath(w.waiting.ID, "reject"), w.As(models.RoleAdmin), map[string]any{"reason": "no"}},
		{
			"ApproveRefund", http.MethodPost, "/api/v1/admin/refunds/" + w.waiting.ID.String() + "/approve", w.As(models.RoleAdmin),
			map[string]any{"note": "compared"},
		},
		{
			"RejectRefund", http.MethodPost, "/api/v1/admin/refunds/" + w.waiting.ID.String() + "/reject", w.As(models.RoleAdmin),
			map[string]any{"note": "asked for twice"},
		},
		{
			"AssignIncident", http.MethodPost, "/api/v1/admin/incidents/" + w.one(t, "SELECT id FROM incidents") + "/assign",
			w.As(models.RoleSuperAdmin),
			map[string]any{"assignee_id": nil},
		},
		{
			"AddIncidentNote", http.MethodPost, "/api/v1/admin/incidents/" + w.one(t, "SELECT id FROM incidents") + "/notes",
			w.As(models.RoleSuperAdmin),
			map[string]any{"note": "looked at"},
		},
		{
			"ResolveIncident", http.MethodPost, "/api/v1/admin/incidents/" + w.one(t, "SELECT id FROM incidents") + "/resolve",
			w.As(models.RoleSuperAdmin),
			map[string]any{"note": "looked at"},
		},
		{
			"MarkRecordTransferred", http.MethodPost,
			"/api/v1/admin/financial-records/" + w.one(t, "SELECT id FROM financial_records") + "/mark-transferred",
			w.As(models.RoleSuperAdmin),
			map[string]any{"payout_reference": "TRF-1", "payout_date": models.DateIn(time.Now()).String()},
		},
		{
			"MarkRecordsTransferred", http.MethodPost, "/api/v1/admin/financial-records/mark-transferred", w.As(models.RoleSuperAdmin),
			map[string]any{
				"ids": []string{w.one(t, "SELECT id FROM financial_records")}, "payout_reference": "TRF-1",
				"payout_date": models.DateIn(time.Now()).String(),
			},
		},
		{
			"RevertRecordTransfer", http.MethodPost,
			"/api/v1/admin/financial-records/" + w.one(t, "SELECT id FROM financial_records") + "/revert-transfer",
			w.As(models.RoleSuperAdmin),
			map[string]any{"reason": "by mistake"},
		},
	}
}

// providerTargets are what admins do about companies.
func (w *targets) providerTargets() []target {
	admin, path := w.As(models.RoleAdmin), "/api/v1/admin/providers/"+w.World.Provider.ID.String()
	company := map[string]any{
		"name": "Somebody's Tours", "email": "somebody.tours@rihla.test", "phone": "+966500000009", "city": "Jeddah", "commission_rate": 0.2,
	}

	own := map[string]any{
		"name": "Somebody's Tours", "phone": "+966500000009", "contact_persons": []map[string]any{
			{"name": "Somebody", "email": "somebody.desk@rihla.test", "phone": "+966500000009", "messages": models.CompanyMessages()},
		},
	}

	return []target{
		{"ReplaceCompany", http.MethodPut, "/api/v1/provider/company", w.As(models.RoleProviderAdmin), own},
		{"PatchCompany", http.MethodPatch, "/api/v1/provider/company", w.As(models.RoleProviderAdmin), own},
		{"InviteCompanyStaff", http.MethodPost, "/api/v1/provider/staff", w.As(models.RoleProviderAdmin), map[string]any{
			"name": "Somebody", "email": "somebody.new@rihla.test", "phone": "+966500000009", "role": models.RoleProviderStaff,
		}},
		{"CancelTrip", http.MethodPost, tripPath(w.Stack) + "/cancel", w.As(models.RoleProviderAdmin), map[string]any{
			"reason": "no bus", "expected_refund_total": models.MustMoney("123456.00"),
		}},
		{"ApproveTripCancellation", http.MethodPost, tripPath(w.Stack) + "/cancel/approve", admin, map[string]any{"note": "called them"}},
		{"RejectTripCancellation", http.MethodPost, tripPath(w.Stack) + "/cancel/reject", admin, map[string]any{"note": "it runs"}},
		{"CreateProvider", http.MethodPost, "/api/v1/admin/providers", admin, company},
		{"ReplaceProvider", http.MethodPut, path, admin, company},
		{"PatchProvider", http.MethodPatch, path, admin, company},
		{"CreateStaff", http.MethodPost, path + "/staff", admin, map[string]any{
			"name": "Somebody", "email": "somebody.else@rihla.test", "phone": "+966500000009", "password": "long-enough-password",
			"role": models.RoleProviderStaff,
		}},
	}
}

// resourceTargets are what companies run.
func (w *targets) resourceTargets(campaign uuid.UUID) []target {
	staff, today, leaves := w.As(models.RoleProviderAdmin), models.DateIn(time.Now()), w.World.Trip.DepartureAt

	kinds := []struct {
		name, path string
		id         uuid.UUID
		body       map[string]any
	}{
		{"Bus", "/api/v1/provider/buses", w.World.Bus.ID, map[string]any{
			"plate_number": "BAD 1", "model": "Coach", "capacity": 49, "features": []string{"wifi"}, "status": "ACTIVE",
			"driver": map[string]any{"name": "Driver", "phone": "+966500000002", "license_number": "L-1"},
		}},
		{"Hotel", "/api/v1/provider/hotels", w.World.Hotel.ID, map[string]any{
			"name": "Hotel", "city": "AlUla", "stars": 5, "address": "1 Oasis Road", "description": "An oasis", "status": "ACTIVE",
		}},
		{"RestStop", "/api/v1/provider/rest-stops", w.World.RestStop.ID, map[string]any{
			"name": "Rest stop", "city": "Hail", "latitude": 27.5, "longitude": 41.7, "amenities": []string{"mosque"}, "status": "ACTIVE",
		}},
		{"ProviderTrip", "/api/v1/provider/trips", w.World.Trip.ID, map[string]any{
			"type": "TOURISM", "title": "Trip", "origin": "Riyadh", "destination": "AlUla",
			"departure_at": leaves.Format(time.RFC3339), "return_at": leaves.AddDate(0, 0, 3).Format(time.RFC3339),
			"hotel_id": w.World.Hotel.ID, "bus_id": w.World.Bus.ID, "rest_stop_ids": []uuid.UUID{w.World.RestStop.ID},
			"price_per_seat": 230.5, "capacity": 30,
		}},
		{"AdCampaign", "/api/v1/provider/ad-campaigns", campaign, map[string]any{
			"trip_id": w.World.Trip.ID, "title": "Campaign", "description": "On the front page", "price": 333.33,
			"starts_on": today.AddDays(3).String(), "ends_on": today.AddDays(10).String(),
		}},
	}
	out := make([]target, 0, 3*len(kinds))

	for _, r := range kinds {
		one := r.path + "/" + r.id.String()
		out = append(out,
			target{"Create" + r.name, http.MethodPost, r.path, staff, r.body},
			target{"Replace" + r.name, http.MethodPut, one, staff, r.body},
			target{"Patch" + r.name, http.MethodPatch, one, staff, r.body},
		)
	}

	return out
}

// bareTargets are actions and deletions, of what does not exist.
func (w *targets) bareTargets() []target {
	staff, admin, id := w.As(models.RoleProviderAdmin), w.As(models.RoleAdmin), uuid.NewString()

	photo := "/api/v1/provider/buses/" + id + "/photos/" + id
	deletions := map[string]string{
		"DeleteBus": "buses", "DeleteHotel": "hotels", "DeleteRestStop": "rest-stops", "DeleteProviderTrip": "trips",
		"DeleteAdCampaign": "ad-campaigns",
	}
	out := slices.Grow([]target{
		{"CancelBooking", http.MethodPost, "/api/v1/bookings/" + id + "/cancel", w.As(models.RoleEndUser), nil},
		{"WithdrawCancellation", http.MethodPost, "/api/v1/bookings/" + id + "/cancellation-requests/" + id + "/withdraw", w.As(models.RoleEndUser), nil},
		{"SendCheckoutLink", http.MethodPost, "/api/v1/admin/bookings/" + id + "/send-checkout", admin, nil},
		{"PublishTrip", http.MethodPost, "/api/v1/trips/" + id + "/publish", staff, nil},
		{"PauseAdCampaign", http.MethodPost, "/api/v1/ad-campaigns/" + id + "/pause", staff, nil},
		{"ResumeAdCampaign", http.MethodPost, "/api/v1/ad-campaigns/" + id + "/resume", staff, nil},
		{"DeleteBusPhoto", http.MethodDelete, photo, staff, nil},
		{"RemoveCompanyStaff", http.MethodDelete, "/api/v1/provider/staff/" + id, staff, nil},
		{"DeleteStaff", http.MethodDelete, "/api/v1/admin/providers/" + id + "/staff/" + id, admin, nil},
		{"ActivateProvider", http.MethodPost, "/api/v1/admin/providers/" + id + "/activate", admin, nil},
		{"DeactivateProvider", http.MethodPost, "/api/v1/admin/providers/" + id + "/deactivate", admin, nil},
		{"EndSession", http.MethodDelete, mePath + "/sessions/" + id, w.As(models.RoleEndUser), nil},
		{"RemoveUser", http.MethodDelete, "/api/v1/admin/users/" + id, w.As(models.RoleSuperAdmin), nil},
		{"LockUser", http.MethodPost, "/api/v1/admin/users/" + id + "/lock", w.As(models.RoleSuperAdmin), nil},
		{"UnlockUser", http.MethodPost, "/api/v1/admin/users/" + id + "/unlock", w.As(models.RoleSuperAdmin), nil},
		{"InviteUserAgain", http.MethodPost, "/api/v1/admin/users/" + id + "/invitation", w.As(models.RoleSuperAdmin), nil},
		{"ResetUserSecondFactor", http.MethodPost, "/api/v1/admin/users/" + id + "/reset-second-factor", w.As(models.RoleSuperAdmin), nil},
	}, len(deletions))

	for name, path := range deletions {
		out = append(out, target{name, http.MethodDelete, "/api/v1/provider/" + path + "/" + id, staff, nil})
	}

	return out
}
