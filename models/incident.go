package models

import (
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// IncidentText is what an incident says. Rows that predate migration 74 have the sentence only.
type IncidentText struct {
	Message string `bun:"message"` // in English, of when it was opened
	Text    Text   `bun:"message_text,type:jsonb,nullzero"`
}

// IncidentSays is what a new incident says; args are those of TextOf.
func IncidentSays(key Key, args ...any) IncidentText { return SaidByIncident(TextOf(key, args...)) }

// SaidByIncident is a text as what a new incident says.
func SaidByIncident(t Text) IncidentText { return IncidentText{Message: t.String(), Text: t} }

// In is what the incident says to a person who reads the language.
func (t IncidentText) In(locale Locale) string {
	if t.Text.IsZero() {
		return t.Message
	}

	return t.Text.In(locale)
}

// Incident is something that a person has to look at (rules: incidents.kinds).
type Incident struct {
	bun.BaseModel `bun:"table:incidents,alias:ic"`

	ID                   uuid.UUID    `bun:"id,pk"`
	Kind                 IncidentKind `bun:"kind"`
	Status               string       `bun:"status"`
	PaymentTransactionID *uuid.UUID   `bun:"payment_transaction_id"`
	BookingID            *uuid.UUID   `bun:"booking_id"`
	AdCampaignID         *uuid.UUID   `bun:"ad_campaign_id"`
	RefundID             *uuid.UUID   `bun:"refund_id"`
	IncidentText

	Details    map[string]any `bun:"details,type:jsonb,json_use_number"`
	WorkflowID string         `bun:"workflow_id"`
	CreatedAt  time.Time      `bun:"created_at,nullzero,default:now()"`
	ResolvedAt *time.Time     `bun:"resolved_at"`
	ResolvedBy *uuid.UUID     `bun:"resolved_by"`
	Note       string         `bun:"note"`
	NoteText   Text           `bun:"note_text,type:jsonb,nullzero"` // of a note of the service
	AssignedTo *uuid.UUID     `bun:"assigned_to"`                   // who looks after it

	BookingNumber string `bun:"-"` // read for people only
	AssigneeName  string `bun:"-"` // the same
	ResolverName  string `bun:"-"` // the same
}

// IncidentNote is what one of the staff has found out about an incident.
type IncidentNote struct {
	bun.BaseModel `bun:"table:incident_notes,alias:ino"`

	ID         uuid.UUID `bun:"id,pk"`
	IncidentID uuid.UUID `bun:"incident_id"`
	AuthorID   uuid.UUID `bun:"author_id"`
	Note       string    `bun:"note"`
	CreatedAt  time.Time `bun:"created_at,nullzero,default:now()"`

	AuthorName string `bun:"author_name,scanonly"`
}

// The states of an incident.
const (
	IncidentOpen     = "OPEN"
	IncidentResolved = "RESOLVED"
)
