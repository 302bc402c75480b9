package access_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// kinds are what an operation can be about. A, B and C are companies: A employs the staff of most tests, B is another
// one, C is INACTIVE. `never` is a UUID that nothing has, `odd` is no UUID.
var kinds = map[string][]string{
	// Nothing but itself.
	"-": {"-"},
	// A bus, hotel, rest stop, trip or campaign. `deleted` was the caller's own company's.
	"of": {"A", "B", "C", "deleted", "never", "odd"},
	// A new one of these: the company that `?provider_id=` names.
	"for": {"unnamed", "A", "B", "C", "never", "odd"},
	// A trip of the catalogue, or to be booked.
	"trip": {"A", "B", "C", "draft", "deleted", "never", "odd"},
	// A booking, by who made it.
	"booking": {"own", "foreign", "never", "odd"},
	// A provider company.
	"company": {"ACTIVE", "INACTIVE", "never", "odd"},
	// An account of a company's staff; `elsewhere` is one under another company's path.
	"staff": {"A", "C", "deleted", "elsewhere", "never", "odd"},
	// The platform's own resources: a record, a transaction, a refund, an incident.
	"kept": {"there", "never", "odd"},
	// A booking that money goes back for.
	"sale": {"paid", "unpaid", "never", "odd"},
	// A photo or a ticket, by its address.
	"file": {"signed", "unsigned", "never", "odd"},
	// An event of the gateway.
	"event": {"signed", "unsigned"},
	// A session.
	"session": {"own", "foreign", "never", "odd"},
	// An account of the platform's people; `self` is the caller's own.
	"account": {"there", "self", "deleted", "never", "odd"},
}

