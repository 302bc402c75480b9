package models

// AccountState is whether an account's owner can sign in.
type AccountState string

// The states of an account.
const (
	AccountActive AccountState = "ACTIVE"
	// AccountLocked accounts are by an administrator, until it is taken back.
	AccountLocked AccountState = "LOCKED"
	// AccountInvited accounts have no password yet.
	AccountInvited AccountState = "INVITED"
)

// State is the account's.
func (u *User) State() AccountState {
	switch {
	case u.LockedAt != nil:
		return AccountLocked
	case u.PasswordHash == "":
		return AccountInvited
	default:
		return AccountActive
	}
}

// PlatformRoles are those of the platform's own people, whose accounts a SUPER_ADMIN makes.
func PlatformRoles() []Role {
	return []Role{RoleSupportAgent, RoleFinanceAdmin, RoleAdmin, RoleSuperAdmin}
}

// IsPlatform reports whether the role is that of the platform's own people.
func (r Role) IsPlatform() bool {
	return r == RoleSupportAgent || r == RoleFinanceAdmin || r.IsAdmin()
}

// MayBecome refuses another role for an account of a customer or a company: what it has booked, or acts for, would be another role's.
// Error: VALIDATION_ERROR on role.
func MayBecome(was, role Role) error {
	if was != role && (!was.IsPlatform() || !role.IsPlatform()) {
		return Invalid("role", "account.role_change")
	}

	return nil
}
