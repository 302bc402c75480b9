package operations

import (
	"context"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store/accounts"
	"rihla/models"
)

// ListUsers lists accounts of every role (rules: identity.users).
func (o *Operations) ListUsers(ctx context.Context, r gen.ListUsersRequestObject) (gen.ListUsersResponseObject, error) {
	p := pageOf(r.Params.Page, r.Params.PerPage, r.Params.Sort, r.Params.Cursor)

	list, err := o.Store.Accounts.ListAccounts(ctx, accounts.AccountFilter{
		Role: valueOf(r.Params.Role), State: valueOf(r.Params.State), Search: valueOf(r.Params.Search), Page: p,
	})
	if err != nil {
		return nil, err
	}

	ids := make([]uuid.UUID, len(list.Items))
	for i := range list.Items {
		ids[i] = list.Items[i].ID
	}

	uses, err := o.Store.Accounts.LastLogins(ctx, ids)
	if err != nil {
		return nil, err
	}

	return gen.ListUsers200JSONResponse{
		Data: mapEach(list.Items, func(u *models.User) gen.Account { return accountOf(u, uses[u.ID]) }), Meta: metaOf(p, list),
	}, nil
}

// account is the answer about an account that was changed. What is known of its use belongs to the answer and not to the change: where it
// cannot be read it is left out.
func (o *Operations) account(ctx context.Context, u models.User, err error) (gen.AccountAnswer, error) {
	if err != nil {
		return gen.AccountAnswer{}, err
	}

	uses, err := o.Store.Accounts.LastLogins(ctx, []uuid.UUID{u.ID})
	if err != nil {
		o.Log.WarnContext(ctx, "use of a changed account not read", "request_id", middleware.RequestID(ctx), "error", err)
	}

	return gen.AccountAnswer{Data: accountOf(&u, uses[u.ID])}, nil
}

// GetUser is one account.
func (o *Operations) GetUser(ctx context.Context, r gen.GetUserRequestObject) (gen.GetUserResponseObject, error) {
	u, err := o.Store.Accounts.UserByID(ctx, r.ID)
	if err != nil {
		return nil, err
	}

	uses, err := o.Store.Accounts.LastLogins(ctx, []uuid.UUID{u.ID})

	return gen.GetUser200JSONResponse{Data: accountOf(&u, uses[u.ID])}, err
}

// InviteUser makes an account whose owner sets the password by the link of a mail.
func (o *Operations) InviteUser(ctx context.Context, r gen.InviteUserRequestObject) (gen.InviteUserResponseObject, error) {
	locale := middleware.Locale(ctx)
	if r.Body.Locale != nil {
		locale = *r.Body.Locale
	}

	u, err := o.Store.Accounts.Invite(ctx, actor(ctx), models.User{
		Name: r.Body.Name, Email: r.Body.Email, Phone: r.Body.Phone, Role: r.Body.Role, Locale: locale,
	})

	if err == nil {
		o.mailQueued(ctx)
	}

	answer, err := o.account(ctx, u, err)

	return gen.InviteUser201JSONResponse{
		Body: answer, Headers: gen.InviteUser201ResponseHeaders{Location: "/api/v1/admin/users/" + u.ID.String()},
	}, err
}

// ReplaceUser is PUT.
func (o *Operations) ReplaceUser(ctx context.Context, r gen.ReplaceUserRequestObject) (gen.ReplaceUserResponseObject, error) {
	u, err := o.Store.Accounts.ChangeAccount(ctx, actor(ctx), r.ID, replaced(r.Body, setAccount))
	answer, err := o.account(ctx, u, err)

	return gen.ReplaceUser200JSONResponse(answer), err
}

// PatchUser is PATCH.
func (o *Operations) PatchUser(ctx context.Context, r gen.PatchUserRequestObject) (gen.PatchUserResponseObject, error) {
	u, err := o.Store.Accounts.ChangeAccount(ctx, actor(ctx), r.ID, merged(ctx, accountInput, setAccount))
	answer, err := o.account(ctx, u, err)

	return gen.PatchUser200JSONResponse(answer), err
}

func setAccount(u *models.User, in *gen.UserInput) {
	u.Name, u.Phone, u.Role, u.Locale = in.Name, in.Phone, in.Role, in.Locale
}

func accountInput(u *models.User) gen.UserInput {
	return gen.UserInput{Name: u.Name, Phone: u.Phone, Role: u.Role, Locale: u.Locale}
}

// LockUser keeps an account's owner out.
func (o *Operations) LockUser(ctx context.Context, r gen.LockUserRequestObject) (gen.LockUserResponseObject, error) {
	u, err := o.Store.Accounts.LockAccount(ctx, actor(ctx), r.ID)
	answer, err := o.account(ctx, u, err)

	return gen.LockUser200JSONResponse(answer), err
}

// UnlockUser lets an account's owner in again.
func (o *Operations) UnlockUser(ctx context.Context, r gen.UnlockUserRequestObject) (gen.UnlockUserResponseObject, error) {
	u, err := o.Store.Accounts.UnlockAccount(ctx, actor(ctx), r.ID)
	answer, err := o.account(ctx, u, err)

	return gen.UnlockUser200JSONResponse(answer), err
}

// InviteUserAgain sends another invitation.
func (o *Operations) InviteUserAgain(ctx context.Context, r gen.InviteUserAgainRequestObject) (gen.InviteUserAgainResponseObject, error) {
	u, err := o.Store.Accounts.InviteAgain(ctx, actor(ctx), r.ID)
	if err == nil {
		o.mailQueued(ctx)
	}

	answer, err := o.account(ctx, u, err)

	return gen.InviteUserAgain200JSONResponse(answer), err
}

// ResetUserSecondFactor takes away a second factor whose owner has lost it.
func (o *Operations) ResetUserSecondFactor(
	ctx context.Context, r gen.ResetUserSecondFactorRequestObject,
) (gen.ResetUserSecondFactorResponseObject, error) {
	u, err := o.Store.Accounts.ResetSecondFactor(ctx, actor(ctx), r.ID)
	answer, err := o.account(ctx, u, err)

	return gen.ResetUserSecondFactor200JSONResponse(answer), err
}

// RemoveUser removes an account: its owner cannot sign in any more, and its tokens end at once.
func (o *Operations) RemoveUser(ctx context.Context, r gen.RemoveUserRequestObject) (gen.RemoveUserResponseObject, error) {
	return gen.RemoveUser204Response{}, o.Store.Accounts.RemoveAccount(ctx, actor(ctx), r.ID)
}

func accountOf(u *models.User, use accounts.AccountUse) gen.Account {
	label := u.Role.Label()

	return labelled(gen.Account{
		ID: u.ID, Name: u.Name, Email: u.Email, Phone: u.Phone, Role: u.Role, RoleLabelAr: label.AR, RoleLabelEn: label.EN,
		ProviderID: u.ProviderID, Locale: u.Locale, State: u.State(), EmailVerified: u.EmailVerifiedAt != nil,
		SecondFactor: u.SecondFactorAt != nil, CreatedAt: utc(u.CreatedAt), UpdatedAt: utc(u.UpdatedAt), LastLoginAt: utcOrNil(use.LastLoginAt),
		LockedUntil: utcOrNil(use.LockedUntil),
	})
}