// table is the access of every role and the statuses of the checks (rules: scope.roles), written down a second time: what each kind of caller gets
// for each kind of resource, in the order of kinds; one status is that of all of them. `staff` are PROVIDER_STAFF and
// PROVIDER_ADMIN of company A, `idle` those of C, `admin` are ADMIN and SUPER_ADMIN; `403/200` is the first of a column's callers
// and the second. Every request is one that its owner would send.
const table = `
operation            kinds   | nobody                      | END_USER                    | staff                       | idle                        | SUPPORT_AGENT               | FINANCE_ADMIN               | admin
Register             -       | 201                         | 201                         | 201                         | 201                         | 201                         | 201                         | 201
Login                -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
RefreshTokens        -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
Logout               -       | 204                         | 204                         | 204                         | 204                         | 204                         | 204                         | 204
GetMe                -       | 401                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
ChangePassword       -       | 401                         | 204                         | 204                         | 204                         | 204                         | 204                         | 204
LoginTOTP            -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
VerifyEmail          -       | 204                         | 204                         | 204                         | 204                         | 204                         | 204                         | 204
ForgotPassword       -       | 202                         | 202                         | 202                         | 202                         | 202                         | 202                         | 202
ResetPassword        -       | 204                         | 204                         | 204                         | 204                         | 204                         | 204                         | 204
GetSingleSignOn      -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
StartSingleSignOn    -       | 404                         | 404                         | 404                         | 404                         | 404                         | 404                         | 404
FinishSingleSignOn   -       | 404                         | 404                         | 404                         | 404                         | 404                         | 404                         | 404
StepUp               -       | 401                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
StepUpBySignOn       -       | 401                         | 404                         | 404                         | 404                         | 404                         | 404                         | 404
ListSessions         -       | 401                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
EndSessions          -       | 401                         | 204                         | 204                         | 204                         | 204                         | 204                         | 204
SendVerification     -       | 401                         | 202                         | 202                         | 202                         | 202                         | 202                         | 202
BeginSecondFactor    -       | 401                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
ConfirmSecondFactor  -       | 401                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
RemoveSecondFactor   -       | 401                         | 204                         | 204                         | 204                         | 204                         | 204                         | 204
EndSession           session | 401                         | 204 404 404 404             | 204 404 404 404             | 204 404 404 404             | 204 404 404 404             | 204 404 404 404             | 204 404 404 404
GetJWKS              -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
GetIndex             -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
GetVersionIndex      -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
GetHealth            -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
GetReadiness         -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
GetOpenAPI           -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
GetDocs              -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
GetMetrics           -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200

ListTrips            -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
GetTrip              trip    | 200 200 404 404 404 404 404 | 200 200 404 404 404 404 404 | 200 200 404 404 404 404 404 | 200 200 404 404 404 404 404 | 200 200 404 404 404 404 404 | 200 200 404 404 404 404 404 | 200 200 404 404 404 404 404
ListCatalogueHotels  -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
ListCatalogueBuses   -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
ListCatalogueRestStops -     | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
ListPaymentMethods   -       | 200                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200
GetPhoto             file    | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 404 404 404

CreateBooking        trip    | 401                         | 201 201 422 409 422 422 422 | 201 201 422 409 422 422 422 | 201 201 422 409 422 422 422 | 201 201 422 409 422 422 422 | 201 201 422 409 422 422 422 | 201 201 422 409 422 422 422
GetBooking           booking | 401                         | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 200 404 404             | 200 200 404 404             | 200 200 404 404
GetTicket            booking | 401                         | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 200 404 404             | 200 200 404 404             | 200 200 404 404
OpenTicket           file    | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 404 404 404
GetPaymentStatus     booking | 401                         | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 200 404 404             | 200 200 404 404             | 200 200 404 404
CancelBooking        booking | 401                         | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 200 404 404             | 200 403 404 404             | 200 200 404 404
GetCancellationQuote booking | 401                         | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 200 404 404             | 200 200 404 404             | 200 200 404 404
ListCancellationRequests booking | 401                         | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 200 404 404             | 200 200 404 404             | 200 200 404 404
RequestCancellation  booking | 401                         | 201 404 404 404             | 201 404 404 404             | 201 404 404 404             | 201 404 404 404             | 201 404 404 404             | 201 404 404 404
WithdrawCancellation booking | 401                         | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 404 404 404             | 200 404 404 404
CreateBookingIntent  booking | 401                         | 201 404 404 404             | 201 404 404 404             | 201 404 404 404             | 201 404 404 404             | 201 404 404 404             | 201 201 404 404
ListMyBookings       -       | 401                         | 200                         | 200                         | 200                         | 200                         | 200                         | 200

ListProviders        -       | 401                         | 403                         | 403                         | 403                         | 403                         | 403                         | 200
CreateProvider       -       | 401                         | 403                         | 403                         | 403                         | 403                         | 403                         | 201
GetProvider          company | 401                         | 403                         | 403                         | 403                         | 403                         | 403                         | 200 200 404 404
ReplaceProvider      company | 401                         | 403                         | 403                         | 403                         | 403                         | 403                         | 200 200 404 404
PatchProvider        company | 401                         | 403                         | 403                         | 403                         | 403                         | 403                         | 200 200 404 404
ActivateProvider     company | 401                         | 403                         | 403                         | 403                         | 403                         | 403                         | 200 200 404 404
DeactivateProvider   company | 401                         | 403                         | 403                         | 403                         | 403                         | 403                         | 200 200 404 404
ListStaff            company | 401                         | 403                         | 403                         | 403                         | 403                         | 403                         | 200 200 404 404
CreateStaff          company | 401                         | 403                         | 403                         | 403                         | 403                         | 403                         | 201 201 404 404
GetStaff             staff   | 401                         | 403                         | 403                         | 403                         | 403                         | 403                         | 200 200 404 404 404 404
DeleteStaff          staff   | 401                         | 403                         | 403                         | 403                         | 403                         | 403                         | 204 204 404 404 404 404

ListBuses            -       | 401                         | 403                         | 200                         | 200                         | 403                         | 403                         | 200
CreateBus            for     | 401                         | 403                         | 201 201 201 201 201 422     | 403                         | 403                         | 403                         | 422 201 201 201 404 422
GetBus               of      | 401                         | 403                         | 200 404 404 404 404 404     | 404 404 200 404 404 404     | 403                         | 403                         | 200 200 200 404 404 404
ReplaceBus           of      | 401                         | 403                         | 200 404 404 404 404 404     | 403                         | 403                         | 403                         | 200 200 200 404 404 404
PatchBus             of      | 401                         | 403                         | 200 404 404 404 404 404     | 403                         | 403                         | 403                         | 200 200 200 404 404 404
DeleteBus            of      | 401                         | 403                         | 204 404 404 404 404 404     | 403                         | 403                         | 403                         | 204 204 204 404 404 404
AddBusPhotos         of      | 401                         | 403                         | 201 404 404 404 404 404     | 403                         | 403                         | 403                         | 201 201 201 404 404 404
DeleteBusPhoto       of      | 401                         | 403                         | 204 404 404 404 404 404     | 403                         | 403                         | 403                         | 204 204 204 404 404 404

ListHotels           -       | 401                         | 403                         | 200                         | 200                         | 403                         | 403                         | 200
CreateHotel          for     | 401                         | 403                         | 201 201 201 201 201 422     | 403                         | 403                         | 403                         | 422 201 201 201 404 422
GetHotel             of      | 401                         | 403                         | 200 404 404 404 404 404     | 404 404 200 404 404 404     | 403                         | 403                         | 200 200 200 404 404 404
ReplaceHotel         of      | 401                         | 403                         | 200 404 404 404 404 404     | 403                         | 403                         | 403                         | 200 200 200 404 404 404
PatchHotel           of      | 401                         | 403                         | 200 404 404 404 404 404     | 403                         | 403                         | 403                         | 200 200 200 404 404 404
DeleteHotel          of      | 401                         | 403                         | 204 404 404 404 404 404     | 403                         | 403                         | 403                         | 204 204 204 404 404 404

ListRestStops        -       | 401                         | 403                         | 200                         | 200                         | 403                         | 403                         | 200
CreateRestStop       for     | 401                         | 403                         | 201 201 201 201 201 422     | 403                         | 403                         | 403                         | 422 201 201 201 404 422
GetRestStop          of      | 401                         | 403                         | 200 404 404 404 404 404     | 404 404 200 404 404 404     | 403                         | 403                         | 200 200 200 404 404 404
ReplaceRestStop      of      | 401                         | 403                         | 200 404 404 404 404 404     | 403                         | 403                         | 403                         | 200 200 200 404 404 404
PatchRestStop        of      | 401                         | 403                         | 200 404 404 404 404 404     | 403                         | 403                         | 403                         | 200 200 200 404 404 404
DeleteRestStop       of      | 401                         | 403                         | 204 404 404 404 404 404     | 403                         | 403                         | 403                         | 204 204 204 404 404 404

ListProviderTrips    -       | 401                         | 403                         | 200                         | 200                         | 403                         | 403                         | 200
CreateProviderTrip   for     | 401                         | 403                         | 201 201 201 201 201 422     | 403                         | 403                         | 403                         | 422 201 201 201 404 422
ListTripBookings     of      | 401                         | 403                         | 200 404 404 404 404 404     | 404 404 200 404 404 404     | 403                         | 403                         | 200 200 200 404 404 404
GetManifest          of      | 401                         | 403                         | 409 404 404 404 404 404     | 404 404 409 404 404 404     | 403                         | 403                         | 409 409 409 404 404 404
ListCheckIns         of      | 401                         | 403                         | 200 404 404 404 404 404     | 404 404 200 404 404 404     | 403                         | 403                         | 200 200 200 404 404 404
ReportCheckIns       of      | 401                         | 403                         | 200 404 404 404 404 404     | 403                         | 403                         | 403                         | 200 200 200 404 404 404
GetProviderTrip      of      | 401                         | 403                         | 200 404 404 404 404 404     | 404 404 200 404 404 404     | 403                         | 403                         | 200 200 200 404 404 404
ReplaceProviderTrip  of      | 401                         | 403                         | 200 404 404 404 404 404     | 403                         | 403                         | 403                         | 200 200 200 404 404 404
PatchProviderTrip    of      | 401                         | 403                         | 200 404 404 404 404 404     | 403                         | 403                         | 403                         | 200 200 200 404 404 404
DeleteProviderTrip   of      | 401                         | 403                         | 204 404 404 404 404 404     | 403                         | 403                         | 403                         | 204 204 204 404 404 404
PublishTrip          of      | 401                         | 403                         | 200 404 404 404 404 404     | 403                         | 403                         | 403                         | 200 200 200 404 404 404
PreviewReschedule    of      | 401                         | 403                         | 200 404 404 404 404 404     | 404 404 200 404 404 404     | 403                         | 403                         | 200 200 200 404 404 404
PreviewTripCancellation of   | 401                         | 403                         | 200 404 404 404 404 404     | 404 404 200 404 404 404     | 403                         | 403                         | 200 200 200 404 404 404
CancelTrip           of      | 401                         | 403                         | 403/202 403/404 403/404 403/404 403/404 403/404 | 403 | 403                         | 403                         | 202 202 202 404 404 404
GetTripCancellation  of      | 401                         | 403                         | 200 404 404 404 404 404     | 404 404 200 404 404 404     | 200 200 200 404 404 404     | 200 200 200 404 404 404     | 200 200 200 404 404 404
ApproveTripCancellation kept | 401                         | 403                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404
RejectTripCancellation kept  | 401                         | 403                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404

ListAdCampaigns      -       | 401                         | 403                         | 200                         | 200                         | 403                         | 403                         | 200
CreateAdCampaign     for     | 401                         | 403                         | 201 201 201 201 201 422     | 403                         | 403                         | 403                         | 422 201 201 201 404 422
GetAdCampaign        of      | 401                         | 403                         | 200 404 404 404 404 404     | 404 404 200 404 404 404     | 403                         | 403                         | 200 200 200 404 404 404
ReplaceAdCampaign    of      | 401                         | 403                         | 200 404 404 404 404 404     | 403                         | 403                         | 403                         | 200 200 200 404 404 404
PatchAdCampaign      of      | 401                         | 403                         | 200 404 404 404 404 404     | 403                         | 403                         | 403                         | 200 200 200 404 404 404
DeleteAdCampaign     of      | 401                         | 403                         | 204 404 404 404 404 404     | 403                         | 403                         | 403                         | 204 204 204 404 404 404
PauseAdCampaign      of      | 401                         | 403                         | 200 404 404 404 404 404     | 403                         | 403                         | 403                         | 200 200 200 404 404 404
ResumeAdCampaign     of      | 401                         | 403                         | 200 404 404 404 404 404     | 403                         | 403                         | 403                         | 200 200 200 404 404 404
CreateCampaignIntent of      | 401                         | 403                         | 201 404 404 404 404 404     | 403                         | 403                         | 403                         | 201 201 201 404 404 404

ReturnFromPayment    kept    | 303 404 404                 | 303 404 404                 | 303 404 404                 | 303 404 404                 | 303 404 404                 | 303 404 404                 | 303 404 404
ShowCheckoutPage     -       | 404                         | 404                         | 404                         | 404                         | 404                         | 404                         | 404
ReceiveGatewayAWebhook event | 200 401                     | 200 401                     | 200 401                     | 200 401                     | 200 401                     | 200 401                     | 200 401
ReceiveWalletAWebhook  event | 200 401                     | 200 401                     | 200 401                     | 200 401                     | 200 401                     | 200 401                     | 200 401
ReceiveWalletBWebhook  event | 200 401                     | 200 401                     | 200 401                     | 200 401                     | 200 401                     | 200 401                     | 200 401
ReceiveBillPaymentWebhook event | 200 401                  | 200 401                     | 200 401                     | 200 401                     | 200 401                     | 200 401                     | 200 401
ReceiveGatewayABackupWebhook - | 404                         | 404                         | 404                         | 404                         | 404                         | 404                         | 404
ReceiveWalletBBackupWebhook - | 404                         | 404                         | 404                         | 404                         | 404                         | 404                         | 404

ListPaymentTransactions -    | 401                         | 403                         | 403                         | 403                         | 200                         | 200                         | 200
GetPaymentTransaction kept   | 401                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404                 | 200 404 404
RefundLatePayment    kept    | 401                         | 403                         | 403                         | 403                         | 403                         | 409 404 404                 | 409 404 404
RefundAdCampaign     kept    | 401                         | 403                         | 403                         | 403                         | 403                         | 409 404 404                 | 409 404 404
ListRefunds          -       | 401                         | 403                         | 403                         | 403                         | 200                         | 200                         | 200
GetRefund            kept    | 401                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404                 | 200 404 404
PreviewOrderedRefund kept    | 401                         | 403                         | 403                         | 403                         | 409 404 404                 | 409 404 404                 | 409 404 404
ListIncidents        -       | 401                         | 403                         | 403                         | 403                         | 200                         | 200                         | 200
GetIncident          kept    | 401                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404                 | 200 404 404
AssignIncident       kept    | 401                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404                 | 200 404 404
ListIncidentNotes    kept    | 401                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404                 | 200 404 404
AddIncidentNote      kept    | 401                         | 403                         | 403                         | 403                         | 201 404 404                 | 201 404 404                 | 201 404 404
ListIncidentAssignees -      | 401                         | 403                         | 403                         | 403                         | 200                         | 200                         | 200
ResolveIncident      kept    | 401                         | 403                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404
ApproveRefund        kept    | 401                         | 403                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404
RejectRefund         kept    | 401                         | 403                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404
ConfirmRefundPayout  kept    | 401                         | 403                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404
RejectRefundPayout   kept    | 401                         | 403                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404
ListBookings         -       | 401                         | 403                         | 403                         | 403                         | 200                         | 200                         | 200
CorrectBooking       sale    | 401                         | 403                         | 403                         | 403                         | 200 200 404 404             | 200 200 404 404             | 200 200 404 404
ResendBookingMessage sale    | 401                         | 403                         | 403                         | 403                         | 202 409 404 404             | 202 409 404 404             | 202 409 404 404
ListBookingNotes     sale    | 401                         | 403                         | 403                         | 403                         | 200 200 404 404             | 200 200 404 404             | 200 200 404 404
AddBookingNote       sale    | 401                         | 403                         | 403                         | 403                         | 201 201 404 404             | 201 201 404 404             | 201 201 404 404
SendCheckoutLink     sale    | 401                         | 403                         | 403                         | 403                         | 409 202 404 404             | 409 202 404 404             | 409 202 404 404
GetRefundQuote       sale    | 401                         | 403                         | 403                         | 403                         | 200 409 404 404             | 200 409 404 404             | 200 409 404 404
PreviewRefund        sale    | 401                         | 403                         | 403                         | 403                         | 200 409 404 404             | 200 409 404 404             | 200 409 404 404
ListAllCancellationRequests -       | 401                         | 403                         | 403                         | 403                         | 200                         | 200                         | 200
ListTripCancellations -      | 401                         | 403                         | 403                         | 403                         | 200                         | 200                         | 200
GetCancellationRequest kept  | 401                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404                 | 200 404 404
ApproveCancellation  kept    | 401                         | 403                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404
RejectCancellation   kept    | 401                         | 403                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404
CancelPaidBooking    sale    | 401                         | 403                         | 403                         | 403                         | 403                         | 200 409 404 404             | 200 409 404 404
RefundBooking        sale    | 401                         | 403                         | 403                         | 403                         | 403                         | 201 409 404 404             | 201 409 404 404
GetFinancialSummary  -       | 401                         | 403                         | 403                         | 403                         | 403                         | 200                         | 200
ListFinancialRecords -       | 401                         | 403                         | 403                         | 403                         | 403                         | 200                         | 200
GetFinancialRecordTotals -   | 401                         | 403                         | 403                         | 403                         | 403                         | 200                         | 200
ListExports          -       | 401                         | 403                         | 403                         | 403                         | 403                         | 200                         | 200
ExportFinancialRecords -     | 401                         | 403                         | 403                         | 403                         | 403                         | 200                         | 200
MarkRecordTransferred kept   | 401                         | 403                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404
RevertRecordTransfer kept    | 401                         | 403                         | 403                         | 403                         | 403                         | 200 404 404                 | 200 404 404
MarkRecordsTransferred -     | 401                         | 403                         | 403                         | 403                         | 403                         | 200                         | 200
GetBalanceOfProvider company | 401                         | 403                         | 403                         | 403                         | 403                         | 200 200 404 404             | 200 200 404 404
ListProviderBalances -       | 401                         | 403                         | 403                         | 403                         | 403                         | 200                         | 200
GetCompany           -       | 401                         | 403                         | 200                         | 200                         | 403                         | 403                         | 403
ReplaceCompany       -       | 401                         | 403                         | 403/200                     | 403                         | 403                         | 403                         | 403
PatchCompany         -       | 401                         | 403                         | 403/200                     | 403                         | 403                         | 403                         | 403
ListCompanyStaff     -       | 401                         | 403                         | 403/200                     | 403/200                     | 403                         | 403                         | 403
InviteCompanyStaff   -       | 401                         | 403                         | 403/201                     | 403                         | 403                         | 403                         | 403
RemoveCompanyStaff   staff   | 401                         | 403                         | 403/204 403/404 403/404 403/404 403/404 403/404 | 403                         | 403                         | 403                         | 403
GetProviderBalance   -       | 401                         | 403                         | 200                         | 200                         | 403                         | 403                         | 403
GetDashboard         -       | 401                         | 403                         | 403                         | 403                         | 403                         | 200                         | 200
StreamDashboardEvents -      | 401                         | 403                         | 403                         | 403                         | 403                         | 200                         | 200
GetProviderDashboard -       | 401                         | 403                         | 200                         | 200                         | 403                         | 403                         | 403
StreamProviderDashboardEvents - | 401                         | 403                         | 200                         | 200                         | 403                         | 403                         | 403
ListProviderFinancialRecords - | 401                       | 403                         | 200                         | 200                         | 403                         | 403                         | 403
GetProviderFinancialSummary - | 401                        | 403                         | 200                         | 200                         | 403                         | 403                         | 403
ListAuditLogs        -       | 401                         | 403                         | 403                         | 403                         | 403                         | 200                         | 200
ExportAuditLogs      -       | 401                         | 403                         | 403                         | 403                         | 403                         | 403                         | 403/200
`

