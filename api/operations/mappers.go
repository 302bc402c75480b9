package operations

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
	openapi "github.com/oapi-codegen/runtime/types"
	"github.com/shopspring/decimal"

	"rihla/api/gen"
	"rihla/models"
)

//go:generate go run github.com/jmattheis/goverter/cmd/goverter@v1.11.1 gen -cwd . .

// The mappers between a company's rows and the bodies of the API; goverter writes them. A field that has the same name on both sides needs
// nothing here. One that has no other side, and is not ignored below, does not generate.
//
// goverter:variables
// goverter:enum no
// goverter:skipCopySameType
// goverter:matchIgnoreCase
// goverter:useZeroValueOnPointerInconsistency
// goverter:extend sameID utc optionalText textOf degrees degreesOf toDate dateFrom
var (
	// goverter:update target
	// goverter:ignore BaseModel ID ProviderID CreatedAt UpdatedAt DeletedAt Affected
	// goverter:map Driver.Name DriverName
	// goverter:map Driver.Phone DriverPhone
	// goverter:map Driver.LicenseNumber DriverLicense
	setBus func(target *models.Bus, source *gen.BusInput)
	// goverter:map . Driver
	busInput func(source *models.Bus) gen.BusInput
	// goverter:map DriverName Name
	// goverter:map DriverPhone Phone
	// goverter:map DriverLicense LicenseNumber
	driverInput func(source models.Bus) gen.DriverInput
	// goverter:ignore Photos
	// goverter:map . Driver
	// goverter:map Status StatusLabelAr | statusAR
	// goverter:map Status StatusLabelEn | statusEN
	// goverter:map Affected AffectedTrips | affectedTrips
	// goverter:map Affected AffectedTripsTotal | affectedTotal
	busBody func(source *models.Bus) gen.Bus
	// goverter:map DriverName Name
	// goverter:map DriverPhone Phone
	// goverter:map DriverLicense LicenseNumber
	driverBody func(source models.Bus) gen.Driver

	// Consumers see of the driver the name and nothing else (rules: companies.buses).
	catalogueBus func(source *gen.Bus) gen.CatalogueBus

	// goverter:update target
	// goverter:ignore BaseModel ID ProviderID CreatedAt UpdatedAt DeletedAt Affected
	setHotel   func(target *models.Hotel, source *gen.HotelInput)
	hotelInput func(source *models.Hotel) gen.HotelInput
	// goverter:map Status StatusLabelAr | statusAR
	// goverter:map Status StatusLabelEn | statusEN
	// goverter:map Affected AffectedTrips | affectedTrips
	// goverter:map Affected AffectedTripsTotal | affectedTotal
	hotelOf func(source *models.Hotel) gen.Hotel
	// goverter:map Status StatusLabelAr | statusAR
	// goverter:map Status StatusLabelEn | statusEN
	catalogueHotel func(source *models.Hotel) gen.CatalogueHotel

	// goverter:update target
	// goverter:ignore BaseModel ID ProviderID CreatedAt UpdatedAt DeletedAt Affected
	setRestStop   func(target *models.RestStop, source *gen.RestStopInput)
	restStopInput func(source *models.RestStop) gen.RestStopInput
	// goverter:map Status StatusLabelAr | statusAR
	// goverter:map Status StatusLabelEn | statusEN
	// goverter:map Affected AffectedTrips | affectedTrips
	// goverter:map Affected AffectedTripsTotal | affectedTotal
	restStopOf func(source *models.RestStop) gen.RestStop
	// goverter:map Status StatusLabelAr | statusAR
	// goverter:map Status StatusLabelEn | statusEN
	catalogueRestStop func(source *models.RestStop) gen.CatalogueRestStop

	// goverter:update target
	// goverter:ignore BaseModel ID ProviderID SeatsTaken Status CreatedAt UpdatedAt DeletedAt ProviderName HasCancellation
	setTrip   func(target *models.Trip, source *gen.TripInput)
	tripInput func(source *models.Trip) gen.TripInput
	// goverter:map Type TypeLabelAr | tripTypeAR
	// goverter:map Type TypeLabelEn | tripTypeEN
	// goverter:map Status StatusLabelAr | tripStatusAR
	// goverter:map Status StatusLabelEn | tripStatusEN
	// goverter:map ID Currency | currencyOf
	tripOf func(source *models.Trip) gen.Trip

	// goverter:update target
	// goverter:ignore BaseModel ID ProviderID Status CreatedAt UpdatedAt DeletedAt CreatedBy ReturnURL ReturnBase Payment
	setCampaign   func(target *models.AdCampaign, source *gen.AdCampaignInput)
	campaignInput func(source *models.AdCampaign) gen.AdCampaignInput
	// goverter:ignore Amount VatAmount VatRate
	// goverter:map ID Currency | currencyOf
	// goverter:map Status StatusLabelAr | campaignAR
	// goverter:map Status StatusLabelEn | campaignEN
	campaignBody func(source *models.AdCampaign) gen.AdCampaign

	providerInput func(source *models.Provider) gen.ProviderInput
	// goverter:map Status StatusLabelAr | statusAR
	// goverter:map Status StatusLabelEn | statusEN
	providerOf func(source *models.Provider) gen.Provider

	// goverter:ignore Timeline WorkflowID WorkflowURL
	transactionDetail func(source gen.PaymentTransaction) gen.PaymentTransactionDetail
)

