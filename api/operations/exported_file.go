package operations

import (
	"context"
	"io"
	"maps"
	"time"

	"github.com/gofiber/fiber/v2"

	"rihla/internal/store/db"
	"rihla/models"
)

// auditTimeout bounds noting what became of an export, whose own time may be over.
const auditTimeout = 5 * time.Second

// exportedFile is a file that is streamed while it is made, and noted in the audit log.
type exportedFile struct {
	o  *Operations
	by db.Actor
	// kind begins the names of the entries of the audit log, entity is what they are about, and details are in all of them.
	kind    models.ExportKind
	entity  models.AuditEntity
	details map[string]any
	// describe sets the headers, and write makes the file and counts its rows: of one that broke off those that may have left.
	describe func(*fiber.Ctx)
	write    func(ctx context.Context, w io.Writer) (rows int64, err error)
}

// send answers with the file. The audit entry is written before the first byte, and the number of rows and bytes after the last.
func (e exportedFile) send(f *fiber.Ctx) error {
	e.details = maps.Clone(e.details)
	e.details["export_id"] = models.NewID() // tells which entries are of one export

	if f.Method() == fiber.MethodHead { // asks for no file: there is nothing to be noted
		e.describe(f)

		return nil
	}

	leave, err := e.o.ownExports.acquire(e.by)
	if err != nil {
		return err
	}

	ctx, end, err := e.o.exports.begin(f.UserContext())
	if err != nil {
		leave()

		return err
	}

	done := func() {
		end()
		leave()
	}

	// The requester is noted even if the connection breaks; the number of rows follows when it is known.
	if err := e.note(f.UserContext(), e.kind.Started(), nil); err != nil {
		done()

		return err
	}

	e.describe(f)
	streamed{write: e.writeAndNote, done: done}.send(ctx, f)

	return nil
}

func (e exportedFile) writeAndNote(ctx context.Context, w io.Writer) error {
	file := &countingWriter{w: w}
	rows, err := e.write(ctx, file)
	if err == nil {
		err = ctx.Err() // the connection is cut, whatever is still in its buffers
	}

	action := e.kind.Completed()
	if err != nil {
		action = e.kind.Stopped()

		e.o.Log.WarnContext(ctx, "export broke off", "rows", rows, "error", err)
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()

	if noted := e.note(ctx, action, map[string]any{"rows": rows, "bytes": file.bytes}); noted != nil {
		e.o.Log.ErrorContext(ctx, "export not noted in the audit log", "error", noted)
	}

	return err
}

func (e exportedFile) note(ctx context.Context, action models.AuditAction, more map[string]any) error {
	details := maps.Clone(e.details)
	maps.Copy(details, more)

	return e.o.Store.DB.Audit(ctx, e.by, action, e.entity, nil, details)
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