// accountsTable is the same of what only a SUPER_ADMIN may.
const accountsTable = `
operation             kinds   | nobody | END_USER | staff | idle | SUPPORT_AGENT | FINANCE_ADMIN | ADMIN | SUPER_ADMIN
ListUsers             -       | 401    | 403      | 403   | 403  | 403           | 403           | 403   | 200
InviteUser            -       | 401    | 403      | 403   | 403  | 403           | 403           | 403   | 201
GetUser               account | 401    | 403      | 403   | 403  | 403           | 403           | 403   | 200 200 404 404 404
ReplaceUser           account | 401    | 403      | 403   | 403  | 403           | 403           | 403   | 200 403 404 404 404
PatchUser            account | 401    | 403      | 403   | 403  | 403           | 403           | 403   | 200 403 404 404 404
LockUser              account | 401    | 403      | 403   | 403  | 403           | 403           | 403   | 200 403 404 404 404
UnlockUser            account | 401    | 403      | 403   | 403  | 403           | 403           | 403   | 200 403 404 404 404
InviteUserAgain       account | 401    | 403      | 403   | 403  | 403           | 403           | 403   | 200 403 404 404 404
ResetUserSecondFactor account | 401    | 403      | 403   | 403  | 403           | 403           | 403   | 200 403 404 404 404
RemoveUser            account | 401    | 403      | 403   | 403  | 403           | 403           | 403   | 204 403 404 404 404
`

