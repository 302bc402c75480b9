package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/mail"
	"os"
	"path/filepath"

	"rihla/models"
)

const (
	dataDirMode    = 0o755 // others' folders are beside the outbox, and other users may run what is in them
	outboxDirMode  = 0o700 // the files have addresses in them
	outboxFileMode = 0o600
)

// Outbox is a Sender that writes messages to a folder: mail as `<id>.eml`, SMS as `<id>.sms.txt`. The name makes a
// second delivery overwrite the first.
type Outbox struct {
	dir      string
	from     *mail.Address
	renderer *Renderer
	log      *slog.Logger
}

// NewOutbox writes into dir, which is made when the first message comes.
func NewOutbox(dir string, from *mail.Address, renderer *Renderer, log *slog.Logger) *Outbox {
	return &Outbox{dir: dir, from: from, renderer: renderer, log: log}
}

// Send implements Sender. The log line names the file and no person.
func (o *Outbox) Send(ctx context.Context, m Message) error {
	name, content, err := o.file(m)
	if err != nil {
		return err
	}

	path := filepath.Join(o.dir, name)
	if err := o.write(path, content); err != nil {
		return err
	}

	o.log.InfoContext(ctx, "notification written to outbox", "kind", m.Kind, "channel", m.Channel, "locale", m.Locale, "file", path)

	return nil
}

func (o *Outbox) file(m Message) (name string, content []byte, err error) {
	text, err := o.renderer.Render(m)
	if err != nil {
		return "", nil, err
	}

	if m.Channel == models.NotifySMS {
		number, err := phone(m.To)
		if err != nil {
			return "", nil, err
		}

		return m.ID.String() + ".sms.txt", []byte("To: " + number + "\n\n" + text.Text + "\n"), nil
	}

	letter, err := newLetter(m, text, o.from)
	if err != nil {
		return "", nil, err
	}

	var eml bytes.Buffer
	if _, err := letter.WriteTo(&eml); err != nil {
		return "", nil, permanentf("write mail: %w", err)
	}

	return m.ID.String() + ".eml", eml.Bytes(), nil
}

// write replaces path as a whole, so that a reader never sees half a message.
func (o *Outbox) write(path string, content []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(o.dir), dataDirMode); err != nil {
		return fmt.Errorf("outbox folder: %w", err)
	}

	if err := os.Mkdir(o.dir, outboxDirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("outbox folder: %w", err)
	}

	f, err := os.CreateTemp(o.dir, ".writing-*")
	if err != nil {
		return fmt.Errorf("outbox file: %w", err)
	}

	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()

	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(outboxFileMode), f.Close()); err != nil {
		return fmt.Errorf("outbox file: %w", err)
	}

	if err = os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("outbox file: %w", err)
	}

	return nil
}
