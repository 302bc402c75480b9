package operations

import (
	"context"
	"io"
	"maps"
	"time"

	"github.com/gofiber/fiber/v2"

	"rihla/internal/store/db"
)

// auditTimeout bounds noting what became of an export, whose own time may be over.
const auditTimeout = 5 * time.Second

// exportedFile is a file that is streamed while it is made, and noted in the audit log.
type exportedFile struct {
	o  *Operations
	by db.Actor
	// action begins the names of the entries of the audit log, entity is what they are about, and details are in all of them.
	action, entity string
	details        map[string]any
	// describe sets the headers, and write makes the file and counts its rows: of one that broke off those that may have left.
	describe func(*fiber.Ctx)
	write    func(ctx context.Context, w io.Writer) (rows int64, err error)
}

// send answers with the file. The audit entry is written before the first byte, and the number of rows after the last.
func (e exportedFile) send(f *fiber.Ctx) error {
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
	if err := e.note(f.UserContext(), "_EXPORT_STARTED", nil); err != nil {
		done()

		return err
	}

	e.describe(f)
	streamed{write: e.writeAndNote, done: done}.send(ctx, f)

	return nil
}

func (e exportedFile) writeAndNote(ctx context.Context, w io.Writer) error {
	rows, err := e.write(ctx, w)
	if err == nil {
		err = ctx.Err() // the connection is cut, whatever is still in its buffers
	}

	action := "_EXPORTED"
	if err != nil {
		action = "_EXPORT_STOPPED"

		e.o.Log.WarnContext(ctx, "export broke off", "rows", rows, "error", err)
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()

	if noted := e.note(ctx, action, &rows); noted != nil {
		e.o.Log.ErrorContext(ctx, "export not noted in the audit log", "error", noted)
	}

	return err
}

func (e exportedFile) note(ctx context.Context, action string, rows *int64) error {
	details := maps.Clone(e.details)
	if rows != nil {
		details["rows"] = *rows
	}

	return e.o.Store.DB.Audit(ctx, e.by, e.action+action, e.entity, nil, details)
}