// cell is one request and the status that it must get.
type cell struct {
	operation string
	caller    string // a column of the table, or a role with ` (idle)`
	kind      string
	want      int
}

func (c cell) String() string { return fmt.Sprintf("%s as %s, %s", c.operation, c.caller, c.kind) }

// column are the callers of each column of the table.
var columns = map[string][]string{
	"nobody": {"nobody"}, "END_USER": {"END_USER"}, "SUPPORT_AGENT": {"SUPPORT_AGENT"}, "FINANCE_ADMIN": {"FINANCE_ADMIN"},
	"staff": {"PROVIDER_STAFF", "PROVIDER_ADMIN"}, "idle": {"PROVIDER_STAFF (idle)", "PROVIDER_ADMIN (idle)"},
	"admin": {"ADMIN", "SUPER_ADMIN"}, "ADMIN": {"ADMIN"}, "SUPER_ADMIN": {"SUPER_ADMIN"},
}

// matrix reads the tables: the cells of each operation.
func matrix(t *testing.T) map[string][]cell {
	t.Helper()

	out := map[string][]cell{}

	for _, text := range []string{table, accountsTable} {
		readTable(t, text, out)
	}

	return out
}

func readTable(t *testing.T, text string, out map[string][]cell) {
	t.Helper()

	var header []string

	for line := range strings.Lines(text) {
		fields := strings.Split(line, "|")

		first := strings.Fields(fields[0])
		if len(first) == 0 {
			continue
		}

		if header == nil {
			header = fields

			continue
		}

		require.Len(t, fields, len(header), line)
		require.Len(t, first, 2, line)
		require.NotContains(t, out, first[0], "two lines")
		require.Contains(t, kinds, first[1], line)

		for i := 1; i < len(fields); i++ {
			for n, caller := range columns[strings.TrimSpace(header[i])] {
				statuses := strings.Fields(fields[i])
				for k, status := range statuses {
					if each := strings.Split(status, "/"); len(each) > 1 {
						statuses[k] = each[n]
					}
				}

				out[first[0]] = append(out[first[0]], cellsOf(t, first[0], caller, kinds[first[1]], statuses)...)
			}
		}
	}
}

func cellsOf(t *testing.T, operation, caller string, kinds, statuses []string) []cell {
	t.Helper()
	require.Contains(t, []int{1, len(kinds)}, len(statuses), "%s as %s", operation, caller)

	out := make([]cell, 0, len(kinds))

	for i, kind := range kinds {
		status, err := strconv.Atoi(statuses[min(i, len(statuses)-1)])
		require.NoError(t, err)

		out = append(out, cell{operation: operation, caller: caller, kind: kind, want: status})
	}

	return out
}

// rolesIn are the roles that the cells let in; none means that a token is not even needed.
func rolesIn(cells []cell) []string {
	var out []string

	for _, role := range models.Roles() {
		for _, c := range cells {
			if c.caller == string(role) && c.want != 401 && c.want != 403 {
				out = append(out, string(role))

				break
			}
		}
	}

	for _, c := range cells {
		if c.caller == "nobody" && c.want != 401 {
			return nil
		}
	}

	return out
}
