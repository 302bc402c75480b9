// Package exports makes files of the ledger and of the audit log while they leave, and notes each in the audit log.
package exports

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"time"

	"github.com/gofiber/fiber/v2"

	"rihla/api/stream"
	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/models"
)

// auditTimeout bounds noting what became of an export, whose own time may be over.
const auditTimeout = 5 * time.Second

// Sender sends files. It has what they need of their process.
type Sender struct {
	Store   *store.Store
	Log     *slog.Logger
	Running *Running
	Own     *stream.Slots // of one account and of one provider
}

// File is a file that is streamed while it is made, and noted in the audit log.
type File struct {
	By db.Actor
	// Kind begins the names of the entries of the audit log, Entity is what they are about, and Details are in all of them.
	Kind    models.ExportKind
	Entity  models.AuditEntity
	Details map[string]any
	// Describe sets the headers, and Write makes the file and counts its rows: of one that was interrupted those that may have left.
	Describe func(*fiber.Ctx)
	Write    func(ctx context.Context, w io.Writer) (rows int64, err error)
}

// Send answers with the file. The audit entry is written before the first byte, and the number of rows and bytes after the last.
func (s *Sender) Send(f *fiber.Ctx, e File) error {
	e.Details = maps.Clone(e.Details)
	e.Details["export_id"] = models.NewID() // tells which entries are of one export

	if f.Method() == fiber.MethodHead { // asks for no file: there is nothing to be noted
		e.Describe(f)

		return nil
	}

	leave, err := s.Own.Acquire(e.By)
	if err != nil {
		return err
	}

	ctx, end, err := s.Running.begin(f.UserContext())
	if err != nil {
		leave()

		return err
	}

	done := func() {
		end()
		leave()
	}

	// The requester is noted even if the connection breaks; the number of rows follows when it is known.
	if err := s.note(f.UserContext(), &e, e.Kind.Started(), nil); err != nil {
		done()

		return err
	}

	e.Describe(f)
	stream.Body{
		Write: func(ctx context.Context, w io.Writer) error { return s.writeAndNote(ctx, w, &e) }, Done: done,
	}.Send(ctx, f)

	return nil
}

func (s *Sender) writeAndNote(ctx context.Context, w io.Writer, e *File) error {
	file := &countingWriter{w: w}
	rows, err := e.Write(ctx, file)
	if err == nil {
		err = ctx.Err() // the connection is cut, whatever is still in its buffers
	}

	action := e.Kind.Completed()
	if err != nil {
		action = e.Kind.Stopped()

		s.Log.WarnContext(ctx, "export interrupted", "rows", rows, "error", err)
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()

	if noted := s.note(ctx, e, action, map[string]any{"rows": rows, "bytes": file.bytes}); noted != nil {
		s.Log.ErrorContext(ctx, "export not noted in the audit log", "error", noted)
	}

	return err
}

func (s *Sender) note(ctx context.Context, e *File, action models.AuditAction, more map[string]any) error {
	details := maps.Clone(e.Details)
	maps.Copy(details, more)

	return s.Store.DB.Audit(ctx, e.By, action, e.Entity, nil, details)
}

// countingWriter counts what was handed on of a file.
type countingWriter struct {
	w     io.Writer
	bytes int64
}

// Write implements io.Writer.
func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.bytes += int64(n)

	return n, err //nolint:wrapcheck // it is what the client's connection says
}
