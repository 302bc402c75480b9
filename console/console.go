// Package console is the application for staff and provider companies, as it is built from the sources beside it: one more
// client of the API. `make console` builds it; its files are embedded, compressed as they are handed out.
package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"path"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
)

// Path is where the application is.
const Path = "/console"

//go:embed all:built
var built embed.FS

// policy lets the application run its own scripts, style itself by its own files and call this server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// features are the devices that the application may ask its user for: the camera, to read tickets.
const features = "camera=(self), microphone=(), geolocation=(), payment=(), usb=()"

const index = "index.html"

// file is one file of the application. Unpacked it is made once, for clients that do not read gzip.
type file struct {
	packed   []byte
	unpacked func() ([]byte, error)
	etag     string
	mime     string
	cache    string
}

// Application hands the application out.
type Application struct {
	files map[string]file
}

// New reads the embedded files.
func New() (*Application, error) {
	a := &Application{files: map[string]file{}}

	err := fs.WalkDir(built, "built", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}

		packed, err := built.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}

		name = strings.TrimSuffix(strings.TrimPrefix(name, "built/"), ".gz")
		a.files[name] = newFile(name, packed)

		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the console: %w", err)
	}

	if _, ok := a.files[index]; !ok {
		return nil, fmt.Errorf("the console has no %s", index)
	}

	return a, nil
}

func newFile(name string, packed []byte) file {
	sum := sha256.Sum256(packed)
	cache := "no-cache"

	// Names below assets/ change with what is in them.
	if strings.HasPrefix(name, "assets/") {
		cache = "public, max-age=31536000, immutable"
	}

	return file{
		packed: packed,
		unpacked: sync.OnceValues(func() ([]byte, error) {
			return unpack(packed)
		}),
		etag:  base64.RawURLEncoding.EncodeToString(sum[:12]),
		mime:  typeOf(name),
		cache: cache,
	}
}

// typeOf does not ask the machine, whose tables differ.
func typeOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return fiber.MIMETextJavaScriptCharsetUTF8
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".html":
		return fiber.MIMETextHTMLCharsetUTF8
	default:
		if known := mime.TypeByExtension(path.Ext(name)); known != "" {
			return known
		}

		return fiber.MIMEOctetStream
	}
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack a file of the console: %w", err)
	}

	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("unpack a file of the console: %w", err)
	}

	return plain, nil
}

// Serve answers everything at and below Path: a file, or for the address of a page the application, which shows it. A file
// that is not there is 404: an older page may ask for scripts of its own version (rules: api.console).
func (a *Application) Serve(f *fiber.Ctx) error {
	name := strings.TrimPrefix(strings.TrimPrefix(f.Path(), Path), "/")

	found, ok := a.files[name]

	switch {
	case ok:
	case strings.HasPrefix(name, "assets/"), path.Ext(name) != "":
		return fiber.ErrNotFound
	default:
		found = a.files[index]
	}

	return found.send(f)
}

func (x *file) send(f *fiber.Ctx) error {
	packed := strings.Contains(f.Get(fiber.HeaderAcceptEncoding), "gzip")
	etag := `"` + x.etag + `"`

	if packed {
		etag = `"` + x.etag + `-gzip"`
	}

	f.Set(fiber.HeaderContentSecurityPolicy, policy)
	f.Set(fiber.HeaderPermissionsPolicy, features)
	f.Set(fiber.HeaderContentType, x.mime)
	f.Set(fiber.HeaderCacheControl, x.cache)
	f.Set(fiber.HeaderETag, etag)
	f.Append(fiber.HeaderVary, fiber.HeaderAcceptEncoding)

	if f.Get(fiber.HeaderIfNoneMatch) == etag {
		f.Status(fiber.StatusNotModified)

		return nil
	}

	if packed {
		f.Set(fiber.HeaderContentEncoding, "gzip")
		f.Response().SetBodyRaw(x.packed)

		return nil
	}

	plain, err := x.unpacked()
	if err != nil {
		return err
	}

	f.Response().SetBodyRaw(plain)

	return nil
}
