// Package docs is the page on which people read the API's document. It is self-contained: RapiDoc (rapidoc 9.3.8 from
// npm, MIT, see rapidoc.LICENSE.txt) is embedded, and the page's content security policy forbids every other host.
package docs

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
)

// ScriptPath is where the page looks for its script.
const ScriptPath = "/docs/rapidoc-9.3.8.js"

//go:embed index.html
var page []byte

//go:embed rapidoc-min.js.gz
var script []byte

// policy lets the page run its own script, style itself and call this server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Page serves the page.
func Page(f *fiber.Ctx) error {
	f.Set(fiber.HeaderContentSecurityPolicy, policy)
	f.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)

	return f.Send(page)
}

// unpacked is the script as clients without gzip want it. It is made once: unpacking takes milliseconds.
var unpacked = sync.OnceValues(func() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(script))
	if err != nil {
		return nil, fmt.Errorf("read embedded script: %w", err)
	}

	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read embedded script: %w", err)
	}

	return plain, nil
})

// Script serves RapiDoc, compressed as it is stored unless the client cannot read that.
func Script(f *fiber.Ctx) error {
	f.Set(fiber.HeaderContentType, fiber.MIMETextJavaScriptCharsetUTF8)
	f.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	f.Append(fiber.HeaderVary, fiber.HeaderAcceptEncoding)

	if strings.Contains(f.Get(fiber.HeaderAcceptEncoding), "gzip") {
		f.Set(fiber.HeaderContentEncoding, "gzip")
		f.Response().SetBodyRaw(script)

		return nil
	}

	plain, err := unpacked()
	if err != nil {
		return err
	}

	f.Response().SetBodyRaw(plain)

	return nil
}
