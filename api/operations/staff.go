package operations

import (
	"context"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/auth"
	"rihla/internal/store/accounts"
	"rihla/models"
)

// ListStaff lists the accounts that act for a company (rules: scope.staff).
func (o *Operations) ListStaff(ctx context.Context, r gen.ListStaffRequestObject) (gen.ListStaffResponseObject, error) {
	p := pageOf(r.Params.Page, r.Params.PerPage, r.Params.Sort, r.Params.Cursor)

	list, err := o.Store.Accounts.ListStaff(ctx, r.ID, accounts.StaffFilter{
		Role: valueOf(r.Params.Role), Search: valueOf(r.Params.Search), Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListStaff200JSONResponse{Data: mapEach(list.Items, staffOf), Meta: metaOf(p, list)}, nil
}

// CreateStaff opens an account that acts for a company.
func (o *Operations) CreateStaff(ctx context.Context, r gen.CreateStaffRequestObject) (gen.CreateStaffResponseObject, error) {
	if auth.IsCommonPassword(r.Body.Password) {
		return nil, commonPassword("password")
	}

	hash, err := o.Passwords.Hash(ctx, r.Body.Password)
	if err != nil {
		return nil, err
	}

	u, err := o.Store.Accounts.CreateStaff(ctx, actor(ctx), models.User{
		Name: r.Body.Name, Email: r.Body.Email, Phone: r.Body.Phone, PasswordHash: hash, Role: r.Body.Role,
		ProviderID: &r.ID, Locale: middleware.Locale(ctx),
	})
	if err != nil {
		return nil, err
	}

	return gen.CreateStaff201JSONResponse{
		Body: gen.StaffAnswer{Data: staffOf(&u)},
		Headers: gen.CreateStaff201ResponseHeaders{
			Location: "/api/v1/admin/providers/" + r.ID.String() + "/staff/" + u.ID.String(),
		},
	}, nil
}

// GetStaff is one account of a company.
func (o *Operations) GetStaff(ctx context.Context, r gen.GetStaffRequestObject) (gen.GetStaffResponseObject, error) {
	u, err := o.Store.Accounts.UserByID(ctx, r.StaffID)
	if err != nil {
		return nil, err
	}

	if valueOf(u.ProviderID) != r.ID {
		return nil, models.NotFound()
	}

	return gen.GetStaff200JSONResponse{Data: staffOf(&u)}, nil
}

// DeleteStaff removes an account of a company: it cannot sign in any more, and its tokens end at once.
func (o *Operations) DeleteStaff(ctx context.Context, r gen.DeleteStaffRequestObject) (gen.DeleteStaffResponseObject, error) {
	return gen.DeleteStaff204Response{}, o.Store.Accounts.RemoveStaff(ctx, actor(ctx), r.ID, r.StaffID)
}

func staffOf(u *models.User) gen.Staff {
	label := u.Role.Label()

	return gen.Staff{
		ID: u.ID, ProviderID: valueOf(u.ProviderID), Name: u.Name, Email: u.Email, Phone: u.Phone,
		Role: u.Role, RoleLabelAr: label.AR, RoleLabelEn: label.EN, CreatedAt: utc(u.CreatedAt),
	}
}
