package models

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// AuditEntity is a kind of thing to which something is done that the audit log has.
type AuditEntity string

// What entries of the audit log are about.
const (
	EntityUser            AuditEntity = "user"
	EntityProvider        AuditEntity = "provider"
	EntityBus             AuditEntity = "bus"
	EntityHotel           AuditEntity = "hotel"
	EntityRestStop        AuditEntity = "rest_stop"
	EntityTrip            AuditEntity = "trip"
	EntityAdCampaign      AuditEntity = "ad_campaign"
	EntityBooking         AuditEntity = "booking"
	EntityRefund          AuditEntity = "refund"
	EntityIncident        AuditEntity = "incident"
	EntityFinancialRecord AuditEntity = "financial_record"
	EntityAuditLog        AuditEntity = "audit_log"
)

// AuditAction is what was done, in an entry of the audit log. A log that is older than the service that reads it may have others.
type AuditAction string

// What is done to accounts, by those who sign in to them, and to what a company has.
const (
	AuditUserCreated         AuditAction = "USER_CREATED"
	AuditUserInvited         AuditAction = "USER_INVITED"
	AuditUserChanged         AuditAction = "USER_CHANGED"
	AuditUserLocked          AuditAction = "USER_LOCKED"
	AuditUserUnlocked        AuditAction = "USER_UNLOCKED"
	AuditUserRemoved         AuditAction = "USER_REMOVED"
	AuditStaffCreated        AuditAction = "STAFF_CREATED"
	AuditStaffRemoved        AuditAction = "STAFF_REMOVED"
	AuditInvitationAccepted  AuditAction = "INVITATION_ACCEPTED"
	AuditVerifyEmailSent     AuditAction = "VERIFY_EMAIL_SENT"
	AuditEmailVerified       AuditAction = "EMAIL_VERIFIED"
	AuditResetPasswordSent   AuditAction = "RESET_PASSWORD_SENT"
	AuditPasswordReset       AuditAction = "PASSWORD_RESET"
	AuditPasswordChanged     AuditAction = "PASSWORD_CHANGED"
	AuditPasswordVoided      AuditAction = "PASSWORD_VOIDED"
	AuditLoggedIn            AuditAction = "LOGGED_IN"
	AuditLoginFailed         AuditAction = "LOGIN_FAILED"
	AuditAccountLocked       AuditAction = "ACCOUNT_LOCKED"
	AuditSteppedUp           AuditAction = "STEPPED_UP"
	AuditSecondFactorAdded   AuditAction = "SECOND_FACTOR_ADDED"
	AuditSecondFactorRemoved AuditAction = "SECOND_FACTOR_REMOVED"
	AuditRecoveryCodeUsed    AuditAction = "RECOVERY_CODE_USED"
	AuditSessionEnded        AuditAction = "SESSION_ENDED"
	AuditSessionsEnded       AuditAction = "SESSIONS_ENDED"
	AuditSessionStolen       AuditAction = "SESSION_STOLEN"
	AuditPeopleRead          AuditAction = "PEOPLE_READ" // of many people, within an hour

	AuditProviderCreated     AuditAction = "PROVIDER_CREATED"
	AuditProviderUpdated     AuditAction = "PROVIDER_UPDATED"
	AuditProviderActivated   AuditAction = "PROVIDER_ACTIVATED"
	AuditProviderDeactivated AuditAction = "PROVIDER_DEACTIVATED"

	AuditBusCreated      AuditAction = "BUS_CREATED"
	AuditBusUpdated      AuditAction = "BUS_UPDATED"
	AuditBusDeleted      AuditAction = "BUS_DELETED"
	AuditBusPhotosAdded  AuditAction = "BUS_PHOTOS_ADDED"
	AuditBusPhotoDeleted AuditAction = "BUS_PHOTO_DELETED"

	AuditHotelCreated AuditAction = "HOTEL_CREATED"
	AuditHotelUpdated AuditAction = "HOTEL_UPDATED"
	AuditHotelDeleted AuditAction = "HOTEL_DELETED"

	AuditRestStopCreated AuditAction = "REST_STOP_CREATED"
	AuditRestStopUpdated AuditAction = "REST_STOP_UPDATED"
	AuditRestStopDeleted AuditAction = "REST_STOP_DELETED"

	AuditTripCreated   AuditAction = "TRIP_CREATED"
	AuditTripUpdated   AuditAction = "TRIP_UPDATED"
	AuditTripDeleted   AuditAction = "TRIP_DELETED"
	AuditTripPublished AuditAction = "TRIP_PUBLISHED"
	// AuditTripCancellationAsked begins the cancellation of a trip; the others are what becomes of it.
	AuditTripCancellationAsked    AuditAction = "TRIP_CANCELLATION_REQUESTED"
	AuditTripCancellationApproved AuditAction = "TRIP_CANCELLATION_APPROVED"
	AuditTripCancellationRejected AuditAction = "TRIP_CANCELLATION_REJECTED"
	AuditTripCancellationExpired  AuditAction = "TRIP_CANCELLATION_EXPIRED"
	AuditTripCancelled            AuditAction = "TRIP_CANCELLED"
	// AuditTripManifestRead is of the passengers of the trip with their document numbers.
	AuditTripManifestRead AuditAction = "TRIP_MANIFEST_READ"

	AuditAdCampaignCreated AuditAction = "AD_CAMPAIGN_CREATED"
	AuditAdCampaignUpdated AuditAction = "AD_CAMPAIGN_UPDATED"
	AuditAdCampaignDeleted AuditAction = "AD_CAMPAIGN_DELETED"
	AuditAdCampaignPaused  AuditAction = "AD_CAMPAIGN_PAUSED"
	AuditAdCampaignResumed AuditAction = "AD_CAMPAIGN_RESUMED"
	// AuditAdCampaignCancelled: its trip does not run, or its payment went back in full.
	AuditAdCampaignCancelled AuditAction = "AD_CAMPAIGN_CANCELLED"
)

