package operations

import (
	"context"

	"rihla/api/gen"
	"rihla/internal/store/catalogue"
	"rihla/models"
)

// ListAdCampaigns lists the campaigns of the caller's company, or of all for admins (rules: scope.admins).
func (o *Operations) ListAdCampaigns(ctx context.Context, r gen.ListAdCampaignsRequestObject) (gen.ListAdCampaignsResponseObject, error) {
	q := r.Params
	p := pageOf(q.Page, q.PerPage, q.Sort, q.Cursor)

	list, err := o.Store.Catalogue.ListCampaigns(ctx, actor(ctx), catalogue.CampaignFilter{
		ProviderID: valueOf(q.ProviderID), TripID: valueOf(q.TripID), Status: valueOf(q.Status), Search: valueOf(q.Search), Page: p,
	})
	if err != nil {
		return nil, err
	}

	return gen.ListAdCampaigns200JSONResponse{Data: mapEach(list.Items, o.campaignOf), Meta: metaOf(p, list)}, nil
}

// CreateAdCampaign adds an unpaid campaign to the caller's company, or to the one that an admin names.
func (o *Operations) CreateAdCampaign(
	ctx context.Context, r gen.CreateAdCampaignRequestObject,
) (gen.CreateAdCampaignResponseObject, error) {
	c := models.AdCampaign{ProviderID: valueOf(r.Params.ProviderID)}
	setCampaign(&c, r.Body)

	c, err := o.Store.Catalogue.CreateCampaign(ctx, actor(ctx), c, o.Now())
	if err != nil {
		return nil, err
	}

	return gen.CreateAdCampaign201JSONResponse{
		Body:    gen.AdCampaignAnswer{Data: o.campaignOf(&c)},
		Headers: gen.CreateAdCampaign201ResponseHeaders{Location: "/api/v1/provider/ad-campaigns/" + c.ID.String()},
	}, nil
}

// GetAdCampaign is one campaign that the caller sees.
func (o *Operations) GetAdCampaign(ctx context.Context, r gen.GetAdCampaignRequestObject) (gen.GetAdCampaignResponseObject, error) {
	c, err := o.Store.Catalogue.GetCampaign(ctx, actor(ctx), r.ID)
	if err != nil {
		return nil, err
	}

	return gen.GetAdCampaign200JSONResponse{Data: o.campaignOf(&c)}, nil
}

// ReplaceAdCampaign is PUT, while the campaign is unpaid.
func (o *Operations) ReplaceAdCampaign(
	ctx context.Context, r gen.ReplaceAdCampaignRequestObject,
) (gen.ReplaceAdCampaignResponseObject, error) {
	c, err := o.Store.Catalogue.UpdateCampaign(ctx, actor(ctx), r.ID, replaced(r.Body, setCampaign), o.Now())
	if err != nil {
		return nil, err
	}

	return gen.ReplaceAdCampaign200JSONResponse{Data: o.campaignOf(&c)}, nil
}

// PatchAdCampaign is PATCH, while the campaign is unpaid.
func (o *Operations) PatchAdCampaign(ctx context.Context, r gen.PatchAdCampaignRequestObject) (gen.PatchAdCampaignResponseObject, error) {
	c, err := o.Store.Catalogue.UpdateCampaign(ctx, actor(ctx), r.ID, merged(ctx, campaignInput, setCampaign), o.Now())
	if err != nil {
		return nil, err
	}

	return gen.PatchAdCampaign200JSONResponse{Data: o.campaignOf(&c)}, nil
}

// DeleteAdCampaign deletes softly, while the campaign is unpaid.
func (o *Operations) DeleteAdCampaign(
	ctx context.Context, r gen.DeleteAdCampaignRequestObject,
) (gen.DeleteAdCampaignResponseObject, error) {
	return gen.DeleteAdCampaign204Response{}, o.Store.Catalogue.DeleteCampaign(ctx, actor(ctx), r.ID, o.Now())
}

// PauseAdCampaign stops a paid campaign for a while (rules: campaigns.pause).
func (o *Operations) PauseAdCampaign(ctx context.Context, r gen.PauseAdCampaignRequestObject) (gen.PauseAdCampaignResponseObject, error) {
	c, err := o.Store.Catalogue.PauseCampaign(ctx, actor(ctx), r.ID, o.Now())
	if err != nil {
		return nil, err
	}

	return gen.PauseAdCampaign200JSONResponse{Data: o.campaignOf(&c)}, nil
}

// ResumeAdCampaign ends the pause of a campaign.
func (o *Operations) ResumeAdCampaign(
	ctx context.Context, r gen.ResumeAdCampaignRequestObject,
) (gen.ResumeAdCampaignResponseObject, error) {
	c, err := o.Store.Catalogue.ResumeCampaign(ctx, actor(ctx), r.ID, o.Now())
	if err != nil {
		return nil, err
	}

	return gen.ResumeAdCampaign200JSONResponse{Data: o.campaignOf(&c)}, nil
}

// campaignOf is a campaign with what its payment costs (rules: prices.campaign).
func (o *Operations) campaignOf(c *models.AdCampaign) gen.AdCampaign {
	out := campaignBody(c)
	out.Amount, out.VatAmount, out.VatRate = c.Cost(o.Store.Policies().VATAd)

	return out
}
