package accounts

import "rihla/models"

// accountDetails are those of an account that is added or removed: nothing personal but what it may do, and for whom.
func accountDetails(u *models.User, before, after map[string]any) map[string]any {
	return map[string]any{"role": u.Role, "provider_id": u.ProviderID, "before": before, "after": after}
}

func accountState(u *models.User) map[string]any {
	return map[string]any{"role": u.Role, "provider_id": u.ProviderID}
}