// What is done to bookings and to money.
const (
	AuditBookingCancelled      AuditAction = "BOOKING_CANCELLED"
	AuditBookingCorrected      AuditAction = "BOOKING_CORRECTED"
	AuditBookingDocumentsRead  AuditAction = "BOOKING_DOCUMENTS_READ"
	AuditBookingNoted          AuditAction = "BOOKING_NOTED"
	AuditBookingResent         AuditAction = "BOOKING_MESSAGE_RESENT"
	AuditCancellationRequested AuditAction = "CANCELLATION_REQUESTED"
	AuditCancellationDecided   AuditAction = "CANCELLATION_DECIDED"
	AuditCheckoutLinkSent      AuditAction = "CHECKOUT_LINK_SENT"

	AuditRefundRequested        AuditAction = "REFUND_REQUESTED"
	AuditRefundApproved         AuditAction = "REFUND_APPROVED"
	AuditRefundApprovalRejected AuditAction = "REFUND_APPROVAL_REJECTED"
	AuditRefundApprovalExpired  AuditAction = "REFUND_APPROVAL_EXPIRED"
	AuditRefundPayoutConfirmed  AuditAction = "REFUND_PAYOUT_CONFIRMED"
	AuditRefundPayoutRejected   AuditAction = "REFUND_PAYOUT_REJECTED"
	AuditRefundSucceeded        AuditAction = "REFUND_SUCCEEDED"
	AuditRefundFailed           AuditAction = "REFUND_FAILED"

	AuditIncidentAssigned AuditAction = "INCIDENT_ASSIGNED"
	AuditIncidentNoted    AuditAction = "INCIDENT_NOTED"
	AuditIncidentResolved AuditAction = "INCIDENT_RESOLVED"

	AuditFinancialRecordTransferred      AuditAction = "FINANCIAL_RECORD_TRANSFERRED"
	AuditFinancialRecordsTransferred     AuditAction = "FINANCIAL_RECORDS_TRANSFERRED" // of many at once, in old logs
	AuditFinancialRecordTransferReverted AuditAction = "FINANCIAL_RECORD_TRANSFER_REVERTED"
	AuditFinancialRecordsExportStarted   AuditAction = "FINANCIAL_RECORDS_EXPORT_STARTED"
	AuditFinancialRecordsExported        AuditAction = "FINANCIAL_RECORDS_EXPORTED"
	AuditFinancialRecordsExportStopped   AuditAction = "FINANCIAL_RECORDS_EXPORT_STOPPED"

	AuditLogExportStarted AuditAction = "AUDIT_LOG_EXPORT_STARTED"
	AuditLogExported      AuditAction = "AUDIT_LOG_EXPORTED"
	AuditLogExportStopped AuditAction = "AUDIT_LOG_EXPORT_STOPPED"
)

