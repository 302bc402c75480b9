package models

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// ExportKind is what was exported: how the actions of an export in the audit log begin.
type ExportKind string

// What is exported.
const (
	ExportFinancialRecords ExportKind = "FINANCIAL_RECORDS"
	ExportAuditLog         ExportKind = "AUDIT_LOG"
)

// Started is the action of the entry that the audit log has from before the first byte.
func (k ExportKind) Started() AuditAction { return AuditAction(k) + "_EXPORT_STARTED" }

// Completed is the action of the entry from after the last byte.
func (k ExportKind) Completed() AuditAction { return AuditAction(k) + "_EXPORTED" }

// Stopped is the action of the entry of an export that was interrupted.
func (k ExportKind) Stopped() AuditAction { return AuditAction(k) + "_EXPORT_STOPPED" }

// ExportStatus is what became of an export.
type ExportStatus string

// What can become of an export.
const (
	ExportRunning   ExportStatus = "RUNNING"
	ExportCompleted ExportStatus = "COMPLETED"
	ExportStopped   ExportStatus = "STOPPED"
	ExportUnknown   ExportStatus = "UNKNOWN" // its process ended without a note of it
)

// Export is an export by its entries in the audit log. It is the entry from before the first byte, and has what the other one says.
type Export struct {
	bun.BaseModel `bun:"table:audit_log,alias:al"`

	ID        uuid.UUID       `bun:"id,pk"`
	ActorID   *uuid.UUID      `bun:"actor_id"`
	ActorRole Role            `bun:"actor_role"`
	Action    AuditAction     `bun:"action"`
	Details   json.RawMessage `bun:"details,type:jsonb"`
	CreatedAt time.Time       `bun:"created_at"`

	ActorName string      `bun:"actor_name,scanonly"`
	End       AuditAction `bun:"end_action,scanonly"` // the other entry's action; empty while there is none
	EndedAt   *time.Time  `bun:"ended_at,scanonly"`
	Rows      *int64      `bun:"rows,scanonly"`  // of one that was stopped those that may have left
	Bytes     *int64      `bun:"bytes,scanonly"` // likewise
}

// Kind is what was exported.
func (e *Export) Kind() ExportKind {
	if e.Action == ExportAuditLog.Started() {
		return ExportAuditLog
	}

	return ExportFinancialRecords
}

// Status is what has become of the export until now. atMost is how long an export can take.
func (e *Export) Status(now time.Time, atMost time.Duration) ExportStatus {
	switch {
	case e.End == e.Kind().Completed():
		return ExportCompleted
	case e.End != "":
		return ExportStopped
	case now.Sub(e.CreatedAt) <= atMost:
		return ExportRunning
	default:
		return ExportUnknown
	}
}
