package operations

import (
	"context"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store/accounts"
	"rihla/models"
)

// GetCompany is the caller's own company.
func (o *Operations) GetCompany(ctx context.Context, _ gen.GetCompanyRequestObject) (gen.GetCompanyResponseObject, error) {
	c, err := o.Store.Catalogue.Company(ctx, actor(ctx))
	if err != nil {
		return nil, err
	}

	return gen.GetCompany200JSONResponse{Data: companyOf(&c)}, nil
}

// ReplaceCompany is PUT.
func (o *Operations) ReplaceCompany(ctx context.Context, r gen.ReplaceCompanyRequestObject) (gen.ReplaceCompanyResponseObject, error) {
	c, err := o.Store.Catalogue.UpdateCompany(ctx, actor(ctx), replaced(r.Body, setCompany))
	if err != nil {
		return nil, err
	}

	return gen.ReplaceCompany200JSONResponse{Data: companyOf(&c)}, nil
}

// PatchCompany is PATCH.
func (o *Operations) PatchCompany(ctx context.Context, _ gen.PatchCompanyRequestObject) (gen.PatchCompanyResponseObject, error) {
	c, err := o.Store.Catalogue.UpdateCompany(ctx, actor(ctx), merged(ctx, companyInput, setCompany))
	if err != nil {
		return nil, err
	}

	return gen.PatchCompany200JSONResponse{Data: companyOf(&c)}, nil
}

func companyInput(c *models.Company) gen.CompanyInput {
	persons := mapEach(c.Contacts, func(p *models.ProviderContact) gen.CompanyContactInput {
		return gen.CompanyContactInput{Name: p.Name, Email: p.Email, Phone: optional(p.Phone), Messages: &p.Messages}
	})

	return gen.CompanyInput{Name: c.Name, Phone: c.Phone, ContactPersons: persons}
}

// setCompany writes what a company says of itself. A contact person without messages gets all.
func setCompany(c *models.Company, in *gen.CompanyInput) {
	c.Name, c.Phone = in.Name, in.Phone
	c.Contacts = mapEach(in.ContactPersons, func(p *gen.CompanyContactInput) models.ProviderContact {
		contact := models.ProviderContact{Name: p.Name, Email: p.Email, Phone: valueOf(p.Phone), Messages: models.CompanyMessages()}
		if p.Messages != nil {
			contact.Messages = *p.Messages
		}

		return contact
	})
}

func companyOf(c *models.Company) gen.Company {
	return labelled(gen.Company{
		ID: c.ID, Name: c.Name, Email: c.Email, Phone: c.Phone, City: optional(c.City), Status: c.Status,
		StatusLabelAr: statusAR(c.Status), StatusLabelEn: statusEN(c.Status), CreatedAt: utc(c.CreatedAt), UpdatedAt: utc(c.UpdatedAt),
		ContactPersons: mapEach(c.Contacts, func(p *models.ProviderContact) gen.CompanyContact {
			return gen.CompanyContact{Name: p.Name, Email: p.Email, Phone: optional(p.Phone), Messages: p.Messages}
		}),
	})
}

// ListCompanyStaff lists the accounts that act for the caller's company.
func (o *Operations) ListCompanyStaff(
	ctx context.Context, r gen.ListCompanyStaffRequestObject,
) (gen.ListCompanyStaffResponseObject, error) {
	p := pageOf(r.Params.Page, r.Params.PerPage, r.Params.Sort, r.Params.Cursor)

	list, err := o.Store.Accounts.ListStaff(ctx, actor(ctx).ProviderID, accounts.StaffFilter{
		Role: valueOf(r.Params.Role), Search: valueOf(r.Params.Search), Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListCompanyStaff200JSONResponse{Data: mapEach(list.Items, staffOf), Meta: metaOf(p, list)}, nil
}

// InviteCompanyStaff opens an account that acts for the caller's company; its owner chooses the password.
func (o *Operations) InviteCompanyStaff(
	ctx context.Context, r gen.InviteCompanyStaffRequestObject,
) (gen.InviteCompanyStaffResponseObject, error) {
	u, err := o.Store.Accounts.InviteColleague(ctx, actor(ctx), models.User{
		Name: r.Body.Name, Email: r.Body.Email, Phone: r.Body.Phone, Role: r.Body.Role, Locale: middleware.Locale(ctx),
	})
	if err != nil {
		return nil, err
	}

	o.mailQueued(ctx)

	return gen.InviteCompanyStaff201JSONResponse{
		Body: gen.StaffAnswer{Data: staffOf(&u)}, Headers: gen.InviteCompanyStaff201ResponseHeaders{Location: "/api/v1/provider/staff"},
	}, nil
}

// RemoveCompanyStaff removes an account of the caller's company: it cannot sign in any more, and its tokens end at once.
func (o *Operations) RemoveCompanyStaff(
	ctx context.Context, r gen.RemoveCompanyStaffRequestObject,
) (gen.RemoveCompanyStaffResponseObject, error) {
	return gen.RemoveCompanyStaff204Response{}, o.Store.Accounts.RemoveColleague(ctx, actor(ctx), r.StaffID)
}