// auditActions are the actions by what they are done to, both in the order in which they are shown.
var auditActions = []struct {
	entity  AuditEntity
	actions []AuditAction
}{
	{EntityUser, []AuditAction{
		AuditUserCreated, AuditUserInvited, AuditUserChanged, AuditUserLocked, AuditUserUnlocked, AuditUserRemoved, AuditStaffCreated,
		AuditStaffRemoved, AuditInvitationAccepted, AuditVerifyEmailSent, AuditEmailVerified, AuditResetPasswordSent,
		AuditPasswordReset, AuditPasswordChanged, AuditPasswordVoided, AuditLoggedIn, AuditLoginFailed, AuditAccountLocked, AuditSteppedUp,
		AuditSecondFactorAdded, AuditSecondFactorRemoved, AuditRecoveryCodeUsed, AuditSessionEnded, AuditSessionsEnded,
		AuditSessionStolen, AuditPeopleRead,
	}},
	{EntityProvider, []AuditAction{
		AuditProviderCreated, AuditProviderUpdated, AuditProviderActivated, AuditProviderDeactivated,
	}},
	{EntityBus, []AuditAction{
		AuditBusCreated, AuditBusUpdated, AuditBusDeleted, AuditBusPhotosAdded, AuditBusPhotoDeleted,
	}},
	{EntityHotel, []AuditAction{
		AuditHotelCreated, AuditHotelUpdated, AuditHotelDeleted,
	}},
	{EntityRestStop, []AuditAction{
		AuditRestStopCreated, AuditRestStopUpdated, AuditRestStopDeleted,
	}},
	{EntityTrip, []AuditAction{
		AuditTripCreated, AuditTripUpdated, AuditTripDeleted, AuditTripPublished, AuditTripManifestRead, AuditTripCancellationAsked,
		AuditTripCancellationApproved, AuditTripCancellationRejected, AuditTripCancellationExpired, AuditTripCancelled,
	}},
	{EntityAdCampaign, []AuditAction{
		AuditAdCampaignCreated, AuditAdCampaignUpdated, AuditAdCampaignDeleted, AuditAdCampaignPaused, AuditAdCampaignResumed,
		AuditAdCampaignCancelled,
	}},
	{EntityBooking, []AuditAction{
		AuditBookingCancelled, AuditCancellationRequested, AuditCancellationDecided, AuditBookingDocumentsRead, AuditCheckoutLinkSent,
		AuditBookingCorrected, AuditBookingNoted, AuditBookingResent,
	}},
	{EntityRefund, []AuditAction{
		AuditRefundRequested, AuditRefundApproved, AuditRefundApprovalRejected, AuditRefundApprovalExpired, AuditRefundPayoutConfirmed,
		AuditRefundPayoutRejected, AuditRefundSucceeded, AuditRefundFailed,
	}},
	{EntityIncident, []AuditAction{
		AuditIncidentAssigned, AuditIncidentNoted, AuditIncidentResolved,
	}},
	{EntityFinancialRecord, []AuditAction{
		AuditFinancialRecordTransferred, AuditFinancialRecordsTransferred, AuditFinancialRecordTransferReverted,
		AuditFinancialRecordsExportStarted, AuditFinancialRecordsExported, AuditFinancialRecordsExportStopped,
	}},
	{EntityAuditLog, []AuditAction{
		AuditLogExportStarted, AuditLogExported, AuditLogExportStopped,
	}},
}

// AuditEntities are all that entries are about.
func AuditEntities() []AuditEntity {
	all := make([]AuditEntity, 0, len(auditActions))
	for _, of := range auditActions {
		all = append(all, of.entity)
	}

	return all
}

// AuditActions are all actions that the service notes.
func AuditActions() []AuditAction {
	var all []AuditAction
	for _, of := range auditActions {
		all = slices.Concat(all, of.actions)
	}

	return all
}

// AuditEntry says who did what to which entity, when (rules: audit.log).
type AuditEntry struct {
	bun.BaseModel `bun:"table:audit_log,alias:al"`

	ID        uuid.UUID       `bun:"id,pk"`
	ActorID   *uuid.UUID      `bun:"actor_id"`
	ActorRole Role            `bun:"actor_role"`
	Action    AuditAction     `bun:"action"`
	Entity    AuditEntity     `bun:"entity"`
	EntityID  *uuid.UUID      `bun:"entity_id"`
	Details   json.RawMessage `bun:"details,type:jsonb"`
	RequestID string          `bun:"request_id"`
	CreatedAt time.Time       `bun:"created_at,nullzero,default:now()"`
	// Operator is the system user who ran a command; empty for users and for the service itself.
	Operator string `bun:"operator"`
	// ActorKind is USER, OPERATOR or SYSTEM; the database computes it.
	ActorKind string `bun:"actor_kind"`
	// Address and UserAgent are where the actor's request came from; empty for operators and for the service itself.
	Address   string `bun:"address"`
	UserAgent string `bun:"user_agent"`

	ActorName string `bun:"-"` // read for people only; empty without a user
}

// TakeOriginFromDetails fills in where a log-in that predates the columns came from: its details tell.
func (e *AuditEntry) TakeOriginFromDetails() {
	if e.Address != "" || e.UserAgent != "" || e.Action != AuditLoggedIn && e.Action != AuditLoginFailed {
		return
	}

	var origin struct {
		Address   string `json:"address"`
		UserAgent string `json:"user_agent"`
	}

	if json.Unmarshal(e.Details, &origin) == nil {
		e.Address, e.UserAgent = origin.Address, origin.UserAgent
	}
}