func statusAR(s string) string { return models.ResourceStatusLabel(s).AR }
func statusEN(s string) string { return models.ResourceStatusLabel(s).EN }

func tripTypeAR(t models.TripType) string { return t.Label().AR }
func tripTypeEN(t models.TripType) string { return t.Label().EN }

func tripStatusAR(s models.TripStatus) string { return s.Label().AR }
func tripStatusEN(s models.TripStatus) string { return s.Label().EN }

func campaignAR(s models.CampaignStatus) string { return s.Label().AR }
func campaignEN(s models.CampaignStatus) string { return s.Label().EN }

// currencyOf is the one currency in which companies sell.
func currencyOf(uuid.UUID) string { return models.Currency }

// affectedTrips are the trips that use what was taken out of use; nil, and so not in the answer, of anything else.
func affectedTrips(a *models.Affected) *gen.AffectedTrips {
	if a == nil {
		return nil
	}

	all := mapEach(a.Trips, func(t *models.Trip) gen.AffectedTrip {
		return gen.AffectedTrip{ID: t.ID, Title: t.Title, DepartureAt: utc(t.DepartureAt)}
	})

	return &all
}

func affectedTotal(a *models.Affected) *int64 {
	if a == nil {
		return nil
	}

	return &a.Total
}

// optionalText is null for an empty text.
func optionalText(s string) *string { return optional(s) }

func textOf(s *string) string { return valueOf(s) }

// sameID is there because the document's UUID is an alias, which goverter would copy byte by byte.
func sameID(id uuid.UUID) uuid.UUID { return id }

func utc(t time.Time) time.Time { return t.UTC() }

func toDate(d models.Date) openapi.Date { return openapi.Date{Time: d.Time()} }

func toDateOrNil(d *models.Date) *openapi.Date {
	if d == nil {
		return nil
	}

	return new(toDate(*d))
}

func dateFrom(d openapi.Date) models.Date { return dateOf(&d) }

// degreeDecimals is what the database keeps of a coordinate: 0.1 m.
const degreeDecimals = 6

// degrees reads a coordinate. That it is a number within its bounds was checked against the document.
func degrees(n *json.Number) *decimal.Decimal {
	if n == nil {
		return nil
	}

	d, err := decimal.NewFromString(n.String())
	if err != nil {
		return nil
	}

	d = d.Round(degreeDecimals)

	return &d
}

func degreesOf(d *decimal.Decimal) *json.Number {
	if d == nil {
		return nil
	}

	n := json.Number(d.String())

	return &n
}
